"""The square lattice of 54 qubits."""

from biselect.hardware.lattice import square_edges, square_positions


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
