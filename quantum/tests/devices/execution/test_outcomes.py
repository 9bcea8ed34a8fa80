"""What a run would take, and what a finished one says."""

import pytest

from biselect.errors import InputError
from biselect_quantum.devices.execution.exact_shots import SectorSampling
from biselect_quantum.devices.execution.outcomes import device_seconds, forecast, outcome
from biselect_quantum.devices.execution.run import load_run, plan
from biselect_quantum.devices.execution.runner import execute
from biselect_quantum.devices.execution.store import RunStore
from biselect_quantum.devices.resources import Resources


def test_an_analysis_can_be_had_again_from_the_files(whole):
    again = load_run(whole.folder)
    with RunStore.open(again) as store:
        found = outcome(again, store.readouts())
    assert found.kind == "exact simulation, not hardware"
    assert found.strict.feasible == found.strict.shots == 120
    assert found.to_dict() == outcome(whole, execute(whole, SectorSampling())).to_dict()


def test_the_estimate_is_shots_times_circuit_and_pause():
    known = Resources(depth=1, two_qubit_depth=1, two_qubit_gates=1, swaps=0, duration=50e-6, gate_duration=40e-6)
    assert device_seconds(known, 3000) == pytest.approx(0.9)


def test_no_service_is_asked_and_a_device_without_the_gates_is_refused(stored, monkeypatch):
    monkeypatch.setattr("biselect_quantum.devices.execution._ibm.QiskitRuntimeService", None)  # whoever asks, fails
    found = forecast(stored, plan(stored, "ibm:nowhere", shots=100, repeats=2, seed=0))
    assert (found["kind"], found["shots"], len(found["seeds"])) == ("hardware", 100, 2)
    assert found["estimated_device_seconds"] == pytest.approx(200 * (stored.resources.duration + 250e-6))
    with pytest.raises(InputError, match="has no"):
        forecast(stored, plan(stored, "noisy:iqm-54", shots=100, repeats=2, seed=0))
