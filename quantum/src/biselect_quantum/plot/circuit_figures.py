"""What a circuit gives: the energies of its shots against uniform choice, its figures over depth, and its training."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.plot.style import COLOURS, MARKERS, axes_for, house_style, legend_below, panels
from biselect_quantum.circuits import Ansatz, Observable, Training
from biselect_quantum.circuits.metrics import DepthFigures
from biselect_quantum.plot.angles import landscape, schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 60
BELOW: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "columnspacing": 1.0, "handlelength": 1.4}


def energies(ansatz: Ansatz, angles: Training | ArrayLike, ax: Axes | None = None) -> Axes:
    """The distribution of the energies of a shot against that of uniform feasible choice.

    Args:
        ansatz: the circuit on a simulator.
        angles: a training, or free angles.
        ax: where to draw; a new figure if left out.
    """
    vector = np.asarray(angles.angles if isinstance(angles, Training) else angles, dtype=np.float64)
    table = ansatz.energies.ravel()
    edges: Any = np.linspace(table.min(), table.max(), BINS + 1) if np.ptp(table) else BINS
    shares = {
        "uniform feasible": np.full(table.size, 1 / table.size),
        f"these angles, p = {ansatz.schedule.depth}": ansatz.probabilities(vector).ravel(),
    }
    with axes_for(ax, width=4.8, height=3.2) as axes:
        for (name, share), colour in zip(shares.items(), COLOURS, strict=False):
            axes.hist(table, edges, weights=100 * share, histtype="step", linewidth=1.4, color=colour, label=name)
        start = ansatz.expectation(np.zeros(ansatz.size))
        axes.axvline(start, color=COLOURS[2], linewidth=0.8, linestyle="--", label="start, on average")
        axes.axvline(table.min(), color=COLOURS[-1], linewidth=0.8, linestyle=":", label="optimum")
        axes.set(xlabel="energy", ylabel="probability (%)", title="Energies of a shot")
        legend_below(axes, *axes.get_legend_handles_labels(), columns=2)
    return axes


def depths(figures: Sequence[DepthFigures], ax: Axes | None = None) -> Axes:
    """α and the probability of the optimum over depth, as `by_depth` gives them.

    Args:
        figures: the figures of every depth.
        ax: where to draw; a new figure if left out.
    """
    if not figures or not all(isinstance(one, DepthFigures) for one in figures):
        raise InputError("a picture over depth needs what by_depth gives")
    at = [one.depth for one in figures]
    with axes_for(ax, width=4.8, height=3.4) as axes:
        (alpha_line,) = axes.plot(at, [one.approximation for one in figures], color=COLOURS[0], marker=MARKERS[0])
        axes.set(xlabel="depth (0: the start)", ylabel="α, 1 is the optimum", xticks=at, title="Figures over depth")
        other = axes.twinx()
        (right,) = other.plot(at, [one.optimum_mass for one in figures], color=COLOURS[1], marker=MARKERS[1])
        uniform = other.axhline(figures[0].uniform_mass, color=COLOURS[1], linewidth=1, linestyle="--")
        positive = [one.optimum_mass for one in figures if one.optimum_mass > 0] + [figures[0].uniform_mass]
        other.set_yscale("log")
        other.set_ylim(min(positive) / 2, min(1.0, 3 * max(positive)))
        other.set_ylabel("probability of the optimum, a shot")
        other.grid(False)
        other.spines["right"].set_visible(True)
        names = ["α", "probability of the optimum", "the same, uniform choice"]
        legend_below(axes, [alpha_line, right, uniform], names, columns=2)
    return axes


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
    layers = [0, *(stage.depth for stage in stages)]
    uniform = float(hits.of(ansatz.energies, 0.0).mean())
    percentages = [100 * max(rate, 0.0) for rate in rates]
    axes.plot(layers, percentages, color=COLOURS[1], marker=MARKERS[0], label="trained (0: start)")
    axes.axhline(100 * uniform, color=COLOURS[0], linewidth=1, linestyle="--", label="uniform feasible")
    axes.set(xlabel="depth", ylabel="hits per 100 shots", title=what, xticks=layers)
    axes.set_ylim(bottom=0)
    axes.legend(ncols=2, **BELOW)
