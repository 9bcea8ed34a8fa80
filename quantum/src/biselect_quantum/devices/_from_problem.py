"""From a problem to a compiled circuit: of a few the one whose shots are expected to be best.

How well a circuit trains is not known beforehand and differs more from one to the next than their errors do, so each is
trained and weighed by the chance that no gate errs. They differ in the order of the mixer edges: the plain colouring,
or the order that errs least.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import number
from biselect.errors import InputError
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.controls import CIRCUITS, control, recipe
from biselect_quantum.circuits.cost_groups import components
from biselect_quantum.circuits.mixers import edges_inside
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.training import Training
from biselect_quantum.circuits.training.trainer import backend_for
from biselect_quantum.devices._block_positions import UncutTreeError
from biselect_quantum.devices._qubit_lines import choose_line, keep_couplings
from biselect_quantum.devices.device_circuit import TRAINABLE, DeviceCircuit, check_trainable
from biselect_quantum.devices.masks import EDGES, Mask, hardware_mask, masked, retained_mass
from biselect_quantum.devices.mixer_order import choose_start, far_reaching, recoloured
from biselect_quantum.devices.patches import Patch, choose_patch
from biselect_quantum.devices.paths import PATHS, CompilationPath, NetworkPath, YFramePath
from biselect_quantum.devices.placement import Placement, place
from biselect_quantum.devices.targets import load_target

if TYPE_CHECKING:
    from qiskit.transpiler import Target

STARTS = 8  # random starts that are drawn; the one with the cheapest circuit is taken
PATCHES = 8  # tried where rules want groups of connected qubits
DEPTH = 3  # p: with fewer layers many a mixer does not get to the optimum
SCHEDULE = "fully-grouped"  # of angles that are trained for one circuit
REACH = "reach"  # start where the most choices can be reached from
AUTO = "auto"  # of a few circuits the one whose shots are expected to be best
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
) -> DeviceCircuit:
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
            and registers are left open too, of two orders of the mixer the one whose shots are expected to be best
            (`most_promising`).
        keep: `edges` for the couplings on hardware edges, or the share of the coupling mass Σ|W| that is to stay at
            least, 0 to 1; beyond the edges a SWAP network carries it, on a line.
        compare: whether plain Qiskit compiles the same ansatz too, a network is held against its edges alone, and
            controls are trained beside angles that were trained for this circuit.
        seed: fixes patch, start and transpiler.
        progress: told the name of each step as it begins.

    Returns:
        The circuit in the device's own gates, with all that led to it.

    Raises:
        InputError: a device that lacks gates or room, angles of another depth or schedule, or too many choices to train
            on.
    """
    if isinstance(angles, Training):
        for name, value, known_value in (("schedule", schedule, angles.schedule), ("depth", depth, angles.depth)):
            if value is not None and value != known_value:
                raise InputError(f"{name} is {value}, but the angles were trained with {known_value}; leave {name} out")
        schedule, depth = angles.schedule, angles.depth
    elif angles is not None and depth is None:
        raise InputError("give depth: a list of angles does not say how many layers it is for")
    wishes: dict[str, Any] = {
        "depth": DEPTH if depth is None else depth,
        "schedule": schedule or (SCHEDULE if angles is None else "bilinear"),
        "start": start,
        "seed": seed,
    }
    if angles is not None:  # refuses what does not fit before the work
        dense = AnsatzSpec(problem, mixer="path", **{**wishes, "start": known_start(start)})
        dense.program(angles.angles if isinstance(angles, Training) else angles)
    else:
        check_trainable(problem)
    wishes |= {"path": path, "registers": registers, "progress": progress}
    circuit = None
    left_open = isinstance(start, str) and start == AUTO and registers == "auto" and keep == EDGES
    if angles is None and left_open and not (problem.sample_rules or problem.feature_rules):
        circuit, angles = most_promising(problem, load_target(target), **wishes)
    if circuit is None:
        circuit = place_circuit(problem, target, keep=keep, **wishes)
    if angles is None:
        progress("Training angles")
        angles = circuit.train()
    made = circuit.compile(angles, compare=compare, progress=progress)
    if compare and made.training is not None and problem.sector.size <= TRAINABLE:
        progress("Training controls")
        made = made.with_controls(trained_controls(made, made.training))
    return made


def trained_controls(circuit: DeviceCircuit, training: Training) -> dict[str, NDArray[np.float64]]:
    """Angles of a circuit's controls, each trained as the circuit itself was."""
    angles, seed = {}, circuit.seed
    for row in CIRCUITS[:-1]:
        spec = control(circuit.spec, row, seed)
        ansatz = Ansatz.from_spec(spec, backend=backend_for(circuit.problem, spec.depth, training.evaluations))
        angles[row] = ansatz.train(seed=seed, **recipe(training)).angles
    return angles


def most_promising(
    problem: SelectionProblem, device: Target, *, progress: Callable[[str], None], **circuit: Any
) -> tuple[DeviceCircuit, Training]:
    """The circuit and its angles; a shot in which a gate errs is taken for none.

    Args:
        problem: the dense problem.
        device: where it is to run.
        progress: told the name of each step as it begins.
        **circuit: depth, schedule, path and seed, as for `place_circuit`.
    """
    best: tuple[tuple[float, float], DeviceCircuit, Training] | None = None
    for order in ORDERS:
        candidate = place_circuit(problem, device, order=order, progress=progress, **circuit)
        progress(f"Training angles: order {order}")
        trained = candidate.train()
        hits = (trained.hit_rate or 0.0) * _flawless(candidate.compile(trained, compare=False))
        expected = -trained.objective["threshold"], hits  # the lower energy that its own shots found comes first
        if best is None or expected > best[0]:
            best = expected, candidate, trained
    assert best is not None
    return best[1:]


def _flawless(circuit: DeviceCircuit) -> float:
    """The chance that no gate errs; 1 where no errors are recorded."""
    from biselect_quantum.devices.noise.device_noise import cut_noise

    try:
        return cut_noise(circuit).flawless
    except InputError:
        return 1.0


def place_circuit(
    problem: SelectionProblem,
    target: Any,
    *,
    depth: int = DEPTH,
    schedule: str = SCHEDULE,
    path: str = "y-frame",
    registers: str = "auto",
    start: Any = AUTO,
    keep: float | str = EDGES,
    order: str = "chosen",
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> DeviceCircuit:
    """Choose a patch, place the variables and mask the couplings.

    Args:
        problem: the dense problem.
        target: as `load_target` takes it.
        depth: p, how many layers.
        schedule: name of the angle schedule.
        path: name of the compilation path, one of `PATHS`.
        registers: as `choose_patch` takes them.
        start: as `compile_problem` takes it.
        keep: as `compile_problem` takes it.
        order: `chosen` for the mixer's order that errs least (with the Y-frame), `plain` for that of its colouring.
        seed: fixes patch and start.
        progress: told the name of each step as it begins.

    Returns:
        The circuit on its qubits, ready to be trained and compiled; positions are those of the problem.

    Raises:
        InputError: an unknown path, order or start, or a device that lacks gates or room.
    """
    from biselect_quantum.devices.compile import basis_start, fit_for

    if path not in PATHS:
        raise InputError(f"path must be one of {', '.join(PATHS)}, got {path!r}")
    if order not in ("chosen", "plain"):
        raise InputError(f"order must be chosen or plain, got {order!r}")
    least_share = _share(keep)
    way = PATHS[path]
    device = fit_for(way, load_target(target))
    # refuses bad options before the work
    dense = AnsatzSpec(problem, depth, schedule, "path", known_start(start), seed=seed)
    if isinstance(way, YFramePath):
        basis_start(dense.program())

    def circuit(
        placement: Placement, mask: Mask, way: CompilationPath, on_edges: DeviceCircuit | None = None
    ) -> DeviceCircuit:
        patch = placement.patch
        spec, final_path = _spec(dense, patch, masked(problem, mask), start, way, device, order, seed, progress)
        return DeviceCircuit(
            source=spec,
            target=device,
            path=final_path,
            qubits=patch.layout,
            seed=seed,
            placement=placement,
            on_edges=on_edges,
        )

    placement = _placed_on_a_patch(problem, device, registers, seed, progress)
    mask = hardware_mask(placement.patch, problem)
    on_edges = circuit(placement, mask, way)
    if least_share is None or retained_mass(problem, mask)[1] >= least_share:
        return on_edges
    progress("Choosing a line")
    line = choose_line(device, problem.n_samples, problem.n_features, seed=seed)
    progress("Choosing couplings")
    placement, mask = keep_couplings(problem, line, least_share, seed=seed)
    if isinstance(way, YFramePath):
        along = tuple(placement.patch.layout.index(qubit) for qubit in line.layout)
        way = NetworkPath(coloured=way.coloured, quiet=way.quiet, line=along)
    return circuit(placement, mask, way, on_edges=on_edges)


def known_start(start: Any) -> Any:
    """A start as an ansatz without a mixer of its own knows it."""
    return "random" if isinstance(start, str) and start in (REACH, AUTO) else start


def _share(keep: float | str) -> float | None:
    """The share of the coupling mass that is to stay; None for what lies on edges."""
    if keep == EDGES:
        return None
    if isinstance(keep, str) or not 0 <= number("keep", keep) <= 1:
        raise InputError(f"keep must be {EDGES!r} or a share of the coupling mass, 0 to 1; got {keep!r}")
    return float(keep)


def _spec(
    dense: AnsatzSpec,
    patch: Patch,
    sparse: SelectionProblem,
    start: Any,
    way: CompilationPath,
    device: Target,
    order: str,
    seed: int,
    progress: Callable[[str], None],
) -> tuple[AnsatzSpec, CompilationPath]:
    """The circuit of a sparse problem on the patch, from the same start as the dense one unless that is drawn.

    Its order is settled here, so the path that comes with it keeps the order.
    """
    problem = dense.problem
    random_start = isinstance(start, str) and start in ("random", REACH, AUTO)
    mixer: Any = (patch.sample_edges, patch.feature_edges)
    if problem.sample_rules or problem.feature_rules:
        mixer = tuple(edges_inside(edges, side) for edges, side in zip(mixer, problem.sector.blocks, strict=True))
    begin = "random" if random_start else start
    spec = AnsatzSpec(problem, dense.depth, dense.schedule, mixer, begin, groups=components(sparse), seed=seed)
    if way.coloured:
        spec = spec.changed(mixer=recoloured(spec.program()).mixer)
    if random_start and start != "random":
        spec = spec.changed(start=far_reaching(spec, seed))
    if order == "plain" or not (way.coloured and isinstance(way, YFramePath)):
        return spec, way
    progress("Choosing an order")
    more = STARTS if random_start and start == "random" else 1
    others = [spec.changed(start="random", seed=np.random.default_rng([seed, n])) for n in range(1, more)]
    best = choose_start([each.program() for each in (spec, *others)], device, patch.layout, seed=seed)
    return spec.changed(mixer=best.mixer, start=best.choice), replace(way, coloured=False)


def _placed_on_a_patch(
    problem: SelectionProblem, device: Target, registers: str, seed: int, progress: Callable[[str], None]
) -> Placement:
    """Where the items sit; another patch where the groups that rules want fit no parts of its trees."""
    blocks = problem.sector.blocks if problem.sample_rules or problem.feature_rules else None
    for attempt in range(PATCHES):
        progress("Choosing a patch" if not attempt else "Choosing another patch, with room for the groups")
        draws = np.random.default_rng([seed, attempt]) if attempt else seed
        sizes = problem.n_samples, problem.n_features
        patch = choose_patch(device, *sizes, registers=registers, seed=draws, blocks=blocks)
        progress("Placing variables")
        try:
            return place(problem, patch, seed=seed)
        except UncutTreeError:
            if attempt == PATCHES - 1:
                raise
    raise AssertionError
