"""The hardware tables under simulation: the right circuits, the right labels, and nothing passed off as hardware."""

import numpy as np
import pytest

pytest.importorskip("qiskit_aer")

from qiskit.quantum_info import Statevector

from biselect_quantum.circuits import Ansatz
from biselect_quantum.devices import to_qiskit
from biselect_quantum.devices.circuit_files import circuit_contents, load_circuit
from biselect_quantum.devices.execution.exact_shots import sector_state
from biselect_quantum.devices.noise.noisy_circuit import LABEL
from biselect_studies import load
from biselect_studies.experiments import heron
from biselect_studies.experiments.heron import SIZES, case
from biselect_studies.rule import hold
from biselect_studies.runner import Records
from biselect_studies.studies import hardware, wide
from biselect_studies.studies.hardware import beside

SMALL = 13


def records(tasks, values):
    """Every cell of the tasks with made-up values."""
    return Records({task.cell: {name: np.array(value) for name, value in values.items()} for task in tasks})


REPLAY = {
    "uniform": [0.001] * 2,
    "ideal": [0.01] * 2,
    "hits": [5, 7],
    "mass": [0.7, 0.8],
    "ours": [0.8],
    "paper": [0.7],
}
IDEAL = {
    "retained": [0.03] * 3,
    "chance": [0.001] * 3,
    "spread": [20.0] * 3,
    "gap": [20.0, 10.0, 30.0],
    "sparse_gap": [5.0, 2.0, 10.0],
    "mean": [-60.0] * 3,
}
NOISY = {"mass": [0.5], "gap": [12.0], "band_1": [3.0], "alone_mean": [-59.0]}
WIDE = {**NOISY, **IDEAL}


@pytest.mark.parametrize(
    "study, values, rows",
    [
        (load("creditcard-bilinear-cg-best-known-replay"), REPLAY, 8),
        (wide.BY_CONDITION, WIDE, 11),
        (wide.BY_WIDTH, WIDE, 6),
    ],
    ids=["20", "wide", "summary"],
)
@pytest.mark.parametrize("quick", [True, False])
def test_tables_say_that_they_are_not_hardware(study, values, rows, quick):
    tasks = study.tasks(quick)
    found = study.summarise(records(tasks, values), quick)
    assert any(LABEL in note for note in found.notes)
    assert all(entry.aside for entry in found.cells)
    assert len({entry.row for entry in found.cells}) == (1 if quick else rows)
    held = hold(study.name, found.cells)
    assert {entry.verdict for entry in held} <= {"-", "not judged"}
    assert all("ideal" in e.column or "noise model" in e.column or e.column == hardware.TIMES for e in held if e.paper)


def test_gaps_are_of_the_best_repeat_by_either_path():
    made = Records(
        {
            task.cell: {
                name: np.array(value) for name, value in (IDEAL if dict(task.cell)["path"] is None else NOISY).items()
            }
            for task in wide.tasks(False)
        }
    )
    figures = wide.simulated(made, (64, 2, "warm"), False)
    assert figures["dense gap, ideal"] == pytest.approx(10.0)
    assert figures["sparse gap, ideal"] == pytest.approx(2.0)
    assert figures["band-1 gap, noise model"] == figures["band-1 gap, noise model, our path"] == pytest.approx(3.0)
    found = wide.BY_WIDTH.summarise(made, False)
    closed, ratio = (
        found.find("64 qubits, p = 2", f"{name}, noise model") for name in ("warm gap closed %", "exact/chance")
    )
    assert closed.ours == pytest.approx(0.0)  # warm is no better here
    assert ratio.ours == pytest.approx(500.0)
    assert any("by 0.05 spreads" in note for note in found.notes)


def test_hits_are_pooled_and_shown_by_repeat():
    pooled, rate, by_repeat = hardware.noisy_entries("r", "noise model", np.array([4, 8, 0, 4]), 4096)
    assert pooled.ours == pytest.approx(40_960 * 16 / (4 * 4096))
    assert rate.ours == pytest.approx(100 * 16 / (4 * 4096))
    assert by_repeat.ours == pytest.approx(100 * 4 / 4096) and by_repeat.range == (0.0, 100 * 8 / 4096)


def test_the_chips_rows_are_ordered_by_the_ideal_rate():
    made = Records()
    for cell in hardware.planted_cells(False):
        ideal = np.full(4, cell["instance"] / 100)
        made[tuple(sorted(cell.items()))] = {"ideal": ideal, "hits": np.arange(4), "mass": np.ones(4)}
    found = hardware.planted_entries(made, False)
    ideal = [entry for entry in found if entry.column == hardware.PLANTED_COLUMNS[0]]
    assert [entry.ours for entry in ideal] == sorted((entry.ours for entry in ideal), reverse=True)


def test_an_entry_is_a_mean_with_its_range():
    found = beside("r", "c", [1.0, 3.0, 5.0])
    assert (found.low, found.ours, found.high, found.range, found.units) == (1.0, 3.0, 5.0, (1.0, 5.0), 3)
    assert "device" in found.aside


@pytest.mark.parametrize("kind", ["creditcard", "planted"])
def test_a_case_keeps_the_couplings_of_cross_edges_only(kind):
    found = case(kind, SMALL, 0)
    problem = found.problem
    assert (problem.n_samples, problem.n_features, problem.k, problem.m) == SIZES[SMALL]
    kept = np.argwhere(found.sparse.coupling)
    assert {tuple(pair) for pair in kept.tolist()} <= set(found.patch.cross_edges)
    assert np.array_equal(found.sparse.sample_scores, problem.sample_scores)


@pytest.fixture(scope="module")
def trained():
    return heron.trained("creditcard", SMALL, 0, 2, "bilinear")


def test_what_is_trained_is_what_is_compiled(trained):
    """Angles are trained in the sector; the program that is compiled must be the same circuit, order and all."""
    found = trained.case
    ansatz = Ansatz(found.problem, 2, "bilinear", found.mixer, found.canonical, groups=found.groups)
    ideal = np.abs(ansatz.dense_state(trained.angles)) ** 2
    circuit = to_qiskit(trained.spec.program(trained.angles), measure=False)
    assert 0.5 * np.abs(Statevector(circuit).probabilities() - ideal).sum() < 1e-9
    expected = ansatz.hit_rate(trained.angles, trained.threshold.of(found.problem))
    assert trained.hit_rate == pytest.approx(expected) and expected > 0


def test_what_is_compiled_is_what_is_stored(trained, tmp_path):
    """A device's runs start from files: they must hold the very circuit, with its mixer in the order it was made in."""
    found = trained.case
    bundle, threshold = heron.heron_replay_circuit(
        {"kind": "creditcard", "width": SMALL, "instance": 0, "p": 2, "schedule": "bilinear"}, found.target
    )
    for name, content in circuit_contents(bundle).items():
        (tmp_path / name).write_bytes(content)
    stored = load_circuit(tmp_path)
    ansatz = Ansatz(found.problem, 2, "bilinear", found.mixer, found.canonical, groups=found.groups)
    ideal = np.abs(ansatz.state(trained.angles)) ** 2
    assert 0.5 * np.abs(np.abs(sector_state(stored.bound)) ** 2 - ideal).sum() < 1e-9
    assert threshold == trained.threshold and stored.problem.digest == found.problem.digest


@pytest.mark.slow
def test_noisy_repeats_are_fixed_by_their_seeds():
    cell = {
        "kind": "creditcard",
        "width": SMALL,
        "instance": 0,
        "p": 2,
        "schedule": "bilinear",
        "path": "ours",
        "courses": 4,
        "shots": 20,
    }
    both = heron.heron_replay(cell, [0, 1])
    assert heron.heron_replay(cell, [1])["mass"] == both["mass"][1:]
    assert 0.5 < min(both["mass"]) <= max(both["mass"]) <= 1
    exact = heron.heron_replay({**cell, "shots": 0}, [0])
    assert exact["ours"][0] > exact["paper"][0]


@pytest.mark.slow
def test_warm_starts_at_36_qubits_beat_random_ones():
    """The three conditions of one width, ideally: the best shot from a warm start is nearest to the optimum."""
    base = {"width": 36, "p": 3, "path": None, "shots": 1024}
    gaps = {name: heron.heron_wide({**base, "condition": name}, [0])["gap"][0] for name in wide.CONDITIONS}
    assert gaps["warm"] <= min(gaps["fixed"], gaps["random"])
