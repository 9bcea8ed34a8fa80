import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit.primitives import BitArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.conventions import little_endian
from biselect_quantum.shots import bit_table, decode_bits


def problem_of(n, d, k=1, m=1, seed=0):
    rng = np.random.default_rng(seed)
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)), sample_scores=rng.normal(size=n), feature_scores=rng.normal(size=d), k=k, m=m
    )


@st.composite
def measured(draw):
    """Bits of the variables, their counts, a layout, and what a device would have returned."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    problem = problem_of(n, d, draw(st.integers(1, n)), draw(st.integers(1, d)))
    width = n + d + draw(st.integers(0, 70))  # more classical bits than variables, beyond one machine word
    layout = draw(st.permutations(range(width)))[: n + d]
    rows = draw(st.lists(st.tuples(*[st.integers(0, 1)] * (n + d)).map(tuple), min_size=1, max_size=6, unique=True))
    original = np.array(rows, dtype=np.uint8)
    counts = np.array([draw(st.integers(1, 9)) for _ in rows])
    physical = np.array(draw(st.lists(st.integers(0, 1), min_size=width, max_size=width)), dtype=np.uint8)
    table = np.tile(physical, (len(rows), 1))  # bits of other qubits hold anything
    for row, bits in zip(table, original, strict=True):
        for logical, bit in enumerate(layout):
            row[bit] = bits[logical]
    return problem, layout, original, counts, table


@settings(max_examples=150)
@given(measured(), st.sampled_from(["string", "spaced", "hex", "integer", "table", "booleans", "bitarray"]))
def test_whatever_is_measured_comes_back_under_its_own_names(case, form):
    problem, layout, original, counts, table = case
    strings = [little_endian(row) for row in table]
    if form in ("table", "booleans", "bitarray"):
        shots = np.repeat(table, counts, axis=0)
        given_counts = {"table": shots, "booleans": shots.astype(bool)}.get(form)
        if form == "bitarray":
            given_counts = BitArray.from_bool_array(shots.astype(bool), order="little")
    else:
        keys = {
            "string": strings,
            "spaced": [text[:1] + " " + text[1:] for text in strings],
            "hex": [hex(int(text, 2)) for text in strings],
            "integer": [int(text, 2) for text in strings],
        }[form]
        given_counts = dict(zip(keys, counts.tolist(), strict=True))
    shots = decode_bits(given_counts, problem, layout)
    found = {tuple(bits): count for bits, count in zip(shots.bits.tolist(), shots.counts.tolist(), strict=True)}
    assert found == {tuple(bits): count for bits, count in zip(original.tolist(), counts.tolist(), strict=True)}
    n = problem.n_samples
    feasible = [bits[:n].sum() == problem.k and bits[n:].sum() == problem.m for bits in original]
    samples = shots.samples
    assert samples.shots == counts[feasible].sum()
    assert shots.exact_budget_mass == pytest.approx(counts[feasible].sum() / counts.sum())
    assert sorted(samples.energies) == pytest.approx(sorted(problem.bit_energies(original[feasible])))
    assert (np.diff(samples.energies) >= 0).all()
    for s, f, energy in zip(samples.samples, samples.features, samples.energies, strict=True):
        assert problem.energy(s, f) == pytest.approx(energy)


def test_equal_strings_are_counted_together():
    problem = problem_of(2, 1)
    shots = decode_bits({"1 01": 2, "101": 3, "0x5": 1}, problem, (0, 1, 2))
    assert shots.bits.tolist() == [[1, 0, 1]] and shots.counts.tolist() == [6] and shots.shots == 6


def test_samples_are_core_samples_under_original_positions():
    problem = SelectionProblem(coupling=[[0.0, 1.0], [5.0, 0.0], [0.0, 0.0]], k=1, m=1)
    layout = [2, 1, 0, 4, 3]  # classical bit 1 holds sample 1, bit 4 feature 0
    found = decode_bits({little_endian([0, 1, 0, 0, 1]): 7, "11111": 3}, problem, layout).samples
    assert found.best[0].tolist() == [1] and found.best[1].tolist() == [0] and found.best[2] == -5 and found.shots == 7


def test_more_shots_than_a_machine_word_are_refused():
    with pytest.raises(InputError, match="2⁶³"):
        decode_bits({"01001": 1 << 64}, problem_of(3, 2), range(5))


@pytest.mark.parametrize(
    ("counts", "layout", "message"),
    [
        ({}, (0, 1, 2), "no shots"),
        ({"000": 0}, (0, 1, 2), "no shots"),
        ({"000": 1, "0000": 1}, (0, 1, 2), "differ in length"),
        ({"0a0": 1}, (0, 1, 2), "0 and 1"),
        ({"0€0": 1}, (0, 1, 2), "0 and 1"),
        ({"0xzz": 1}, (0, 1, 2), "bitstrings"),
        ({-1: 1}, (0, 1, 2), "bitstrings"),
        ({1.5: 1}, (0, 1, 2), "bitstrings"),
        ({"000": 1.5}, (0, 1, 2), "whole numbers"),
        ({"000": -1}, (0, 1, 2), "negative"),
        ({"000": 1}, (0, 1), "2 entries"),
        ({"000": 1}, (0, 1, 1), "must not repeat"),
        ({"000": 1}, (0, 1, 3), r"within 0\.\.2"),
        ({"000": 1}, (0, 1, -1), r"within 0\.\.2"),
        (np.zeros(3, dtype=int), (0, 1, 2), "shots × classical bits"),
        (np.zeros((1, 3)), (0, 1, 2), "shots × classical bits"),
        (np.full((1, 3), 2), (0, 1, 2), "0 or 1"),
        (np.zeros((0, 3), dtype=int), (0, 1, 2), "no shots"),
    ],
)
def test_bad_counts_are_refused(counts, layout, message):
    with pytest.raises(InputError, match=message):
        decode_bits(counts, problem_of(2, 1), layout)


def test_a_million_shots_decode_at_once():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 2, size=(1_000_000, 12), dtype=np.uint8)
    problem = problem_of(7, 5, 3, 2)
    shots = decode_bits(table, problem, range(12))
    assert shots.shots == 1_000_000 and len(shots.bits) == 4096
    assert shots.exact_budget_mass == pytest.approx(problem.sector.size / 4096, abs=0.002)


def test_bits_end_little_endian_here():
    assert bit_table({"0011": 1})[0].tolist() == [[1, 1, 0, 0]]
    assert bit_table({3: 1}, width=4)[0].tolist() == [[1, 1, 0, 0]]
