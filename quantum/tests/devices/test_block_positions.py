"""Rules on a device: placed in connected parts, compiled, measured, decoded, and never broken."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import Group, Rules, SelectionProblem
from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect.testing.oracles import all_selections
from biselect.testing.strategies import blocked_problems
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.devices import compile_problem, place_circuit
from biselect_quantum.devices._block_positions import block_labels
from biselect_quantum.devices.circuit_files import circuit_contents, load_circuit
from biselect_quantum.devices.execution.exact_shots import sector_shots, wide_shots
from biselect_quantum.devices.qiskit_circuits import build_circuit, ideal_probabilities
from biselect_quantum.simulate.wide import WideSampler

pytest.importorskip("qiskit")


def problem_of(**rules):
    rng = np.random.default_rng(3)
    scores = {"sample_scores": rng.normal(size=6), "feature_scores": rng.normal(size=4)}
    return SelectionProblem(coupling=rng.normal(size=(6, 4)), k=3, m=2, **scores, **rules)


RULED = problem_of(
    sample_rules=Rules(forced_in=[1], groups=[Group(members=(0, 3, 5), exactly=1)]),  # and one of 2 and 4
    feature_rules=Rules(forced_out=[2]),
)


def every_string(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


@pytest.mark.parametrize("path", ["y-frame", "opt3-cz"])
def test_a_compiled_ruled_circuit_is_that_of_the_simulator(path, tmp_path):
    angles = [0.4, 0.9, 0.7]
    placed = place_circuit(RULED, "boston", depth=1, schedule="bilinear", path=path, registers="paths")
    made = placed.compile(angles, compare=False)
    expected = np.abs(Ansatz.from_spec(placed.spec).dense_state(angles)) ** 2
    found = ideal_probabilities(made.gates)
    np.testing.assert_allclose(found, expected, atol=1e-9 if path == "y-frame" else 1e-6)  # Qiskit merges gates
    for blocks, edges in zip(RULED.sector.blocks, made.bound.mixer, strict=True):
        reached = {members[0] for members, _ in blocks.parts}
        for _ in range(6):
            reached |= {end for group in edges for edge in group if reached & set(edge) for end in edge}
        assert reached == set(blocks.moving)  # each group is joined by its own edges, and settled items by none
    strings = np.flatnonzero(expected > 1e-12)
    shots = made.decode(every_string(10)[strings])
    assert shots.inside.all()
    for name, content in circuit_contents(made).items():
        (tmp_path / name).write_bytes(content)
    stored = load_circuit(tmp_path)
    assert stored.bound.blocks == made.bound.blocks is not None
    for draw in (sector_shots, wide_shots):
        bits, counts = draw(stored.bound, 2000, 0)
        found = stored.decode(bits)
        assert found.inside.all() and counts.sum() == 2000


def test_training_for_a_device_keeps_the_rules():
    made = compile_problem(RULED, "boston", depth=1, registers="paths", compare=False)
    assert made.training is not None
    bits, _ = sector_shots(made.bound, 500, 0)
    assert made.decode(bits).inside.all()
    assert made.mask[1].all()  # couplings of settled items are fields, and all kept


@settings(max_examples=15)
@given(blocked_problems(4, 4), st.integers(0, 10**6))
def test_logical_circuits_and_wide_shots_are_those_of_the_simulator(problem, seed):
    spec = AnsatzSpec(problem, 1, start="random", seed=seed)
    angles = np.random.default_rng(seed).normal(size=spec.size)
    expected = np.abs(Ansatz.from_spec(spec).dense_state(angles)) ** 2
    np.testing.assert_allclose(ideal_probabilities(build_circuit(spec, angles)), expected, atol=1e-9)
    strings = every_string(problem.n_samples + problem.n_features)
    sampler = WideSampler(problem, spec.program(angles), dtype=np.complex128)
    np.testing.assert_allclose(sampler.probabilities(strings), expected, atol=1e-12)
    shots = sampler.sample(200, seed)
    assert all(problem.obeys(*choice) for choice in zip(shots.samples, shots.features, strict=True))


@settings(max_examples=15)
@given(blocked_problems(4, 3))
def test_the_dicke_circuit_is_uniform_over_what_is_allowed(problem):
    n = problem.n_samples
    chances = ideal_probabilities(build_circuit(AnsatzSpec(problem, 1), np.zeros(4)))
    expected = np.zeros(chances.size)
    for samples, features in all_selections(problem):
        expected[sum(1 << i for i in samples) + sum(1 << (n + j) for j in features)] = 1 / problem.sector.size
    np.testing.assert_allclose(chances, expected, atol=1e-9)


@settings(max_examples=40)
@given(st.integers(2, 14), st.data())
def test_parts_of_a_path_are_always_found_and_joined(n, data):
    sizes = data.draw(st.lists(st.integers(2, 4), max_size=4).filter(lambda found: sum(found) <= n))
    starts = np.cumsum([0, *sizes])
    blocks = Blocks(always=(), parts=tuple((tuple(range(a, b)), 1) for a, b in pairwise(starts.tolist())))
    labels = block_labels([(i, i + 1) for i in range(n - 1)], n, blocks, {0}, "sample")
    for number, size in enumerate(sizes):
        places = np.flatnonzero(labels == number)
        assert len(places) == size == places[-1] - places[0] + 1


def test_a_tree_that_cannot_be_cut_says_what_can():
    star, pairs = [(0, 1), (0, 2), (0, 3)], Blocks(always=(), parts=(((0, 1), 1), ((2, 3), 1)))
    with pytest.raises(InputError, match="registers='paths'"):
        block_labels(star, 4, pairs, set(), "sample")


def test_limits_and_broken_starts_are_refused_before_the_work():
    steps = []
    loose = replace(RULED, sample_rules=Rules(groups=[Group(members=(0, 1), at_most=1)]))
    with pytest.raises(InputError, match="exactly=t"):
        place_circuit(loose, "boston", progress=steps.append)
    with pytest.raises(InputError, match="breaks the problem's rules"):
        place_circuit(RULED, "boston", start=([0, 2, 3], [0, 1]), progress=steps.append)
    assert not steps
