"""SectorSampler: exact shots inside the budgets for whoever speaks Qiskit's V2 primitives.

It reads logical circuits as programs: `program_of` says which Qiskit circuits keep two budgets, and what they do.
"""

from collections.abc import Iterable, Sequence
from math import isclose, isfinite, pi, remainder
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum import conventions
from biselect_quantum.devices.execution.exact_shots import sector_of, sector_shots, wide_shots
from biselect_quantum.devices.qiskit_circuits import prepare_dicke
from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, Program, wrapped

try:
    from qiskit import QuantumCircuit, primitives
    from qiskit.circuit import CircuitInstruction
    from qiskit.primitives.containers.sampler_pub import SamplerPub
except ImportError as error:
    raise MissingDependencyError("the sampler needs Qiskit: pip install ./quantum") from error

METHODS = ("auto", "sector", "wide")
LARGEST_SECTOR = 200_000_000  # amplitudes that `auto` still takes as a state
CLOSE = 1e-9  # between angles of one and the same gate


class SectorSampler(primitives.BaseSamplerV2):
    """Samples logical circuits that keep both budgets, on their C(N, k)·C(D, m) states instead of 2^(N+D).

    It takes circuits of `build_circuit`, and any other of the same gates: see `program_of`.

    Args:
        n_samples: N, where the circuit's two quantum registers do not say it.
        method: `sector` for the exact state, `wide` for a matrix product state, `auto` for what fits.
        default_shots: where neither the pub nor `run` names them.
        seed: fixes the shots of a run.

    >>> from biselect import SelectionProblem
    >>> from biselect_quantum.devices import build_circuit
    >>> from biselect_quantum.circuits import AnsatzSpec
    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "path", "canonical"), [0.3, 0.4])
    >>> sorted(SectorSampler(seed=0).run([circuit], shots=100).result()[0].data.c.get_counts())[:3]
    ['01001', '01010', '01100']
    """

    def __init__(
        self, *, n_samples: int | None = None, method: str = "auto", default_shots: int = 1024, seed: int | None = None
    ) -> None:
        if method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        self._n_samples = n_samples
        self._method = method
        self._default_shots = default_shots
        self._seed = seed

    @property
    def seed(self) -> int | None:
        """What fixes the shots of a run; None for others every time."""
        return self._seed

    def run(
        self, pubs: Iterable[primitives.SamplerPubLike], *, shots: int | None = None
    ) -> primitives.PrimitiveJob[primitives.PrimitiveResult[primitives.SamplerPubResult]]:
        """Sample every pub; a circuit that does not keep the budgets is refused, in the job's result."""
        coerced = [SamplerPub.coerce(pub, self._default_shots if shots is None else shots) for pub in pubs]
        job = primitives.PrimitiveJob(self._run, coerced)
        job._submit()
        return job

    def _run(self, pubs: list[SamplerPub]) -> primitives.PrimitiveResult[primitives.SamplerPubResult]:
        rng = np.random.default_rng(self._seed)
        return primitives.PrimitiveResult([self._pub(pub, rng) for pub in pubs], metadata={"version": 2})

    def _pub(self, pub: SamplerPub, rng: np.random.Generator) -> primitives.SamplerPubResult:
        registers = pub.circuit.cregs
        if not registers:
            raise InputError("the circuit measures nothing; add measurements")
        bound = pub.parameter_values.bind_all(pub.circuit)
        measured = np.zeros((*bound.shape, pub.shots, pub.circuit.num_clbits), dtype=bool)
        for place, circuit in np.ndenumerate(bound):
            measured[place] = self._measured(circuit, pub.shots, rng)
        columns = {register.name: [pub.circuit.find_bit(bit).index for bit in register] for register in registers}
        fields: dict[str, Any] = {
            name: primitives.BitArray.from_bool_array(measured[..., bits], order="little")
            for name, bits in columns.items()
        }
        facts = {"shots": pub.shots, "circuit_metadata": pub.circuit.metadata}
        return primitives.SamplerPubResult(primitives.DataBin(**fields, shape=pub.shape), metadata=facts)

    def _measured(self, circuit: QuantumCircuit, shots: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Classical bits, one row a shot, in random order."""
        program, reads = program_of(circuit, self._n_samples)
        bits, counts = (wide_shots if self._is_wide(program) else sector_shots)(program, shots, rng)
        table = np.zeros((shots, circuit.num_clbits), dtype=np.uint8)
        everyone = rng.permutation(np.repeat(bits, counts, axis=0))
        for bit, qubit in reads.items():
            table[:, bit] = everyone[:, qubit]
        return table

    def _is_wide(self, program: Program) -> bool:
        if self._method != "auto":
            return self._method == "wide"
        return sector_of(program).size > LARGEST_SECTOR


def program_of(circuit: QuantumCircuit, n_samples: int | None = None) -> tuple[Program, dict[int, int]]:
    """The program of a bound logical circuit, and the qubit that each classical bit measures.

    A circuit is a start, then RZ, RZZ and XXPlusYY(θ, 0) in any order, then measurements. The start is made of X gates,
    or prepares a Dicke state in both registers with the gates of `prepare_dicke`. Of two quantum registers the first
    holds the samples, the second the features; a circuit with another division needs `n_samples`.
    """
    n = _samples(circuit, n_samples)
    steps = [step for step in circuit.data if step.operation.name != "barrier"]
    qubits = [_places(circuit, step) for step in steps]
    prefix, budgets = _dicke_start(steps, qubits, n, circuit.num_qubits)
    bits = [0] * circuit.num_qubits
    ops: list[Op] = []
    reads: dict[int, int] = {}
    measured: set[int] = set()  # not reads' values: a classical bit may be written twice, and keeps the second qubit
    touched: set[int] = set()
    for number in range(prefix, len(steps)):
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
    start = tuple(bits) if budgets is None else None
    sizes = {"n_samples": n, "n_features": circuit.num_qubits - n, "k": k, "m": m}
    return Program(**sizes, bits=start, layers=(tuple(ops),)), reads


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
        return Op(kind=XY, qubits=places, angle=wrapped(angles[0] / float(conventions.xx_plus_yy_angle(1.0))))
    return Op(kind=RZ if name == "rz" else RZZ, qubits=places, angle=angles[0])


def _dicke_start(
    steps: Sequence[CircuitInstruction], qubits: Sequence[tuple[int, ...]], n: int, total: int
) -> tuple[int, tuple[int, int] | None]:
    """How many gates prepare a Dicke state, and its budgets; (0, None) for another start."""
    first, k = _longest_dicke(steps, qubits, range(n), total)
    second, m = _longest_dicke(steps[first:], qubits[first:], range(n, total), total)
    prefix = first + second
    spread = any(step.operation.name == "cx" for step in steps[:prefix])
    return (prefix, (k, m)) if spread and k and m else (0, None)


def _longest_dicke(
    steps: Sequence[CircuitInstruction], qubits: Sequence[tuple[int, ...]], register: range, total: int
) -> tuple[int, int]:
    """The longest preparation that the gates begin with, and its budget; 0 and 0 if none."""
    best = (0, 0)
    for ones in range(1, len(register) + 1):
        pattern = QuantumCircuit(total)
        prepare_dicke(pattern, register, ones)
        size = len(pattern.data)
        if best[0] < size <= len(steps) and all(
            _same(step.operation, other.operation) and places == _places(pattern, other)
            for step, places, other in zip(steps, qubits, pattern.data, strict=False)
        ):
            best = (size, ones)
    return best


def _places(circuit: QuantumCircuit, step: CircuitInstruction) -> tuple[int, ...]:
    return tuple(circuit.find_bit(qubit).index for qubit in step.qubits)


def _same(one: Any, other: Any) -> bool:
    return one.name == other.name and all(
        isclose(float(a), float(b), abs_tol=CLOSE) for a, b in zip(one.params, other.params, strict=True)
    )
