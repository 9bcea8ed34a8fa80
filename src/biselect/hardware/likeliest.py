"""Of a few circuits for a device, the one whose shots are expected to find the optimum most often.

How well a circuit trains is not known beforehand and differs more from one to the next than their errors do, so each is
trained and weighed by the chance that no gate errs. On a chip they differ in the order of the mixer edges: the plain
colouring, or the order that errs least. On a device that joins every pair of qubits a circuit may also begin with all
choices at once (a Dicke state) and mix over all pairs, which takes some four times as many gates as a ring.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.bundle import REACH, PlacedCircuit, place_circuit
from biselect.hardware.calibration import calibration

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect.hardware.compiled_circuit import Compiled
    from biselect.qaoa.training import Training

ON_A_CHIP: tuple[dict[str, Any], ...] = ({"order": "chosen"}, {"order": "plain"})
ON_ALL_PAIRS: tuple[dict[str, Any], ...] = (
    {"start": REACH, "registers": "rings"},
    {"start": "dicke", "registers": "rings"},
    {"start": "dicke", "registers": "complete"},
)


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
    for way in ON_ALL_PAIRS if calibration(device).joins_all_pairs else ON_A_CHIP:
        placed = place_circuit(problem, device, progress=progress, **{**circuit, **way})
        progress(f"Training angles: {', '.join(f'{name} {value}' for name, value in way.items())}")
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
