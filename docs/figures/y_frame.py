"""Draws docs/images/y-frame.svg: one mixer edge as Qiskit's level 3 writes it, and in the Y-frame."""

from typing import Any

from canvas import BLACK, GREY, SKY, box, drawing
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.library import XXPlusYYGate
from qiskit.converters import circuit_to_dag

BETA = 0.7
BASES = {"Qiskit, level 3: CZ, √X, RZ": ["cz", "rz", "sx", "x"], "Qiskit, level 3: CZ, RX, RZ": ["cz", "rz", "rx"]}
STEP, GAP = 0.5, 0.52
NAMES = {"rz": "RZ", "sx": "√X", "rx": "RX"}


def theirs(basis: list[str]) -> QuantumCircuit:
    """The edge in the gates of a device."""
    edge = QuantumCircuit(2)
    edge.append(XXPlusYYGate(2 * BETA, 0), [0, 1])
    return transpile(edge, basis_gates=basis, optimization_level=3, seed_transpiler=0)


def ours() -> QuantumCircuit:
    """The edge between two qubits of different sides."""
    edge = QuantumCircuit(2)
    edge.cz(0, 1)
    edge.rx(BETA, [0, 1])
    edge.cz(0, 1)
    return edge


def wires(axes: Any, y: float, title: str, circuit: QuantumCircuit, colour: str) -> None:
    """Draw a circuit of two qubits, one layer a step."""
    dag = circuit_to_dag(circuit)
    layers = list(dag.layers())
    singles = circuit.size() - circuit.count_ops()["cz"]
    axes.text(0.2, y + 0.4, title, size=9, weight="bold")
    axes.text(7.3, y - GAP / 2, f"depth {circuit.depth()}\n2 CZ, {singles} others", va="center", size=9)
    for wire in (y, y - GAP):
        axes.plot([0.2, 0.5 + STEP * len(layers)], [wire, wire], color=GREY, linewidth=1, zorder=0)
    for place, layer in enumerate(layers):
        x = 0.6 + STEP * place
        for node in layer["graph"].op_nodes():
            at = [y - GAP * circuit.find_bit(qubit).index for qubit in node.qargs]
            if node.op.name == "cz":
                axes.plot([x, x], at, color=BLACK, linewidth=1.4, marker="o", markersize=5)
            else:
                box(axes, x - 0.2, at[0] - 0.16, 0.4, 0.32, NAMES[node.op.name], facecolor=colour, size=8, zorder=2)


def main() -> None:
    """Draw it."""
    with drawing("y-frame.svg", 8.6, 4.5) as axes:
        for place, (title, basis) in enumerate(BASES.items()):
            wires(axes, 3.85 - 1.5 * place, title, theirs(basis), SKY)
        wires(axes, 0.85, "the Y-frame", ours(), "#f3b48f")
        axes.text(
            2.6,
            0.49,
            "the frames of the two qubits differ;\nbetween edges nothing has to be turned back",
            size=8.5,
            va="center",
            color=GREY,
        )


if __name__ == "__main__":
    main()
