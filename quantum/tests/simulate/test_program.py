"""Circuits as plain data."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect_quantum.simulate.program import Op, Program, steps, wrapped


def program(**changes):
    hop = Op(kind="xy", qubits=(0, 1), slopes=((1, 1.0),))
    turn = Op(kind="rz", qubits=(3,), angle=0.5, slopes=((0, 2.0),))
    options = {"n_samples": 2, "n_features": 2, "k": 1, "m": 1, "bits": (1, 0, 0, 1), "layers": ((turn, hop),)}
    return Program(**{**options, "angle_names": ("γ", "β"), **changes})


def test_angles_are_bound_in_their_order_or_by_name():
    bound = program().bind([0.1, 4.0])
    assert bound == program().bind({"β": 4.0, "γ": 0.1})
    assert [op.angle for op in bound.ops] == pytest.approx([0.7, 4.0 - 2 * np.pi]) and not bound.angle_names
    bound.check_bound()
    with pytest.raises(InputError, match="angles are needed for γ, β"):
        program().check_bound()
    for angles, message in [
        ({"γ": 1.0, "β": 1.0, "δ": 0.0}, "check δ"),
        ([1.0], "2 free angles"),
        ([1.0, np.nan], "finite"),
        ([1e308, 0.0], "beyond all numbers"),
    ]:
        with pytest.raises(InputError, match=message):
            program().bind(angles)


def test_mixer_edges_and_start_can_be_asked_for():
    features = Op(kind="xy", qubits=(3, 2), slopes=((1, 1.0),))
    made = program(layers=((*program().ops, features),))
    assert made.mixer == ((((0, 1),),), (((1, 0),),)) and made.edges("xy") == ((0, 1), (3, 2))
    assert made.choice == ([0], [1]) and replace(made, bits=None).choice is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "xy", "qubits": (1, 2)}, "would break both budgets"),
        ({"kind": "rz", "qubits": (4,)}, r"gate 0 \(rz on \(4,\)\): qubits must lie within 0..3"),
        ({"kind": "rzz", "qubits": (1, 1)}, "2 distinct qubits"),
        ({"kind": "rzz", "qubits": (1,)}, "2 distinct qubits"),
        ({"kind": "cx", "qubits": (0, 1)}, "must be one of rz, rzz, xy"),
        ({"kind": "rz", "qubits": (0,), "angle": np.nan}, "angle must be finite"),
    ],
)
def test_wrong_gates_are_named(change, message):
    with pytest.raises(InputError, match=message):
        program(layers=((Op(**change),),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": (1, 0, 2, 0)}, "each 0 or 1"),
        ({"bits": (1, 0)}, "4 bits"),
        ({"bits": (1, 1, 0, 1)}, r"budgets are \(1, 1\), the start has \(2, 1\)"),
        ({"n_samples": 0}, "needs samples and features"),
    ],
)
def test_wrong_programs_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        program(**change)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(6, 9)), max_size=12))
def test_edges_of_one_step_share_no_qubit_and_wait_for_those_before(edges):
    found = steps(edges)
    for later, (edge, step) in enumerate(zip(edges, found, strict=True)):
        before = [found[place] for place in range(later) if set(edges[place]) & set(edge)]
        assert step == max(before, default=-1) + 1


@given(st.floats(-1e6, 1e6))
def test_wrapped_angles_turn_alike(angle):
    assert -np.pi <= wrapped(angle) <= np.pi
    assert np.cos(wrapped(angle)) == pytest.approx(np.cos(angle)) and np.sin(wrapped(angle)) == pytest.approx(
        np.sin(angle), abs=1e-9
    )
