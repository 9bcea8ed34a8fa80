"""What a run measures with readout correction: fixed by the manifest, and taken up after a kill at any moment."""

import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.devices.circuit_files import NEEDED
from biselect_quantum.devices.execution._aer import AerSampling
from biselect_quantum.devices.execution.outcomes import outcome
from biselect_quantum.devices.execution.remote import ConnectionLostError
from biselect_quantum.devices.execution.run import circuit_for, freeze, load_run, plan
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.samplers import RawShots
from biselect_quantum.devices.noise.sampling import misread


@pytest.fixture
def corrected(stored, circuit_folder):
    def fix(folder, readout=60, shots=40, repeats=2):
        asked = plan(stored, "aer", shots=shots, repeats=repeats, seed=1, readout=readout)
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
        return RawShots.of(misread(table, confusion, np.random.default_rng(seed)))


def test_calibration_comes_first_with_seeds_of_its_own(corrected, tmp_path):
    taken = corrected(tmp_path, 61).measurements
    assert [each.name for each in taken] == ["calibration 1 of 2", "calibration 2 of 2", "repeat 1", "repeat 2"]
    assert [each.shots for each in taken] == [31, 31, 40, 40]
    assert len({each.seed for each in taken}) == 4 and taken[0].frame == taken[1].frame
    assert {name: (tmp_path / name).exists() for name in NEEDED} == dict.fromkeys(NEEDED, True)


def test_without_correction_a_repeat_is_one_measurement_of_the_circuit_itself(fixed, tmp_path):
    run = fixed(tmp_path)
    assert [each.seed for each in run.measurements] == run.seeds
    assert circuit_for(run.measurements[1], run.circuit) is run.circuit


def test_a_run_killed_at_any_moment_ends_with_the_same_records(corrected, records, tmp_path):
    whole = corrected(tmp_path / "whole")
    found = outcome(whole, execute(whole, Misreading()))
    for lasts in range(4):
        run = corrected(tmp_path / str(lasts))
        with pytest.raises(KeyboardInterrupt):
            execute(run, Misreading(lasts))
        again = execute(load_run(run.folder), Misreading())
        assert records(run.folder) == records(whole.folder)
        if lasts in (0, 3):
            assert outcome(run, again).to_dict() == found.to_dict()


def test_strict_and_corrected_figures_stay_apart(corrected, tmp_path):
    run = corrected(tmp_path / "run", 4000, shots=600)
    found = outcome(run, execute(run, Misreading()))
    strict, estimate = found.strict, found.corrected
    assert found.shots_taken == 5200 and strict.shots == 1200 and estimate.calibration_shots == 4000
    assert strict.feasible_rate.value < 0.75 < 0.93 < estimate.feasible_rate.value <= 1
    assert estimate.misread == pytest.approx(0.05, abs=0.005)
    assert strict.hit_rate.value < estimate.hit_rate.value < 1.6 * strict.hit_rate.value
    plain = outcome(other := corrected(tmp_path / "plain", 0), execute(other, Misreading())).to_dict()
    assert plain["readout_corrected"] is None and plain["shots_taken"] == 80


def test_what_cannot_be_corrected_is_refused_before_anything_is_fixed(stored):
    numbers = {"shots": 40, "repeats": 1, "seed": 0}
    with pytest.raises(InputError, match="whose readout does not err"):
        plan(stored, "sector", **numbers, readout=40)
    with pytest.raises(InputError, match="2 calibration shots at least"):
        plan(stored, "aer", **numbers, readout=1)


def test_every_measurement_is_a_job_that_a_lost_connection_does_not_repeat(stored, circuit_folder, service, tmp_path):
    numbers = {"shots": 40, "repeats": 1, "seed": 1}
    asked = plan(stored, "ibm:answering", **numbers, readout=20)
    run = freeze(stored, circuit_folder, tmp_path, asked)
    shaky = service(["done", "lost-after"])
    with pytest.raises(ConnectionLostError):
        execute(run, shaky.sampling())
    found = outcome(run, execute(run, shaky.sampling()))
    assert len(shaky.queue) == 3 and found.shots_taken == 60 and found.strict.shots == 40
    assert found.corrected is None and "was misread" in found.uncorrected  # that service measures nothing of the sort
