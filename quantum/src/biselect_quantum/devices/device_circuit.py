"""A circuit on a device: placed on qubits, then compiled to the device's own gates.

`PlacedCircuit` is the circuit before its angles are known. `DeviceCircuit` is the compiled one: its native gates with
the layouts that its bits are read by (`CompiledCircuit`), all that led to it, its costs and its manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import SelectionProblem
from biselect.core.sector import count_in_words
from biselect.errors import InputError
from biselect.options import ANY, spell
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.training import Training
from biselect_quantum.circuits.training.trainer import backend_for
from biselect_quantum.devices.compiled_circuit import CompiledCircuit, Resources
from biselect_quantum.devices.masks import Mask, distortion_bound, retained_mass
from biselect_quantum.devices.patches import Patch
from biselect_quantum.devices.paths import OPT3_CZ, STRONGEST_QISKIT, CompilationPath
from biselect_quantum.devices.placement import Placement
from biselect_quantum.devices.targets import has_rzz, snapshot

if TYPE_CHECKING:
    from qiskit.transpiler import Target


FORMAT = "biselect-circuit-3"
TRAINABLE = 1_000_000  # choices
EVALUATIONS = 300, 2000  # of a training: at least, and at most
WORK = 2e8  # evaluations times choices, about: a large sector gets fewer evaluations
SIDES = ("samples", "features")
PACKAGES = ("numpy", "qiskit", "qiskit-ibm-runtime")


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCircuit:
    """A compiled circuit with all that led to it.

    Attributes:
        problem: the dense problem. Its order is that of everything here.
        target: the device, with the gates that the path may use.
        placement: where the items sit.
        mask: which couplings are carried.
        surrogate: what the phases are made of.
        schedule: name of the angle schedule.
        angles: the free angles by name.
        compiled: the circuit.
        references: the same ansatz by plain Qiskit, by name.
        on_edges: beside a network, what the circuit costs that keeps hardware edges alone, and what it retains.
        training: how the angles were found, if for this very circuit.
        notes: what a reader should know, such as that the angles were trained for another circuit.
    """

    problem: SelectionProblem
    target: Target
    placement: Placement
    mask: Mask
    surrogate: SelectionProblem
    schedule: str
    angles: dict[str, float]
    compiled: CompiledCircuit
    references: dict[str, Resources]
    on_edges: tuple[Resources, float] | None = None
    training: Training | None = None
    notes: tuple[str, ...] = ()

    @property
    def patch(self) -> Patch:
        """The qubits; position i is the problem's item i."""
        return self.placement.patch

    @property
    def retained_share(self) -> float:
        """ρ_SF, the share of Σ|W| that the circuit carries, from 0 to 1."""
        return retained_mass(self.problem, self.mask)[1]

    def manifest(self) -> dict[str, Any]:
        """Describe as plain data what was compiled, from what, and how its bits are to be read.

        Returns:
            JSON data. Layouts are lists over logical qubits: sample i is i, feature j is N + j; `clbits` are classical
            bits, `initial` and `final` physical qubits.
        """
        mass, share = retained_mass(self.problem, self.mask)
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
                for name, classes in zip(SIDES, compiled.program.mixer, strict=True)
            },
            "layout": {
                "initial": list(compiled.initial_layout),
                "final": list(compiled.final_layout),
                "clbits": list(compiled.clbits),
            },
            "placement": {"mass": placement.mass, "bound": placement.bound},
            "patch": self.patch.to_dict(),
            "mask": np.argwhere(self.mask).tolist(),
            "retained_mass": mass,
            "retained_share": share,
            "distortion_bound": distortion_bound(self.problem, self.mask),
            "resources": asdict(compiled.resources),
            "references": {name: asdict(resources) for name, resources in self.references.items()},
            "on_edges": None
            if self.on_edges is None
            else {"resources": asdict(self.on_edges[0]), "retained_share": self.on_edges[1]},
            "versions": installed(PACKAGES),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedCircuit:
    """A circuit on the qubits of a device, before its angles are known.

    Placing decides which qubit an item sits on and never renumbers the items: `spec` and all that is made of it take
    and return the positions of `problem`.

    Attributes:
        problem: the dense problem. Its order is that of everything here.
        target: the device, with the gates that the path may use.
        path: how it will be compiled.
        placement: where the items sit.
        mask: which couplings are carried.
        surrogate: what the phases are made of.
        spec: the circuit as it will run: couplings, mixer edges in their order, start; its energy is the dense one.
        seed: of patch, start and transpiler.
        on_edges: beside a network, the circuit that keeps what lies on hardware edges.
    """

    problem: SelectionProblem
    target: Target
    path: CompilationPath
    placement: Placement
    mask: Mask
    surrogate: SelectionProblem
    spec: AnsatzSpec
    seed: int
    on_edges: PlacedCircuit | None = None

    @property
    def patch(self) -> Patch:
        """The qubits; position i is the problem's item i."""
        return self.placement.patch

    def train(self) -> Training:
        """Train angles for this very circuit by its hits of the dense optimum; train on `spec` for another objective.

        Returns:
            Angles in the convention of `Ansatz`.
        """
        size = check_trainable(self.problem)
        evaluations = int(np.clip(min(size, WORK / size), *EVALUATIONS))
        backend = backend_for(self.problem, self.spec.depth, evaluations)
        ansatz = Ansatz.from_spec(self.spec, backend=backend)
        return ansatz.train(objective="optimum", evaluations=evaluations, seed=self.seed)

    def differences(self, trained: Training) -> list[str]:
        """Name the parts in which this circuit differs from the one that angles were trained for; for people."""
        return self.spec.differences(trained.circuit)

    def compile(
        self,
        angles: ArrayLike | Mapping[str, float] | Training,
        *,
        compare: bool = True,
        progress: Callable[[str], None] = lambda step: None,
    ) -> DeviceCircuit:
        """Compile the circuit to the device's own gates.

        Args:
            angles: the free angles of the schedule, in their order or by name, or what training found.
            compare: whether plain Qiskit compiles the same ansatz too.
            progress: told the name of each step as it begins.

        Returns:
            The circuit with layouts, costs and, where it was trained for this circuit, the training.

        Raises:
            InputError: angles of another size.
        """
        from biselect_quantum.devices.compile import compile_circuit

        trained = angles if isinstance(angles, Training) else None
        program = self.spec.program()
        values = program.in_order(angles.angles if isinstance(angles, Training) else angles)

        def compiled(name: str, path: CompilationPath) -> CompiledCircuit:
            progress(f"Compiling by {name}")
            return compile_circuit(program, self.target, self.patch.layout, path, angles=values, seed=self.seed)

        others = _references(self.path, self.target) if compare else {}
        references = {name: compiled(name, path).resources for name, path in others.items()}
        beside = None
        if compare and self.on_edges is not None:
            simple = self.on_edges.compile(values, compare=False)
            beside = simple.compiled.resources, simple.retained_share
        differ = [] if trained is None else self.differences(trained)
        return DeviceCircuit(
            problem=self.problem,
            target=self.target,
            placement=self.placement,
            mask=self.mask,
            surrogate=self.surrogate,
            schedule=self.spec.schedule.name,
            angles=dict(zip(program.angle_names, values.tolist(), strict=True)),
            compiled=compiled(self.path.name, self.path),
            references=references,
            on_edges=beside,
            training=None if differ else trained,
            notes=(f"these angles were trained for another circuit: {'; '.join(differ)}",) if differ else (),
        )


def layout_of(manifest: Mapping[str, Any], problem: SelectionProblem) -> list[int]:
    """Read the layout that `decode_counts` needs from the manifest of a problem's circuit.

    Args:
        manifest: of `DeviceCircuit.manifest`, or read from `manifest.json`.
        problem: the dense problem that was compiled.

    Returns:
        The classical bit of each logical qubit: samples first, then features.

    Raises:
        InputError: a manifest without layout, of another problem or of another release.
    """
    try:
        problem_hash, clbits = manifest["problem_hash"], list(manifest["layout"]["clbits"])
    except (KeyError, TypeError) as error:
        raise InputError(f"the manifest holds no layout ({error}); bits cannot be decoded without one") from error
    if problem_hash != problem.digest:
        raise InputError("the circuit was compiled for another problem; its bits stand for other names")
    if manifest.get("format") != FORMAT:
        raise InputError(f"the manifest is not of {FORMAT}: its bits may stand for other names; compile again")
    return clbits


def mask_of(manifest: Mapping[str, Any], problem: SelectionProblem) -> Mask:
    """Which couplings of a problem its stored circuit carries."""
    mask = np.zeros(problem.coupling.shape, dtype=bool)
    for sample, feature in manifest["mask"]:
        mask[index(sample), index(feature)] = True
    return mask


def _references(path: CompilationPath, target: Target) -> dict[str, CompilationPath]:
    """Plain Qiskit on the same ansatz: level 3 as it comes, and the strongest we know of."""
    plain = "Qiskit Opt-3 CZ" if "cz" in target.operation_names else "Qiskit Opt-3"
    paths: dict[str, CompilationPath] = {plain: replace(OPT3_CZ, coloured=path.coloured)}
    if has_rzz(target):
        paths["strongest plain Qiskit"] = replace(STRONGEST_QISKIT, coloured=path.coloured)
    return {name: way for name, way in paths.items() if way != path}


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Versions of ours and of the packages that take part."""
    versions = {}
    for package in ("biselect", "biselect-quantum", *packages):
        with suppress(PackageNotFoundError):  # an optional part that is done without
            versions[package] = version(package)
    return versions


def check_trainable(problem: SelectionProblem) -> int:
    """The choices of a problem; refuses more than angles are trained on."""
    size = problem.sector.size
    if size > TRAINABLE:
        raise InputError(
            f"its {count_in_words(size)} choices are too many to train angles on here ({TRAINABLE:,} at most); give "
            f"{spell(angles=ANY)} of a smaller problem of the same kind, or some chosen by shots "
            "(biselect_quantum.circuits.angle_selection)"
        )
    return size
