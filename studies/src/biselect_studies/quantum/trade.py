"""The trade between couplings and noise: what a circuit that keeps more of them does on a device with recorded errors.

More couplings make the circuit's objective the problem's own, and the circuit longer. Which share serves best depends
on the problem and on the device, so each is placed, trained, compiled and run under the noise model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.plot.style import COLOURS, MARKERS, axes_for, legend_below
from biselect.solvers import solve
from biselect_quantum.devices import place_circuit
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.masks import EDGES
from biselect_quantum.devices.resources import Resources
from biselect_quantum.devices.targets import load_target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEEPS: tuple[float | str, ...] = (EDGES, 0.25, 0.5, 0.75, 1.0)
MOST_QUBITS = 22  # of state vectors, one for each trajectory of errors
TRAJECTORIES = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class TradePoint:
    """One circuit of a trade.

    Attributes:
        keep: what was asked for.
        share: of the coupling mass that the circuit carries.
        resources: what it costs.
        mass: chance of a shot to meet both budgets exactly; for wide circuits that nothing errs, which is less.
        mass_error: its standard error; 0 for wide circuits.
        hit: chance of a shot to be the optimum; None for wide circuits.
        hit_error: its standard error.
        ideal_hit: the same without noise.
        chance: of a uniform choice inside the budgets to be the optimum.
        bundle: the circuit itself.
    """

    keep: float | str
    share: float
    resources: Resources
    mass: float
    mass_error: float
    hit: float | None
    hit_error: float | None
    ideal_hit: float | None
    chance: float
    bundle: DeviceCircuit

    @property
    def over_chance(self) -> float:
        """How many times as often as a uniform choice it hits; by the mass alone where hits are not known."""
        return self.mass if self.hit is None else self.hit / self.chance


def trade(
    problem: SelectionProblem,
    target: Any,
    keeps: Sequence[float | str] = KEEPS,
    angles: Any = None,
    *,
    trajectories: int = TRAJECTORIES,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
    **circuit: Any,
) -> tuple[TradePoint, ...]:
    """One point for each share of the couplings, least first; shares that come to the same circuit are one point.

    Args:
        problem: the dense problem.
        target: as `load_target` takes it; its recorded errors are the noise.
        keeps: as for `compile_problem`.
        angles: for circuits too large to be trained; each is trained for itself by default.
        trajectories: trajectories of errors of each circuit.
        seed: fixes patches, starts, trainings and errors.
        progress: told the name of each step as it begins.
        **circuit: depth, schedule, path, registers and start, as for `compile_problem`.
    """
    device = load_target(target)
    wide = problem.n_samples + problem.n_features > MOST_QUBITS
    best = None if wide else solve(problem, "auto", seed=seed)
    found: list[TradePoint] = []
    for keep in dict.fromkeys(keeps):
        progress(f"Keeping {keep if isinstance(keep, str) else f'{100 * keep:g} %'}")
        placed = place_circuit(problem, device, keep=keep, seed=seed, **circuit)
        if any(placed.mask.sum() == point.bundle.mask.sum() for point in found):
            continue
        made = placed.compile(placed.train() if angles is None else angles, compare=False)
        found.append(_point(keep, made, best, trajectories, seed))
    if not found:
        raise InputError("a trade needs at least one share to keep")
    return tuple(sorted(found, key=lambda point: point.share))


def best_of(points: Sequence[TradePoint]) -> TradePoint:
    """The circuit that hits the optimum most often under the noise."""
    return max(points, key=lambda point: point.over_chance)


def _point(keep: float | str, made: DeviceCircuit, best: Any, trajectories: int, seed: int) -> TradePoint:
    problem = made.problem
    figures: dict[str, Any] = {"hit": None, "hit_error": None, "ideal_hit": None, "mass_error": 0.0}
    if best is None:
        figures["mass"] = flawless(made)
    else:
        from biselect_quantum.devices.noise.probabilities import noisy_probabilities

        chances = noisy_probabilities(made, best, trajectories=trajectories, seed=seed)
        figures = {name: getattr(chances, name) for name in ("mass", *figures)}
    return TradePoint(
        keep=keep,
        share=made.retained_share,
        resources=made.resources,
        chance=1 / problem.sector.size,
        bundle=made,
        **figures,
    )


def flawless(circuit: DeviceCircuit) -> float:
    """The chance that no gate and no readout errs, by the recorded errors."""
    chance, gates, target = 1.0, circuit.gates, circuit.target
    for step in gates.data:
        name, place = step.operation.name, tuple(gates.find_bit(qubit).index for qubit in step.qubits)
        entry = None if name == "barrier" else target[name].get(place)
        if entry is not None:
            if entry.error is None:
                raise InputError(
                    f"{target.description!r} has no recorded error of {name} on {place}; take another device"
                )
            chance *= 1 - min(entry.error, 1.0)
    return chance


def couplings(points: Sequence[TradePoint], ax: Axes | None = None) -> Axes:
    """What keeping couplings costs and gains under noise, as `trade` gives it.

    Args:
        points: one for each share that is kept.
        ax: where to draw; a new figure if left out.
    """
    if not points or not all(isinstance(point, TradePoint) for point in points):
        raise InputError("a picture of a trade needs what biselect_studies.quantum.trade gives")
    kept = [100 * point.share for point in points]
    wide = points[0].hit is None
    with axes_for(ax, width=4.8, height=3.4) as axes:
        masses, errors = ([100 * getattr(point, name) for point in points] for name in ("mass", "mass_error"))
        left = axes.errorbar(kept, masses, errors, color=COLOURS[0], marker=MARKERS[0])
        what = "no error at all" if wide else "exact budgets"
        axes.set(xlabel="coupling mass kept (%)", ylabel=f"{what}, share of shots (%)", title="Couplings against noise")
        axes.set_ylim(0, 100)
        lines: list[Any] = [left]
        names = [what]
        if not wide:
            other = axes.twinx()
            hits = [(point.hit or 0.0) / point.chance for point in points]
            bars = [(point.hit_error or 0.0) / point.chance for point in points]
            ideal = [(point.ideal_hit or 0.0) / point.chance for point in points]
            lines.append(other.errorbar(kept, hits, bars, color=COLOURS[1], marker=MARKERS[1]))
            lines += other.plot(kept, ideal, color=COLOURS[1], linewidth=1, linestyle=":")
            lines.append(other.axhline(1.0, color=COLOURS[1], linewidth=1, linestyle="--"))
            names += ["hits of the optimum", "the same without noise", "uniform choice"]
            other.set_ylabel("hits, in those of uniform choice")
            other.set_ylim(bottom=0)
            other.grid(False)
            other.spines["right"].set_visible(True)
        legend_below(axes, lines, names, columns=2)
    return axes
