"""One description, three runners: simulator, wide sampler and compiler agree on a circuit, or refuse it alike."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from biselect import Rules, SelectionProblem, solve
from biselect.core import Group
from biselect.errors import InputError
from biselect_quantum.circuits import (
    SCHEDULES,
    Ansatz,
    AnsatzSpec,
    CostGroup,
    Schedule,
    components,
    split_terms,
    surrogate,
)
from biselect_quantum.circuits.angle_selection import WideShots
from biselect_quantum.simulate.wide import WideSampler

SIZE = (4, 3, 2, 1)


def problem_of(**more):
    n, d, k, m = SIZE
    rng = np.random.default_rng(1)
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    return SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, coupling_weight=0.7, **scores, **more)


def equally_named(problem):
    return tuple(replace(group, name="same") for group in components(problem))


PROBLEM = problem_of()
MIXERS = {
    "ring": "ring",
    "path": "path",
    "complete": "complete",
    "pair": ("complete", "path"),
    "edges": ([(0, 1), (1, 2), (1, 3)], "ring"),
    "classes": ([[(2, 3)], [(1, 2)], [(0, 1)], [(1, 2)]], [[(1, 2)], [(0, 1)]]),
}
STARTS = {
    "dicke": "dicke",
    "canonical": "canonical",
    "random": "random",
    "choice": ([3, 1], [2]),
    "selection": solve(PROBLEM),
}
GROUPS = {
    "standard": lambda problem: None,
    "surrogate": lambda problem: surrogate(problem, [(0, 1), (3, 2)]),
    "equally named": equally_named,
    "split": lambda problem: split_terms(problem, np.arange(4 + 3 + 12) % 2),
}


def every_string(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


def by_simulator(spec, angles):
    return np.abs(Ansatz.from_spec(spec).dense_state(angles)) ** 2


def by_wide_sampler(spec, angles):
    sampler = WideSampler(spec.problem, spec.program(angles), dtype=np.complex128)
    return sampler.probabilities(every_string(spec.problem.n_samples + spec.problem.n_features))


def by_compiler(spec, angles):
    pytest.importorskip("qiskit")
    from biselect_quantum.devices import PATHS, compile_circuit, load_target
    from biselect_quantum.devices.qiskit_circuits import ideal_probabilities

    compiled = compile_circuit(spec.program(angles), load_target("boston"), None, PATHS["opt3-cz"])
    return ideal_probabilities(compiled.gates)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("mixer", MIXERS)
def test_simulator_and_wide_sampler_agree(mixer, start, groups):
    spec = AnsatzSpec(PROBLEM, 2, "fully-grouped", MIXERS[mixer], STARTS[start], groups=GROUPS[groups](PROBLEM), seed=5)
    assert spec.program().angle_names == spec.schedule.angle_names
    angles = np.random.default_rng(2).normal(size=spec.size)
    expected = by_simulator(spec, angles)
    assert expected.sum() == pytest.approx(1)
    if start == "dicke":
        with pytest.raises(InputError, match="basis state"):
            by_wide_sampler(spec, angles)
    else:
        np.testing.assert_allclose(by_wide_sampler(spec, angles), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("mixer", "start", "groups"),
    [
        ("ring", "dicke", "standard"),
        ("path", "canonical", "equally named"),
        ("complete", "random", "surrogate"),
        ("edges", "choice", "split"),
        ("classes", "selection", "standard"),
    ],
)
def test_the_compiler_agrees_with_the_simulator(mixer, start, groups):
    spec = AnsatzSpec(PROBLEM, 1, "fully-grouped", MIXERS[mixer], STARTS[start], groups=GROUPS[groups](PROBLEM), seed=5)
    angles = np.random.default_rng(3).normal(size=spec.size)
    np.testing.assert_allclose(by_compiler(spec, angles), by_simulator(spec, angles), atol=1e-4)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_mean_one_circuit(schedule):
    spec = AnsatzSpec(PROBLEM, 2, schedule, "path", "canonical")
    angles = np.random.default_rng(4).normal(size=spec.size)
    np.testing.assert_allclose(by_wide_sampler(spec, angles), by_simulator(spec, angles), atol=1e-12)


def test_equally_named_groups_keep_angles_of_their_own():
    spec = AnsatzSpec(PROBLEM, 1, groups=equally_named(PROBLEM))
    assert spec.program().angle_names == ("γ_same#0,1", "γ_same#1,1", "γ_same#2,1", "β_1")
    assert Ansatz(PROBLEM, 1, groups=equally_named(PROBLEM)).size == spec.size == 4


RUNNERS = {
    "simulator": lambda problem, *arguments, **more: Ansatz(problem, *arguments, **more),
    "wide sampler": lambda problem, *arguments, **more: WideShots(AnsatzSpec(problem, *arguments, **more)),
    "compiler": lambda problem, *arguments, **more: AnsatzSpec(problem, *arguments, **more).program(),
}


@pytest.mark.parametrize(
    ("problem", "arguments", "more", "message"),
    [
        (
            problem_of(sample_rules=Rules(groups=[Group(members=(0, 1))])),
            (1,),
            {},
            "a circuit keeps limits per group only",
        ),
        (problem_of(sample_rules=Rules(forced_out=[0])), (1, "tied", [(0, 1)]), {}, "0 is settled by the rules"),
        (
            problem_of(sample_rules=Rules(forced_out=[0])),
            (1, "tied", "path", ([0, 1], [0])),
            {},
            "breaks the problem's",
        ),
        (PROBLEM, (0,), {}, "depth must be a whole number of at least 1"),
        (PROBLEM, (2.0,), {}, "depth must be a whole number"),
        (PROBLEM, (1, "magic"), {}, "schedule must be one of"),
        (PROBLEM, (1, Schedule.named("tied", 2)), {}, "for depth 2 and 3 groups, the circuit has depth 1 and 3 groups"),
        (PROBLEM, (1, "bilinear"), {"groups": equally_named(PROBLEM)}, "for the components S, F and SF only"),
        (PROBLEM, (1, "tied", "blender"), {}, "mixer must be one of"),
        (PROBLEM, (1, "tied", [(0, 9)]), {}, "does not join two"),
        (PROBLEM, (1, "tied", "path", "warm"), {}, "start must be dicke"),
        (PROBLEM, (1, "tied", "path", None), {}, "start must be dicke"),
        (PROBLEM, (1, "tied", "path", ([0], [1])), {}, "k = 2 samples"),
        (PROBLEM, (1, "tied", "path", ([0, 9], [1])), {}, "samples must lie within 0..3"),
        (PROBLEM, (1, "tied", "path", ([0, 0], [1])), {}, "samples must not repeat"),
        (PROBLEM, (1, "tied", "path", np.ones((2, 2))), {}, "shape"),
        (PROBLEM, (1, "tied", "path", np.ones((6, 3))), {}, "normalised"),
        (
            PROBLEM,
            (1,),
            {"groups": [CostGroup(name="x", sample=np.ones(1), feature=np.ones(1), pair=np.ones((1, 1)))]},
            "every cost group must have the shape of the problem",
        ),
    ],
)
def test_all_runners_refuse_alike(problem, arguments, more, message):
    said = set()
    for build in RUNNERS.values():
        with pytest.raises(InputError, match=message) as caught:
            build(problem, *arguments, **more)
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_state_of_the_sector_is_for_simulators():
    state = np.full((6, 3), 18**-0.5)
    spec = AnsatzSpec(PROBLEM, 1, start=state)
    angles = np.random.default_rng(0).normal(size=4)
    np.testing.assert_allclose(by_simulator(spec, angles), by_simulator(AnsatzSpec(PROBLEM, 1), angles), atol=1e-12)
    with pytest.raises(InputError, match="no cheap preparation and are for simulators"):
        spec.program()


def test_a_spec_is_frozen_and_changed_into_others():
    spec = AnsatzSpec(PROBLEM, 2, "layerwise", "path", "random", seed=3)
    with pytest.raises(FrozenInstanceError):
        spec.start = None
    assert spec.changed().describe() == spec.describe()
    assert AnsatzSpec(PROBLEM, 2, "layerwise", "path", "random", seed=3).fingerprint == spec.fingerprint
    assert spec.changed(depth=3).schedule.angle_names == Schedule.named("layerwise", 3).angle_names
    assert spec.changed(schedule="tied").depth == 2 and spec.changed(schedule=Schedule.named("tied", 4)).depth == 4
    assert spec.changed(start="dicke").start is None and spec.changed(mixer="ring").mixer != spec.mixer


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"problem": replace(PROBLEM, k=3)}, "problem"),
        ({"depth": 3}, "depth"),
        ({"schedule": "tied"}, "schedule"),
        ({"mixer": "ring"}, "mixer"),
        ({"start": "canonical"}, "start"),
        ({"groups": surrogate(PROBLEM, [(0, 0)])}, "cost"),
    ],
)
def test_a_description_tells_circuits_apart_and_says_in_what(change, part):
    options = {"problem": PROBLEM, "depth": 2, "schedule": "layerwise", "mixer": "path", "groups": components(PROBLEM)}
    spec, other = AnsatzSpec(**options), AnsatzSpec(**{**options, **change})
    stored = json.loads(json.dumps(other.describe()))
    assert spec.fingerprint != other.fingerprint and not other.differences(stored)
    found = spec.differences(stored)
    assert found[0].startswith(f"{part} (") and " there, " in found[0]
    assert {entry.split(" (")[0] for entry in found} <= {part, "schedule"}  # the angles of another depth differ too


def test_edges_that_commute_may_change_places():
    plain = AnsatzSpec(PROBLEM, 1, mixer=([[(0, 1)], [(2, 3)], [(1, 2)]], "path"))
    swapped = AnsatzSpec(PROBLEM, 1, mixer=([[(3, 2)], [(1, 0)], [(1, 2)]], "path"))
    other = AnsatzSpec(PROBLEM, 1, mixer=([[(1, 2)], [(2, 3)], [(0, 1)]], "path"))
    assert plain.fingerprint == swapped.fingerprint != other.fingerprint
