"""Networks against the programs they carry; `route` alone against its own gates, one by one."""

from itertools import pairwise

import numpy as np
import pytest

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import PATHS, compile_circuit, compile_problem, load_target, place_circuit
from biselect_quantum.devices._qubit_lines import choose_line, keep_couplings
from biselect_quantum.devices._swap_network import route
from biselect_quantum.devices.circuit_files import load_circuit, write_circuit
from biselect_quantum.devices.masks import retained_mass
from biselect_quantum.devices.paths import NetworkPath, path_of
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities
from biselect_quantum.simulate.program import RZZ, XY, Op

SCHEDULES = ("tied", "layerwise", "bilinear", "fully-grouped")


def random_case(rng, small, most=8):
    """A program with random couplings left out, on a line of a random device, compiled as a network."""
    n = int(rng.integers(1, most - 1))
    d = int(rng.integers(1, most - n + 1))
    coupling = rng.normal(size=(n, d)) * (rng.random((n, d)) < rng.choice([0.0, 0.2, 0.5, 1.0]))
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    budgets = {"k": int(rng.integers(1, n + 1)), "m": int(rng.integers(1, d + 1))}
    problem = SelectionProblem(coupling=coupling, **budgets, **scores)
    start, depth = str(rng.choice(["random", "canonical"])), int(rng.integers(1, 5))
    program = AnsatzSpec(problem, depth, str(rng.choice(SCHEDULES)), "path", start, seed=rng).program()
    angles = rng.choice([1e-3, 1.0, 30.0]) * rng.normal(size=len(program.angle_names))
    angles = np.where(rng.random(angles.size) < 0.4, np.pi / 4 * rng.integers(-8, 9, angles.size), angles)
    if rng.random() < 0.2:
        angles = np.full(angles.size, np.pi / 2)  # the mixing exchanges bits too
    line = rng.permutation(n + d).tolist()
    device = small.device(str(rng.choice(["fractional", "cz", "prx"])), list(pairwise(line)), n + d)
    return compile_circuit(program, device, line, NetworkPath(quiet=bool(rng.integers(2))), angles=angles)


@pytest.mark.parametrize("seed", range(12))
def test_a_network_gives_what_its_program_gives(small, seed):
    made = random_case(np.random.default_rng(seed), small, most=6)
    assert small.distance(small.ideal(made.bound), small.measured(made)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 412))
def test_hundreds_of_networks_give_what_their_programs_give(small, seed):
    made = random_case(np.random.default_rng(seed), small)
    assert small.distance(small.ideal(made.bound), small.measured(made)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_kept_couplings_act_on_every_lattice(small, seed):
    """From a problem to the device's gates: any share, any path that keeps it, any start."""
    rng = np.random.default_rng(seed)
    n, d = (int(size) for size in rng.integers(1, 6, size=2))
    problem = SelectionProblem(
        coupling=rng.normal(size=(n, d)) ** int(rng.choice([1, 3])),
        sample_scores=rng.normal(size=n),
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
    )
    options = {"depth": int(rng.integers(1, 5)), "schedule": str(rng.choice(SCHEDULES)), "seed": seed}
    options |= {
        "keep": float(rng.choice([0.0, rng.random(), 1.0])),
        "path": str(rng.choice(["y-frame", "y-frame-quiet"])),
    }
    start, device = str(rng.choice(["reach", "random", "canonical"])), str(rng.choice(["boston", "aachen", "iqm-54"]))
    placed = place_circuit(problem, device, start=start, **options)
    made = placed.compile(rng.normal(size=placed.spec.size), compare=False)
    assert small.distance(small.ideal(made.bound), ideal_probabilities(made.gates)) < 1e-9
    assert made.retained_share >= options["keep"] - 1e-9
    coupled = {pair for pair in made.bound.edges(RZZ)}
    assert coupled == {(u, n + v) for u, v in np.argwhere(made.mask).tolist()}


def test_every_exchange_joins_neighbours_and_registers_change_sides():
    """Four samples and three features with all couplings: the second layer crosses, the third crosses back."""
    bits = (1, 0, 1, 0, 1, 0, 1)
    phases = [Op(kind=RZZ, qubits=(i, 4 + j), angle=0.1 * (1 + i * j)) for i in range(4) for j in range(3)]
    hops = [Op(kind=XY, qubits=pair, angle=0.3) for pair in ((0, 1), (2, 3), (1, 2), (4, 5), (5, 6))]
    once, twice = (route([*hops, *((phases + hops) * count)], bits, 4) for count in (1, 2))
    for routed in (once, twice):
        assert all(abs(op.qubits[0] - op.qubits[-1]) <= 1 for op in routed.ops)
    assert once.sites == (3, 4, 5, 6, 0, 1, 2) and once.exchanges == 12
    assert twice.sites == tuple(range(7)) and twice.exchanges == 24
    kept = sum(op.kind == RZZ for op in once.ops)
    assert kept == 12 - (4 + 3 - 1)  # one row and one column are shifted to nothing


def test_few_pairs_at_the_border_come_back():
    bits = (0, 1, 0, 1, 0, 1)
    hops = [Op(kind=XY, qubits=pair, angle=0.3) for pair in ((0, 1), (1, 2), (3, 4), (4, 5))]
    phases = [Op(kind=RZZ, qubits=pair, angle=0.4) for pair in ((2, 3), (1, 3), (2, 4))]
    routed = route([*hops, *phases, *hops], bits, 3)
    assert routed.sites == tuple(range(6)) and routed.exchanges == 2  # one out, one back
    assert sum(op.kind == RZZ for op in routed.ops) == 3


def test_what_a_network_cannot_do_is_refused(small):
    problem = SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)
    line = small.device("fractional", [(0, 1), (1, 2), (2, 3), (3, 4)], 5)

    def program(mixer="path", start="canonical"):
        return AnsatzSpec(problem, 2, "tied", mixer, start).program([0.3, 0.4])

    for given, message in (
        ({"layout": None}, "along a line"),
        ({"layout": [1, 0, 2, 3, 4]}, "no line: qubits 0 and 2 have no cz"),
        ({"circuit": program("ring")}, "no neighbours on the line"),
        ({"path": NetworkPath(line=(0, 3, 1, 2, 4))}, "all 3 samples and then all features"),
        ({"circuit": program(start="dicke")}, "basis state"),
    ):
        arguments = {"circuit": program(), "target": line, "layout": range(5), "path": NetworkPath(), **given}
        with pytest.raises(InputError, match=message):
            compile_circuit(**arguments)


@pytest.mark.parametrize("device", ["boston", "iqm-54"])
def test_every_share_is_kept_and_more_costs_more(small, device):
    rng = np.random.default_rng(3)
    problem = SelectionProblem(coupling=rng.normal(size=(4, 3)), k=2, m=1)
    gates = []
    for keep in ("edges", 0.4, 1.0):
        made = compile_problem(problem, device, [0.9, 2.4, 1.3, 1.15], depth=2, keep=keep, compare=keep == 1.0)
        share = retained_mass(problem, made.mask)[1]
        assert share == pytest.approx(made.manifest()["retained_share"]) and share >= (0 if keep == "edges" else keep)
        gates.append(made.resources.two_qubit_gates)
        if keep == 1.0:
            assert isinstance(made.path, NetworkPath) and made.mask.all()
            assert made.manifest()["distortion_bound"] == 0
            assert made.on_edges.resources.two_qubit_gates == gates[0] < gates[-1]
            assert made.on_edges.retained_share < 1
    assert gates == sorted(gates)


def test_rules_hold_on_a_line():
    from biselect.core import Rules

    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.normal(size=(5, 3)), k=2, m=1, sample_rules=Rules(forced_out=(1,)))
    made = compile_problem(problem, "boston", [0.9, 2.4, 1.3, 1.15], depth=2, keep=1.0, compare=False)
    from biselect_quantum.devices.qiskit_circuits import ideal_shots

    shots = made.decode(ideal_shots(made.gates, 200))
    assert shots.inside.all()


@pytest.mark.parametrize("keep", ["all", -0.1, 1.5, float("nan")])
def test_other_shares_are_refused(keep):
    problem = SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)
    with pytest.raises(InputError, match="keep must be"):
        compile_problem(problem, "boston", [0.3, 0.4, 0.5], depth=1, keep=keep)


def test_lines_are_paths_of_the_device_and_too_long_ones_are_refused():
    target = load_target("iqm-54")
    line = choose_line(target, 6, 5)
    steps = list(pairwise(line.layout))
    assert all(pair in target["cz"] for pair in steps) and len(set(line.layout)) == 11
    with pytest.raises(InputError, match="no line of 60 qubits"):
        choose_line(target, 30, 30)


def test_heavy_couplings_stay_first():
    rng = np.random.default_rng(1)
    line = choose_line(load_target("boston"), 6, 4)
    problem = SelectionProblem(coupling=rng.exponential(size=(6, 4)) ** 3, k=2, m=2)
    for keep in (0.0, 0.3, 0.6, 1.0):
        placement, mask = keep_couplings(problem, line, keep)
        share = retained_mass(problem, mask)[1]
        assert sorted(placement.patch.layout) == sorted(line.layout)
        assert share >= keep - 1e-9
        assert share > mask.mean() or mask.all()


def test_paths_come_back_from_their_options():
    from dataclasses import asdict

    for path in (*PATHS.values(), NetworkPath(quiet=True, line=(1, 0, 2))):
        assert path_of({"name": path.name, **asdict(path)}) == path


def test_a_stored_network_is_read_back_with_its_own_mask(tmp_path):
    problem = SelectionProblem(coupling=np.random.default_rng(4).normal(size=(4, 3)), k=2, m=1)
    made = compile_problem(problem, "boston", [0.9, 2.4, 1.3, 1.15], depth=2, keep=0.6, compare=False)
    write_circuit(tmp_path / "circuit", made)
    stored = load_circuit(tmp_path / "circuit")
    assert stored.path == made.path and stored.path.line != tuple(range(7))
    assert stored.layout.measured_on == made.layout.measured_on
    assert np.array_equal(stored.surrogate.coupling != 0, made.mask)
