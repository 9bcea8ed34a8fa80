"""A placed circuit takes and gives the positions of the problem, by whatever public name one gets hold of it.

Every way below either gives what the dense problem itself says, position by position, or is refused.
"""

import json
from dataclasses import replace
from functools import cached_property
from inspect import isfunction, signature
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("qiskit_ibm_runtime")


import biselect as bs
from biselect import Rules, SelectionProblem
from biselect.core import Group
from biselect.core.sector import block_subsets
from biselect.core.untrusted import seal
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, AnsatzSpec, Observable, Threshold, Training, components, train
from biselect_quantum.circuits.angle_selection import WideShots, fixed_angles, select_by_paper
from biselect_quantum.devices import (
    choose_patch,
    compile_circuit,
    compile_problem,
    hardware_mask,
    load_circuit,
    masked,
    pauli_operators,
    place,
    place_circuit,
    qasm3_text,
    retained_mass,
    to_qiskit,
)
from biselect_quantum.devices.circuit_files import write_circuit
from biselect_quantum.devices.execution import execute, freeze, load_run, outcome, plan, take_shots
from biselect_quantum.devices.noise import noisy_probabilities, noisy_shots
from biselect_quantum.devices.paths import OPT3_CZ
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities, ideal_shots
from biselect_quantum.devices.targets import load_target
from biselect_quantum.shots import decode_bits
from biselect_quantum.simulate.wide import WideSampler
from biselect_studies.quantum.register_trees import register_shots

N, D, K, M = 6, 4, 2, 2
NAMES = {"sample_names": [f"row {i}" for i in range(N)], "feature_names": [f"column {j}" for j in range(D)]}
RULES = {
    "sample_rules": Rules(forced_in=[4], groups=[Group(members=(0, 3, 5), exactly=1)]),
    "feature_rules": Rules(forced_out=[2]),
}


def asymmetric(seed, **more):
    """No two cells, rows or columns are alike, so that every permutation has other energies."""
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.normal(size=N), "feature_scores": rng.normal(size=D)}
    return SelectionProblem(coupling=rng.exponential(size=(N, D)) ** 2, k=K, m=M, **scores, **more)


def slow_energy(problem, samples, features):
    found = -sum(problem.sample_scores[i] for i in samples) - sum(problem.feature_scores[j] for j in features)
    return found - problem.coupling_weight * sum(problem.coupling[i, j] for i in samples for j in features)


class World:
    """A problem, its circuit on a device and what is known of it without either."""

    def __init__(self, folder, problem, **options):
        self.folder, self.problem, self.options = folder, problem, {"depth": 2, "schedule": "bilinear", **options}
        choices = [(s, f) for s in combinations(range(N), K) for f in combinations(range(D), M)]
        self.choices = [choice for choice in choices if problem.obeys(*choice)]
        self.energies = {choice: slow_energy(problem, *choice) for choice in self.choices}
        self.best = bs.solve(problem)
        ordered = sorted(self.choices, key=self.energies.__getitem__)
        self.chosen = ordered[0]
        self.start = ordered[len(ordered) // 3]
        self.angles = np.array([0.7, -1.1, 0.4, 0.9])
        self.placed = place_circuit(problem, "boston", start=self.start, **self.options)
        # the same problem with its items in another order, as somebody who permuted it by hand has it
        rows, columns = np.random.default_rng(1).permutation(N), np.random.default_rng(2).permutation(D)
        names = {} if problem.sample_names is None else {key: None for key in NAMES}
        free = replace(problem, sample_rules=None, feature_rules=None, **names)
        self.other = replace(
            free,
            coupling=problem.coupling[np.ix_(rows, columns)],
            sample_scores=problem.sample_scores[rows],
            feature_scores=problem.feature_scores[columns],
        )

    @property
    def spec(self):
        return self.placed.spec

    @cached_property
    def ansatz(self):
        return Ansatz.from_spec(self.spec, backend="plain")

    @cached_property
    def made(self):
        return self.placed.compile(self.angles, compare=False)

    @cached_property
    def still(self):
        """The circuit at angles of nought, which measures its start."""
        return self.placed.compile(np.zeros(4), compare=False)

    @cached_property
    def chances(self):
        """The chance of every choice by the compiled circuit: its measured bits, and which item sits on which qubit."""
        circuit = self.made.gates
        measured = {
            circuit.find_bit(step.qubits[0]).index: circuit.find_bit(step.clbits[0]).index
            for step in circuit.data
            if step.operation.name == "measure"
        }
        bit = [measured[qubit] for qubit in self.made.layout.measured_on]
        found = ideal_probabilities(circuit)
        return {(s, f): found[sum(1 << bit[q] for q in (*s, *(N + j for j in f)))] for s, f in self.choices}

    def check_choices(self, samples, features, energies):
        assert len(samples)
        for s, f, energy in zip(samples, features, energies, strict=True):
            assert energy == pytest.approx(self.energies[tuple(map(int, s)), tuple(map(int, f))])

    def check_drawn(self, found, chances=None):
        """Shots with the right energies, as often as the circuit has them."""
        self.check_choices(found.samples, found.features, found.energies)
        known = self.chances if chances is None else chances
        drawn = {
            (tuple(map(int, s)), tuple(map(int, f))): count / found.shots
            for s, f, count in zip(found.samples, found.features, found.counts, strict=True)
        }
        assert sum(abs(drawn.get(choice, 0.0) - chance) for choice, chance in known.items()) / 2 < 0.1

    def check_start(self, found):
        assert tuple(tuple(int(item) for item in side) for side in found) == self.start


def basis(world, choice):
    state = np.zeros(world.ansatz.energies.shape)
    rows, columns = (block_subsets(side).tolist() for side in world.problem.sector.blocks)
    state[rows.index(list(choice[0])), columns.index(list(choice[1]))] = 1
    return state


def pinned(energy):
    """An ansatz at angles of nought must have the energy of its start."""
    return lambda ansatz: ansatz.expectation(np.zeros(ansatz.size)) == pytest.approx(energy)


def bits_of(choice):
    return [int(q in {*choice[0], *(N + j for j in choice[1])}) for q in range(N + D)]


# Ways in: a start of the problem is the start of the circuit


def start_by_selection(w):
    best = Ansatz.from_spec(w.spec.changed(start=w.best), backend="plain")
    assert best.expectation(np.zeros(4)) == pytest.approx(w.best.energy) == pytest.approx(min(w.energies.values()))


def start_by_pair(w):
    assert pinned(w.energies[w.chosen])(Ansatz.from_spec(w.spec.changed(start=w.chosen), backend="plain"))


def start_by_state(w):
    assert pinned(w.energies[w.chosen])(Ansatz.from_spec(w.spec.changed(start=basis(w, w.chosen)), backend="plain"))


def start_canonical(w):
    samples, features = w.spec.changed(start="canonical").start
    assert (tuple(samples), tuple(features)) == min(w.choices, key=lambda choice: (choice[0], choice[1]))


def start_random(w):
    for seed in range(5):
        samples, features = w.spec.changed(start="random", seed=seed).start
        assert (tuple(samples), tuple(features)) in w.energies


def start_that_was_given(w):
    w.check_start(w.spec.start)


def start_of_the_program(w):
    w.check_start(w.spec.program().choice)
    assert w.spec.program().bits == tuple(bits_of(w.start))


def start_given_back(w):
    again = place_circuit(w.problem, "boston", start=tuple(w.spec.start), **w.options)
    w.check_start(again.spec.start)
    assert again.spec.fingerprint == w.spec.fingerprint


def start_drawn_by_placing(w):
    for start in ("reach", "random"):
        found = place_circuit(w.problem, "boston", start=start, **w.options).spec
        assert tuple(map(tuple, found.start)) in w.energies
        assert pinned(w.energies[tuple(map(tuple, found.start))])(Ansatz.from_spec(found, backend="plain"))


def start_of_a_compiled_problem(w):
    made = compile_problem(w.problem, "boston", np.zeros(4), start=w.best, compare=False, **w.options)
    samples, features, energy = take_shots(made, "sector", shots=20).samples.best
    assert (tuple(samples), tuple(features)) == w.chosen and energy == pytest.approx(w.best.energy)


def start_of_the_manifest(w):
    assert w.made.manifest()["start"] == bits_of(w.start)


def start_on_the_device(w):
    """The X gates of the circuit at angles of nought stand on the qubits of the start's items."""
    found = w.still.decode(ideal_shots(w.still.gates, 10)).samples
    w.check_start(found.best[:2])
    layout = w.placed.patch.layout
    assert w.made.layout.begins_on == layout
    assert layout == w.placed.patch.samples + w.placed.patch.features


# Ways in: what belongs to another order is refused


def refused(call):
    with pytest.raises(InputError, match="make one for this problem"):
        call()


def selection_of_another_order_as_a_start(w):
    refused(lambda: w.spec.changed(start=bs.solve(w.other)))


def selection_of_another_order_to_place(w):
    refused(lambda: place_circuit(w.problem, "boston", start=bs.solve(w.other), **w.options))


def selection_of_another_order_to_compile(w):
    refused(lambda: compile_problem(w.problem, "boston", w.angles, start=bs.solve(w.other), **w.options))


def selection_of_another_order_to_simulate(w):
    refused(lambda: Ansatz(w.problem, 1, start=bs.solve(w.other)))


def selection_of_another_order_to_hit(w):
    refused(lambda: noisy_probabilities(w.made, bs.solve(w.other), trajectories=2))


def selection_of_the_surrogate_as_a_start(w):
    if w.placed.mask.all():
        return
    refused(lambda: w.spec.changed(start=bs.solve(w.placed.surrogate)))
    found = bs.solve(w.placed.surrogate)  # its positions are the problem's own all the same
    pair = tuple(found.samples), tuple(found.features)
    assert pinned(w.energies[pair])(Ansatz.from_spec(w.spec.changed(start=pair), backend="plain"))


def threshold_of_another_order(w):
    refused(lambda: Threshold.from_selection(bs.solve(w.other)).of(w.spec.problem))


def shots_of_a_problem_of_other_sizes(w):
    with pytest.raises(InputError, match="other sizes, budgets or rules"):
        w.made.decode(ideal_shots(w.made.gates, 10)).under(replace(w.other, k=1))


def circuit_of_an_older_order(w):
    write_circuit(w.folder / "older", w.made)
    manifest = json.loads((w.folder / "older" / "manifest.json").read_text())
    older = json.dumps(seal({**manifest, "format": "biselect-circuit-3"}))
    (w.folder / "older" / "manifest.json").write_text(older)
    with pytest.raises(InputError, match="holds no compiled circuit"):
        load_circuit(w.folder / "older")


def counts_of_another_circuit(w):
    for width in (N + D - 1, N + D + 1):
        with pytest.raises(InputError, match=f"have {width} classical bits, the circuit reads {N + D}"):
            w.made.decode({"1" * width: 3})


def program_that_came_without_a_problem(w):
    made = compile_circuit(w.spec.program(w.angles), w.placed.target, w.placed.patch.layout, OPT3_CZ)
    with pytest.raises(InputError, match="has no problem"):
        made.decode(ideal_shots(made.gates, 10))


def circuit_that_is_not_compiled(w):
    with pytest.raises(InputError, match="not compiled yet"):
        w.placed.decode({"0" * (N + D): 1})


def placement_keeps_no_second_order(w):
    assert not hasattr(w.made.placement, "samples")  # nobody can permute what is in the right order


# Ways out: the simulator of a placed circuit


def problem_of_the_circuit(w):
    for found in (w.spec.problem, w.ansatz.problem, w.placed.problem, w.made.problem):
        assert found.digest == w.problem.digest
    assert w.ansatz.problem.sample_names == w.problem.sample_names


def energies_of_the_simulator(w):
    rows, columns = w.ansatz.samples.subsets, w.ansatz.features.subsets
    for row, samples in enumerate(rows.tolist()):
        for column, features in enumerate(columns.tolist()):
            assert w.ansatz.energies[row, column] == pytest.approx(w.energies[tuple(samples), tuple(features)])


def state_of_the_simulator(w):
    """The circuit that is trained is the one that the device runs, choice by choice."""
    found = np.abs(w.ansatz.state(w.angles)) ** 2
    for choice, chance in w.chances.items():
        assert found[basis(w, choice) == 1] == pytest.approx(chance, abs=1e-6)
    dense = np.abs(w.ansatz.dense_state(w.angles)) ** 2
    for (s, f), chance in w.chances.items():
        assert dense[sum(1 << q for q in (*s, *(N + j for j in f)))] == pytest.approx(chance, abs=1e-6)


def mean_of_the_simulator(w):
    mean = sum(chance * w.energies[choice] for choice, chance in w.chances.items())
    assert w.ansatz.expectation(w.angles) == pytest.approx(mean, abs=1e-5)


def hits_of_the_simulator(w):
    assert w.ansatz.optimum_mass(w.angles) == pytest.approx(w.chances[w.chosen], abs=1e-6)
    assert w.ansatz.hit_rate(w.angles, w.best.energy) == pytest.approx(w.chances[w.chosen], abs=1e-6)


def observable_of_the_simulator(w):
    start = Observable(kind="values", values=basis(w, w.start))
    assert w.ansatz.expectation(w.angles, start) == pytest.approx(w.chances[w.start], abs=1e-6)


def shots_of_the_simulator(w):
    found = w.ansatz.sample(w.angles, 4000, seed=1)
    w.check_drawn(found)
    samples, features, energy = found.best
    assert w.problem.energy(samples, features) == pytest.approx(energy)


def shots_from_the_optimum(w):
    found = Ansatz.from_spec(w.spec.changed(start=w.best), backend="plain").sample(np.zeros(4), 10).best
    assert (tuple(found[0]), tuple(found[1])) == w.chosen


def threshold_of_the_simulator(w):
    fixed = Threshold.from_shots(w.ansatz, w.angles, shots=500, seed=0)
    assert fixed.of(w.problem) == pytest.approx(min(w.energies.values(), key=lambda energy: abs(energy - fixed.value)))
    assert Threshold.from_selection(w.best).of(w.ansatz.problem) == w.best.energy


def training_of_the_simulator(w):
    found = train(w.ansatz, evaluations=5, seed=0)
    described = json.loads(found.to_json())["circuit"]
    assert described["problem"] == w.problem.digest
    w.check_start((described["start"]["samples"], described["start"]["features"]))
    assert w.placed.compile(found, compare=False).training is not None
    assert not w.placed.differences(Training.from_json(found.to_json()))


def training_of_the_whole_problem(w):
    """Angles have no order, so they may go from circuit to circuit; the bundle says that they did."""
    found = train(Ansatz(w.problem, 2, "bilinear", backend="plain"), evaluations=5, seed=0)
    made = w.placed.compile(found, compare=False)
    assert made.training is None and "another circuit" in made.notes[0]
    expected = Ansatz.from_spec(w.spec, backend="plain").expectation(found.angles)
    drawn = take_shots(made, "sector", shots=4000).samples
    assert drawn.mean_energy() == pytest.approx(expected, abs=0.3)


def wide_shots_of_the_circuit(w):
    draw = WideShots(w.spec)
    w.check_drawn(draw(tuple(map(list, w.start)), w.angles, 4000, 1))
    chosen = draw(tuple(map(list, w.chosen)), np.zeros(4), 10, 0).best
    assert (tuple(chosen[0]), tuple(chosen[1])) == w.chosen and chosen[2] == pytest.approx(w.best.energy)


def wide_sampler_of_the_program(w):
    w.check_drawn(WideSampler(w.problem, w.spec.program(w.angles)).sample(4000, 1))


def angles_selected_for_the_circuit(w):
    starts = [tuple(map(list, choice)) for choice in (w.start, w.chosen)]
    found = select_by_paper(w.problem, WideShots(w.spec), starts, fixed_angles(w.spec.schedule))
    assert found.start in starts
    assert all(trial.improved == 0 for trial in (*found.tried, *found.confirmed) if starts[trial.start] == starts[1])
    assert any(trial.improved > 0 for trial in found.tried)


# Ways out: shots of the compiled circuit


def counts_by_the_compiled_circuit(w):
    w.check_drawn(w.made.decode(ideal_shots(w.made.gates, 4000)).samples)


def counts_by_the_manifest(w):
    layout = json.loads(json.dumps(w.made.manifest()))["layout"]
    w.check_drawn(decode_bits(ideal_shots(w.made.gates, 4000), w.problem, layout["read_into"]).samples)


def shots_of_the_sector(w):
    w.check_drawn(take_shots(w.made, "sector", shots=4000).samples)


def shots_of_the_wide_sampler(w):
    w.check_drawn(take_shots(w.made, "wide", shots=4000).samples)


def shots_of_a_stored_circuit(w):
    write_circuit(w.folder / "circuit", w.made)
    stored = load_circuit(w.folder / "circuit")
    w.check_drawn(take_shots(stored, "sector", shots=4000).samples)
    w.check_start(stored.bound.choice)
    assert stored.surrogate.digest == w.placed.surrogate.digest and stored.problem.digest == w.problem.digest


def shots_of_a_run(w):
    write_circuit(w.folder / "still", w.still)
    stored = load_circuit(w.folder / "still")
    asked = plan(stored, "sector", shots=20, repeats=2, seed=1)
    freeze(stored, w.folder / "still", w.folder / "run", asked)
    run = load_run(w.folder / "run")
    found = outcome(run, execute(run))
    assert found.strict.best_energy == pytest.approx(w.energies[w.start]) == pytest.approx(found.strict.mean_energy)
    assert found.strict.dense_gap == pytest.approx(w.energies[w.start] - w.best.energy)
    sparse = slow_energy(w.placed.surrogate, *w.start)
    best = min(slow_energy(w.placed.surrogate, *choice) for choice in w.choices)
    assert found.repaired.band_1_gap <= sparse - best + 1e-9


def shots_with_errors(w):
    found = noisy_shots(w.still, 200, seed=1)
    samples = found.shots.samples
    w.check_choices(samples.samples, samples.features, samples.energies)
    likeliest = int(samples.counts.argmax())
    w.check_start((samples.samples[likeliest], samples.features[likeliest]))
    errors = np.array([w.still.target["measure"][(qubit,)].error for qubit in w.still.layout.measured_on])
    assert found.confusion[:, 0, 1] + found.confusion[:, 1, 0] == pytest.approx(2 * errors, rel=0.05, abs=5e-3)


def shots_of_registers_with_errors(w):
    if w.made.resources.swaps:
        return
    samples = register_shots(w.still, 200, seed=1).shots.samples
    likeliest = int(samples.counts.argmax())
    w.check_start((samples.samples[likeliest], samples.features[likeliest]))


def chances_with_errors(w):
    for choices in (w.best, [w.chosen]):
        found = noisy_probabilities(w.made, choices, trajectories=2)
        assert found.ideal_hit == pytest.approx(w.chances[w.chosen], abs=1e-5)
    assert noisy_probabilities(w.still, [w.start], trajectories=2).ideal_hit > 0.999


# Ways out: masks, surrogates, operators, circuits and files


def mask_of_the_circuit(w):
    assert np.array_equal(w.made.mask, w.placed.mask)
    assert masked(w.problem, w.placed.mask).digest == w.placed.surrogate.digest
    assert np.array_equal(w.placed.surrogate.coupling, np.where(w.placed.mask, w.problem.coupling, 0.0))
    kept = sum(abs(w.problem.coupling[i, j]) for i, j in w.made.manifest()["mask"])
    assert kept == pytest.approx(w.made.manifest()["retained_mass"])
    assert retained_mass(w.problem, w.placed.mask)[1] == pytest.approx(w.made.retained_share)


def mask_of_the_patch(w):
    found = hardware_mask(w.placed.patch, w.problem)
    assert not (found & ~w.placed.mask).any() or w.made.path.name.startswith("network")


def mask_of_a_placement(w):
    """By hand, as the documentation has it: the mass that the placement says is the mass of its mask."""
    if w.problem.sample_rules:
        return
    target = load_target("boston")
    found = place(w.problem, choose_patch(target, N, D))
    mask = hardware_mask(found.patch)
    assert retained_mass(w.problem, mask)[0] == pytest.approx(found.mass)
    spec = AnsatzSpec(
        w.problem,
        2,
        "bilinear",
        (found.patch.sample_edges, found.patch.feature_edges),
        w.start,
        groups=components(masked(w.problem, mask)),
    )
    made = compile_circuit(spec, target, found.patch.layout, angles=np.zeros(4))
    w.check_start(made.decode(ideal_shots(made.gates, 10)).samples.best[:2])


def surrogate_held_against_the_problem(w):
    for choice in w.choices:
        lost = sum(w.problem.coupling[i, j] for i in choice[0] for j in choice[1] if not w.placed.mask[i, j])
        assert slow_energy(w.placed.surrogate, *choice) - w.energies[choice] == pytest.approx(lost)


def operators_of_the_circuit(w):
    found = pauli_operators(w.spec)
    for choice in w.choices[::7]:
        assert diagonal_of(found.energy, bits_of(choice)) == pytest.approx(w.energies[choice])
        phases = sum(diagonal_of(group, bits_of(choice)) for group in found.groups.values())
        assert phases == pytest.approx(slow_energy(w.placed.surrogate, *choice))


def diagonal_of(operator, bits):
    found = 0.0
    for label, factor in operator.to_list():
        found += factor.real * np.prod([1 - 2 * bits[q] for q, letter in enumerate(reversed(label)) if letter == "Z"])
    return found


def program_as_a_qiskit_circuit(w):
    found = ideal_probabilities(to_qiskit(w.spec.program(w.angles)))
    for (s, f), chance in w.chances.items():
        assert found[sum(1 << q for q in (*s, *(N + j for j in f)))] == pytest.approx(chance, abs=1e-6)


def program_on_any_other_layout(w):
    """A layout says where qubits lie, never what they stand for."""
    layout = list(reversed(w.placed.patch.layout))
    made = compile_circuit(w.spec, w.placed.target, layout, replace(OPT3_CZ, coloured=False), angles=w.angles)
    w.check_drawn(made.decode(ideal_shots(made.gates, 4000)).samples)


def exported_text(w):
    """The X pulses of the text at angles of nought: the qubits of the start's items are measured as ones."""
    text = qasm3_text(w.still.gates)
    for q, bit in zip(w.still.layout.measured_on, w.still.layout.read_into, strict=True):
        assert f"c[{bit}] = measure ${q}" in text or f"c[{bit}] = measure q[{q}]" in text


def mixer_of_the_manifest(w):
    manifest, layout = w.made.manifest(), w.made.layout.begins_on
    edges = load_target("boston").build_coupling_map().get_edges()
    for first, name in ((0, "samples"), (N, "features")):
        for i, j in manifest["mixer"][name]:
            pair = layout[first + i], layout[first + j]
            assert pair in edges or pair[::-1] in edges
    assert manifest["patch"]["samples"] + manifest["patch"]["features"] == list(layout)
    assert "samples" not in manifest["placement"]


WAYS = [way for way in list(globals().values()) if isfunction(way) and [*signature(way).parameters] == ["w"]]
WORLDS = {
    "edges": ({}, {}),
    "named": (NAMES, {}),
    "network": ({}, {"keep": 0.9}),
    "ruled": (RULES, {"registers": "paths", "path": "opt3-cz"}),
    "late": (NAMES, {"path": "complete-fractional", "registers": "paths"}),
}


@pytest.fixture(scope="module", params=list(WORLDS))
def world(request, tmp_path_factory):
    more, options = WORLDS[request.param]
    patch = choose_patch(load_target("boston"), N, D, registers=options.get("registers", "auto"))
    problems = (asymmetric(seed, **more) for seed in range(7, 27))
    return World(
        tmp_path_factory.mktemp("world"), next(each for each in problems if is_shuffled(each, patch)), **options
    )


def is_shuffled(problem, patch):
    """Whether placing moves items of both registers, and not by exchanges alone, which would undo themselves."""
    seats = [place(problem, patch).patch.layout.index(qubit) for qubit in patch.layout]
    moved = [q for q, seat in enumerate(seats) if q != seat]
    return min(moved, default=N) < N <= max(moved, default=0) and [seats[seat] for seat in seats] != sorted(seats)


def test_there_are_many_ways():
    assert len(WAYS) >= 50


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_placed_and_original_order_are_never_mixed_up(world, way):
    way(world)
