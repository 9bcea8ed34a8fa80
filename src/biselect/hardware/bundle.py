"""From a problem and its angles to everything that a run needs: patch, placement, mask, circuit, and how to read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect._version import __version__
from biselect.core import SelectionProblem
from biselect.core.checks import positions
from biselect.errors import InputError
from biselect.hardware.colouring import recoloured
from biselect.hardware.compiled import Compiled
from biselect.hardware.masks import distortion_bound, hardware_mask, masked, retained_mass
from biselect.hardware.patches import Patch, choose_patch
from biselect.hardware.paths import OPT3_CZ, PATHS, STRONGEST_QISKIT, Path, QiskitPath, YFramePath
from biselect.hardware.placement import Placement, place
from biselect.hardware.program import Program, build_program
from biselect.hardware.resources import Resources
from biselect.hardware.surrogates import choose_surrogate
from biselect.hardware.targets import has_rzz, load_target, snapshot
from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.groups import components
from biselect.qaoa.starts import Start
from biselect.qaoa.training.backend import backend_for

if TYPE_CHECKING:
    from qiskit.transpiler import Target

FORMAT = "biselect-circuit-1"
TRAINABLE = 1_000_000  # choices
EVALUATIONS = 300  # of a training
SURROGATES = ("mask", "mean-field")
PACKAGES = ("numpy", "qiskit", "qiskit-ibm-runtime")


@dataclass(frozen=True, kw_only=True, eq=False)
class Bundle:
    """A compiled circuit with all that led to it.

    Attributes:
        problem: the dense problem, in its own order.
        target: the device, with the gates that the path may use.
        patch: where the registers lie.
        placement: who sits where.
        surrogate: what the phases are made of, in placed order.
        temperature: of the mean field in the surrogate's fields; None for the plain mask.
        schedule: name of the angle schedule.
        angles: the free angles by name.
        compiled: the circuit.
        references: the same ansatz by plain Qiskit, by name.
    """

    problem: SelectionProblem
    target: Target
    patch: Patch
    placement: Placement
    surrogate: SelectionProblem
    temperature: float | None
    schedule: str
    angles: dict[str, float]
    compiled: Compiled
    references: dict[str, Resources]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Which couplings of the placed problem are carried."""
        return hardware_mask(self.patch)

    def manifest(self) -> dict[str, Any]:
        """Plain data: what was compiled, from what, and how its bits are to be read."""
        placed = self.placement.placed(self.problem)
        mass, share = retained_mass(placed, self.mask)
        compiled, placement = self.compiled, self.placement
        bits = compiled.program.bits
        return {
            "format": FORMAT,
            "problem_hash": self.problem.digest,
            "surrogate_hash": self.surrogate.digest,
            "target": {"name": compiled.target, "hash": snapshot(self.target)["hash"]},
            "path": {"name": compiled.path.name, **asdict(compiled.path)},
            "seed": compiled.seed,
            "schedule": self.schedule,
            "depth": len(compiled.program.layers),
            "angles": self.angles,
            "start": None if bits is None else list(bits),
            "mixer": {
                name: [list(edge) for group in classes for edge in group]
                for name, classes in zip(("samples", "features"), compiled.program.mixer, strict=True)
            },
            "layout": {
                "initial": list(compiled.initial_layout),
                "final": list(compiled.final_layout),
                "clbits": list(compiled.clbits),
            },
            "placement": {
                "samples": placement.samples.tolist(),
                "features": placement.features.tolist(),
                "mass": placement.mass,
                "bound": placement.bound,
            },
            "patch": self.patch.to_dict(),
            "mask": [
                [int(placement.samples[u]), int(placement.features[v])] for u, v in np.argwhere(self.mask).tolist()
            ],
            "mean_field_temperature": None if self.temperature is None else str(self.temperature),
            "retained_mass": mass,
            "retained_share": share,
            # of the plain mask; a mean field moves the fields too, and keeps no such bound
            "distortion_bound": distortion_bound(placed, self.mask) if self.temperature is None else None,
            "resources": asdict(compiled.resources),
            "references": {name: asdict(resources) for name, resources in self.references.items()},
            "versions": {"biselect": __version__, **_versions()},
        }


def compile_problem(
    problem: SelectionProblem,
    target: Any,
    angles: ArrayLike | Mapping[str, float] | None = None,
    *,
    depth: int,
    schedule: str = "bilinear",
    path: str = "y-frame",
    registers: str = "trees",
    start: Any = "random",
    surrogate: str = "mask",
    compare: bool = True,
    seed: int = 0,
    progress: Callable[[str], None] = lambda step: None,
) -> Bundle:
    """Choose a patch, place the variables, mask the couplings and compile.

    Args:
        problem: the dense problem.
        target: as `load_target` takes it.
        angles: the free angles of the schedule; None to train them for this very circuit, where its sector is small.
        depth: p, how many layers.
        schedule: name of the angle schedule.
        path: name of the compilation path, one of `PATHS`.
        registers: `trees` or `paths`.
        start: `random`, `canonical`, `dicke`, a Selection, or a choice (samples, features); of the original variables.
        surrogate: `mask` for the plain hardware mask, `mean-field` for `choose_surrogate`.
        compare: whether plain Qiskit compiles the same ansatz too.
        seed: fixes patch, start and transpiler.
        progress: told the name of each step as it begins.
    """
    from biselect.hardware.compile import basis_start, compile_circuit, fit_for

    if path not in PATHS:
        raise InputError(f"path must be one of {', '.join(PATHS)}, got {path!r}")
    if surrogate not in SURROGATES:
        raise InputError(f"surrogate must be one of {', '.join(SURROGATES)}, got {surrogate!r}")
    way = PATHS[path]
    device = fit_for(way, load_target(target))
    dense = build_program(problem, depth, schedule, "path", start, seed=seed)  # refuses bad options before the work
    if isinstance(way, YFramePath):
        basis_start(dense)
    if angles is not None:
        dense.bind(angles)
    progress("Choosing a patch")
    patch = choose_patch(device, problem.n_samples, problem.n_features, registers=registers, seed=seed)
    progress("Placing variables")
    placement = place(problem, patch, seed=seed)
    placed, mask = placement.placed(problem), hardware_mask(patch)
    chosen = choose_surrogate(placed, mask, seed=seed) if surrogate == "mean-field" else None
    sparse = masked(placed, mask) if chosen is None else chosen.problem
    program = build_program(
        sparse,
        depth,
        schedule,
        (patch.sample_edges, patch.feature_edges),
        start if start in ("random", "dicke") else _placed_start(dense, placement),
        seed=seed,
    )
    if angles is None:
        progress("Training angles")
        angles = _trained(placed, sparse, recoloured(program) if way.coloured else program, schedule, seed)
    values = program.in_order(angles)
    references = {}
    for name, other in _references(way, device).items() if compare else ():
        progress(f"Compiling by {name}")
        references[name] = compile_circuit(program, device, patch.layout, other, angles=values, seed=seed).resources
    progress(f"Compiling by {path}")
    compiled = compile_circuit(program, device, patch.layout, way, angles=values, seed=seed)
    return Bundle(
        problem=problem,
        target=device,
        patch=patch,
        placement=placement,
        surrogate=sparse,
        temperature=None if chosen is None else chosen.temperature,
        schedule=schedule,
        angles=dict(zip(program.angle_names, values.tolist(), strict=True)),
        compiled=compiled,
        references=references,
    )


def _trained(
    problem: SelectionProblem, sparse: SelectionProblem, program: Program, schedule: str, seed: int
) -> NDArray[np.float64]:
    """Angles for a circuit as it will run: its couplings, mixer order and start, by the CVaR of the dense objective."""
    if problem.sector.size > TRAINABLE:
        raise InputError(
            f"its {problem.sector.size:.1e} choices are too many to train angles on here (up to {TRAINABLE:.0e}); "
            "give angles"
        )
    depth, n, bits = len(program.layers), program.n_samples, program.bits
    start: Start = "dicke"
    if bits is not None:
        start = np.flatnonzero(bits[:n]).tolist(), np.flatnonzero(bits[n:]).tolist()
    backend = backend_for(problem, depth, EVALUATIONS)
    ansatz = Ansatz(problem, depth, schedule, program.mixer, start, groups=components(sparse), backend=backend)
    return ansatz.train(objective="cvar", evaluations=EVALUATIONS, seed=seed).angles


def layout_of(manifest: Mapping[str, Any], problem: SelectionProblem) -> tuple[list[int], Placement]:
    """What `decode_counts` needs, from the manifest of a problem's circuit: classical bits and placement."""
    try:
        known = manifest["problem_hash"]
        stored, clbits = manifest["placement"], list(manifest["layout"]["clbits"])
        placement = Placement(
            samples=positions("placed samples", stored["samples"], len(stored["samples"])),
            features=positions("placed features", stored["features"], len(stored["features"])),
            mass=float(stored["mass"]),
            bound=float(stored["bound"]),
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"the manifest holds no layout ({error}); bits cannot be decoded without one") from error
    if known != problem.digest:
        raise InputError("the circuit was compiled for another problem; its bits stand for other names")
    return clbits, placement


def _placed_start(dense: Program, placement: Placement) -> tuple[Any, Any]:
    """The basis state of a program in the original order, where its variables sit."""
    bits, n = np.array(dense.bits, dtype=bool), dense.n_samples
    return np.flatnonzero(bits[:n][placement.samples]), np.flatnonzero(bits[n:][placement.features])


def _references(path: Path, target: Target) -> dict[str, Path]:
    """Plain Qiskit on the same ansatz: level 3 as it comes, and the strongest we know of."""
    same_order = QiskitPath(
        fractional=OPT3_CZ.fractional, fused=OPT3_CZ.fused, coloured=path.coloured, late=OPT3_CZ.late
    )
    found: dict[str, Path] = {"Qiskit Opt-3 CZ": same_order}
    if has_rzz(target) and path.coloured:
        found["strongest plain Qiskit"] = STRONGEST_QISKIT
    return {name: way for name, way in found.items() if way != path}


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # an optional part that this circuit did without
            continue
    return found
