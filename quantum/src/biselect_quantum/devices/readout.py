"""Readout correction by shots that the run takes itself, exact inside the budgets.

Two circuits prepare a random half of the qubits in 1, then the other half; what they read gives each bit's confusion
matrix A, (what is, what is read). Inverting it bit by bit gives each measured string x a weight inside the budgets,

    w(x) = Σ over choices y of Π_q A_q⁻¹(x_q, y_q),

a coefficient of one polynomial for each register. The mean of w over the shots is the exact-budget mass as it would be
if nothing were misread, without bias for a known A. A pulse that fails to prepare a 1 looks like a misread 1; what the
device recorded for it is taken off, so that the correction is rather too small than too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect_quantum.devices.analysis import Range
from biselect_quantum.devices.resources import count_resources
from biselect_quantum.shots import CountedBits, Shots

if TYPE_CHECKING:
    from biselect_quantum.devices.device_circuit import DeviceCircuit

DRAWS = 200  # of the bootstrap
MOST_HITS = 20  # different choices whose hit rate is corrected, one by one
WORST = 0.45  # a bit that is misread more often tells nothing


def prepared(width: int, part: int, seed: int) -> NDArray[np.uint8]:
    """What a calibration circuit prepares: a random half of the bits are 1 in part 0, the others in part 1."""
    first = np.zeros(width, dtype=np.uint8)
    first[np.random.default_rng(seed).permutation(width)[: -(-width // 2)]] = 1
    return first if part == 0 else 1 - first


def calibration_circuit(circuit: DeviceCircuit, part: int, seed: int) -> DeviceCircuit:
    """A circuit that prepares a known string on the qubits that `circuit` measures, and reads it as that does."""
    from qiskit.transpiler import PassManager
    from qiskit.transpiler.passes import Optimize1qGatesDecomposition

    gates = circuit.gates.copy_empty_like()
    gates.global_phase = 0.0
    string = prepared(gates.num_clbits, part, seed)
    reads = [step for step in circuit.gates.data if step.operation.name == "measure"]
    for step in reads:
        if string[gates.find_bit(step.clbits[0]).index]:
            gates.x(step.qubits[0])
    if "x" not in circuit.target.operation_names:
        gates = PassManager([Optimize1qGatesDecomposition(circuit.target)]).run(gates)
    for step in reads:
        gates.append(step)
    native = circuit.compiled._replace(gates=gates, resources=count_resources(gates, circuit.target))
    return replace(circuit, native=native)


def pulse_errors(circuit: DeviceCircuit) -> NDArray[np.float64]:
    """How often the pulse that prepares a 1 fails, by what the device recorded; 0 where it recorded nothing.

    Returns:
        One chance for each classical bit.
    """
    gates, target = circuit.gates, circuit.target
    errors = np.zeros(gates.num_clbits)
    pulse = next((name for name in ("x", "rx", "r") if name in target.operation_names), None)
    for step in gates.data if pulse else ():
        if step.operation.name == "measure":
            entry = target[pulse].get((gates.find_bit(step.qubits[0]).index,))
            errors[gates.find_bit(step.clbits[0]).index] = (entry and entry.error) or 0.0
    return errors


class UnreadableBitError(InputError):
    """A bit is misread so often that what it read cannot be corrected."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadoutCalibration:
    """What was read of known strings.

    Attributes:
        prepared: (circuits, bits).
        read: by each circuit.
        pulse_errors: recorded chance that the pulse which prepares a 1 fails, of each bit.
    """

    prepared: NDArray[np.uint8]
    read: Sequence[CountedBits]
    pulse_errors: NDArray[np.float64]

    @property
    def shots(self) -> int:
        """What it cost."""
        return sum(each.shots for each in self.read)

    def confusion(self, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        """Of each classical bit, (bits, is, read); from shots drawn anew among those taken if `rng` is given."""
        ones = np.zeros((2, self.prepared.shape[1]))
        shots = np.zeros_like(ones)
        for string, read in zip(self.prepared, self.read, strict=True):
            counts = read.counts if rng is None else rng.multinomial(read.shots, read.counts / read.shots)
            columns = np.arange(len(string))
            ones[string, columns] += counts @ read.bits
            shots[string, columns] += read.shots
        wrong = np.where(np.arange(2)[:, None] == 0, ones, shots - ones) / shots
        wrong[1] = np.maximum(wrong[1] - self.pulse_errors, 0.0)
        if rng is not None:
            wrong = np.minimum(wrong, WORST)  # shots drawn anew of a bit that passed
        elif wrong.max() > WORST:
            raise UnreadableBitError(
                f"classical bit {int(wrong.max(axis=0).argmax())} was misread in {100 * wrong.max():.0f} % of the "
                "calibration shots, which no correction mends; take another qubit, more shots, or leave readout out"
            )
        return np.array([[1 - wrong[0], wrong[0]], [wrong[1], 1 - wrong[1]]]).transpose(2, 0, 1)


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """Figures as they would be if nothing were misread: estimates, with 95 % intervals, never above 1.

    Intervals are of a bootstrap over shots and over calibration shots.

    Attributes:
        calibration_shots: what they cost, beside the shots themselves.
        misread: mean chance that a bit is misread.
        feasible_rate: exact-budget mass.
        hit_rate: of the measured choices at or below E_BK; one that was never read as such has no part in it. None if
            more than 20 different ones were measured.
    """

    calibration_shots: int
    misread: float
    feasible_rate: Range
    hit_rate: Range | None


def correct(
    shots: Shots, calibration: ReadoutCalibration, *, goal: float, layout: Sequence[int], seed: int = 0
) -> Corrected:
    """What shots say after readout correction.

    Args:
        shots: decoded, of all repeats.
        calibration: of the classical bits.
        goal: energy at or below which a choice hits.
        layout: the classical bit of each variable.
        seed: of the bootstrap.
    """
    problem = shots.problem
    hits = shots.bits[shots.inside]
    hits = hits[problem.bit_energies(hits) <= goal]
    rng = np.random.default_rng(seed)
    estimates = []
    for draw in range(DRAWS + 1):  # the first is the shots as they are
        confusion = calibration.confusion(rng if draw else None)[list(layout)]
        counts = rng.multinomial(shots.shots, shots.counts / shots.shots) if draw else shots.counts
        inverse: NDArray[np.float64] = np.linalg.inv(confusion).astype(np.float64)
        present = counts > 0
        mass = inside_weights(shots.bits[present], inverse, problem)
        hit = string_weights(shots.bits[present], hits[:MOST_HITS], inverse)
        estimates.append([float(counts[present] @ weights) / shots.shots for weights in (mass, hit)])
    masses, rates = np.clip(np.array(estimates).T, 0.0, 1.0)
    confusion = calibration.confusion()
    return Corrected(
        calibration_shots=calibration.shots,
        misread=float((confusion[:, 0, 1] + confusion[:, 1, 0]).mean() / 2),
        feasible_rate=_ranged(masses),
        hit_rate=_ranged(rates) if len(hits) <= MOST_HITS else None,
    )


def _ranged(values: NDArray[np.float64]) -> Range:
    low, high = np.quantile(values[1:], (0.025, 0.975))
    return Range(float(values[0]), float(min(low, values[0])), float(max(high, values[0])))


def inside_weights(
    bits: NDArray[np.uint8], inverse: NDArray[np.float64], problem: SelectionProblem
) -> NDArray[np.float64]:
    """w(x) of each string: what it counts inside budgets and rules; `inverse` is (variables, read, is)."""
    n = problem.n_samples
    of_samples, of_features = problem.sector.blocks
    samples = _side_weights(bits[:, :n], inverse[:n], of_samples)
    return samples * _side_weights(bits[:, n:], inverse[n:], of_features)


def _side_weights(bits: NDArray[np.uint8], inverse: NDArray[np.float64], blocks: Blocks) -> NDArray[np.float64]:
    columns = np.arange(bits.shape[1])
    is_0, is_1 = (inverse[columns, bits, value] for value in (0, 1))  # (strings, variables)
    never = sorted(set(columns.tolist()) - set(blocks.always) - set(blocks.moving))
    weights: NDArray[np.float64] = is_1[:, list(blocks.always)].prod(axis=1) * is_0[:, never].prod(axis=1)
    for members, ones in blocks.parts:
        sums = np.zeros((ones + 1, len(bits)))  # coefficients of Π (is_0 + z·is_1), up to the budget
        sums[0] = 1.0
        for column in members:
            sums[1:] = sums[1:] * is_0[:, column] + sums[:-1] * is_1[:, column]
            sums[0] *= is_0[:, column]
        weights = weights * sums[ones]
    return weights


def string_weights(
    bits: NDArray[np.uint8], strings: NDArray[np.uint8], inverse: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What each string counts for the wanted ones together; `inverse` is (variables, read, is)."""
    columns = np.arange(bits.shape[1])
    weights = np.zeros(len(bits))
    for string in strings:
        weights += inverse[columns, bits, string].prod(axis=1)
    return weights
