"""Writing a compiled circuit: QPY, OpenQASM, manifest, snapshot, problem, angles and a picture; all appear whole.

The picture shows the patch: registers, mixer edges by colour, and the cross edges that carry couplings.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.core.files import check_folder, write_folder
from biselect.plot.style import COLOURS, MARKERS, house_style, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from biselect_quantum.devices.bundle import Bundle
    from biselect_quantum.devices.patches import Patch
    from biselect_quantum.simulate.program import Program

NAMES = ("circuit.qpy", "circuit.qasm", "target.json", "problem.npz", "patch.svg", "manifest.json")
SCALE = 0.42  # inches between neighbouring qubits
QUIET = "#d9d9d9"


def write_circuit(folder: str | Path, made: Bundle) -> list[Path]:
    """Write all files of a bundle; the manifest, which holds the hashes of the others, comes last."""
    from matplotlib import rc_context

    from biselect_quantum.devices.execution.circuit_files import circuit_contents

    check_folder(Path(folder), NAMES)
    picture = io.BytesIO()
    with house_style(), rc_context({"svg.hashsalt": "biselect"}):  # the same bytes every time
        figure = draw_patch(made.patch, made.target, made.compiled.program)
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return write_folder(folder, circuit_contents(made, {"patch.svg": picture.getvalue()}), replaces=["angles.json"])


def draw_patch(patch: Patch, target: Any, program: Program) -> Figure:
    """Qubits where the device has them; mixer edges in the order in which the circuit runs them."""
    from biselect_quantum.devices.device_errors import calibration, positions_of
    from biselect_quantum.simulate.program import XY, steps

    places = positions_of(target)
    hops = [(op.qubits[0], op.qubits[1]) for op in program.layers[0] if op.kind == XY]
    classes = dict(zip(hops, steps(hops), strict=True))
    rows, columns = (max(place[axis] for place in places) + 1 for axis in (0, 1))
    figure, axes = panels(1, 1, width=max(4.0, columns * SCALE), height=max(2.5, rows * SCALE + 0.6))
    panel = axes[0, 0]
    used = set(patch.layout)

    def line(here: int, there: int, **look: object) -> None:
        ends = [places[here], places[there]]
        panel.plot([column for _, column in ends], [-row for row, _ in ends], **look)

    device = calibration(target)
    for here, there in [] if device.joins_all_pairs else device.edge_costs:
        line(here, there, color=QUIET, linewidth=0.8, zorder=1)
    for (i, j), colour in classes.items():
        label = f"mixer, colour {colour + 1}"
        line(patch.layout[i], patch.layout[j], color=COLOURS[2 + colour % 5], linewidth=2.6, zorder=2, label=label)
    dashed = {"color": "black", "linewidth": 1.6, "linestyle": (0, (2, 1.2)), "zorder": 3, "label": "cross edge"}
    for u, v in [] if device.joins_all_pairs else patch.cross_edges:
        line(patch.samples[u], patch.features[v], **dashed)
    rest = [place for qubit, place in enumerate(places) if qubit not in used]
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
    named = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named))
    return figure
