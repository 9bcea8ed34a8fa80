"""From a problem to a compiled circuit: of a few the one whose shots are expected to find the optimum most often.

How well a circuit trains is not known beforehand and differs more from one to the next than their errors do, so each is
trained and weighed by the chance that no gate errs. They differ in the order of the mixer edges: the plain colouring,
or the order that errs least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.training import Training
from biselect_quantum.devices.bundle import (
    AUTO,
    DEPTH,
    EDGES,
    SCHEDULE,
    Bundle,
    PlacedCircuit,
    check_trainable,
    known_start,
    place_circuit,
)
from biselect_quantum.devices.targets import load_target

if TYPE_CHECKING:
    from qiskit.transpiler import Target

    from biselect_quantum.devices.compiled_circuit import Compiled

ORDERS = ("chosen", "plain")


def compile_problem(
    problem: SelectionProblem,
    target: Any,
    angles: ArrayLike | Mapping[str, float] | Training | None = None,
    *,
    depth: int | None = None,
    schedule: str | None = None,
    path: str = "y-frame",
    registers: str = "auto",
    start: Any = AUTO,
    keep: float | str = EDGES,
    compare: bool = True,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> Bundle:
    """Place a problem on a device, train angles where none are given, and compile: `place_circuit` to the end.

    Args:
        problem: the dense problem.
        target: as `load_target` takes it.
        angles: the free angles of the schedule, or what training found; None to train them for this very circuit,
            where its sector is small.
        depth: p, how many layers; that of the training, else 3.
        schedule: name of the angle schedule; that of the training, else `fully-grouped`, or `bilinear` for a list.
        path: name of the compilation path, one of `PATHS`.
        registers: as `choose_patch` takes them.
        start: `reach` (of some random choices the one from which the mixer reaches the most others), `random` (for the
            Y-frame, of 8 the one with the cheapest circuit: `choose_start`), `canonical`, `dicke`, a Selection, or a
            choice (samples, features) by their positions in the problem. `auto` is `reach`; where angles are trained
            and registers are left open too, of two orders of the mixer the one that is expected to hit the optimum
            most often (`likeliest`).
        keep: `edges` for the couplings on hardware edges, or the share of the coupling mass Σ|W| that is to stay at
            least, 0 to 1; beyond the edges a SWAP network carries it, on a line.
        compare: whether plain Qiskit compiles the same ansatz too, and a network is held against its edges alone.
        seed: fixes patch, start and transpiler.
        progress: told the name of each step as it begins.
    """
    if isinstance(angles, Training):
        for name, given, known in (("schedule", schedule, angles.schedule), ("depth", depth, angles.depth)):
            if given is not None and given != known:
                raise InputError(f"{name} is {given}, but the angles were trained with {known}; leave {name} out")
        schedule, depth = angles.schedule, angles.depth
    elif angles is not None and depth is None:
        raise InputError("give depth: a list of angles does not say how many layers it is for")
    wanted: dict[str, Any] = {
        "depth": DEPTH if depth is None else depth,
        "schedule": schedule or (SCHEDULE if angles is None else "bilinear"),
        "start": start,
        "seed": seed,
    }
    if angles is not None:  # refuses what does not fit before the work
        dense = AnsatzSpec(problem, mixer="path", **{**wanted, "start": known_start(start)})
        dense.program(angles.angles if isinstance(angles, Training) else angles)
    else:
        check_trainable(problem)
    wanted |= {"path": path, "registers": registers, "progress": progress}
    placed = None
    left_open = isinstance(start, str) and start == AUTO and registers == "auto" and keep == EDGES
    if angles is None and left_open and not (problem.sample_rules or problem.feature_rules):
        placed, angles = likeliest(problem, load_target(target), **wanted)
    if placed is None:
        placed = place_circuit(problem, target, keep=keep, **wanted)
    if angles is None:
        progress("Training angles")
        angles = placed.train()
    return placed.compile(angles, compare=compare, progress=progress)


def likeliest(
    problem: SelectionProblem, device: Target, *, progress: Callable[[str], None], **circuit: Any
) -> tuple[PlacedCircuit, Training]:
    """The circuit and its angles; a shot in which a gate errs is taken for none.

    Args:
        problem: the dense problem.
        device: where it is to run.
        progress: told the name of each step as it begins.
        **circuit: depth, schedule, path and seed, as for `place_circuit`.
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
