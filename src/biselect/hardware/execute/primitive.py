"""SectorSampler: exact shots inside the budgets for whoever speaks Qiskit's V2 primitives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import Sector
from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.execute.recognise import program_of
from biselect.hardware.execute.samplers import sector_shots, wide_shots
from biselect.simulate.program import Program

try:
    from qiskit import QuantumCircuit
    from qiskit.primitives import (
        BaseSamplerV2,
        BitArray,
        DataBin,
        PrimitiveJob,
        PrimitiveResult,
        SamplerPubLike,
        SamplerPubResult,
    )
    from qiskit.primitives.containers.sampler_pub import SamplerPub
except ImportError as error:
    raise MissingDependencyError("the sampler needs Qiskit: pip install 'biselect[quantum]'") from error

METHODS = ("auto", "sector", "wide")
LARGEST_SECTOR = 200_000_000  # amplitudes that `auto` still takes as a state


class SectorSampler(BaseSamplerV2):
    """Samples logical circuits that keep both budgets, on their C(N, k)·C(D, m) states instead of 2^(N+D).

    It takes circuits of `build_circuit`, and any other of the same gates: see `program_of`.

    Args:
        n_samples: N, where the circuit's two quantum registers do not say it.
        method: `sector` for the exact state, `wide` for a matrix product state, `auto` for what fits.
        default_shots: where neither the pub nor `run` names them.
        seed: fixes the shots of a run.

    >>> from biselect import SelectionProblem
    >>> from biselect.hardware import build_circuit
    >>> from biselect.qaoa import AnsatzSpec
    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "path", "canonical"), [0.3, 0.4])
    >>> sorted(SectorSampler(seed=0).run([circuit], shots=100).result()[0].data.c.get_counts())[:3]
    ['01001', '01010', '01100']
    """

    def __init__(
        self,
        *,
        n_samples: int | None = None,
        method: str = "auto",
        default_shots: int = 1024,
        seed: int | None = None,
    ) -> None:
        if method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
        self._n_samples = n_samples
        self._method = method
        self._default_shots = default_shots
        self._seed = seed

    def run(
        self, pubs: Iterable[SamplerPubLike], *, shots: int | None = None
    ) -> PrimitiveJob[PrimitiveResult[SamplerPubResult]]:
        """Sample every pub; a circuit that does not keep the budgets is refused, in the job's result."""
        coerced = [SamplerPub.coerce(pub, self._default_shots if shots is None else shots) for pub in pubs]
        job = PrimitiveJob(self._run, coerced)
        job._submit()
        return job

    def _run(self, pubs: list[SamplerPub]) -> PrimitiveResult[SamplerPubResult]:
        rng = np.random.default_rng(self._seed)
        return PrimitiveResult([self._pub(pub, rng) for pub in pubs], metadata={"version": 2})

    def _pub(self, pub: SamplerPub, rng: np.random.Generator) -> SamplerPubResult:
        registers = pub.circuit.cregs
        if not registers:
            raise InputError("the circuit measures nothing; add measurements")
        bound = pub.parameter_values.bind_all(pub.circuit)
        tables: dict[str, NDArray[np.bool_]] = {
            register.name: np.zeros((*bound.shape, pub.shots, register.size), dtype=bool) for register in registers
        }
        for place, circuit in np.ndenumerate(bound):
            measured = self._measured(circuit, pub.shots, rng)
            for register in registers:
                columns = [circuit.find_bit(bit).index for bit in register]
                tables[register.name][place] = measured[:, columns]
        fields: dict[str, Any] = {
            name: BitArray.from_bool_array(table, order="little") for name, table in tables.items()
        }
        return SamplerPubResult(
            DataBin(**fields, shape=pub.shape),
            metadata={"shots": pub.shots, "circuit_metadata": pub.circuit.metadata},
        )

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
        sector = Sector(n_samples=program.n_samples, n_features=program.n_features, k=program.k, m=program.m)
        return sector.size > LARGEST_SECTOR
