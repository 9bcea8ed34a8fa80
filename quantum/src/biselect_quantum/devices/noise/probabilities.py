"""What a noise model gives exact budgets, and given choices: probabilities with standard errors, without shot noise.

The trajectory in which nothing goes wrong counts with its exact probability P₀; of the others some are drawn, and each
gives its exact output distribution. Misreading is exact too. With f of a trajectory's distribution,

    f̂ = P₀ f₀ + (1 - P₀) · mean of the drawn f,   standard error (1 - P₀) · s / √trajectories
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import check_integer, check_positions
from biselect.solvers import solve
from biselect_quantum.circuits.starts import start_choice
from biselect_quantum.devices.noise._vectors import StagedCircuit
from biselect_quantum.devices.noise.noisy_circuit import NoisyCircuit, Trajectory, draw_faulty_trajectories, read_out

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect_quantum.devices.device_circuit import DeviceCircuit


@dataclass(frozen=True, kw_only=True)
class NoisyProbabilities:
    """Probabilities of one shot under a noise model.

    Attributes:
        hit: to read one of the given choices, exactly.
        hit_error: its standard error.
        mass: to meet both budgets exactly, and all rules.
        mass_error: its standard error.
        ideal_hit: `hit` without any error of gates or readout.
        flawless: that no gate errs.
        trajectories: how many trajectories of errors were drawn.
        seconds: what it took.
        label: what this is.
    """

    hit: float
    hit_error: float
    mass: float
    mass_error: float
    ideal_hit: float
    flawless: float
    trajectories: int
    seconds: float
    label: str


def noisy_probabilities(
    circuit: DeviceCircuit,
    choices: Any = None,
    *,
    target: Target | None = None,
    trajectories: int = 200,
    seed: int = 0,
    idle: bool = False,
    readout: bool = True,
    threads: int = 1,
) -> NoisyProbabilities:
    """Compute how likely a compiled circuit hits given choices, and exact budgets, under recorded errors.

    Each trajectory of errors is a state vector: 20 qubits take some 65 ms, two more five times as long.

    Args:
        circuit: what would be submitted.
        choices: a Selection, or (samples, features) pairs by their positions; the best that `solve` finds by default.
        target: the device with its recorded errors; by default the one that the circuit was compiled for.
        trajectories: how many trajectories of errors are drawn.
        seed: fixes them.
        idle: whether waiting qubits relax, see `cut_noise`.
        readout: whether the readout errs too.
        threads: how many trajectories run at once.

    Returns:
        Probabilities of one shot, from 0 to 1, with standard errors.
    """
    from biselect_quantum.devices.noise.device_noise import cut_noise

    begin, problem = perf_counter(), circuit.problem
    check_integer("trajectories", trajectories, least=2)
    noisy = cut_noise(circuit, target, idle=idle)
    register_states = _states(problem, choices)
    confusion = np.split(noisy.confusion, [problem.n_samples])
    weights = []
    for side, states, misread in zip(circuit.program.registers(), register_states, confusion, strict=True):
        exact = np.zeros((1 + len(states), 1 << side.n))
        exact[0, (1 << side.subsets).sum(axis=1)] = 1  # the budget, and then one row for each choice
        exact[np.arange(1, len(exact)), states] = 1
        rows = [read_out(row, misread.transpose(0, 2, 1)) for row in exact] if readout else exact
        weights.append(np.concatenate([rows, exact[1:]]))
    values = weigh_trajectories(noisy, (weights[0], weights[1]), trajectories, seed=seed, threads=threads)
    hits = slice(1, 1 + len(register_states[0]))
    (mass, mass_error), (hit, hit_error) = values.mean(slice(0, 1)), values.mean(hits)
    return NoisyProbabilities(
        hit=hit,
        hit_error=hit_error,
        mass=mass,
        mass_error=mass_error,
        ideal_hit=float(values.flawless[hits.stop :].sum()),
        flawless=noisy.flawless,
        trajectories=trajectories,
        seconds=perf_counter() - begin,
        label=noisy.twirled_label,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryValues:
    """Some probabilities, trajectory by trajectory.

    Attributes:
        flawless: where nothing goes wrong.
        wrong: (trajectories, probabilities): where something does.
        counts: how often each of these trajectories was drawn.
        chance: of the flawless trajectory.
    """

    flawless: NDArray[np.float64]
    wrong: NDArray[np.float64]
    counts: NDArray[np.int64]
    chance: float

    def mean(self, columns: slice) -> tuple[float, float]:
        """The sum of some of the probabilities over all trajectories, and its standard error."""
        right = float(self.flawless[columns].sum())
        if not len(self.counts):
            return right, 0.0
        sums = np.repeat(self.wrong[:, columns].sum(axis=1), self.counts)
        rest = 1 - self.chance
        error = rest * float(sums.std(ddof=1)) / np.sqrt(len(sums))
        return self.chance * right + rest * float(sums.mean()), float(error)


def weigh_trajectories(
    circuit: NoisyCircuit,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
    trajectories: int,
    *,
    seed: int = 0,
    threads: int = 1,
    real: Any = np.float32,
) -> TrajectoryValues:
    """Σ p(x, y) a(x) b(y) of each trajectory, for each pair of rows a and b; no Qiskit is needed.

    Args:
        circuit: with its errors.
        weights: a over the low bits, b over the high ones, as many rows in both.
        trajectories: how many with errors are drawn.
        seed: fixes them.
        threads: how many trajectories run at once.
        real: np.float32 for single precision, np.float64 for double.
    """
    staged = StagedCircuit(circuit, real)
    chance = circuit.flawless
    draws: Mapping[Trajectory, int] = {}
    if chance < 1:
        draws = draw_faulty_trajectories(circuit, trajectories, np.random.default_rng(seed))
    low, high = (np.ascontiguousarray(part.T, dtype=real) for part in weights)
    faulty = list(draws)

    def weigh(part: list[Trajectory]) -> dict[Trajectory, NDArray[np.float64]]:
        return {
            trajectory: ((distribution.reshape(len(high), len(low)) @ low) * high).sum(axis=0, dtype=np.float64)
            for trajectory, distribution in staged.probabilities(part)
        }

    weighed_values: dict[Trajectory, NDArray[np.float64]] = {}
    with ThreadPoolExecutor(threads) as pool:
        for values in pool.map(weigh, [[()], *(faulty[first::threads] for first in range(threads))]):
            weighed_values |= values
    return TrajectoryValues(
        flawless=weighed_values[()],
        wrong=np.array([weighed_values[trajectory] for trajectory in faulty]).reshape(len(faulty), -1),
        counts=np.array([draws[trajectory] for trajectory in faulty], dtype=np.int64),
        chance=chance,
    )


def _states(problem: SelectionProblem, choices: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The choices as numbers of both registers, bit 0 the first position."""
    if choices is None:
        choices = solve(problem, "auto", seed=0)
    pairs = [start_choice(problem, choices)] if isinstance(choices, Selection) else list(choices)
    numbers = []
    for side, (name, size) in enumerate(zip(("samples", "features"), problem.coupling.shape, strict=True)):
        choice_positions = [check_positions(f"the {name} of a choice", pair[side], size) for pair in pairs]
        numbers.append(np.array([(1 << some).sum() for some in choice_positions]))
    return numbers[0], numbers[1]
