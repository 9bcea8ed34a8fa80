"""What a run measures with mitigation: fixed by the manifest, and taken up after a kill at any moment."""

from dataclasses import replace

import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.devices.execution.aer import AerSampling
from biselect_quantum.devices.execution.circuit_files import NEEDED
from biselect_quantum.devices.execution.manifest import freeze, load_run, plan
from biselect_quantum.devices.execution.measurements import circuit_for, measurements
from biselect_quantum.devices.execution.outcomes import outcome
from biselect_quantum.devices.execution.remote import ConnectionLostError
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.samplers import Readout
from biselect_quantum.devices.noise.trajectories import misread

ALL = "readout:60,twirl:3,repair"


@pytest.fixture
def mitigated(stored, circuit_folder):
    def fix(folder, mitigation=ALL, shots=40, repeats=2):
        asked = plan(stored, "aer", shots=shots, repeats=repeats, seed=1, mitigation=mitigation)
        return freeze(stored, circuit_folder, folder, asked)

    return fix


class Misreading(AerSampling):
    """Aer without errors of gates, and a readout that errs; dies after so many circuits."""

    def __init__(self, lasts=99, wrong=0.05):
        self.lasts, self.wrong = lasts, wrong

    def sample(self, compiled, shots, seed):
        self.lasts -= 1
        if self.lasts < 0:
            raise KeyboardInterrupt
        true = super().sample(compiled, shots, seed)
        table = np.repeat(true.bits, true.counts, axis=0).astype(np.int64)
        confusion = np.tile([[1 - self.wrong, self.wrong], [self.wrong, 1 - self.wrong]], (table.shape[1], 1, 1))
        return Readout.of(misread(table, confusion, np.random.default_rng(seed)))


def test_calibration_comes_first_and_shots_are_divided_with_seeds_of_their_own(mitigated, tmp_path):
    taken = mitigated(tmp_path).measurements
    assert [each.name for each in taken[:3]] == ["calibration 1 of 2", "calibration 2 of 2", "repeat 1, part 1 of 3"]
    assert [each.shots for each in taken] == [30, 30, 14, 13, 13, 14, 13, 13]
    assert len({each.seed for each in taken}) == 8 and len({each.frame for each in taken}) == 7
    assert {name: (tmp_path / name).exists() for name in NEEDED} == dict.fromkeys(NEEDED, True)


def test_without_mitigation_a_repeat_is_one_measurement_of_the_circuit_itself(fixed, tmp_path):
    run = fixed(tmp_path)
    assert [each.seed for each in run.measurements] == run.seeds
    assert circuit_for(run.measurements[1], run.circuit, run.mitigation) is run.circuit.compiled


def test_a_run_killed_at_any_moment_ends_with_the_same_records(mitigated, records, tmp_path):
    whole = mitigated(tmp_path / "whole")
    found = outcome(whole, execute(whole, Misreading()))
    for lasts in range(8):
        run = mitigated(tmp_path / str(lasts))
        with pytest.raises(KeyboardInterrupt):
            execute(run, Misreading(lasts))
        again = execute(load_run(run.folder), Misreading())
        assert records(run.folder) == records(whole.folder)
        if lasts in (0, 5):
            assert outcome(run, again).to_dict() == found.to_dict()


def test_strict_corrected_and_repaired_figures_stay_apart(mitigated, tmp_path):
    run = mitigated(tmp_path / "run", "readout:4000,twirl:2,repair", shots=600)
    found = outcome(run, execute(run, Misreading()))
    strict, corrected, mended = found.strict, found.corrected, found.mended
    assert found.shots_taken == 5200 and strict.shots == 1200 and corrected.calibration_shots == 4000
    assert strict.feasible_rate.value < 0.75 < 0.93 < corrected.feasible_rate.value <= 1
    assert corrected.misread == pytest.approx(0.05, abs=0.005)
    assert strict.hit_rate.value < corrected.hit_rate.value < 1.6 * strict.hit_rate.value
    assert mended.strict_hit_rate.value == strict.hits / 5200 < mended.hit_rate.value == mended.hits / 5200
    plain = outcome(other := mitigated(tmp_path / "plain", None), execute(other, Misreading())).to_dict()
    assert plain["readout_corrected"] is None and plain["repair"] is None and plain["shots_taken"] == 80


def test_what_cannot_be_mitigated_is_refused_before_anything_is_fixed(stored):
    numbers = {"shots": 40, "repeats": 1, "seed": 0}
    with pytest.raises(InputError, match="mitigate by repair alone"):
        plan(stored, "sector", **numbers, mitigation="readout")
    with pytest.raises(InputError, match="40 shots cannot be divided among 41"):
        plan(stored, "aer", **numbers, mitigation="twirl:41")
    asked = plan(stored, "aer", **numbers, mitigation="decouple")
    with pytest.raises(InputError, match="leave decouple out"):  # the small device has no unit of time
        circuit_for(measurements(asked)[0], stored, replace(load(asked), twirl=0))


def load(asked):
    from biselect_quantum.devices.mitigation.choice import Mitigation

    return Mitigation.from_dict(asked["mitigation"])


def test_every_measurement_is_a_job_that_a_lost_connection_does_not_repeat(stored, circuit_folder, service, tmp_path):
    numbers = {"shots": 40, "repeats": 1, "seed": 1}
    asked = plan(stored, "ibm:answering", **numbers, mitigation="readout:20,twirl:2")
    run = freeze(stored, circuit_folder, tmp_path, asked)
    shaky = service(["done", "lost-after"])
    with pytest.raises(ConnectionLostError):
        execute(run, shaky.sampling())
    found = outcome(run, execute(run, shaky.sampling()))
    assert len(shaky.queue) == 4 and found.shots_taken == 60 and found.strict.shots == 40
    assert found.corrected is None and "was misread" in found.uncorrected  # that service measures nothing of the sort
