"""A picture of a training: energies before and after it, hit rate by depth, angles by layer, energies around them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biselect.core.files import write_file
from biselect.report.style import COLOURS, MARKERS, house_style, panels
from biselect_quantum.circuits import Ansatz, Observable, Training
from biselect_quantum.plot.angles import landscape, schedule
from biselect_quantum.plot.circuit_figures import energies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BELOW: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "columnspacing": 1.0, "handlelength": 1.4}


def draw_training(ansatz: Ansatz, trained: Training, path: str | Path) -> None:
    """Draw the four panels into a file whose ending names the format."""
    write_file(path, training_picture(ansatz, trained, Path(path).suffix[1:] or "png"))


def training_picture(ansatz: Ansatz, trained: Training, ending: str = "svg") -> bytes:
    """The four panels as a file of that ending holds them."""
    import matplotlib

    picture = io.BytesIO()
    with house_style(), matplotlib.rc_context({"svg.hashsalt": "biselect"}):
        figure, axes = panels(2, 2, width=4.2, height=3.1)
        energies(ansatz, trained, ax=axes[0, 0])
        _hit_rates(axes[0, 1], ansatz, trained)
        schedule(ansatz, trained, ax=axes[1, 0])
        landscape(ansatz, trained, ax=axes[1, 1])
        figure.savefig(picture, format=ending, metadata={"Date": None} if ending == "svg" else None)
    return picture.getvalue()


def _hit_rates(axes: Axes, ansatz: Ansatz, trained: Training) -> None:
    """Per shot; depth 0 is the start state."""
    threshold = trained.objective["threshold"]
    what = "Shots at the optimum" if threshold is None else "Shots at or below the threshold"
    hits = Observable(kind="hit", threshold=float(ansatz.energies.min()) if threshold is None else threshold)
    stages = [stage for stage in trained.stages if stage.schedule == trained.schedule]
    rates = [ansatz.expectation(np.zeros(ansatz.size), hits)]
    rates += [ansatz.at_depth(stage.depth).expectation(stage.angles, hits) for stage in stages]
    depths = [0, *(stage.depth for stage in stages)]
    uniform = float(hits.of(ansatz.energies, 0.0).mean())
    shown = [100 * max(rate, 0.0) for rate in rates]
    axes.plot(depths, shown, color=COLOURS[1], marker=MARKERS[0], label="trained (0: start)")
    axes.axhline(100 * uniform, color=COLOURS[0], linewidth=1, linestyle="--", label="uniform feasible")
    axes.set(xlabel="depth", ylabel="hits per 100 shots", title=what, xticks=depths)
    axes.set_ylim(bottom=0)
    axes.legend(ncols=2, **BELOW)
