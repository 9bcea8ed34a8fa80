from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.mixers import both_mixers, colour_edges, mixer_classes


def flat(classes):
    return sorted(tuple(sorted(edge)) for edges in classes for edge in edges)


@pytest.mark.parametrize("n", range(1, 9))
def test_named_mixers_have_their_edges_once_in_disjoint_classes(n):
    path = [(i, i + 1) for i in range(n - 1)]
    ring = sorted([*path, (0, n - 1)]) if n > 2 else path
    assert flat(mixer_classes("path", n)) == path
    assert flat(mixer_classes("ring", n)) == ring
    assert flat(mixer_classes("complete", n)) == sorted(combinations(range(n), 2))
    for name, most in (("path", 2), ("ring", 2 + n % 2), ("complete", n - 1 + n % 2)):
        classes = mixer_classes(name, n)
        assert len(classes) <= max(most, 0)
        for edges in classes:
            ends = [end for edge in edges for end in edge]
            assert len(set(ends)) == len(ends) > 0


@given(st.integers(2, 12), st.floats(0, 1), st.integers(0, 1000), st.booleans())
def test_any_graph_is_coloured_properly_and_bipartite_ones_tightly(n, density, seed, bipartite):
    rng = np.random.default_rng(seed)
    edges = [
        (i, j) for i, j in combinations(range(n), 2) if rng.random() < density and not (bipartite and (i + j) % 2 == 0)
    ]
    classes = colour_edges(edges, n)
    assert flat(classes) == edges
    for group in classes:
        ends = [end for edge in group for end in edge]
        assert len(set(ends)) == len(ends)
    if bipartite and edges:
        degrees = np.bincount(np.ravel(edges), minlength=n)
        assert len(classes) == degrees.max()


def test_classes_and_edges_can_be_given():
    assert mixer_classes([[(0, 1)], [(1, 2)]], 3) == (((0, 1),), ((1, 2),))
    assert flat(mixer_classes([(0, 1), (1, 2)], 3)) == [(0, 1), (1, 2)]
    assert mixer_classes([], 3) == ()


@pytest.mark.parametrize(
    ("mixer", "message"),
    [
        ("star", "mixer must be one of ring"),
        ([(0, 5)], "does not join two of the qubits"),
        ([(1, 1)], "does not join two"),
        ([[(0, 1), (1, 2)]], "must not share a qubit"),
        ([[(0, 7)]], "must join two different qubits"),
        ([[(0, 1, 2)]], "a mixer must be a name"),
        ([(0, 1.9)], "pairs of whole numbers"),
    ],
)
def test_wrong_mixers_are_refused(mixer, message):
    with pytest.raises(InputError, match=message):
        mixer_classes(mixer, 3)


def test_a_tuple_of_edges_is_one_mixer_for_both():
    assert both_mixers(((0, 1), (1, 2))) == (((0, 1), (1, 2)),) * 2
    assert both_mixers(("ring", "path")) == ("ring", "path")
    assert both_mixers("ring") == ("ring", "ring")
    assert both_mixers(([(0, 1)], "ring")) == ([(0, 1)], "ring")


@pytest.mark.parametrize("backend", ["plain", "compiled"])
def test_empty_classes_do_nothing(backend):
    problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
    edges = [[(0, 1), (2, 3)], [(1, 2)]]
    assert mixer_classes([[], edges[0], [], edges[1]], 4) == mixer_classes(edges, 4)
    with_empty = Ansatz(problem, 1, "tied", (edges, [[(0, 1)], []]), backend=backend)
    without = Ansatz(problem, 1, "tied", (edges, [[(0, 1)]]), backend=backend)
    assert with_empty.expectation([0.3, 0.7]) == without.expectation([0.3, 0.7])
