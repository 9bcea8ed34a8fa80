import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect import SelectionProblem
from biselect.hardware import YFramePath, compile_circuit
from biselect.hardware.colouring import colour_beside, recoloured
from biselect.qaoa import AnsatzSpec


@given(seed=st.integers(0, 1 << 30), n=st.integers(2, 14))
@settings(max_examples=60, deadline=None)
def test_colouring_is_proper_and_keeps_the_last_class_off_crossed_qubits(seed, n):
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(max(0, q - 3), q)), q) for q in range(1, n)]
    degrees = np.bincount(np.array(edges).ravel(), minlength=n)
    crossed = [q for q in range(n) if degrees[q] < degrees.max() and rng.random() < 0.4]
    classes = colour_beside(edges, crossed)
    assert sorted(edge for members in classes for edge in members) == sorted(edges)
    assert len(classes) <= degrees.max()
    for members in classes:
        ends = [end for edge in members for end in edge]
        assert len(set(ends)) == len(ends)


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
