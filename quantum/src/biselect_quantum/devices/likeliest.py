"""Of a few circuits for a device, the one whose shots are expected to find the optimum most often.

How well a circuit trains is not known beforehand and differs more from one to the next than their errors do, so each is
trained and weighed by the chance that no gate errs. They differ in the order of the mixer edges: the plain colouring,
or the order that errs least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices.bundle import PlacedCircuit, place_circuit

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect_quantum.circuits.training import Training
    from biselect_quantum.devices.compiled_circuit import Compiled

ORDERS = ("chosen", "plain")


def likeliest(
    problem: SelectionProblem, device: Target, *, progress: Callable[[str], None], **circuit: Any
) -> tuple[PlacedCircuit, Training]:
    """The circuit and its angles; a shot in which a gate errs is taken for none.

    Args:
        problem: the dense problem.
        device: where it is to run.
        progress: told the name of each step as it begins.
        **circuit: depth, schedule, path, surrogate and seed, as for `place_circuit`.
    """
    best: tuple[float, PlacedCircuit, Training] | None = None
    for order in ORDERS:
        placed = place_circuit(problem, device, order=order, progress=progress, **circuit)
        progress(f"Training angles: order {order}")
        trained = placed.train()
        compiled = placed.compile(trained, compare=False).compiled
        expected = (trained.hit_rate or 0.0) * _flawless(compiled, device)
        if best is None or expected > best[0]:
            best = expected, placed, trained
    assert best is not None
    return best[1:]


def _flawless(compiled: Compiled, device: Target) -> float:
    """The chance that no gate errs; 1 where no errors are recorded."""
    from biselect_quantum.devices.noise.model import cut_noise

    try:
        return cut_noise(compiled, device).plain.flawless
    except InputError:
        return 1.0
