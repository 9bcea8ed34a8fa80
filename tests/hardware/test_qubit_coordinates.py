from biselect.hardware.qubit_coordinates import heron_positions, positions_of
from biselect.hardware.targets import load_target


def test_known_lattices_are_drawn_as_they_are_and_others_by_springs():
    assert positions_of(load_target("boston")) == heron_positions()
    square = positions_of(load_target("iqm-54"))
    assert square[0] == (0, 4) and len(set(square)) == 54
    other = positions_of(load_target("miami"))
    assert len(set(other)) == 120 and other == positions_of(load_target("miami"))
