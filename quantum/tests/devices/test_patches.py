import numpy as np
import pytest
from qiskit.circuit.library import CZGate, Measure, SXGate
from qiskit.transpiler import InstructionProperties, QubitProperties, Target

from biselect import Rules, SelectionProblem
from biselect.core import Group
from biselect.errors import InputError
from biselect.options import flags_of
from biselect_quantum.circuits.mixers import MIXERS
from biselect_quantum.devices import compile_problem
from biselect_quantum.devices._patch_kernels import score_labels, score_paths
from biselect_quantum.devices.device_errors import device_errors
from biselect_quantum.devices.patches import REGISTERS, Patch, choose_patch, make_patch, patch_objections
from biselect_quantum.devices.placement import place
from biselect_quantum.devices.targets import from_snapshot, load_target, snapshot
from biselect_quantum.options import CircuitOptions

DEVICES = {name: load_target(name) for name in ("boston", "pittsburgh", "iqm-54")}


def grid(rows, columns, *, cz=0.001, readout=0.01, single=1e-4, missing=(), t2=1e-4):
    """A square lattice; figures may be given qubit by qubit or edge by edge."""
    at = lambda row, column: row * columns + column  # noqa: E731
    edges = [(at(r, c), at(r, c + 1)) for r in range(rows) for c in range(columns - 1)]
    edges += [(at(r, c), at(r + 1, c)) for r in range(rows - 1) for c in range(columns)]
    pick = lambda given, place: given.get(place, 0.001) if isinstance(given, dict) else given  # noqa: E731
    qubits = [q for q in range(rows * columns) if q not in missing]
    target = Target(
        num_qubits=rows * columns,
        qubit_properties=[QubitProperties(t1=pick(t2, q), t2=pick(t2, q)) for q in range(rows * columns)],
    )
    edge = {e: InstructionProperties(error=pick(cz, e)) for e in edges if not set(e) & set(missing)}
    target.add_instruction(CZGate(), edge)
    target.add_instruction(SXGate(), {(q,): InstructionProperties(error=pick(single, q)) for q in qubits})
    target.add_instruction(Measure(), {(q,): InstructionProperties(error=pick(readout, q)) for q in qubits})
    return target


def check(patch, target):
    """Every promise of a patch, by the plainest means."""
    device = device_errors(target)
    assert len(set(patch.layout)) == len(patch.layout) and set(patch.layout) <= set(device.usable)
    edges = {frozenset(edge) for edge in device.edge_costs}
    for register, mixer in ((patch.samples, patch.sample_edges), (patch.features, patch.feature_edges)):
        assert len(mixer) == len(register) - 1
        assert all(frozenset((register[i], register[j])) in edges for i, j in mixer)
        reached = {0}
        for _ in register:
            reached |= {i for edge in mixer for i in edge if reached & set(edge)}
        assert reached == set(range(len(register)))
    joined = {(u, v) for u in range(len(patch.samples)) for v in range(len(patch.features))
              if frozenset((patch.samples[u], patch.features[v])) in edges}  # fmt: skip
    assert joined == set(patch.cross_edges) and joined


@pytest.mark.parametrize("registers", ["trees", "paths"])
@pytest.mark.parametrize(
    ("name", "sizes"), [("boston", ((7, 5), (12, 8), (38, 26))), ("pittsburgh", ((22, 14),)), ("iqm-54", ((12, 8),))]
)
def test_chosen_patches_keep_every_promise(name, sizes, registers):
    target = DEVICES[name]
    for n, d in sizes:
        patch = choose_patch(target, n, d, registers=registers, seed=1)
        check(patch, target)
        assert (patch.n_samples, patch.n_features) == (n, d)
        assert max(len(patch.sample_classes), len(patch.feature_classes)) <= (2 if registers == "paths" else 4)
        assert Patch.from_dict(patch.to_dict()) == patch


def test_wide_trees_have_many_cross_edges():
    target = DEVICES["boston"]
    assert len(choose_patch(target, 38, 26, seed=0).cross_edges) >= 6
    assert len(choose_patch(target, 19, 13, seed=0).cross_edges) >= 3
    check(choose_patch(target, 60, 40, seed=0), target)


def test_one_seed_fixes_the_patch():
    target = DEVICES["boston"]
    assert choose_patch(target, 12, 8, seed=5) == choose_patch(target, 12, 8, seed=5)


def test_walks_score_their_patches_right():
    """The compiled scores against a plain count over edges."""
    target = DEVICES["boston"]
    device = device_errors(target)
    arrays = device.arrays()
    costs = np.where(np.isfinite(device.qubit_costs), device.qubit_costs, 0.0)
    for registers in ("trees", "paths"):
        patch = choose_patch(target, 9, 6, registers=registers, seed=3)
        labels = np.zeros(156, dtype=np.int64)
        labels[list(patch.samples)], labels[list(patch.features)] = 1, 2
        on_path = np.full(156, -1)
        for register in (patch.samples, patch.features):
            on_path[list(register[:-1])] = register[1:]
        total = -sum(costs[q] for q in patch.layout)
        for (here, there), cost in device.edge_costs.items():
            walked = registers == "trees" or there == on_path[here] or here == on_path[there]
            if labels[here] and labels[here] == labels[there] and walked:
                total -= 2 * cost
            elif labels[here] and labels[there] and labels[here] != labels[there]:
                total += 0.1 - cost
        if registers == "trees":
            assert score_labels(arrays, labels, 0.1) == pytest.approx(total)
        else:
            assert score_paths(arrays, labels, on_path, 0.1) == pytest.approx(total)


def test_bad_qubits_and_edges_are_avoided():
    bad = {5: 0.3, 6: 0.3, 9: 0.3, 10: 0.3}  # the middle of the lattice
    for figures in ({"readout": bad}, {"single": bad}, {"t2": dict.fromkeys(bad, 1e-6)}):
        patch = choose_patch(grid(4, 4, **figures), 4, 3, seed=0)
        assert not set(patch.layout) & set(bad)


def test_faulty_and_missing_qubits_are_left_out():
    target = grid(3, 3, cz={(0, 1): 1.0}, readout={8: 0.6}, missing=(4,))
    device = device_errors(target)
    assert device.usable == [0, 1, 2, 3, 5, 6, 7] and (0, 1) not in device.edge_costs
    check(choose_patch(target, 2, 2, seed=0), target)
    with pytest.raises(InputError, match=r"\[4, 8\] are faulty"):
        make_patch(target, [4, 1], [8])


def test_missing_figures_count_as_the_worst_known_ones():
    nan = float("nan")
    target = grid(2, 2, cz={(0, 1): nan, (2, 3): 0.02}, readout={0: None, 3: 0.2}, t2={1: nan, 2: 1e-5})
    device = device_errors(target)
    assert device.edge_costs[0, 1] == device.edge_costs[2, 3] > device.edge_costs[0, 2]
    plain = device_errors(grid(2, 2, cz={(2, 3): 0.02, (0, 1): 0.02}, readout={0: 0.2, 3: 0.2}, t2={1: 1e-5, 2: 1e-5}))
    assert np.array_equal(device.qubit_costs, plain.qubit_costs)
    nothing = device_errors(DEVICES["iqm-54"])
    assert not nothing.qubit_costs.any() and not any(nothing.edge_costs.values())


@pytest.mark.parametrize("registers", ["trees", "paths"])
def test_registers_touch_even_where_a_cross_edge_is_not_worth_its_errors(registers):
    dear = {(1, 2): 0.2, (0, 1): 0.001, (2, 3): 0.2, (3, 4): 0.001}
    for target in (grid(1, 5, cz=dear), load_target("manila")):
        check(choose_patch(target, 2, 2, registers=registers), target)


def test_a_gate_that_was_never_set_up_does_not_count():
    target = load_target("torino")  # every RZZ of its record has an error of 1
    assert "rzz" not in target.operation_names and "rx" in target.operation_names
    check(choose_patch(target, 4, 3), target)


def test_a_qubit_without_a_lifetime_is_left_out():
    assert device_errors(grid(1, 3, t2={0: 0.0, 1: 1e-4, 2: 1e-4})).usable == [1, 2]


def test_devices_that_cannot_hold_the_patch_say_why():
    with pytest.raises(InputError, match="needs 60 qubits, but only 54"):
        choose_patch(DEVICES["iqm-54"], 40, 20)
    torn = grid(1, 6, cz={(2, 3): 1.0})
    with pytest.raises(InputError, match="join only 3 of the 6"):
        choose_patch(torn, 3, 2)
    star = grid(3, 3, missing=(0, 2, 6, 8))  # a plus: no path of three beside one of two
    with pytest.raises(InputError, match="registers='trees'"):
        choose_patch(star, 3, 2, registers="paths")
    with pytest.raises(InputError, match="n_samples must be a whole number of at least 1"):
        choose_patch(star, 0, 2)
    with pytest.raises(InputError, match="trees, paths"):
        choose_patch(star, 2, 2, registers="foo")
    with pytest.raises(InputError, match="joins every pair"):
        choose_patch(star, 2, 2, registers="rings")
    assert flags_of(CircuitOptions)["registers"][1].choices == REGISTERS


def test_given_patches_must_be_joined():
    with pytest.raises(InputError, match="trees or paths"):
        make_patch(grid(1, 4), [0, 1], [2, 3], registers="foo")
    target = grid(2, 4)
    assert make_patch(target, [0, 1, 5], [2, 6]).cross_edges == ((1, 0), (2, 1))
    assert make_patch(target, [0, 1, 5], [2, 6], registers="paths").sample_edges == ((0, 1), (1, 2))
    for samples, features, registers, message in (
        ([0, 2], [1, 5], "trees", "sample register is not connected"),
        ([0, 1], [4, 7], "trees", "feature register is not connected"),
        ([0, 4], [3, 7], "trees", "no edge between"),
        ([0, 5, 1], [2, 6], "paths", "not a path: no usable edge joins qubits 0 and 5"),
        ([0, 0], [1], "trees", "must not repeat"),
        ([0], [8], "trees", "within 0..7"),
    ):
        with pytest.raises(InputError, match=message):
            make_patch(target, samples, features, registers=registers)


def test_devices_without_readout_or_coupling_map_are_refused():
    bare = Target(num_qubits=2)
    bare.add_instruction(CZGate(), {(0, 1): None})
    with pytest.raises(InputError, match="no readout"):
        device_errors(bare)
    everywhere = Target(num_qubits=2)
    everywhere.add_instruction(CZGate(), None)
    everywhere.add_instruction(Measure(), None)
    with pytest.raises(InputError, match="coupling map"):
        device_errors(everywhere)


def test_a_patch_is_objected_to_where_the_device_has_become_worse():
    before = grid(3, 4)
    patch = choose_patch(before, 4, 3)
    assert patch_objections(patch, before, before) == []
    assert patch_objections(patch, before, grid(3, 4, readout=0.012)) == []
    assert "expected to err" in patch_objections(patch, before, grid(3, 4, readout=0.1))[0]
    broken = patch.samples[1]
    assert patch_objections(patch, before, grid(3, 4, readout={broken: 1.0}))[0] == (
        f"qubits [{broken}] are no longer usable"
    )
    i, j = patch.cross_edges[0]
    edge = tuple(sorted((patch.samples[i], patch.features[j])))
    assert patch_objections(patch, before, grid(3, 4, cz={edge: 1.0})) == [f"edges [{edge}] are no longer usable"]


@pytest.fixture(scope="module")
def joined(small):
    """A device of the caller's whose only two-qubit gate is RZZ, on every pair."""
    return small.device("rzz", [(i, j) for j in range(12) for i in range(j)], 12)


def test_a_device_that_joins_all_pairs_needs_no_search_and_keeps_every_coupling(joined):
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(7, 5)), k=3, m=2)
    for registers, mixer in (("auto", "ring"), ("rings", "ring"), ("paths", "path"), ("complete", "complete")):
        patch = choose_patch(joined, 7, 5, registers=registers)
        placement = place(problem, patch)
        assert len(patch.cross_edges) == 35 and placement.proven_optimal
        assert placement.mass == pytest.approx(np.abs(problem.coupling).sum())
        assert set(patch.sample_edges) == {tuple(sorted(edge)) for group in MIXERS[mixer](7) for edge in group}
    with pytest.raises(InputError, match="needs 13 qubits"):
        choose_patch(joined, 7, 6)


def test_noisy_qubits_of_a_device_that_joins_all_pairs_are_left_out(joined):
    content = snapshot(joined)
    del content["hash"]
    content["gates"]["measure"]["error"] = [0.05 if qubit == 4 else 0.001 for qubit in range(12)]
    pairs = content["gates"]["rzz"]
    pairs["error"] = [0.02 if 7 in pair else 0.001 for pair in pairs["qubits"]]
    assert set(range(12)) - set(choose_patch(from_snapshot(content), 5, 5).layout) == {4, 7}


def test_rules_keep_their_groups_where_all_pairs_are_joined(joined):
    rules = Rules(forced_in=[1], groups=[Group(members=(0, 2, 3), exactly=1)])  # and one of 4, 5 and 6
    problem = SelectionProblem(coupling=np.random.default_rng(1).normal(size=(7, 4)), k=3, m=2, sample_rules=rules)
    made = compile_problem(problem, joined, depth=1, path="complete-cz", compare=False)
    assert set(made.patch.sample_edges) == {(0, 2), (2, 3), (0, 3), (4, 5), (5, 6), (4, 6)}
    assert made.manifest()["retained_share"] == 1.0
