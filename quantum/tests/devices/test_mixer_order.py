"""An order of mixer edges for a device and a start: cheaper, and no worse at spreading the start."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit.primitives.containers.sampler_pub import SamplerPub
from qiskit_ibm_runtime.utils import validate_rzz_pubs
from qiskit_ibm_runtime.utils.utils import is_isa_circuit

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import choose_patch, compile_circuit, hardware_mask, load_target, masked, place_circuit
from biselect_quantum.devices._order_kernels import follow_order
from biselect_quantum.devices.mixer_order import _costs, choose_order, choose_start, recoloured
from biselect_quantum.devices.paths import IN_ORDER, YFramePath
from biselect_quantum.simulate.program import XY


@pytest.fixture(scope="module")
def boston():
    return load_target("boston")


@pytest.fixture(scope="module")
def spot(boston):
    return choose_patch(boston, 10, 6)


def program(spot, seed, depth=2):
    rng = np.random.default_rng(seed)
    dense = SelectionProblem(coupling=rng.random((10, 6)), sample_scores=rng.random(10), k=3, m=3)
    sparse = masked(dense, hardware_mask(spot))
    mixer = (spot.sample_edges, spot.feature_edges)
    return AnsatzSpec(sparse, depth, "bilinear", mixer, "random", seed=seed).program()


def plainly(costs, bits, order):
    """What `follow_order` says of gates and spread, edge by edge."""
    known, spread, gates = set(range(len(bits))), [float(bit) for bit in bits], 0
    for _ in range(costs.layers):
        gates += sum(known.isdisjoint(pair) for pair in costs.cross.tolist())
        for a, b in costs.edges[order].tolist():
            if {a, b} <= known and bits[a] == bits[b]:
                continue
            gates += 1 if {a, b} <= known else 2
            known -= {a, b}
            spread[a] = spread[b] = (spread[a] + spread[b]) / 2
    return gates, float(((np.array(spread) - costs.even) ** 2).sum())


@given(seed=st.integers(0, 1 << 30), depth=st.integers(1, 4))
@settings(max_examples=12)
def test_the_walk_counts_the_gates_that_the_compiler_writes(boston, spot, seed, depth):
    drawn = program(spot, seed, depth)
    costs = _costs(drawn, boston, spot.layout)._replace(errors=np.ones(14), cross_errors=np.ones(len(spot.cross_edges)))
    order = np.random.default_rng(seed).permutation(14)
    bits = np.array(drawn.bits)
    seconds, errors, uneven = follow_order(costs, bits, order)
    assert (errors, uneven) == pytest.approx(plainly(costs, bits, order))
    edges = costs.edges.tolist()
    ranks = {frozenset(edges[edge]): rank for rank, edge in enumerate(order.tolist())}
    layers = tuple(
        tuple(sorted(layer, key=lambda op: ranks[frozenset(op.qubits)] if op.kind == XY else -1))
        for layer in drawn.layers
    )
    angles = 0.3 + np.arange(len(drawn.angle_names))
    made = compile_circuit(replace(drawn, layers=layers), boston, spot.layout, IN_ORDER, angles=angles).resources
    assert made.two_qubit_gates == errors
    assert seconds == pytest.approx(made.gate_duration, rel=0.12)  # phases and their turns are only roughly followed


@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=6)
def test_an_order_mixes_as_well_and_never_costs_more(boston, spot, seed):
    drawn = program(spot, seed)
    found = choose_order(drawn, boston, spot.layout)
    assert sorted(found.edges(XY)) == sorted(drawn.edges(XY)) and found.bits == drawn.bits
    assert choose_order(found, boston, spot.layout) == found  # whatever order comes in
    plain = recoloured(drawn)
    before, after = (_costs(each, boston, spot.layout) for each in (plain, found))
    order, bits = np.arange(len(before.edges)), np.array(drawn.bits)
    old, new = follow_order(before, bits, order), follow_order(after, bits, order)
    price = [errors + before.decay * seconds + max(0, uneven - old[2]) for seconds, errors, uneven in (old, new)]
    assert price[1] <= price[0] + 1e-12


def test_a_placed_circuit_is_in_the_order_found_and_shorter(boston):
    rng = np.random.default_rng(5)
    problem = SelectionProblem(coupling=rng.random((10, 6)), k=3, m=3)
    options = {"depth": 2, "schedule": "bilinear", "start": "random"}
    placed = place_circuit(problem, boston, **options)
    given = placed.spec.program()
    assert place_circuit(problem, boston, **options).spec.fingerprint == placed.spec.fingerprint
    angles = [0.9, 2.4, 2.4, 1.15]
    ours = placed.compile(angles, compare=False)
    assert ours.program.mixer == given.mixer and ours.path == YFramePath(coloured=False)
    plain = compile_circuit(given, boston, placed.patch.layout, YFramePath(), angles=angles)
    assert ours.resources.gate_duration < plain.resources.gate_duration
    named = place_circuit(problem, boston, depth=2, start=([1, 4, 7], [0, 2, 5])).spec.program()
    assert named.choice == ([1, 4, 7], [0, 2, 5])  # a start that the user names is kept


def test_an_order_needs_a_start_of_known_bits(boston, spot):
    with pytest.raises(InputError, match="basis state"):
        choose_start([replace(program(spot, 0), bits=None)], boston, spot.layout)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200))
def test_hundreds_of_chosen_orders_give_their_programs_distribution(small, seed):
    rng = np.random.default_rng([23, seed])
    drawn = small.case(rng, int(rng.integers(4, 11)), extra=seed % 3, scale=(0.3, 2.0, 100.0)[seed % 3])
    for kind in ("fractional", "prx"):
        target = small.device(kind, drawn.edges, drawn.qubits)
        found = choose_order(drawn.program, target, drawn.layout)
        for path in (IN_ORDER, replace(IN_ORDER, propagate=False)):
            made = compile_circuit(found, target, drawn.layout, path, angles=drawn.angles)
            assert made.program.mixer == found.mixer
            assert small.distance(small.ideal(made.bound), small.measured(made)) < 1e-9
            assert is_isa_circuit(made.gates, target) == ""
            validate_rzz_pubs([SamplerPub.coerce((made.gates,))])
