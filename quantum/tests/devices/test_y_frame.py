import numpy as np
import pytest

from biselect_quantum.devices._y_frame import split_sides, to_frames
from biselect_quantum.simulate.program import Op

LINE = [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_sides_alternate_along_edges():
    assert split_sides(LINE, 5) == [0, 1, 0, 1, 0]
    ring = [*LINE, (4, 0)]
    sides = split_sides(ring, 5)
    assert sum(sides[i] == sides[j] for i, j in ring) == 1


def test_the_busiest_qubit_never_stops_for_a_phase():
    """A hub with three leaves: leaves wait for it anyway, so they do the differences of phases, and it does none."""
    star = [(0, 1), (0, 2), (0, 3)]
    mixing = [Op(kind="xy", qubits=edge, angle=0.7) for edge in star]
    phases = [Op(kind="rz", qubits=(qubit,), angle=0.1 + qubit) for qubit in range(4)]
    ops = [*mixing, *phases, *mixing, *phases, *mixing]
    gates = to_frames(ops, (1, 0, 0, 0), split_sides(star, 4), rzz=True, unitary=False)
    turned = [gate.qubits[0] for gate in gates if gate.name == "ry"]
    assert turned and 0 not in turned


@pytest.mark.parametrize("angle", [0.3, 2 * np.pi])
def test_clusters_that_meet_for_the_first_time_need_no_phase(angle):
    """Each pair holds one 1, so equal phases on both are global, and the pairs' relative phase is seen by nobody."""
    ops = [
        Op(kind="xy", qubits=(0, 1), angle=0.4),
        Op(kind="xy", qubits=(2, 3), angle=0.4),
        Op(kind="rz", qubits=(1,), angle=angle),
        Op(kind="xy", qubits=(1, 2), angle=0.4),
    ]
    gates = to_frames(ops, (0, 1, 0, 1), (0, 1, 0, 1), rzz=True, unitary=False)
    assert not [gate for gate in gates if gate.name == "ry"]
    kept = to_frames(ops, (0, 1, 0, 1), (0, 1, 0, 1), rzz=True, unitary=True)
    assert len([gate for gate in kept if gate.name == "ry"]) == (angle < np.pi)
