"""Angle schedules and the circuit that they fill.

Tables qaoa_parameterizations and qaoa_sparse_exact_14_10_readout; figure circuit: one layer on four samples and three
features, drawn and held against the simulator.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from numpy.typing import NDArray

from biselect_quantum.circuits.mixers import mixer_classes
from biselect_quantum.circuits.schedule import SCHEDULES, Schedule
from biselect_studies.experiments.planted import HIT, SHOTS
from biselect_studies.figures import COLOURS, GREY, Figure, dots, panels
from biselect_studies.results import Entry, Findings, entry, share
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Grid, crossed

SIZE = (14, 10, 3, 3)
SIGNALS = (2.0, 2.75)
MODES = ("residual", "mixed")
UNIFORM, CLASSICAL, ASCENT = "uniform feasible", "classical, best of four", "coordinate ascent, one start"
ALPHA, SEEN, BEST = "α", "P*(4096) %", "best α"
LAST = "α at the last depth"

KINDS = ("tied", "grouped")
COLUMNS = {"alpha": ALPHA, "seen": SEEN, "best": BEST, "good": "P(α ≥ 0.9) %"}
DEPTHS = 8

DEPTH = 3
CONTAINED = (
    ("tied", "layerwise"),
    ("tied", "bilinear"),
    ("bilinear", "fixed-transport"),
    ("fixed-transport", "fully-grouped"),
    ("layerwise", "fully-grouped"),
)
ANGLES = "angles"


def ladders(quick: bool) -> list[dict[str, Any]]:
    """Both kinds of angles depth by depth, in the paper's box from its number of starts."""
    depth = (2 if quick else DEPTHS,)
    means = {"mixer": ("continuous",), "search": ("paper",)}
    return crossed(size=[SIZE], signal=SIGNALS, mode=MODES, tied=depth, grouped=depth, **means)


LADDERS = Grid(experiment="depth_ladder", cells=ladders, quick=1, full=3, block=1)  # twelve in full, as in the paper
SCHEDULED = Grid(
    experiment="parameterizations",
    cells=lambda quick: crossed(size=[SIZE], signal=SIGNALS, mode=MODES, p=[DEPTH]),
    quick=2,
    full=6,
    block=1,
)


def summarise_readout(records: Records, quick: bool) -> Findings:
    """The paper's columns by depth, then uniform sampling and classical solvers in the same columns."""
    found = partial(records.pooled, ladders(quick))

    def values(kind: str, name: str) -> NDArray[Any]:
        """By instance and, unless uniform, depth."""
        if name == "seen":
            return _seen(found(f"{kind} optimum"))
        return np.asarray((100 if name == "good" else 1) * found(f"{kind} {name}"))

    cells: list[Entry] = []
    for place, kind in product(range(ladders(quick)[0]["tied"]), KINDS):
        for name, column in COLUMNS.items():
            cells.append(entry(_row(place + 1, kind), column, values(kind, name)[:, place]))
    tied, grouped = (values(kind, "alpha") for kind in KINDS)
    cells.append(entry(UNIFORM, ALPHA, np.zeros(len(tied))))
    cells += [entry(UNIFORM, COLUMNS[name], values("uniform", name)) for name in ("seen", "best", "good")]
    for row, name in ((CLASSICAL, "classical"), (ASCENT, "ascent")):
        alphas = found(name)
        cells += [entry(row, ALPHA, alphas), share(row, "optimum found (%)", alphas > 1 - HIT)]
    cells += [
        entry(f"p = {place + 1}, grouped − tied", ALPHA, (grouped - tied)[:, place]) for place in range(tied.shape[1])
    ]
    for kind, curves in zip(KINDS, (tied, grouped), strict=True):
        cells.append(share(kind, "grows at every depth (%)", (np.diff(curves, axis=1) > 0).all(axis=1)))
        by_signal = np.array(np.split(curves[:, -1], len(SIGNALS)))  # the first axis of the cells
        cells += [entry(f"{kind}, μ = {mu:g}", LAST, alphas) for mu, alphas in zip(SIGNALS, by_signal, strict=True)]
    steady = [int((np.diff(curves, axis=1) > 0).all(axis=1).sum()) for curves in (tied, grouped)]
    return Findings(
        seeds=LADDERS.seeds(quick),
        cells=tuple(cells),
        notes=(
            "Tied is layerwise XY-QAOA.",
            f"Grouped is at least tied at every depth on {int((grouped >= tied - 1e-9).all(axis=1).sum())} of "
            f"{len(tied)} instances; α grows with every depth on {steady[0]} (tied) and {steady[1]} (grouped). "
            "More α is not more P*.",
            f"Uniform feasible sampling has α = 0 and the P* shown for {SHOTS} draws. The best of greedy, "
            "coordinate ascent, tabu and swap-SA is the paper's classical baseline; enumeration takes a millisecond.",
        ),
    )


def _row(p: int, kind: str) -> str:
    return f"p = {p}, {kind}"


def _seen(chances: NDArray[Any]) -> NDArray[Any]:
    """Chance of at least one optimum in all shots, per cent."""
    return np.asarray(100 * (1 - (1 - chances) ** SHOTS))


def summarise_schedules(records: Records, quick: bool) -> Findings:
    """Counts, α, chance of the optimum in 4096 shots, and the distance to the same circuit as fully grouped."""
    found = partial(records.pooled, SCHEDULED.cells(quick))
    curves = {name: found(f"{name} alpha") for name in SCHEDULES}
    full, ascent = curves["fully-grouped"], found("ascent")
    cells: list[Entry] = []
    for name in SCHEDULES:
        size = Schedule.named(name, DEPTH).size
        cells += [
            entry(name, ANGLES, [size]),
            entry(name, ALPHA, curves[name]),
            entry(name, "α, share of fully grouped (%)", 100 * curves[name] / full),
            entry(name, SEEN, _seen(found(f"{name} optimum"))),
            entry(name, "distance", found(f"{name} distance")),
        ]
    cells += [
        entry(UNIFORM, ALPHA, np.zeros(len(full))),
        entry(UNIFORM, SEEN, _seen(found("uniform"))),
        entry(ASCENT, ALPHA, ascent),
    ]
    kept = sum(int((curves[outer] >= curves[inner] - 1e-9).sum()) for inner, outer in CONTAINED)
    return Findings(
        seeds=SCHEDULED.seeds(quick),
        cells=tuple(cells),
        notes=(
            f"Angles are those of p = {DEPTH}: p + 2, 3p + 1 and 4p as the paper prints; it also has tied (2, one γ "
            "and one β for all layers) and layerwise XY-QAOA (2p). Wherever the paper writes XY-QAOA or tied in its "
            "depth tables layerwise is meant, in its threshold table tied.",
            f"α on {len(full)} instances (14, 10, 3, 3) of the depth family; each schedule starts from the angles of "
            "those it contains.",
            f"A schedule is no worse than one it contains in {kept} of {len(CONTAINED) * len(full)} pairs. Distance: "
            "the largest change of a probability when the circuit is written as a fully grouped one: rounding.",
            f"Uniform feasible sampling and coordinate ascent in the same columns; the latter finds the optimum of "
            f"{100 * float((ascent > 1 - 1e-9).mean()):.0f} % of the instances from one start.",
        ),
    )


READOUT = described(
    "qaoa-sparse-exact-14-10-readout",
    tasks=LADDERS.tasks,
    summarise=summarise_readout,
    draw=lambda found: dots(found, [ALPHA, SEEN, BEST]),
)

PARAMETERIZATIONS = described(
    "qaoa-parameterizations",
    tasks=SCHEDULED.tasks,
    summarise=summarise_schedules,
    draw=lambda found: dots(found, [ANGLES, ALPHA, SEEN]),
)


DRAWN_SIZE = {"N": 4, "D": 3, "k": 2, "m": 1}
COUNTS = {
    "preparation": "Dicke gates",
    "rz": "field rotations",
    "rzz": "coupling rotations",
    "xy": "mixer gates",
    "distance": "total variation to the simulator",
}
BOX = 0.36  # half the side of a gate
DRAWN = Grid(experiment="circuit", cells=lambda quick: [DRAWN_SIZE], quick=2, full=50, block=50)


def summarise_circuit(records: Records, quick: bool) -> Findings:
    """Its gates, how far it is from the simulator, and where its mixer's edges lie."""
    values = records.of(DRAWN_SIZE)
    mixers = {"samples": mixer_classes("ring", DRAWN_SIZE["N"]), "features": mixer_classes("ring", DRAWN_SIZE["D"])}
    return Findings(
        seeds=DRAWN.seeds(quick),
        cells=tuple(entry("(4, 3, 2, 1), p = 1", column, values[name]) for name, column in COUNTS.items()),
        notes=(f"The distance is the largest over random problems and angles: {values['distance'].max():.1g}.",),
        extra={
            "mixers": {name: [[list(edge) for edge in group] for group in classes] for name, classes in mixers.items()}
        },
    )


def draw_circuit(found: Findings) -> Figure:
    """Dicke states, fields, couplings, the two mixers, readout; from left to right, samples above features."""
    n, d = DRAWN_SIZE["N"], DRAWN_SIZE["D"]
    heights = [-float(q) for q in range(n)] + [-(q + 0.8) for q in range(n, n + d)]
    colours = [COLOURS[0]] * n + [COLOURS[1]] * d
    names = [f"$s_{i + 1}$" for i in range(n)] + [f"$f_{j + 1}$" for j in range(d)]
    figure, ((panel,),) = panels(1, 1, width=9.6, height=3.8)
    panel.axis("off")
    panel.set_aspect("equal")
    for first, last, label in ((0, n - 1, r"$|D^4_2\rangle$"), (n, n + d - 1, r"$|D^3_1\rangle$")):
        _box(panel, 0.0, heights[first], heights[last], label, colours[first], width=0.62)
    for y, colour in zip(heights, colours, strict=True):
        _box(panel, 1.5, y, y, "$R_Z$", colour)
    x = 2.5
    for i, j in product(range(n), range(n, n + d)):  # a coupling: two dots on a line
        panel.plot([x, x], [heights[i], heights[j]], color=COLOURS[2], marker="o", markersize=4, lw=1.2, zorder=3)
        x += 0.42
    couplings_end, mixing, end = x, x + 0.2, x + 0.7
    for first, name in ((0, "samples"), (n, "features")):
        step = x + 0.7
        for group in found.extra["mixers"][name]:
            apart = 0.45 if _nested(group) else 0.0
            for position, edge in enumerate(group):  # an XY gate: crosses at its two qubits
                ends, look = [heights[first + q] for q in edge], {"marker": "X", "markersize": 6.5, "lw": 1.8}
                panel.plot([step + apart * position] * 2, ends, color=colours[first], zorder=3, **look)
            step += 0.75 + apart
        end = max(end, step)
    x = end + 0.5
    for name, y in zip(names, heights, strict=True):
        panel.text(-0.9, y, rf"{name}  $|0\rangle$", ha="right", va="center")
        _box(panel, x, y, y, "M", GREY)
        panel.plot([-0.8, x + 0.6], [y, y], color="black", linewidth=0.7, zorder=1)
    for place, text in (
        (0.0, "start"),
        (1.5, "fields"),
        ((2.5 + couplings_end - 0.42) / 2, r"couplings $R_{ZZ}(2\gamma_{SF} J_{ij})$"),
        ((mixing + end) / 2, r"mixers, $XY(\beta)$"),
        (x, "readout"),
    ):
        panel.text(place, 0.85, text, ha="center", va="bottom")
    return figure


def _nested(group: list[list[int]]) -> bool:
    """Whether one edge of a class passes over another, so that they must be drawn apart."""
    spans = [(min(edge), max(edge)) for edge in group]
    return any(a < c and d < b for a, b in spans for c, d in spans)


def _box(panel: Axes, x: float, top: float, bottom: float, text: str, colour: str, width: float = BOX) -> None:
    look: dict[str, Any] = {"boxstyle": "round,pad=0.02", "facecolor": "white", "edgecolor": colour, "zorder": 3}
    panel.add_patch(FancyBboxPatch((x - width, bottom - BOX), 2 * width, top - bottom + 2 * BOX, linewidth=1.3, **look))
    panel.text(x, (top + bottom) / 2, text, ha="center", va="center", zorder=4, fontsize=8)


STUDIES = (
    READOUT,
    PARAMETERIZATIONS,
    described("circuit", tasks=DRAWN.tasks, summarise=summarise_circuit, draw=draw_circuit),
)
