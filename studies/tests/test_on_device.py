"""Hardware columns from devices: the runs of `biselect run`; killed, resumed, pending, and never paid for twice."""

import errno
import json
import os
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("qiskit_aer")

from biselect.errors import InputError
from biselect_quantum.devices.analysis import Range, exact_interval
from biselect_quantum.devices.execution.run import load_run
from biselect_quantum.devices.execution.store import RESULTS, RunStore, locked
from biselect_studies import OnDevice, load
from biselect_studies.command import _show
from biselect_studies.experiments import heron
from biselect_studies.measured import RUNS, Measured, Survey, home_name, measured
from biselect_studies.page import write_reproduction
from biselect_studies.render import CELLS, markdown, write
from biselect_studies.results import Results
from biselect_studies.rule import hold
from biselect_studies.runner import Records, keep
from biselect_studies.studies.hardware import ideal_hit_rate, mass, on_device

pytestmark = pytest.mark.slow  # trains and compiles for a whole device

REPLAY, PANEL = "creditcard-bilinear-cg-best-known-replay", "cgxy-fully-grouped-qpu-replay-p3"
DETAILS, SUMMARY = "cgxy-fixed-angle-condition-details", "hardware-run-summary"
ON, MODEL = "ibm:answering", "noisy:FakeBoston"
FIRST = "creditcard-13-0-p3-fully-grouped"
VALUES = {
    "heron_replay": {"uniform": 0.001, "ideal": 0.01, "hits": 5, "mass": 0.7, "ours": 0.8, "paper": 0.7},
    "heron_wide": {
        "mass": 0.5,
        "retained": 0.03,
        "chance": 0.001,
        "spread": 20.0,
        "gap": 20.0,
        "sparse_gap": 5.0,
        "band_1": 3.0,
        "mean": -60.0,
        "alone_mean": -59.0,
    },
}


def records(study, quick=True):
    """Made-up cells: what is simulated is not at issue here."""
    return Records(
        {
            task.cell: {name: np.full(3, value) for name, value in VALUES.get(task.experiment, {}).items()}
            for task in load(study).tasks(quick)
        }
    )


def results(study, folder):
    return load(study).results(records(study), True, measured(load(study), folder, True))


def cells_on(found, device=ON):
    return {(entry.row, entry.column.partition(" on ")[0]): entry for entry in found.cells if device in entry.column}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Circuits of the quick forms, compiled once for the device of the service."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def service(ibm, compiled, tmp_path, short_searches):
    """A service with a device of 42 qubits; give the fates of its submissions. Compiled circuits are in place."""

    def make(fates=()):
        return ibm.make(ibm.module.grid(6, 7), fates).install()

    make()
    if not compiled.joinpath(RUNS).exists():
        for name in (REPLAY, DETAILS):
            OnDevice(load(name), compiled, ON, quick=True).forecast()
    shutil.copytree(compiled / RUNS, tmp_path / RUNS)
    return make


def measure(folder, study=REPLAY, on=ON, **how):
    device = OnDevice(load(study), folder, on, quick=True, **how)
    device.hand_in()
    device.collect()
    return device


def test_a_forecast_submits_nothing_and_adds_the_time_up(service, tmp_path):
    quiet = service()
    (plan,) = OnDevice(load(REPLAY), tmp_path, ON, quick=True).forecast()
    assert quiet.submissions == 0 and plan["repeats_left"] == plan["repeats"] == 2 and plan["qubits"] == 13
    assert plan["estimated_device_seconds"] > 2 * 64 * 250e-6
    assert not measured(load(REPLAY), tmp_path, True).devices  # nothing is fixed yet, so there is no column


def test_what_is_queued_is_pending_and_a_second_call_collects_it(service, tmp_path):
    busy = service(["queued", "done"])
    owed = measure(tmp_path, wait=0.0).pending
    assert list(owed) == ["creditcard-13-0-p3-fully-grouped"] and "not done yet" in owed[next(iter(owed))]
    found = results(REPLAY, tmp_path)
    waiting = cells_on(found)
    assert len(waiting) == 4 and {entry.verdict for entry in waiting.values()} == {"pending"}
    assert Results.from_json(found.to_json()).to_json() == found.to_json()  # no NaN in JSON
    (plan,) = OnDevice(load(REPLAY), tmp_path, ON, quick=True).forecast()
    assert (plan["repeats_done"], plan["repeats_handed_in"], plan["repeats_left"]) == (0, 2, 0)
    busy.finish()
    assert not measure(tmp_path).pending
    assert busy.submissions == 2
    (run,) = [kept for kept in measured(load(REPLAY), tmp_path, True).devices[0].outcomes.values()]
    entry = cells_on(results(REPLAY, tmp_path))["p = 3, Fully grouped", "BK %"]
    assert (entry.low / 100, entry.high / 100) == pytest.approx(exact_interval(run.strict.hits, 128)[1:])
    assert json.loads((run.run.folder / "analysis.json").read_text()) == json.loads(json.dumps(run.to_dict()))
    kept = results(REPLAY, tmp_path).extra["devices"][0]
    assert (kept["on"], kept["kind"], kept["label"]) == (ON, "hardware", "on ibm:answering (hardware)")
    assert kept["runs"]["creditcard-13-0-p3-fully-grouped"]["strict"]["shots"] == 128


def test_a_finished_table_needs_no_account(service, tmp_path, monkeypatch):
    service()
    measure(tmp_path)
    monkeypatch.setattr("biselect_quantum.devices.execution._ibm.QiskitRuntimeService", None)  # whoever asks, fails
    assert not measure(tmp_path).pending
    assert cells_on(results(REPLAY, tmp_path))["p = 3, Fully grouped", "exact-budget %"].ours >= 0


@pytest.mark.parametrize("fate", ["failed", "gone"])
def test_a_job_that_fails_is_said_and_not_paid_for_twice_in_one_call(service, tmp_path, fate):
    unlucky = service(["done", fate])
    assert len(measure(tmp_path, resubmit=True).pending) == 1
    assert unlucky.submissions == 2
    assert not measure(tmp_path, resubmit=True).pending
    assert unlucky.submissions == 3


def test_a_lost_connection_leaves_the_rest_pending_and_loses_no_job(service, tmp_path, ibm):
    shaky = service(["lost-after"])
    everything = load(DETAILS)
    device = measure(tmp_path, DETAILS)
    assert len(device.pending) == len(everything.device.circuits(True))
    assert not measure(tmp_path, DETAILS).pending
    assert len(shaky.queue) == 1
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 10 and not any(ibm.module.TOKEN.encode() in content for content in written)


def test_after_a_loss_nobody_else_is_asked(service, tmp_path, monkeypatch):
    """With several circuits: the first loses the connection, the second is fixed, not handed in, and named."""
    study = load(REPLAY)
    both = [study.device.circuits(True)[0], load(DETAILS).device.circuits(True)[0]]
    monkeypatch.setattr(type(study.device), "circuits", property(lambda self: lambda quick: both), raising=False)
    shaky = service(["lost-before"])
    owed = measure(tmp_path).pending
    assert shaky.submissions == 1 and owed[both[1].name] == "the connection was lost"


@pytest.mark.parametrize("place", [1, 2])
def test_a_call_that_is_killed_while_handing_in_is_taken_up(service, tmp_path, monkeypatch, place):
    """The job arrives, and the process ends before it knows."""
    rude = service()
    submit = rude._submit

    def killed(content):
        found = submit(content)
        if rude.submissions == place:
            raise KeyboardInterrupt
        return found

    rude._submit = killed
    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path)
    rude._submit = submit
    assert not measure(tmp_path).pending
    assert len(rude.queue) == 2


def test_tables_with_the_same_circuits_share_their_runs(service, tmp_path):
    frugal = service()
    measure(tmp_path, DETAILS)
    once = frugal.submissions
    measure(tmp_path, SUMMARY)
    assert frugal.submissions == once == 1
    details, summary = cells_on(results(DETAILS, tmp_path)), cells_on(results(SUMMARY, tmp_path))
    row = "32 qubits, p = 3"
    assert details[f"{row}, Fixed-angle", "exact-budget %"].ours == summary[row, "exact-budget %"].ours
    (held,) = hold(SUMMARY, [summary[row, "exact/chance"]])
    assert (held.paper, held.verdict) == (161.0, "not judged")


def test_killed_between_repeats_ends_with_the_same_records(service, no_gate_errs, tmp_path, monkeypatch):
    """A noise model draws by its seeds: what was killed and resumed cannot be told from what was not."""
    on = "noisy:FakeBoston"
    measure(tmp_path / "whole", on=on)
    shutil.copytree(tmp_path / "whole" / RUNS, tmp_path / "killed" / RUNS, ignore=shutil.ignore_patterns("2x64"))
    add = RunStore.add

    def dying(store, repeat, readout):
        add(store, repeat, readout)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunStore, "add", dying)
    with pytest.raises(KeyboardInterrupt):
        measure(tmp_path / "killed", on=on)
    assert cells_on(results(REPLAY, tmp_path / "killed"), on)["p = 3, Fully grouped", "BK %"].verdict == "pending"
    monkeypatch.setattr(RunStore, "add", add)
    assert not measure(tmp_path / "killed", on=on).pending
    kept = []
    for name in ("whole", "killed"):
        with RunStore.open(load_run(next((tmp_path / name).rglob(RESULTS)).parent)) as store:
            kept.append([readout.to_dict() for readout in store.readouts()])
    assert kept[0] == kept[1]


@pytest.mark.slow
def test_a_recorded_device_with_its_errors_fills_the_columns(tmp_path):
    """For real: compiled, fixed and measured; the circuit without errors is the one that the study trains."""
    on = "noisy:FakeBoston"
    assert not measure(tmp_path, on=on).pending
    (found,) = measured(load(REPLAY), tmp_path, True).devices
    (run,) = found.outcomes.values()
    trained = heron.trained("creditcard", 13, 0, 3, "fully-grouped")
    assert ideal_hit_rate(run) == pytest.approx(trained.hit_rate, rel=1e-6)
    assert run.strict.threshold == trained.threshold.value
    assert 0.5 < run.strict.feasible_rate.value < 1
    cells = cells_on(results(REPLAY, tmp_path), on)
    assert all(entry.column.endswith("on noisy:FakeBoston (noise model)") for entry in cells.values())
    assert cells["p = 3, Fully grouped", "exact-budget %"].low <= 100 * run.strict.feasible_rate.value


def test_pages_and_tables_show_devices_and_what_is_pending(service, tmp_path):
    busy = service(["queued", "queued"])
    measure(tmp_path, wait=0.0)
    study = load(REPLAY)
    write(study, results(REPLAY, tmp_path), tmp_path / REPLAY)
    column = "BK % on ibm:answering (hardware)"
    table = (tmp_path / REPLAY / "table.md").read_text()
    assert column in table and "| pending |" in table and "Pending: creditcard-13" in table
    page = write_reproduction(tmp_path).read_text()
    assert column in page and "pending" in page and "--quick --device ibm:answering" in page
    busy.finish()
    measure(tmp_path)
    write(study, results(REPLAY, tmp_path), tmp_path / REPLAY)
    assert "pending" not in (tmp_path / REPLAY / "table.md").read_text()


# Runs that are not what their folder says, or that were damaged


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished quick run under a noise model, and where it lies."""
    folder = tmp_path_factory.mktemp("finished")
    measure(folder, on=MODEL)
    return folder


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of it to do harm to: the folder, and that of the circuit."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return SimpleNamespace(folder=tmp_path, circuit=tmp_path / RUNS / home_name(MODEL) / FIRST)


def test_a_run_put_in_the_place_of_another_circuit_fills_no_row_of_it(copy):
    """The whole folder of a Credit Card circuit under the name of a planted one, also as `1x64` of its `2x64`."""
    (planted,) = load(PANEL).device.circuits(True)
    place = copy.circuit.with_name(planted.name)
    shutil.copytree(copy.circuit, place)
    with pytest.raises(InputError, match=r"another circuit than planted-13-0-p3-fully-grouped .*cell"):
        OnDevice(load(PANEL), copy.folder, MODEL, quick=True).hand_in()
    (place / "2x64").rename(place / "1x64")
    found = measured(load(PANEL), copy.folder, True)
    assert not found.devices and "another circuit" in found.left_out[home_name(MODEL)]
    assert "Refused: runs/noisy-FakeBoston-" in found.note


def test_a_run_of_other_shots_fills_no_row(copy, monkeypatch):
    (circuit,) = load(REPLAY).device.circuits(True)
    (copy.circuit / "2x64").rename(copy.circuit / "1x64")
    monkeypatch.setattr(type(circuit), "size", lambda self, device: (1, 64))
    found = measured(load(REPLAY), copy.folder, True)
    assert not found.devices and "holds 2 × 64 shots" in found.note


def test_a_circuit_for_one_device_is_not_taken_for_another(copy):
    other = "noisy:FakePittsburgh"
    shutil.copytree(copy.circuit.parent, copy.folder / RUNS / home_name(other))
    with pytest.raises(InputError, match=f"for {other} .its on differ"):
        OnDevice(load(REPLAY), copy.folder, other, quick=True).forecast()
    found = measured(load(REPLAY), copy.folder, True)  # a copy: its device stands in the table once
    assert [device.on for device in found.devices] == [MODEL]
    assert found.left_out == {home_name(other): f"holds runs of {MODEL}, whose folder is {home_name(MODEL)}"}


def test_no_two_devices_share_a_folder():
    names = ["ibm:ibm.boston", "ibm:ibm_boston", "iqm:https://a.b/c-d", "iqm:https://a-b/c/d", "ibm:" + "x" * 300]
    folders = [home_name(on) for on in names]
    assert len(set(folders)) == len(names) and max(map(len, folders)) < 64


def harm_threshold(circuit):
    path = circuit / "circuit" / "manifest.json"
    content = json.loads(path.read_text())
    content["study"]["threshold"] = None
    path.write_text(json.dumps(content))


def test_a_threshold_cannot_vanish(copy):
    shutil.rmtree(copy.circuit / "2x64")
    harm_threshold(copy.circuit)
    with pytest.raises(InputError, match="was changed after it was written"):
        OnDevice(load(REPLAY), copy.folder, MODEL, quick=True).hand_in()


def as_folder(path):
    path.unlink()
    path.mkdir()


HARMS = {
    "results are a folder": lambda run: as_folder(run / RESULTS),
    "results are deep": lambda run: (run / RESULTS).write_text("[" * 200_000 + "\n{}\n"),
    "the manifest is deep": lambda run: (run / "manifest.json").write_text("[" * 200_000),
    "the manifest is a folder": lambda run: as_folder(run / "manifest.json"),
    "the circuit is another": lambda run: (run / "circuit.qpy").write_bytes(b"x"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_run_is_said_and_spoils_no_table(copy, run, harm):
    HARMS[harm](copy.circuit / "2x64")
    (copy.folder / RUNS / ".DS_Store").write_text("x")
    fill_cells(REPLAY, copy.folder)
    done = run("reproduce", REPLAY, "--quick", "--out", copy.folder)
    assert done.code == 0 and "Refused:" in done.out and (copy.folder / "index.html").exists()


def test_one_damaged_run_among_several_is_refused_in_its_row_alone(copy, monkeypatch):
    study = load(REPLAY)
    (circuit,) = study.device.circuits(True)
    broken = replace(circuit, name="broken")
    shutil.copytree(copy.circuit, copy.circuit.with_name("broken"))
    as_folder(copy.circuit.with_name("broken") / "2x64" / RESULTS)
    monkeypatch.setattr(
        type(study.device), "circuits", property(lambda self: lambda quick: [circuit, broken]), raising=False
    )
    (device,) = measured(study, copy.folder, True).devices
    assert device.lacking(broken) == device.to_dict()["runs"]["broken"] == "refused"
    assert device.outcomes[circuit] is not None and not device.owed
    assert on_device(device, "row", "BK %", mass, broken).verdict == "refused"


def test_a_run_that_is_damaged_while_the_rest_is_simulated_is_pending_with_the_reason(copy):
    device = OnDevice(load(REPLAY), copy.folder, MODEL, quick=True)
    device.hand_in()
    as_folder(copy.circuit / "2x64" / RESULTS)
    device.collect()
    assert "cannot be read" in device.pending[FIRST]


def test_a_forecast_beside_a_run_that_is_going_on(copy, run):
    with locked(copy.circuit / "2x64"):
        (plan,) = OnDevice(load(REPLAY), copy.folder, MODEL, quick=True).forecast()
        done = run("reproduce", REPLAY, "--quick", "--device", MODEL, "--out", copy.folder, "--dry-run")
    assert plan["being_measured"] and plan["repeats_done"] is None and plan["estimated_device_seconds"] == 0
    assert done.code == 0 and "Being measured by another process now: creditcard-13" in " ".join(done.out.split())


@pytest.mark.parametrize("code", [errno.ENOTEMPTY, errno.EEXIST])
def test_of_two_that_compile_the_same_circuit_the_first_counts(copy, monkeypatch, code):
    """The other's folder appears between our looking and our writing."""
    theirs = copy.folder / "theirs"
    (copy.circuit / "circuit").rename(theirs)

    replace_file = os.replace

    def second(source, place):
        if place.suffix:  # a file of ours, still aside
            return replace_file(source, place)
        theirs.rename(place)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", second)
    (plan,) = OnDevice(load(REPLAY), copy.folder, MODEL, quick=True).forecast()
    assert plan["repeats_done"] == 2


def test_names_steer_neither_a_terminal_nor_a_page(tmp_path, monkeypatch, capsys):
    """No such device can be named, but results are read from files."""
    study = load(REPLAY)
    evil = "iqm:https://x/a|b<img>\x1b[31m$x$"
    circuits = study.device.circuits(True)
    device = Measured(on=evil, kind="hardware", outcomes=dict.fromkeys(circuits))
    found = study.results(records(REPLAY), True, Survey(devices=(device,)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the figure's font has every letter of the name
        write(study, found, tmp_path / REPLAY)
    table = (tmp_path / REPLAY / "table.md").read_text()
    assert r"a\|b&lt;img>" in table and "<img>" not in table
    _show(found)
    said = capsys.readouterr().out
    assert "\x1b[31m" not in said and "�[31m" in said.replace("\n", "")


def test_brackets_are_called_what_they_are(copy):
    study = load(REPLAY)
    alone = study.results(records(REPLAY), True)
    assert alone.brackets == "lowest and highest repeat" and "[lowest and highest repeat]" in markdown(study, alone)
    both = results(REPLAY, copy.folder)
    assert both.brackets.endswith("of a device's pooled hit rates the exact 95 % interval")
    write(study, both, copy.folder / REPLAY)
    page = write_reproduction(copy.folder).read_text()
    assert "Below a number: lowest and highest repeat; of a device" in page
    assert "not held against the paper in the quick form" in page and "prints no numbers" not in page


def outcome(name):
    """A finished run without its shots; a warm start comes closer."""
    gap = 2.0 if "warm" in name else 10.0
    strict = SimpleNamespace(
        hit_rate=Range(0.02, 0.01, 0.03),
        hit_rate_by_repeat=Range(0.02, 0.0, 0.05),
        feasible_rate=Range(0.5, 0.4, 0.6),
        chance=0.001,
        dense_gap=gap,
        best_energy_by_repeat=None if "random" in name else Range(-98 + gap, -100 + gap, -90 + gap),
    )
    run = SimpleNamespace(
        reference=lambda objective: -100.0, circuit=SimpleNamespace(manifest={"retained_share": 0.03})
    )
    content = {"strict": {"shots": 10}}
    return SimpleNamespace(strict=strict, run=run, repaired=SimpleNamespace(band_1_gap=0.5), to_dict=lambda: content)


@pytest.mark.parametrize("study", [REPLAY, PANEL, DETAILS, SUMMARY])
def test_full_tables_have_a_number_or_its_absence_in_every_device_cell(study, monkeypatch):
    """The paper's figure stands beside the device's, the first circuit is pending, and nothing is judged."""
    monkeypatch.setattr("biselect_studies.studies.hardware.ideal_hit_rate", lambda found: 0.03)
    made = load(study)
    first, *rest = made.device.circuits(False)
    device = Measured(on=ON, kind="hardware", outcomes={first: None, **{each: outcome(each.name) for each in rest}})
    found = hold(study, made.device.entries(device, records(study, False), False))
    assert {entry.verdict for entry in found} <= {"pending", "none", "-", "not judged"}
    assert len({(entry.row, entry.column) for entry in found}) == len(found)
    waiting = {entry.row for entry in found if entry.verdict == "pending"}
    assert len(waiting) == 1
    cells = {(entry.row, entry.column.partition(" on ")[0]): entry for entry in found}
    if study == SUMMARY:
        closed = cells["64 qubits, p = 2", "warm gap closed %"]
        assert (closed.ours, closed.paper) == (pytest.approx(80.0), 78.1)
    if study == DETAILS:
        gap = cells["64 qubits, p = 2, Warm-start", "dense gap"]
        assert (gap.ours, gap.low, gap.high, gap.paper) == (2.0, 2.0, 12.0, 18.6)
        assert cells["64 qubits, p = 2, Random-feasible", "dense gap"].verdict == "none"
    if study == PANEL:
        hits = [entry for entry in found if entry.column.startswith("hits in 40,960")]
        assert len(hits) == 8 and {entry.ours for entry in hits if entry.verdict != "pending"} == {819.2}


def test_full_forms_ask_for_the_papers_shots_on_hardware():
    assert {circuit.hardware for circuit in load(REPLAY).device.circuits(False)} == {(10, 4096)}
    assert [circuit.hardware for circuit in load(PANEL).device.circuits(False)] == [(10, 4096)] * 8
    wide = {circuit.name: circuit for circuit in load(DETAILS).device.circuits(False)}
    assert len(wide) == 11 and wide["wide-32-p3-fixed"].hardware == (1, 8192)
    assert wide["wide-64-p2-warm"].size(ON) == (3, 8192) and wide["wide-64-p2-warm"].size("noisy:x") == (1, 64)
    assert {circuit.name for circuit in load(SUMMARY).device.circuits(False)} < set(wide)


def test_what_has_no_hardware_columns_or_is_no_device_is_refused(tmp_path):
    with pytest.raises(InputError, match="theory-gaussian has no hardware columns"):
        OnDevice(load("theory-gaussian"), tmp_path, ON)
    for on, why in (("sector", "sector is no device"), ("moon", "is not where circuits can be run")):
        with pytest.raises(InputError, match=why):
            OnDevice(load(REPLAY), tmp_path, on)


# The command


def fill_cells(study, folder):
    for task in load(study).tasks(True):
        values = VALUES[task.experiment]
        keep(task, {name: [value] * (task.stop - task.first) for name, value in values.items()}, folder / CELLS)


def test_the_command_submits_resumes_and_says_what_is_pending(run, service, tmp_path):
    busy = service(["done", "queued"])
    fill_cells(REPLAY, tmp_path)
    command = ("reproduce", REPLAY, "--quick", "--device", ON, "--out", tmp_path)
    dry = run(*command, "--dry-run")
    assert dry.code == 0 and busy.submissions == 0 and "nothing was submitted" in dry.out
    assert json.loads(run(*command, "--dry-run", "--json").out)["estimated_device_seconds"] > 0
    first = run(*command, "--wait", 0)
    assert first.code == 1 and "1 circuits are pending on ibm:answering" in first.err and "pending" in first.out
    busy.finish()
    second = run(*command, "--json", "-q")
    assert second.code == 0 and busy.submissions == 2
    found = json.loads(second.out)
    assert found["extra"]["devices"][0]["on"] == ON
    later = run("reproduce", REPLAY, "--quick", "--out", tmp_path)  # without a device the columns stay
    assert later.code == 0 and "hardware" in later.out and busy.submissions == 2


def test_wishes_that_make_no_sense_are_refused(run, tmp_path):
    assert "has no hardware columns" in run("reproduce", "theory-gaussian", "--device", ON, "--out", tmp_path).err
    for option in (("--dry-run",), ("--wait", 3), ("--resubmit",)):
        done = run("reproduce", REPLAY, *option, "--out", tmp_path)
        assert done.code == 2 and "--device" in done.err
    done = run("reproduce", REPLAY, "--device", "ibm:https://u:pa55word@h", "--out", tmp_path)
    assert done.code == 2 and "pa55word" not in done.err


def test_without_qiskit_the_message_says_what_to_install(tmp_path):
    arguments = ["biselect", "reproduce", REPLAY, "--quick", "--device", ON, "--out", str(tmp_path)]
    code = (
        "import sys; sys.modules |= dict.fromkeys(('qiskit', 'qiskit_ibm_runtime', 'qiskit_aer'));"
        f"from biselect.cli import main; sys.argv = {arguments!r}; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode and "pip install ./quantum" in done.stderr and "Traceback" not in done.stderr
