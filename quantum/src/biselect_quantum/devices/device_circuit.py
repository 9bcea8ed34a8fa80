"""DeviceCircuit: a circuit on the qubits of a device, from the day it is placed to the day its shots are read.

Placing decides which qubit an item sits on and never renumbers the items: whatever belongs to a device circuit is in
the order of its problem. Compiling adds the device's own gates, and with them the layout that counts are decoded by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import SelectionProblem
from biselect.core.sector import count_in_words
from biselect.core.untrusted import seal
from biselect.errors import InputError
from biselect.options import ANY, spell
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.controls import control
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.training import Training
from biselect_quantum.circuits.training.trainer import OPTIONS, backend_for
from biselect_quantum.devices.layout import Layout, Qubit
from biselect_quantum.devices.masks import Mask, distortion_bound, masked, retained_mass
from biselect_quantum.devices.mixer_order import recoloured
from biselect_quantum.devices.patches import Patch
from biselect_quantum.devices.paths import OPT3_CZ, STRONGEST_QISKIT, Y_FRAME, CompilationPath
from biselect_quantum.devices.placement import Placement
from biselect_quantum.devices.resources import Resources, added_by
from biselect_quantum.devices.targets import has_rzz, snapshot
from biselect_quantum.options import TrainingOptions
from biselect_quantum.shots import CountedBits, Shots, bit_table, decode_bits
from biselect_quantum.simulate.program import Program

if TYPE_CHECKING:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target

    from biselect_quantum.devices.compile import NativeCircuit


FORMAT = "biselect-circuit-4"
TRAINABLE = 1_000_000  # choices
EVALUATIONS = 300, 2000  # of a training: at least, and at most
WORK = 2e8  # evaluations times choices, about: a large sector gets fewer evaluations
SIDES = ("samples", "features")
PACKAGES = ("numpy", "qiskit", "qiskit-ibm-runtime")

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceCircuit:
    """A circuit for a device.

    Attributes:
        source: the circuit as it is trained and simulated, mixer edges in the order in which they run; or a program,
            if it came without a problem.
        target: the device with the gates that the path may use.
        path: how it is compiled.
        qubits: the qubit on which each variable begins; None where Qiskit chooses.
        seed: of patch, start and transpiler.
        placement: where the items sit; None where nothing was placed.
        on_edges: beside a SWAP network, the circuit that keeps what lies on hardware edges.
        native: what compiling added; None until then.
        references: what the same ansatz costs by plain Qiskit, by name.
        controls: the same circuit with less of the problem, compiled, by their rows in `Nulls`.
        training: how the angles were found, if for this very circuit.
        notes: what a reader should know, such as that the angles were trained for another circuit.
        record: the manifest of a circuit that was read from files.
    """

    source: AnsatzSpec | Program
    target: Target
    path: CompilationPath
    qubits: tuple[Qubit, ...] | None
    seed: int = 0
    placement: Placement | None = None
    on_edges: DeviceCircuit | None = None
    native: NativeCircuit | None = None
    references: Mapping[str, Resources] = field(default_factory=dict)
    controls: Mapping[str, DeviceCircuit] = field(default_factory=dict)
    training: Training | None = None
    notes: tuple[str, ...] = ()
    record: Mapping[str, Any] | None = None

    @property
    def spec(self) -> AnsatzSpec:
        """The circuit as it is trained and simulated; refuses a program that came without a problem."""
        if isinstance(self.source, Program):
            raise InputError("this circuit was compiled from a program, which has no problem; compile an AnsatzSpec")
        return self.source

    @cached_property
    def program(self) -> Program:
        """What runs, its angles as they came, free or bound."""
        return self.source if isinstance(self.source, Program) else self.source.program()

    @property
    def problem(self) -> SelectionProblem:
        """The dense problem. Its order is that of everything here."""
        return self.spec.problem

    @property
    def patch(self) -> Patch:
        """The qubits; position i is the problem's item i."""
        return _present(self.placement, "nothing was placed for this circuit; `place_circuit` does that").patch

    @cached_property
    def mask(self) -> Mask:
        """Which couplings the phases carry, (N, D)."""
        return np.any([group.pair != 0 for group in self.spec.groups], axis=0)

    @cached_property
    def surrogate(self) -> SelectionProblem:
        """What the phases are made of: the problem with the couplings of the mask alone."""
        return masked(self.problem, self.mask)

    @property
    def retained_share(self) -> float:
        """ρ_SF, the share of Σ|W| that the circuit carries, from 0 to 1."""
        return retained_mass(self.problem, self.mask)[1]

    @property
    def compiled(self) -> NativeCircuit:
        """What compiling added; refuses a circuit that is not compiled."""
        return _present(self.native, "the circuit is placed and not compiled yet; give its angles to compile()")

    @property
    def gates(self) -> QuantumCircuit:
        """The circuit in the device's own gates, measured."""
        return self.compiled.gates

    @property
    def layout(self) -> Layout:
        """Where each variable begins, is measured and is read."""
        return self.compiled.layout

    @property
    def resources(self) -> Resources:
        """What the compiled circuit costs."""
        return self.compiled.resources

    @property
    def angles(self) -> dict[str, float]:
        """The free angles by name, radians."""
        return dict(zip(self.program.angle_names, self.compiled.angles.tolist(), strict=True))

    @cached_property
    def bound(self) -> Program:
        """The program with its angles fixed: what the gates do."""
        return self.program.bind(self.compiled.angles)

    def train(self, options: TrainingOptions | None = None, **more: Any) -> Training:
        """Train angles for this very circuit, its dense energies as the goal; see `biselect_quantum.train`.

        Args:
            options: as `train` takes them; without a budget the sector's size sets one.
            **more: as `train` takes them.

        Returns:
            Angles in the convention of `Ansatz`.
        """
        spec, size = self.spec, check_trainable(self.problem)
        how = replace(options or TrainingOptions(), **{name: more.pop(name) for name in OPTIONS if name in more})
        if how.evaluations is None and how.seconds is None:
            how = replace(how, evaluations=int(np.clip(min(size, WORK / size), *EVALUATIONS)))
        backend = backend_for(self.problem, spec.depth, how.evaluations or EVALUATIONS[1])
        ansatz = Ansatz.from_spec(spec, backend=backend, dtype=how.dtype)
        return ansatz.train(how, **{"seed": self.seed, **more})

    def differences(self, trained: Training) -> list[str]:
        """Name the parts in which this circuit differs from the one that angles were trained for; for people."""
        return self.spec.differences(trained.circuit)

    def compile(
        self,
        angles: ArrayLike | Mapping[str, float] | Training = (),
        *,
        compare: bool = True,
        progress: Callable[[str], None] = lambda step: None,
    ) -> DeviceCircuit:
        """Compile the circuit to the device's own gates.

        Args:
            angles: the free angles of the program, in their order or by name, or what training found.
            compare: whether plain Qiskit compiles the same ansatz too.
            progress: called with the name of each step as it begins.

        Returns:
            The circuit with gates, layout, costs and, if the angles were trained for this circuit, the training.

        Raises:
            InputError: angles of another size.
        """
        from biselect_quantum.devices.compile import native_circuit

        trained = angles if isinstance(angles, Training) else None
        values = self.program.in_order(angles.angles if isinstance(angles, Training) else angles)

        def native(name: str, path: CompilationPath) -> NativeCircuit:
            progress(f"Compiling by {name}")
            return native_circuit(self.program, self.target, self.qubits, path, values, self.seed)

        others = _references(self.path, self.target) if compare else {}
        references = {name: native(name, path).resources for name, path in others.items()}
        beside = self.on_edges if self.on_edges is None or not compare else self.on_edges.compile(values, compare=False)
        differ = [] if trained is None else self.differences(trained)
        return replace(
            self,
            native=native(self.path.name, self.path),
            references=references,
            on_edges=beside,
            controls={},
            training=None if differ else trained,
            notes=(f"these angles were trained for another circuit: {'; '.join(differ)}",) if differ else (),
            record=None,
        )

    def with_controls(self, angles: Mapping[str, ArrayLike | Mapping[str, float]]) -> DeviceCircuit:
        """Put the compiled controls of the same circuit beside it: what its hits are held against.

        Args:
            angles: of each control, by its row in `Nulls`: mixer, fields or shuffled.
        """
        others = {row: replace(self, source=control(self.spec, row, self.seed), record=None) for row in angles}
        compiled = {row: circuit.compile(angles[row], compare=False) for row, circuit in others.items()}
        facts = {row: circuit.angles for row, circuit in compiled.items()}
        record = self.record if self.record is None else seal({**self.record, "controls": facts})
        return replace(self, controls=compiled, record=record)

    def added_layer(self) -> Resources:
        """What one more layer costs, the last one once again, by the same path in the same order, bound as late."""
        from biselect_quantum.devices.compile import native_circuit

        path = replace(self.path, coloured=False)
        longer = replace(self.program, layers=(*self.program.layers, self.program.layers[-1]))
        begins, angles = self.layout.begins_on, self.compiled.angles
        extended = native_circuit(longer, self.target, begins, path, angles, self.seed)
        return added_by(extended.resources, self.resources)

    def decode(self, counts: Any) -> Shots:
        """Give counts their names: the one place where classical bits become the problem's variables.

        Args:
            counts: a dictionary of counts (little-endian strings, with spaces or as hex, or integers), a Qiskit
                BitArray, or a table of shots × classical bits.

        Returns:
            Bitstrings under the problem's variables, samples first.

        Raises:
            InputError: no shots, or bits of another circuit.
        """
        read_into = self.layout.read_into
        table, numbers = bit_table(counts, len(read_into))
        if table.shape[1] != len(read_into):
            raise InputError(f"the shots have {table.shape[1]} classical bits, the circuit reads {len(read_into)}")
        return decode_bits(CountedBits(bits=table, counts=numbers), self.problem, read_into)

    def manifest(self) -> Mapping[str, Any]:
        """Describe as plain data what was compiled, from what, and how its bits are to be read.

        Returns:
            JSON data. The layout's lists run over the variables: sample i is i, feature j is N + j; `read_into` are
            classical bits, `begins_on` and `measured_on` qubits of the device.
        """
        if self.record is not None:
            return self.record
        mass, share = retained_mass(self.problem, self.mask)
        placement = _present(self.placement, "nothing was placed for this circuit; `place_circuit` does that")
        bits, beside = self.program.bits, self.on_edges
        return {
            "format": FORMAT,
            "problem_hash": self.problem.digest,
            "surrogate_hash": self.surrogate.digest,
            "target": {"name": self.target.description or "", "hash": snapshot(self.target)["hash"]},
            "path": {"name": self.path.name, **asdict(self.path)},
            "seed": self.seed,
            "schedule": self.spec.schedule.name,
            "depth": len(self.program.layers),
            "angles": self.angles,
            "knowledge": None if self.training is None else self.training.knowledge,
            "start": None if bits is None else list(bits),
            "mixer": {
                name: [list(edge) for group in classes for edge in group]
                for name, classes in zip(SIDES, self.program.mixer, strict=True)
            },
            "layout": {name: list(order) for name, order in asdict(self.layout).items()},
            "placement": {"mass": placement.mass, "bound": placement.bound},
            "patch": placement.patch.to_dict(),
            "mask": np.argwhere(self.mask).tolist(),
            "retained_mass": mass,
            "retained_share": share,
            "distortion_bound": distortion_bound(self.problem, self.mask),
            "resources": asdict(self.resources),
            "references": {name: asdict(resources) for name, resources in self.references.items()},
            "controls": {row: circuit.angles for row, circuit in self.controls.items()},
            "on_edges": None
            if beside is None or beside.native is None
            else {"resources": asdict(beside.resources), "retained_share": beside.retained_share},
            "versions": installed(PACKAGES),
        }


def compile_circuit(
    circuit: AnsatzSpec | Program,
    target: Target | str,
    layout: Sequence[int] | None = None,
    path: CompilationPath = Y_FRAME,
    *,
    angles: ArrayLike | Mapping[str, float] | None = None,
    seed: int = 0,
) -> DeviceCircuit:
    """Compile a circuit to a device's own gates where it is told to lie; `place_circuit` looks for a place itself.

    Args:
        circuit: of a problem, or a program, bound or with its angles free.
        target: the device, as `load_target` takes it; a path for the CZ target does without its RX and RZZ.
        layout: the qubit of each variable (`Patch.layout`). Qiskit's paths choose one if there is none and route what
            does not fit; the Y-frame needs one on which every edge is a coupling of the device.
        path: how.
        angles: for the free angles, in their order or by name; needed unless there are none.
        seed: of Qiskit's transpiler; the Y-frame draws nothing.

    Returns:
        The circuit in native gates. Angles keep the program's signs, up to a global phase.

    Raises:
        InputError: free angles, a device without the gates of the path, or couplings that it lacks where the path does
            not route.
    """
    from biselect_quantum.devices.compile import check_places, fit_for

    device = fit_for(path, target)
    program = circuit.program() if isinstance(circuit, AnsatzSpec) else circuit
    places = check_places(layout, program, device)
    if angles is None:
        program.check_bound()
    if path.coloured:
        program = recoloured(program)
        circuit = circuit.changed(mixer=program.mixer) if isinstance(circuit, AnsatzSpec) else program
    made = DeviceCircuit(source=circuit, target=device, path=path, qubits=places, seed=seed)
    return made.compile(() if angles is None else angles, compare=False)


def _present(value: T | None, otherwise: str) -> T:
    if value is None:
        raise InputError(otherwise)
    return value


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
