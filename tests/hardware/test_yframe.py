from biselect.hardware.yframe import split_sides

LINE = [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_sides_alternate_along_edges():
    assert split_sides(LINE, 5) == [0, 1, 0, 1, 0]
    ring = [*LINE, (4, 0)]
    sides = split_sides(ring, 5)
    assert sum(sides[i] == sides[j] for i, j in ring) == 1
