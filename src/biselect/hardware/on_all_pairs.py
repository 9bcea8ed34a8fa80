"""Which mixer and start suit a device that joins every pair of qubits.

There a circuit may begin with all choices at once (a Dicke state) and mix over all pairs, which finds the optimum far
more often than a ring does from a single choice, if nothing goes wrong; and it takes some four times as many gates.
Which is better depends on how often the gates of the device err, so each is trained and weighed by its errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.bundle import REACH, PlacedCircuit, place_circuit

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect.hardware.compiled_circuit import Compiled
    from biselect.qaoa.training import Training

WAYS = ((REACH, "rings"), ("dicke", "rings"), ("dicke", "complete"))  # start and mixer


def likeliest(
    problem: SelectionProblem, device: Target, *, progress: Callable[[str], None], **circuit: Any
) -> tuple[PlacedCircuit, Training]:
    """The circuit whose shots are expected to hit the optimum most often, and its angles.

    A shot in which a gate errs is taken for none, so more gates count for no less than they cost.

    Args:
        problem: the dense problem.
        device: one that joins every pair.
        progress: told the name of each step as it begins.
        **circuit: depth, schedule, path, surrogate and seed, as for `place_circuit`.
    """
    best: tuple[float, PlacedCircuit, Training] | None = None
    for start, registers in WAYS:
        placed = place_circuit(
            problem, device, progress=progress, **{**circuit, "start": start, "registers": registers}
        )
        progress(f"Training angles: {start} start, {registers}")
        trained = placed.train()
        compiled = placed.compile(trained, compare=False).compiled
        expected = (trained.hit_rate or 0.0) * _flawless(compiled, device)
        if best is None or expected > best[0]:
            best = expected, placed, trained
    assert best is not None
    return best[1:]


def _flawless(compiled: Compiled, device: Target) -> float:
    """The chance that no gate errs; 1 where no errors are recorded."""
    from biselect.hardware.noise.model import cut_noise

    try:
        return cut_noise(compiled, device).plain.flawless
    except InputError:
        return 1.0
