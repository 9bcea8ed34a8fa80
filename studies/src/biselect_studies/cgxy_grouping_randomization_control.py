"""Table cgxy_grouping_randomization_control: is the split by type better than random splits into three groups?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.experiments.grouping_control import CONTROLS, DRAWS
from biselect_studies.readings import Reading
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = ((6, 5, 2, 2), (8, 6, 3, 3), (8, 8, 2, 2), (10, 6, 3, 2))
SIGNALS = (1.0, 2.0, 3.0)
MODES = ("residual", "mixed")
STRENGTHS = (0.25, 1.0, 2.0)  # factors on both marginals; the paper's table is held against 1
PAPER = {"type-preserving": (97.0, 54.8, 2.94), "same-size": (30.5, 8.1, 0.724)}
MEDIAN, ABOVE, RATIO = "median percentile (%)", "above the 95th (%)", "gain / random mean"
BINS = 20


def seeds(quick: bool) -> int:
    """Seeds per cell; 128 make the paper's 3,072 cases."""
    return 8 if quick else 128


def tasks(quick: bool) -> list[Task]:
    """Every size, signal, mode and strength of the marginals."""
    count = seeds(quick)
    return [
        t for strength in STRENGTHS for c in _cells(strength) for t in tasks_for("grouping_control", c, count, block=64)
    ]


def summarise(records: Records, quick: bool) -> Findings:
    """Median percentile, share above the 95th and ratio to the random mean, under both controls."""
    cells: list[Entry] = []
    histograms, ratios = {}, []
    for strength in STRENGTHS:
        for control in CONTROLS:
            gain, ranks, above, mean = (
                _values(records, strength, name)
                for name in ("gain", *(f"{control} {n}" for n in ("rank", "above", "mean")))
            )
            printed = PAPER[control] if strength == 1 else (None, None, None)
            row = _row(control, strength)
            cells += [
                entry(row, MEDIAN, 100 * ranks, paper=printed[0], decimals=1, statistic=np.median),
                entry(row, ABOVE, 100 * above, paper=printed[1], decimals=1),
                entry(row, RATIO, gain / mean, paper=printed[2], decimals=2, statistic=np.median),
            ]
            if strength == 1:
                histograms[control] = (np.histogram(ranks, BINS, (0, 1))[0] / len(ranks)).tolist()
                ratios.append(f"{gain.sum() / mean.sum():.2f} {control}")
    by_size, by_signal = (
        [100 * float(np.mean(_values(records, 1.0, f"{CONTROLS[0]} above", **only))) for only in parts]
        for parts in ([dict(zip("NDkm", size, strict=True)) for size in SIZES], [{"signal": s} for s in SIGNALS])
    )
    return Findings(
        seeds=seeds(quick),
        cells=tuple(cells),
        notes=(
            f"{len(_cells(1.0)) * seeds(quick):,} cases. Above the 95th percentile of the type-preserving splits lie "
            f"{min(by_size):.0f} to {max(by_size):.0f} % by size, {min(by_signal):.0f} to {max(by_signal):.0f} % by "
            "signal.",
            "Gains are √3‖r‖ - |1·r| from responses in closed form, one for each of the N + D + ND binary terms: no "
            "state is simulated.",
            "Type-preserving scatters the terms of every type over the three groups; the groups then look alike, so "
            "that the control is weak. Against splits of the same sizes the split by type is below the middle.",
            "All of it depends on the strength of the marginals, as the rows × 0.25 and × 2 show: with weak ones the "
            "split by type beats nearly every random one, with strong ones it loses to most.",
            f"The paper may mean another ratio: mean gain over mean random gain is {' and '.join(ratios)}.",
        ),
        extra={"histograms": histograms},
    )


def draw(found: Findings) -> Figure:
    """Left: where the split by type stands among random ones. Right: how that depends on the marginals."""
    from biselect.report.style import COLOURS, MARKERS, panels
    from biselect.report.style import PAPER as GREY

    figure, axes = panels(1, 2, width=3.6, height=2.8)
    edges = np.linspace(0, 100, BINS + 1)
    for position, control in enumerate(CONTROLS):
        look: dict[str, Any] = {"color": COLOURS[position]}
        line = ("-", "--")[position]
        axes[0, 0].stairs(found.extra["histograms"][control], edges, label=control, linewidth=1.6, ls=line, **look)
        axes[0, 0].axvline(PAPER[control][0], linestyle=":", linewidth=1, **look)
        points = [found.find(_row(control, strength), MEDIAN) for strength in STRENGTHS]
        error = [[e.ours - e.low for e in points], [e.high - e.ours for e in points]]
        axes[0, 1].errorbar(
            STRENGTHS, [e.ours for e in points], yerr=error, marker=MARKERS[position], label=control, **look
        )
        axes[0, 1].plot(
            1, PAPER[control][0], "x", color="black", markersize=7, zorder=5, label=None if position else "paper"
        )
    axes[0, 0].plot([], [], linestyle=":", color=GREY, label="paper's medians")
    axes[0, 0].set(xlabel="percentile among random splits", ylabel="share of cases")
    axes[0, 0].legend(loc="center left", bbox_to_anchor=(0.36, 0.6))
    axes[0, 1].set(xlabel="factor on the marginals", ylabel="median percentile", ylim=(0, 103))
    axes[0, 1].legend(loc="lower left")
    return figure


def _cells(strength: float) -> list[dict[str, Any]]:
    return [
        {**dict(zip("NDkm", size, strict=True)), "signal": signal, "mode": mode, "strength": strength}
        for size in SIZES
        for signal in SIGNALS
        for mode in MODES
    ]


def _values(records: Records, strength: float, name: str, **only: Any) -> NDArray[Any]:
    """A quantity, case by case; `only` picks cells by size, signal or mode."""
    wanted = [cell for cell in _cells(strength) if only.items() <= cell.items()]
    return np.concatenate([records[tuple(sorted(cell.items()))][name] for cell in wanted])


def _row(control: str, strength: float) -> str:
    return control if strength == 1 else f"{control}, marginals × {strength:g}"


STUDY = Study(
    name="cgxy-grouping-randomization-control",
    title="The split by type among random splits into three groups",
    label="tab:cgxy_grouping_randomization_control",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    choices=(
        "The paper names neither sizes nor marginals; ours were fitted to its medians: (6, 5, 2, 2), "
        "(8, 6, 3, 3), (8, 8, 2, 2) and (10, 6, 3, 2), a contiguous block of strength μ = 1, 2 or 3 in "
        "unit normal noise (mixed: plus a rank-one background), W = Z, a_i = max_j W_ij, b_j = max_i "
        f"W_ij, λ = 1, ring mixer, {DRAWS} random splits each.",
        "What type-preserving splits keep is open: ours scatter the terms of every type over the three groups.",
    ),
    readings=(
        Reading(
            cause="left open",
            columns=("above the 95th (%)",),
            text="Medians agree, tails do not: the settings were fitted to the medians alone. The share depends on "
            "size and signal (first note) and on the strength of the marginals: at a quarter of it two thirds of the "
            "same-size cases lie above, at full strength almost none. Some weak instances among the paper's would "
            "explain its 8 %; which they are is not known.",
        ),
        Reading(
            cause="left open",
            columns=("gain / random mean",),
            text="The ratio follows the strength of the marginals even more than the share does (rows × 0.25 and × 2). "
            "It may also be another one than our median of ratios: mean gain over mean random gain is nearer to the "
            "paper's (last note).",
        ),
    ),
)
