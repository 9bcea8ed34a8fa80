"""The square lattice of 54 qubits, and where qubits are drawn."""

from biselect.hardware.lattice import heron_positions, positions_of, square_edges, square_positions
from biselect.hardware.targets import load_target


def test_edges_join_all_neighbours_and_no_others():
    places, edges = square_positions(), square_edges()
    assert len(places) == len(set(places)) == 54 and len(edges) == 90
    near = {
        (i, j)
        for i in range(54)
        for j in range(i + 1, 54)
        if abs(places[i][0] - places[j][0]) + abs(places[i][1] - places[j][1]) == 1
    }
    assert set(edges) == near


def test_known_lattices_are_drawn_as_they_are_and_others_by_springs():
    assert positions_of(load_target("boston")) == heron_positions()
    square = positions_of(load_target("iqm-54"))
    assert square[0] == (0, 4) and len(set(square)) == 54
    other = positions_of(load_target("miami"))
    assert len(set(other)) == 120 and other == positions_of(load_target("miami"))
