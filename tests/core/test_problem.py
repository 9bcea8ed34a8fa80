import json
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.strategies import problems


def every_bitstring(problem: SelectionProblem) -> np.ndarray:
    return np.array(list(product([0, 1], repeat=problem.n_samples + problem.n_features)))


def energy_in_words(problem: SelectionProblem, bits: np.ndarray) -> float:
    """Eq. hamiltonian, term by term."""
    s, f = bits[: problem.n_samples], bits[problem.n_samples :]
    energy = -sum(a * x for a, x in zip(problem.sample_scores, s, strict=True))
    energy -= sum(b * x for b, x in zip(problem.feature_scores, f, strict=True))
    for i, j in product(range(problem.n_samples), range(problem.n_features)):
        energy -= problem.coupling_weight * problem.coupling[i, j] * s[i] * f[j]
    return energy


@given(problems(max_samples=4, max_features=4))
def test_every_form_of_the_energy_agrees_on_every_state(problem):
    bits = every_bitstring(problem)
    expected = np.array([energy_in_words(problem, x) for x in bits])
    scale = 1e-12 * (1 + np.abs(expected).max())
    q = problem.qubo()
    parts = problem.components()
    np.testing.assert_array_equal(q, q.T)
    for energies in (
        problem.bit_energies(bits),
        np.einsum("bi,ij,bj->b", bits, q, bits),
        problem.ising().energies(bits),
        sum(part.energies(bits) for part in parts),
    ):
        np.testing.assert_allclose(energies, expected, rtol=0, atol=scale)
    a, b, n = problem.sample_scores, problem.feature_scores, problem.n_samples
    np.testing.assert_allclose(parts.samples.energies(bits), -bits[:, :n] @ a, rtol=0, atol=scale)
    np.testing.assert_allclose(parts.features.energies(bits), -bits[:, n:] @ b, rtol=0, atol=scale)


def test_ising_coefficients_are_the_papers():
    """Eq. ising_coefficients and Eq. grouped_cost_decomposition, on numbers done by hand."""
    problem = SelectionProblem(
        coupling=[[4.0, 8.0]], sample_scores=[2.0], feature_scores=[6.0, 10.0], k=1, m=1, coupling_weight=0.5
    )
    ising = problem.ising()
    np.testing.assert_allclose(ising.fields, [2 / 2 + 0.5 / 4 * 12, 6 / 2 + 0.5 / 4 * 4, 10 / 2 + 0.5 / 4 * 8])
    np.testing.assert_allclose(ising.couplings, [[-0.5 / 4 * 4, -0.5 / 4 * 8]])
    parts = problem.components()
    np.testing.assert_allclose(parts.samples.fields, [1, 0, 0])
    np.testing.assert_allclose(parts.features.fields, [0, 3, 5])
    np.testing.assert_allclose(parts.coupling.fields, [1.5, 0.5, 1.0])
    q = problem.qubo()
    off = q - np.diag(np.diag(q))
    np.testing.assert_allclose(ising.fields, -(np.diag(q) + off.sum(axis=1)) / 2)
    np.testing.assert_allclose(ising.couplings, q[:1, 1:] / 2)


@given(problems(), st.data())
def test_energies_of_many_selections(problem, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = np.array([rng.permutation(problem.n_samples)[: problem.k] for _ in range(5)])
    columns = np.array([rng.permutation(problem.n_features)[: problem.m] for _ in range(5)])
    one_by_one = [problem.energy(s, f) for s, f in zip(rows, columns, strict=True)]
    np.testing.assert_allclose(problem.energies(rows, columns), one_by_one, rtol=1e-12, atol=1e-9)


@given(problems())
def test_save_and_load_keep_everything(tmp_path_factory, problem):
    path = tmp_path_factory.mktemp("problem") / "p.npz"
    problem.save(path)
    for copy in (SelectionProblem.load(path), SelectionProblem.from_dict(json.loads(json.dumps(problem.to_dict())))):
        assert copy.digest == problem.digest
        np.testing.assert_array_equal(copy.coupling, problem.coupling)


def test_names_survive_and_change_the_digest():
    names = ('a"b', "<script>alert(1)</script>")
    plain = SelectionProblem(coupling=np.ones((2, 1)), k=1, m=1)
    named = SelectionProblem(coupling=np.ones((2, 1)), k=1, m=1, sample_names=names)
    assert SelectionProblem.from_dict(named.to_dict()).sample_names == names
    assert plain.digest != named.digest
    assert (plain.sample_name(1), named.sample_name(0)) == ("1", 'a"b')


def test_directed_columns_are_told_apart_by_name_and_direction():
    directions = ("low", "high", "x = 1")
    problem = SelectionProblem(
        coupling=np.arange(6.0).reshape(2, 3), k=1, m=1, feature_names=["a", "a", "b"], directions=directions
    )
    assert problem.column_names == ("a", "b") and problem.column_of.tolist() == [0, 0, 1]
    assert [problem.direction(j) for j in range(3)] == [*directions]
    copy = SelectionProblem.from_dict(json.loads(json.dumps(problem.to_dict())))
    assert (copy.directions, copy.digest) == (directions, problem.digest)
    turned = replace(problem, directions=("high", "low", "x = 1"))
    plain = replace(problem, feature_names=["a", "b", "c"], directions=None)
    assert len({problem.digest, turned.digest, plain.digest}) == 3
    assert plain.column_names == ("a", "b", "c") and plain.direction(0) == ""
    unnamed = SelectionProblem(coupling=np.ones((2, 3)), k=1, m=1)
    assert unnamed.column_names == ("0", "1", "2") and unnamed.column_of.tolist() == [0, 1, 2]


def test_directions_are_stored(tmp_path):
    problem = SelectionProblem(
        coupling=np.ones((2, 2)), k=1, m=1, feature_names=["a", "a"], directions=["low", "<b>\n"], library="polars"
    )
    problem.save(tmp_path / "p.npz")
    stored = SelectionProblem.load(tmp_path / "p.npz")
    assert stored.directions == ("low", "<b>\n") and stored.digest == problem.digest and stored.library is None


def test_arrays_are_copied_and_read_only():
    weights = np.ones((2, 2))
    problem = SelectionProblem(coupling=weights, k=1, m=1)
    weights[0, 0] = 5
    assert problem.coupling[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.coupling[0, 0] = 2
    with pytest.raises(AttributeError):
        problem.k = 2


@pytest.mark.parametrize("view", [lambda frame: frame, lambda frame: frame.to_numpy()])
def test_a_frame_that_is_changed_later_does_not_reach_the_problem(view):
    frame = pd.DataFrame(np.ones((2, 2)))
    problem = SelectionProblem(coupling=view(frame), sample_scores=frame[0], k=1, m=1)
    frame.iloc[0, 0] = 55
    assert problem.coupling[0, 0] == 1 and problem.sample_scores[0] == 1


def test_single_precision_couplings_keep_every_form_equal():
    weights = np.random.default_rng(0).random((3, 2)).astype(np.float32)
    problem = SelectionProblem(coupling=weights, k=1, m=1, coupling_weight=0.3)
    bits = every_bitstring(problem)
    energies = problem.bit_energies(bits)
    np.testing.assert_allclose(np.einsum("bi,ij,bj->b", bits, problem.qubo(), bits), energies, atol=1e-12)
    np.testing.assert_allclose(problem.ising().energies(bits), energies, atol=1e-12)


def test_a_read_only_float32_coupling_is_shared():
    weights = np.ones((2, 2), dtype=np.float32)
    weights.flags.writeable = False
    assert SelectionProblem(coupling=weights, k=1, m=1).coupling is weights


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k = 0 is out of range: with 2 samples, k may be 1 to 2"),
        ({"k": 3}, "k = 3 is out of range"),
        ({"m": 4}, "m = 4 is out of range: with 3 features, m may be 1 to 3"),
        ({"k": 1.5}, "k must be a whole number"),
        ({"k": True}, "k must be a whole number"),
        ({"coupling": [[1.0, np.nan, 2.0], [1, 2, 3]]}, r"coupling holds 1 values that are not finite.*\[0, 1\]"),
        ({"coupling": [[1.0, "x", 2.0]]}, "table of numbers"),
        ({"coupling": np.ones(3)}, "N ≥ 1 rows"),
        ({"coupling": np.ones((0, 3))}, "N ≥ 1 rows"),
        ({"sample_scores": [1.0]}, "sample_scores must have one number for each of the 2 samples"),
        ({"feature_scores": [1, 2, np.inf]}, "feature_scores holds 1 values"),
        ({"coupling_weight": -1}, "must not be negative"),
        ({"coupling_weight": np.nan}, "must be a finite number, got nan"),
        ({"sample_names": ["a"]}, "name each of the 2 samples"),
        ({"feature_names": ["a", "b", "a"]}, "'a' stands twice"),
        ({"feature_names": "abc"}, "list of names"),
        ({"sample_names": 5}, "list of names"),
        ({"directions": ["low"] * 3}, "directions say how features look at columns: give feature_names too"),
        ({"directions": "low", "feature_names": ["a", "b", "c"]}, "directions must be a list of names"),
        ({"directions": 5, "feature_names": ["a", "b", "c"]}, "directions must be a list of names"),
        ({"directions": ["low"], "feature_names": ["a", "b", "c"]}, "directions must hold one for each of the 3"),
        ({"directions": ["low", "low", ""], "feature_names": ["a", "a", "a"]}, r"\('a', 'low'\) stands twice"),
        ({"coupling": [[1j, 2, 3]]}, "complex"),
        ({"coupling": [[10**400, 2, 3]]}, "table of numbers"),
        ({"sample_scores": [10**400, 1]}, "sample_scores must be numbers"),
        ({"coupling": [[1e308, 1e308, 1e308]], "m": 3}, "beyond float64"),
    ],
)
def test_bad_input_is_refused_with_the_reason(change, message):
    good = {"coupling": np.ones((2, 3)), "k": 1, "m": 1}
    with pytest.raises(InputError, match=message):
        SelectionProblem(**{**good, **change})


@pytest.mark.parametrize(
    ("samples", "message"), [([5], "within 0..1"), ([-1], "within 0..1"), ([0, 0], "not repeat"), ([0.5], "positions")]
)
def test_energy_refuses_wrong_positions(samples, message):
    with pytest.raises(InputError, match=message):
        SelectionProblem(coupling=np.ones((2, 3)), k=1, m=1).energy(samples, [0])


@pytest.mark.parametrize(("samples", "message"), [([[5]], "within 0..1"), ([[-1]], "within"), ([[0.5]], "positions")])
def test_energies_of_many_refuses_wrong_positions(samples, message):
    with pytest.raises(InputError, match=message):
        SelectionProblem(coupling=np.ones((2, 3)), k=1, m=1).energies(samples, [[0]])


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 truncated"])
def test_loading_a_broken_file_says_so(tmp_path, content):
    (tmp_path / "p.npz").write_bytes(content)
    with pytest.raises(InputError, match="not a problem file"):
        SelectionProblem.load(tmp_path / "p.npz")
    with pytest.raises(InputError, match="no such file"):
        SelectionProblem.load(tmp_path / "absent.npz")
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(InputError, match="not a problem file"):
        SelectionProblem.load((tmp_path / "array.npy").rename(tmp_path / "array.npz"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"k": 1, "m": 1}, "lacks"),
        ({"coupling": [[1]], "k": 1, "m": 1, "q": 3}, "unknown problem fields"),
        ({"coupling": [[1]], "k": 1, "m": 1, "format": "other"}, "format"),
        ([1, 2], "must be an object"),
    ],
)
def test_a_wrong_json_form_is_refused(content, message):
    with pytest.raises(InputError, match=message):
        SelectionProblem.from_dict(content)
