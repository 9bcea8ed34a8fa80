"""The files of a compiled circuit: what goes into them, and the circuit from them, checked against their manifest.

A folder holds QPY, OpenQASM, manifest, snapshot, problem, angles and a picture of the patch: registers, mixer edges by
colour, and the cross edges that carry couplings. All files appear whole.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.core.files import check_folder, write_folder
from biselect.core.untrusted import check_seal, json_of, read_json, refused_as, seal
from biselect.errors import InputError, MissingDependencyError
from biselect.plot.style import COLOURS, MARKERS, house_style, panels
from biselect_quantum.circuits.cost_groups import components
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.devices._circuit_checks import check_meaning, check_unchanged
from biselect_quantum.devices.compile import NativeCircuit
from biselect_quantum.devices.device_circuit import FORMAT, DeviceCircuit
from biselect_quantum.devices.layout import Layout
from biselect_quantum.devices.masks import Mask, masked
from biselect_quantum.devices.patches import Patch
from biselect_quantum.devices.paths import path_of
from biselect_quantum.devices.placement import Placement
from biselect_quantum.devices.resources import Resources
from biselect_quantum.devices.targets import from_snapshot, snapshot
from biselect_quantum.simulate.program import XY, Program, steps

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target


MOST_LAYERS = 1000
NEEDED = ("circuit.qpy", "problem.npz", "target.json")


def circuit_contents(
    circuit: DeviceCircuit, more: Mapping[str, bytes] | None = None, facts: Mapping[str, Any] | None = None
) -> dict[str, bytes]:
    """The files of a circuit by name; the manifest, which holds the hashes of the others, comes last.

    It vouches for `more` files too, seals `facts`, such as what the circuit is for, and says what was checked.
    """
    from biselect_quantum.devices.qiskit_circuits import qasm3_text, qpy_bytes

    facts = {**(facts or {}), "checked": check_meaning(circuit)}
    gates = circuit.gates.copy(name="biselect")  # Qiskit numbers circuits as they are made
    problem = io.BytesIO()
    circuit.problem.save(problem)
    contents = {
        "circuit.qpy": qpy_bytes(gates),
        "circuit.qasm": qasm3_text(gates).encode(),
        "target.json": json_bytes(snapshot(circuit.target)),
        "problem.npz": problem.getvalue(),
        **({} if circuit.training is None else {"angles.json": circuit.training.to_json().encode()}),
        **(more or {}),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return {**contents, "manifest.json": json_bytes(seal({**circuit.manifest(), **facts, "files": hashes}))}


def load_circuit(folder: str | Path) -> DeviceCircuit:
    """Load a circuit from the folder that `biselect compile` wrote.

    Args:
        folder: with the manifest and the files that it vouches for.

    Returns:
        The circuit, its problem and its manifest.

    Raises:
        InputError: a file is missing, was changed, or does not do what the manifest says.
    """
    return circuit_of(read_json(Path(folder) / "manifest.json"), Path(folder))


def circuit_of(manifest: Mapping[str, Any], folder: Path) -> DeviceCircuit:
    """The circuit of a manifest whose files lie in a folder; see `load_circuit`."""
    if not isinstance(manifest, Mapping) or manifest.get("format") != FORMAT:
        raise InputError(f"{folder}: holds no compiled circuit ({FORMAT}); `biselect compile` writes one")
    check_seal(manifest, folder / "manifest.json")
    contents = {name: _unchanged(folder / name, manifest) for name in NEEDED}
    problem = SelectionProblem.load(folder / "problem.npz")
    if problem.digest != manifest.get("problem_hash"):
        raise InputError(f"{folder / 'problem.npz'}: is not the problem that was compiled")
    with refused_as(f"{folder}: the manifest of the circuit cannot be used, compile again"):
        surrogate = masked(problem, _mask(manifest, problem))
        if surrogate.digest != manifest["surrogate_hash"]:
            raise InputError("the surrogate does not come out as it was compiled; the manifest was changed")
        spec = _spec(problem, surrogate, manifest)
        target = _target(contents["target.json"], manifest)
        layout = Layout.of(**manifest["layout"])
        circuit = DeviceCircuit(
            source=spec,
            target=target,
            path=path_of(manifest["path"]),
            qubits=layout.begins_on,
            seed=manifest["seed"],
            placement=Placement(patch=Patch.from_dict(manifest["patch"]), **manifest["placement"]),
            native=NativeCircuit(
                angles=spec.program().in_order(manifest["angles"]),
                gates=_gates(contents["circuit.qpy"], folder),
                layout=layout,
                resources=Resources(**manifest["resources"]),
            ),
            references={name: Resources(**figures) for name, figures in manifest["references"].items()},
            record=dict(manifest),
        )
        check_unchanged(circuit)
        return circuit.with_controls(manifest["controls"])


def _unchanged(path: Path, manifest: Mapping[str, Any]) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; it belongs to the manifest beside it") from error
    hashes = manifest.get("files")
    if not isinstance(hashes, Mapping) or hashlib.sha256(content).hexdigest() != hashes.get(path.name):
        raise InputError(f"{path}: was changed after it was compiled: its hash does not match the manifest")
    return content


def _spec(problem: SelectionProblem, surrogate: SelectionProblem, manifest: Mapping[str, Any]) -> AnsatzSpec:
    """The recorded circuit: mixer edges in the order in which they were compiled."""
    bits, n, depth = manifest["start"], problem.n_samples, check_integer("depth", manifest["depth"])
    if depth > MOST_LAYERS:
        raise InputError(f"no circuit that was compiled has {depth:,} layers; the manifest was changed")
    start: Any = "dicke" if bits is None else (np.flatnonzero(bits[:n]).tolist(), np.flatnonzero(bits[n:]).tolist())
    mixer = tuple([[(i, j)] for i, j in manifest["mixer"][register]] for register in ("samples", "features"))
    return AnsatzSpec(problem, depth, manifest["schedule"], mixer, start, groups=components(surrogate))


def _mask(manifest: Mapping[str, Any], problem: SelectionProblem) -> Mask:
    """Which couplings of a problem its stored circuit carries."""
    mask = np.zeros(problem.coupling.shape, dtype=bool)
    for sample, feature in manifest["mask"]:
        mask[index(sample), index(feature)] = True
    return mask


def _target(content: bytes, manifest: Mapping[str, Any]) -> Target:
    facts = json_of(content)
    if {"name": facts["name"], "hash": facts["hash"]} != manifest["target"]:
        raise InputError("target.json is not the device that the circuit was compiled for")
    return from_snapshot(facts)


def _gates(content: bytes, folder: Path) -> QuantumCircuit:
    try:
        from qiskit import qpy
    except ImportError as error:
        raise MissingDependencyError("circuits need Qiskit: pip install ./quantum") from error
    try:
        (gates,) = qpy.load(io.BytesIO(content))
        return gates
    except Exception as error:  # Qiskit raises whatever a broken file runs into
        raise InputError(f"{folder / 'circuit.qpy'}: Qiskit cannot read it: {error}") from error


def json_bytes(content: Any) -> bytes:
    """Plain data as our manifests are written."""
    return (json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


NAMES = ("circuit.qpy", "circuit.qasm", "target.json", "problem.npz", "patch.svg", "manifest.json")
SCALE = 0.42  # inches between neighbouring qubits
QUIET = "#d9d9d9"


def write_circuit(folder: str | Path, circuit: DeviceCircuit) -> list[Path]:
    """Write all files of a circuit; the manifest, which holds the hashes of the others, comes last."""
    from matplotlib import rc_context

    check_folder(Path(folder), NAMES)
    picture = io.BytesIO()
    with house_style(), rc_context({"svg.hashsalt": "biselect"}):  # the same bytes every time
        figure = draw_patch(circuit.patch, circuit.target, circuit.program)
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return write_folder(folder, circuit_contents(circuit, {"patch.svg": picture.getvalue()}), replaces=["angles.json"])


def draw_patch(patch: Patch, target: Any, program: Program) -> Figure:
    """Qubits where the device has them; mixer edges in the order in which the circuit runs them."""
    from biselect_quantum.devices.device_errors import device_errors, positions_of

    places = positions_of(target)
    hops = [(op.qubits[0], op.qubits[1]) for op in program.layers[0] if op.kind == XY]
    classes = dict(zip(hops, steps(hops), strict=True))
    rows, columns = (max(place[axis] for place in places) + 1 for axis in (0, 1))
    figure, axes = panels(1, 1, width=max(4.0, columns * SCALE), height=max(2.5, rows * SCALE + 0.6))
    panel = axes[0, 0]
    patch_qubits = set(patch.layout)

    def line(here: int, there: int, **look: object) -> None:
        ends = [places[here], places[there]]
        panel.plot([column for _, column in ends], [-row for row, _ in ends], **look)

    device = device_errors(target)
    for here, there in [] if device.joins_all_pairs else device.edge_costs:
        line(here, there, color=QUIET, linewidth=0.8, zorder=1)
    for (i, j), colour in classes.items():
        label = f"mixer, colour {colour + 1}"
        line(patch.layout[i], patch.layout[j], color=COLOURS[2 + colour % 5], linewidth=2.6, zorder=2, label=label)
    dashed = {"color": "black", "linewidth": 1.6, "linestyle": (0, (2, 1.2)), "zorder": 3, "label": "cross edge"}
    for u, v in [] if device.joins_all_pairs else patch.cross_edges:
        line(patch.samples[u], patch.features[v], **dashed)
    rest = [place for qubit, place in enumerate(places) if qubit not in patch_qubits]
    panel.scatter([column for _, column in rest], [-row for row, _ in rest], s=14, c=QUIET, zorder=4)
    for number, (label, register) in enumerate((("samples", patch.samples), ("features", patch.features))):
        group = [places[qubit] for qubit in register]
        look = {"s": 72, "c": COLOURS[number], "marker": MARKERS[number], "zorder": 4, "label": label}
        panel.scatter([column for _, column in group], [-row for row, _ in group], **look)
    for position, qubit in [*enumerate(patch.samples), *enumerate(patch.features)]:
        row, column = places[qubit]
        panel.annotate(str(position), (column, -row), color="white", fontsize=5.5, ha="center", va="center", zorder=5)
    panel.set_aspect("equal")
    panel.axis("off")
    entries = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=len(entries))
    return figure
