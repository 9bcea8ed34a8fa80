"""Classes of mixer edges that leave the crossed qubits free at the end."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect import SelectionProblem
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import YFramePath, compile_circuit
from biselect_quantum.devices.mixer_order import colour_beside, colour_registers, recoloured


@given(seed=st.integers(0, 1 << 30), n=st.integers(2, 9))
@settings(max_examples=60)
def test_one_spare_colour_keeps_the_last_class_off_all_crossed_qubits(seed, n):
    """With a colour more than a tree needs, the last class can be left empty, and so is one way to succeed."""
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(q)), q) for q in range(1, n)]
    degree = int(np.bincount(np.array(edges).ravel(), minlength=n).max())
    crossed = [q for q in range(n) if rng.random() < 0.5]
    classes = colour_beside(edges, crossed, degree + 1)
    assert sorted(edge for members in classes for edge in members) == sorted(edges)
    assert all(len({end for edge in members for end in edge}) == 2 * len(members) for members in classes)
    assert len(classes) <= degree + 1
    if len(classes) == degree + 1:
        assert not {end for edge in classes[-1] for end in edge} & set(crossed)


def test_both_registers_share_the_number_of_colours():
    """The feature path needs two colours; with the samples' three it can keep its crossed end out of the last one."""
    samples, features = colour_registers([(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 2)], [(1, 1)])
    assert len(samples) == 3 and (0, 1) not in samples[-1]
    assert len(features) == 2  # the third is left empty


def test_a_phase_beside_the_last_class_costs_no_two_qubit_depth(small):
    """A star of three samples whose first leaf is crossed: that leaf must not be in the last class."""
    problem = SelectionProblem(coupling=[[0.0], [1.0], [0.0], [0.0]], sample_scores=np.arange(4.0), k=2, m=1)
    edges = [(0, 1), (0, 2), (0, 3)]
    program = AnsatzSpec(problem, 2, "tied", ([(edge,) for edge in edges[::-1]], "path"), "canonical").program()
    order = recoloured(program)
    assert order.layers[0][-1].qubits != (0, 1) and {op.qubits for op in order.layers[0][-3:]} == set(edges)
    made = compile_circuit(
        program, small.device("fractional", [*edges, (1, 4)], 5), range(5), YFramePath(propagate=False), angles=[1, 1]
    )
    assert made.resources.two_qubit_depth == 1 + 2 * 6  # the first phase, then two mixers of three classes
