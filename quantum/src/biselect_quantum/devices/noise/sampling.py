"""Shots of the whole circuit under a noise model: what goes wrong is drawn first, then states are run.

All shots in which nothing goes wrong share one state, and so do shots with the same trajectory of errors; only the rest
are run one by one, as matrix product states or as state vectors: whichever should take less time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.devices.noise._vectors import WIDEST, StagedCircuit
from biselect_quantum.devices.noise.noisy_circuit import LABEL, NoisyCircuit, Trajectory, draw_trajectories
from biselect_quantum.shots import Shots, bit_table
from biselect_quantum.simulate.wide.order import annealed_order

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect_quantum.devices.device_circuit import DeviceCircuit

WORKERS = 2  # trajectories at a time
DISCARDED = 1e-8  # weight that a bond may lose at a gate
# what one core took, to choose how a trajectory is run; `benchmarks/bench_trajectories.py` prints both sides
STAGE_SECONDS, TURN_SECONDS, DIAGONAL_SECONDS = 5e-5, 0.4e-9, 1.2e-9  # the last two for each amplitude
RUN_SECONDS, GATE_SECONDS, BOND_SECONDS = 3e-3, 1e-4, 1e-11  # of Aer, the last for each χ³


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyShots:
    """Shots under a noise model.

    Attributes:
        shots: under the problem's variables, in or out of the budgets.
        confusion: of each variable, (variables, is, read): how often it is misread.
        flawless: share of the shots in which no gate erred.
        seconds: what it took.
        label: what this is.
    """

    shots: Shots
    confusion: NDArray[np.float64]
    flawless: float
    seconds: float
    label: str = f"{LABEL}; errors twirled to Paulis"


def noisy_shots(
    circuit: DeviceCircuit,
    shots: int,
    *,
    target: Target | None = None,
    most_trajectories: int | None = None,
    seed: int = 0,
    idle: bool = False,
) -> NoisyShots:
    """Measure a compiled circuit under the recorded errors of its qubits, and decode what was read.

    Args:
        circuit: what would be submitted.
        shots: how many; each in which something goes wrong takes a simulation of its own.
        target: the device with its recorded errors; by default the one that the circuit was compiled for.
        most_trajectories: how many trajectories of errors are run at most, all by default. Shots with errors then share
            them, so their outcomes are as likely as ever, but not independent.
        seed: fixes errors and outcomes.
        idle: whether waiting qubits relax, see `cut_noise`.

    Returns:
        Shots under the problem's variables, and how often each variable is misread.
    """
    from biselect_quantum.devices.noise.device_noise import cut_noise

    begin = perf_counter()
    noisy = cut_noise(circuit, target, idle=idle)
    table, flawless = noisy_table(noisy, shots, seed, most_trajectories)
    return NoisyShots(
        shots=Shots.of_table(table, problem=circuit.problem),
        confusion=noisy.confusion,
        flawless=flawless,
        seconds=perf_counter() - begin,
        label=noisy.twirled_label,
    )


def noisy_table(noisy: NoisyCircuit, shots: int, seed: int, most: int | None = None) -> tuple[NDArray[np.uint8], float]:
    """Variables, one row a shot, and the share of the shots in which no gate erred."""
    if shots < 1:
        raise InputError(f"shots must be at least 1, got {shots}")
    rng = np.random.default_rng(seed)
    trajectories = draw_trajectories(noisy, shots, rng)
    if most is not None:
        trajectories = _shared(trajectories, most, rng)
    if runs_faster_as_vectors(noisy):
        table = _vector_shots(noisy, trajectories, rng)
    else:
        table = _product_state_shots(noisy, trajectories, int(rng.integers(1 << 31)))
    return misread(table, noisy.confusion, rng), trajectories.get((), 0) / shots


def misread(table: NDArray[np.int64], confusion: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.uint8]:
    """What is read of bits, one row a shot; `confusion` is (bits, is, read)."""
    wrong = rng.random(table.shape) < confusion[np.arange(table.shape[1]), table, 1 - table]
    return np.where(wrong, 1 - table, table).astype(np.uint8)


def _shared(trajectories: Mapping[Trajectory, int], most: int, rng: np.random.Generator) -> dict[Trajectory, int]:
    """Few trajectories in place of many: some of the shots with errors, drawn at random, lend theirs to all of them."""
    wrong = [trajectory for trajectory, shots in trajectories.items() if trajectory for _ in range(shots)]
    if len(wrong) <= most:
        return dict(trajectories)
    lenders = rng.choice(len(wrong), most, replace=False)
    lent = Counter(wrong[lenders[number]] for number in rng.integers(most, size=len(wrong)))
    return {
        **{trajectory: shots for trajectory, shots in trajectories.items() if not trajectory},
        **dict(sorted(lent.items())),
    }


def runs_faster_as_vectors(circuit: NoisyCircuit) -> bool:
    """Whether trajectories should take less time as state vectors than as matrix product states, by these estimates.

    A state vector is passed over for every turned qubit and every diagonal of a stage. A matrix product state, in the
    order of the qubits, takes χ³ at each bond that a two-qubit gate spans; the bond's χ is at most 2 for every gate
    across it, and at most 2 for every qubit on its shorter side.
    """
    if circuit.width > WIDEST:
        return False
    staged = StagedCircuit(circuit)
    vectors = STAGE_SECONDS * len(staged.stages) + 2.0**circuit.width * (
        TURN_SECONDS * staged.turns + DIAGONAL_SECONDS * staged.diagonals
    )
    spans = [sorted(step.qubits) for step in circuit.steps if len(step.qubits) == 2]
    across = np.zeros(max(1, circuit.width - 1))
    for first, last in spans:
        across[first:last] += 1
    place = np.arange(len(across))
    bonds = 2.0 ** np.minimum(across, np.minimum(place + 1, len(across) - place))
    products = RUN_SECONDS + sum(GATE_SECONDS + BOND_SECONDS * float((bonds[a:b] ** 3).sum()) for a, b in spans)
    return vectors < products


def _vector_shots(
    circuit: NoisyCircuit, trajectories: Mapping[Trajectory, int], rng: np.random.Generator
) -> NDArray[np.int64]:
    """One row of bits for every shot."""
    bits = np.arange(len(circuit.reads))
    rows: dict[Trajectory, NDArray[np.int64]] = {}
    for trajectory, probabilities in StagedCircuit(circuit).probabilities(trajectories):
        passed = np.cumsum(probabilities, dtype=np.float64)
        states = np.searchsorted(passed, passed[-1] * rng.random(trajectories[trajectory]), side="right")
        rows[trajectory] = (states[:, None] >> bits) & 1
    return np.concatenate([rows[trajectory] for trajectory in trajectories])


def _product_state_shots(noisy: NoisyCircuit, trajectories: Mapping[Trajectory, int], seed: int) -> NDArray[np.int64]:
    """One row of bits for every shot."""
    from qiskit_aer import AerSimulator

    if noisy.width > WIDEST:  # the fewer gates cross a bond, the fewer states it needs
        met = Counter((min(step.qubits), max(step.qubits)) for step in noisy.steps if len(step.qubits) == 2)
        noisy = noisy.along(annealed_order(noisy.width, tuple(met), tuple(met.values())))

    how = {
        "method": "matrix_product_state",
        "matrix_product_state_truncation_threshold": DISCARDED,
        "max_parallel_threads": 1,
        "max_memory_mb": 1 << 20,  # Aer guesses by the number of qubits, which is not what a chain takes
    }
    simulators = [AerSimulator(**how) for _ in range(WORKERS)]

    def run(position: int, trajectory: Trajectory, shots: int) -> NDArray[np.int64]:
        gates, own_seed = noisy.gates(trajectory), (seed + position) % (1 << 31)
        job = simulators[position % WORKERS].run(gates, shots=shots, seed_simulator=own_seed)
        bits, counts = bit_table(job.result().get_counts())
        return np.repeat(bits.astype(np.int64), counts, axis=0)

    with ThreadPoolExecutor(WORKERS) as pool:  # Aer gives the lock back while it works; seeds are each one's own
        return np.concatenate(list(pool.map(run, range(len(trajectories)), trajectories, trajectories.values())))
