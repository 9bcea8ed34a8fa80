"""Logical circuits as programs: which Qiskit circuits keep two budgets, and what they do."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isfinite, pi, remainder
from typing import TYPE_CHECKING, Any

from qiskit import QuantumCircuit

from biselect.core import conventions
from biselect.errors import InputError
from biselect.hardware.circuits import prepare_dicke
from biselect.simulate.program import RZ, RZZ, XY, Op, Program, wrapped

if TYPE_CHECKING:
    from qiskit.circuit import CircuitInstruction

CLOSE = 1e-9  # between angles of one and the same gate
_TURN = float(conventions.xx_plus_yy_angle(1.0))


def program_of(circuit: QuantumCircuit, n_samples: int | None = None) -> tuple[Program, dict[int, int]]:
    """The program of a bound logical circuit, and the qubit that each classical bit measures.

    A circuit is a start, then RZ, RZZ and XXPlusYY(θ, 0) in any order, then measurements. The start is made of X gates,
    or prepares a Dicke state in both registers with the gates of `prepare_dicke`.

    Args:
        circuit: its first quantum register holds the samples, its second the features.
        n_samples: N, for a circuit with another division into registers.
    """
    n = _samples(circuit, n_samples)
    steps = [step for step in circuit.data if step.operation.name != "barrier"]
    where = {bit: place for place, bit in enumerate(circuit.qubits)}
    qubits = [tuple(where[qubit] for qubit in step.qubits) for step in steps]
    done, budgets = _dicke_start(steps, qubits, n, circuit.num_qubits)
    bits = [0] * circuit.num_qubits
    ops: list[Op] = []
    reads: dict[int, int] = {}
    measured: set[int] = set()  # not reads' values: a classical bit may be written twice, and keeps the second qubit
    touched: set[int] = set()
    for number in range(done, len(steps)):
        step, places = steps[number], qubits[number]
        name, angles = step.operation.name, step.operation.params
        gate = f"gate {number + 1} ({name} on {', '.join(map(str, places))})"
        if name == "measure":
            reads[circuit.find_bit(step.clbits[0]).index] = places[0]
            measured.add(places[0])
        elif measured & set(places):
            raise InputError(f"{gate} follows the measurement of its qubit; measure at the end only")
        elif name == "x" and budgets is None and places[0] not in touched:
            bits[places[0]] ^= 1
        elif name == "rzz" and (places[0] < n) == (places[1] < n):
            raise InputError(f"{gate} lies within one register; phases join the two registers")
        elif name in ("rz", "rzz", "xx_plus_yy"):
            ops.append(_op(name, places, [float(angle) for angle in angles], gate))
            touched |= set(places)
        else:
            raise InputError(
                f"{gate} is none that keeps the budgets as this sampler knows them: X gates first or a Dicke start, "
                "then rz, rzz and xx_plus_yy, then measurements. Sample the logical circuit, not a transpiled one"
            )
    k, m = budgets or (sum(bits[:n]), sum(bits[n:]))
    program = Program(
        n_samples=n,
        n_features=circuit.num_qubits - n,
        k=k,
        m=m,
        bits=tuple(bits) if budgets is None else None,
        layers=(tuple(ops),),
    )
    return program, reads


def _samples(circuit: QuantumCircuit, n_samples: int | None) -> int:
    if n_samples is None:
        if len(circuit.qregs) != 2 or sum(map(len, circuit.qregs)) != circuit.num_qubits:
            raise InputError(
                "the circuit must have two quantum registers, samples first, or n_samples must be given to say which "
                "qubits are samples"
            )
        return len(circuit.qregs[0])
    if not 0 < n_samples < circuit.num_qubits:
        raise InputError(f"n_samples must lie between 1 and {circuit.num_qubits - 1}, got {n_samples}")
    return n_samples


def _op(name: str, places: tuple[int, ...], angles: Sequence[float], gate: str) -> Op:
    if not all(map(isfinite, angles)):
        raise InputError(f"{gate}: its angles must be finite, got {', '.join(map(str, angles))}")
    if name == "xx_plus_yy":
        if not isclose(remainder(angles[1], 2 * pi), 0.0, abs_tol=CLOSE):
            raise InputError(f"{gate}: its second angle must be 0, got {angles[1]:g}")
        return Op(kind=XY, qubits=places, angle=wrapped(angles[0] / _TURN))
    return Op(kind=RZ if name == "rz" else RZZ, qubits=places, angle=angles[0])


def _dicke_start(
    steps: Sequence[CircuitInstruction], qubits: Sequence[tuple[int, ...]], n: int, total: int
) -> tuple[int, tuple[int, int] | None]:
    """How many gates prepare a Dicke state, and its budgets; (0, None) for another start."""
    first, k = _longest_dicke(steps, qubits, range(n), total)
    second, m = _longest_dicke(steps[first:], qubits[first:], range(n, total), total)
    done = first + second
    spread = any(step.operation.name == "cx" for step in steps[:done])
    return (done, (k, m)) if spread and k and m else (0, None)


def _longest_dicke(
    steps: Sequence[CircuitInstruction], qubits: Sequence[tuple[int, ...]], register: range, total: int
) -> tuple[int, int]:
    """The longest preparation that the gates begin with, and its budget; 0 and 0 if none."""
    best = (0, 0)
    for ones in range(1, len(register) + 1):
        wanted = QuantumCircuit(total)
        prepare_dicke(wanted, register, ones)
        size = len(wanted.data)
        if best[0] < size <= len(steps) and all(
            _same(step.operation, other.operation) and places == tuple(wanted.find_bit(q).index for q in other.qubits)
            for step, places, other in zip(steps, qubits, wanted.data, strict=False)
        ):
            best = (size, ones)
    return best


def _same(one: Any, other: Any) -> bool:
    return one.name == other.name and all(
        isclose(float(a), float(b), abs_tol=CLOSE) for a, b in zip(one.params, other.params, strict=True)
    )
