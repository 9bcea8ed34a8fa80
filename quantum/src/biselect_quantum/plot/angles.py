"""The angles of a circuit as pictures: layer by layer, and the energies around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError
from biselect.plot.style import COLOURS, MARKERS, axes_for, legend_below
from biselect_quantum.circuits import SCHEDULES, Ansatz, AnsatzSpec, Observable, Schedule, Training
from biselect_quantum.circuits.schedule import COMPONENTS
from biselect_quantum.circuits.training.first_angles import units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TINTS = (5, 4, 2, 3, 1, 0)  # of the palette, light ones first
WORK = 2e7  # amplitudes that a landscape may pass through before it gets coarser
FEWEST, MOST = 9, 21  # points along a side


def schedule(
    circuit: Training | Sequence[Training] | Ansatz | AnsatzSpec | Schedule,
    angles: Training | ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The angles of every layer; without angles which of them are tied: equal letters are one free angle.

    Of several trainings of one schedule, on other instances, it shows how far their angles concentrate: the median and
    the middle half of each. All angles with the other sign give the same shots; of the two, that with the larger γ on
    average is drawn.

    Args:
        circuit: a training, which has its angles, or several, or a circuit or schedule.
        angles: a training, or free angles, of that circuit.
        ax: where to draw; a new figure if left out.
    """
    if isinstance(circuit, Sequence):
        return _concentration(circuit, ax)
    plan, groups = _plan(circuit)
    trained = circuit if isinstance(circuit, Training) else angles
    if trained is None:
        return _ties(plan, groups, ax)
    vector = trained.angles if isinstance(trained, Training) else trained
    layers = np.arange(1, plan.depth + 1)
    names = [*(f"γ {name}" for name in groups), "β"]
    with axes_for(ax, width=4.6, height=3.2) as axes:
        lines = [
            axes.plot(layers, column, color=COLOURS[at % len(COLOURS)], marker=MARKERS[at % len(MARKERS)])[0]
            for at, column in enumerate(plan.expand(vector).T)
        ]
        axes.axhline(0, color="#999999", linewidth=0.6, zorder=0)
        axes.set(xlabel="layer", ylabel="angle", xticks=layers)
        axes.set_title(f"Angles, {plan.name}")
        legend_below(axes, lines, names)
    return axes


def _concentration(trainings: Sequence[Training], ax: Axes | None) -> Axes:
    """Median and quartiles over instances of the angles of every layer."""
    if not trainings or not all(isinstance(one, Training) for one in trainings):
        raise InputError("a picture of angles needs a Training or several, a circuit or a Schedule")
    plan, groups = _plan(trainings[0])
    if any((one.schedule, one.depth) != (trainings[0].schedule, trainings[0].depth) for one in trainings):
        raise InputError("a picture of several trainings needs one schedule and depth for all of them")
    tables = np.array([plan.expand(one.angles) for one in trainings])
    tables *= np.where(tables[:, :, :-1].sum(axis=(1, 2)) < 0, -1, 1)[:, None, None]
    names = [*(f"γ {name}" for name in groups), "β"]
    if (tables[:, :, :-1] == tables[:, :, :1]).all():  # one γ for all groups
        tables, names = tables[:, :, -2:], ["γ", "β"]
    layers = np.arange(1, plan.depth + 1)
    with axes_for(ax, width=4.6, height=3.2) as axes:
        lines = []
        for at in range(tables.shape[2]):
            low, middle, high = np.quantile(tables[:, :, at], [0.25, 0.5, 0.75], axis=0)
            colour, beside = COLOURS[at % len(COLOURS)], layers + 0.06 * (at - (tables.shape[2] - 1) / 2)
            look: Any = {"color": colour, "marker": MARKERS[at % len(MARKERS)], "capsize": 3, "linewidth": 1.2}
            lines.append(axes.errorbar(beside, middle, [middle - low, high - middle], **look))
        axes.axhline(0, color="#999999", linewidth=0.6, zorder=0)
        axes.set(xlabel="layer", ylabel="angle: median, middle half", xticks=layers)
        axes.set_title(f"Angles of {len(trainings)} instances, {plan.name}")
        legend_below(axes, lines, names)
    return axes


def _plan(thing: Training | Ansatz | AnsatzSpec | Schedule) -> tuple[Schedule, tuple[str, ...]]:
    """The schedule, and what its groups are called."""
    if isinstance(thing, Training):
        groups = tuple(thing.circuit["cost"]["groups"])
        if thing.schedule not in SCHEDULES:
            raise InputError(
                f"schedule {thing.schedule!r} is not one of ours; give the circuit, and the training as angles="
            )
        return Schedule.named(thing.schedule, thing.depth, groups), groups
    if isinstance(thing, Ansatz | AnsatzSpec):
        return thing.schedule, tuple(group.name for group in thing.groups)
    if isinstance(thing, Schedule):
        return thing, COMPONENTS if thing.groups == 3 else tuple(str(at + 1) for at in range(thing.groups))
    raise InputError(f"a picture of angles needs a Training, a circuit or a Schedule, got {type(thing).__name__}")


def _ties(plan: Schedule, groups: tuple[str, ...], ax: Axes | None) -> Axes:
    from matplotlib.patches import Rectangle

    rows = [*(f"γ {name}" for name in groups), "β"]
    with axes_for(ax, width=0.34 * plan.depth + 1.2, height=0.34 * len(rows) + 1.0) as axes:
        for layer, angles in enumerate(plan.matrix):
            for row, weights in enumerate(angles):
                free = np.flatnonzero(weights)
                tint = COLOURS[TINTS[free[0] % len(TINTS)]] if free.size == 1 else "#dddddd"
                axes.add_patch(
                    Rectangle((layer, row), 1, 1, facecolor=tint, alpha=0.55, edgecolor="white", linewidth=2)
                )
                axes.text(layer + 0.5, row + 0.5, "+".join(map(_letter, free.tolist())), ha="center", va="center")
        axes.set(xlim=(0, plan.depth), ylim=(len(rows), 0), aspect="equal")
        axes.set_xticks(np.arange(plan.depth) + 0.5, [str(layer + 1) for layer in range(plan.depth)], fontsize=8)
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
        axes.tick_params(length=0)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.set_title(plan.name, fontweight="bold")
        axes.set_xlabel(f"{plan.size} angle{'s' * (plan.size != 1)}")
    return axes


def _letter(free: int) -> str:
    return chr(ord("a") + free) if free < 26 else str(free + 1)


def landscape(
    ansatz: Ansatz,
    angles: Training | ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    points: int | None = None,
    along: tuple[str, str] | None = None,
    threshold: float | None = None,
) -> Axes:
    """The expected energy around the angles of a circuit, lower is better: all γ scaled one way, all β the other.

    At (1, 1) are the angles themselves, at (0, 0) is the start. Without angles, every γ is the one value and every β
    the other: the landscape that a tied schedule sees. With `along`, two of the angles turn and all others stay.

    Args:
        ansatz: the circuit on a simulator.
        angles: a training, or free angles.
        ax: where to draw; a new figure if left out.
        points: along each side; fewer for a large sector if left out.
        along: names of two angles, such as ("γ_SF,1", "β_1").
        threshold: an energy; the picture is then of the probability of energies at or below it, higher is better.
    """
    vector = angles.angles if isinstance(angles, Training) else angles
    around = vector is not None
    centre = np.ones(ansatz.size) if vector is None else np.asarray(vector, dtype=np.float64)
    if points is None:
        points = int(np.clip(np.sqrt(WORK / (ansatz.problem.sector.size * ansatz.schedule.depth)), FEWEST, MOST))
        points += 1 - points % 2  # the centre is one of them
    if along is not None:
        two = _positions(ansatz, along)
        if not around:
            raise InputError("a landscape along two angles needs the others: give angles=")
        sides = tuple(centre[at] + np.pi / 2 * units(ansatz)[at] * np.linspace(-1, 1, points) for at in two)
        marks, words = {"these angles": tuple(centre[list(two)])}, along
    elif around:
        sides, words = (np.linspace(-1, 3, points),) * 2, ("all γ, as a multiple", "all β, as a multiple")
        marks = {"start": (0.0, 0.0), "these angles": (1.0, 1.0)}
    else:
        sides, words = (_turn(ansatz, points), np.linspace(-np.pi, np.pi, points)), ("every γ", "every β")
        marks = {"start": (0.0, 0.0)}
    across, upward = np.meshgrid(*sides)
    if along is not None:
        vectors = np.repeat(centre[None], across.size, axis=0)
        vectors[:, two[0]], vectors[:, two[1]] = across.ravel(), upward.ravel()
    else:
        vectors = np.where(_mixes(ansatz.schedule), upward.ravel()[:, None], across.ravel()[:, None]) * centre
    observable = Observable() if threshold is None else Observable(kind="hit", threshold=threshold)
    values = np.array([ansatz.expectation(vector, observable) for vector in vectors]).reshape(across.shape)
    what = "Energies" if threshold is None else "Hits"
    with axes_for(ax, width=4.8, height=3.8) as axes:
        heights = values if threshold is None else 100 * values
        contours = axes.contourf(
            across, upward, heights, levels=24, cmap="cividis" if threshold is None else "cividis_r"
        )
        for edge in ("top", "right"):
            axes.spines[edge].set_visible(True)
        bar = axes.figure.colorbar(contours, ax=axes)
        bar.set_label("expected energy" if threshold is None else f"shots at or below {threshold:g} (%)")
        for name, marker in zip(reversed(marks), ("X", "o"), strict=False):
            look: Any = {"marker": marker, "markersize": 8, "markeredgecolor": "black", "linestyle": ""}
            axes.plot(*marks[name], color="white", label=name, **look)
        axes.set(xlabel=words[0], ylabel=words[1])
        axes.set_title(
            f"{what} around these angles" if around else f"{what}, one γ and one β, p = {ansatz.schedule.depth}"
        )
        axes.grid(False)
        axes.legend(loc="upper right", frameon=True, framealpha=0.85)
    return axes


def _positions(ansatz: Ansatz, along: tuple[str, str]) -> tuple[int, int]:
    """Where two angles stand among the free ones."""
    names = ansatz.schedule.angle_names
    if len(along) != 2 or along[0] == along[1] or not set(along) <= set(names):
        raise InputError(f"along must be two of the angles {', '.join(names)}; got {along!r}")
    return names.index(along[0]), names.index(along[1])


def _mixes(plan: Schedule) -> NDArray[np.bool_]:
    """Which free angles turn mixers; one that also turns phases counts to the phases."""
    gammas, betas = plan.matrix[:, :-1].any(axis=(0, 1)), plan.matrix[:, -1].any(axis=0)
    return np.asarray(betas & ~gammas)


def _turn(ansatz: Ansatz, points: int) -> NDArray[np.float64]:
    """Values of γ that turn the phases of usual energies about once to either side."""
    spread = float(np.std(ansatz.energies)) or 1.0
    return np.linspace(-np.pi, np.pi, points) / spread
