"""Sampler: one way to ask for shots, and the two exact simulators that answer it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import unrank
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.execute.measured_bits import Readout
from biselect.hardware.execute.sector_state import check_sector, sector_state
from biselect.simulate.measure import measure
from biselect.simulate.program import Program

EXACT = "exact simulation, not hardware"
NOISE_MODEL = "noise model, not hardware"
HARDWARE = "hardware"


class Sampler(Protocol):
    """Whoever can measure a compiled circuit.

    Attributes:
        name: as `--on` takes it, without anything secret.
        kind: what the shots are: an exact simulation, a noise model, or hardware. Every output says it.
        remark: what else is to be known of the last shots.
    """

    name: str
    kind: str
    remark: str

    def check(self, compiled: Compiled) -> None:
        """Refuse a circuit that cannot be measured here, before a run is fixed for it."""

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Measure; one seed fixes the shots, except on hardware."""


class SectorSampling:
    """Shots of the program from its exact state; budgets are kept by construction."""

    name = "sector"
    kind = EXACT
    remark = ""

    def check(self, compiled: Compiled) -> None:
        """The state must fit into memory."""
        check_sector(compiled.program)

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Measure the program, not the compiled gates."""
        bits, counts = sector_shots(compiled.program, shots, seed)
        return Readout.of_logical(bits, counts, compiled)


class WideSampling:
    """Shots of the program from its charge-block matrix product state, for registers beyond any state vector."""

    name = "wide"
    kind = EXACT
    remark = ""

    def check(self, compiled: Compiled) -> None:
        """The start must be a basis state."""
        from biselect.simulate.wide.order import basis_start

        basis_start(compiled.program)

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Measure the program, not the compiled gates."""
        bits, counts = wide_shots(compiled.program, shots, seed)
        report = _wide_sampler(compiled.program).report
        self.remark = (
            f"largest bond χ = {report.largest_bond}, discarded weight {report.discarded_weight:.1e}, "
            f"norm off by {report.norm_error:.1e}"
        )
        return Readout.of_logical(bits, counts, compiled)


def wide_shots(program: Program, shots: int, seed: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct bit strings over the logical qubits, and how often each was measured."""
    found: tuple[NDArray[Any], NDArray[np.int64]] = _wide_sampler(program).draw(shots, seed)
    return found


def sector_shots(program: Program, shots: int, seed: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct bit strings over the logical qubits, and how often each was measured."""
    rows, columns, counts = measure(_state(program), shots, seed)
    n = program.n_samples
    bits = np.zeros((len(counts), program.qubits), dtype=np.uint8)
    np.put_along_axis(bits, unrank(rows, n, program.k), 1, axis=1)
    np.put_along_axis(bits, n + unrank(columns, program.n_features, program.m), 1, axis=1)
    return bits, counts


@lru_cache(maxsize=1)
def _state(program: Program) -> NDArray[Any]:
    """All repeats of a circuit share one evolution."""
    return sector_state(program)


@lru_cache(maxsize=1)
def _wide_sampler(program: Program) -> Any:
    from biselect.simulate.wide import WideSampler

    # only the sizes of the problem are used: energies come later, from the dense one
    problem = SelectionProblem(coupling=np.zeros((program.n_samples, program.n_features)), k=program.k, m=program.m)
    return WideSampler(problem, program)
