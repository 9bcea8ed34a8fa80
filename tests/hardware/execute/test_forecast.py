"""What a run would take."""

import pytest

from biselect.errors import InputError
from biselect.hardware.compiled_circuit import Resources
from biselect.hardware.execute.forecast import device_seconds, forecast
from biselect.hardware.execute.manifest import plan


def test_the_estimate_is_shots_times_circuit_and_pause():
    known = Resources(depth=1, two_qubit_depth=1, two_qubit_gates=1, swaps=0, duration=50e-6, gate_duration=40e-6)
    assert device_seconds(known, 1000, 3) == pytest.approx(0.9)


def test_no_service_is_asked_and_a_device_without_the_gates_is_refused(stored, monkeypatch):
    monkeypatch.setattr("biselect.hardware.execute.ibm.QiskitRuntimeService", None)  # whoever asks, fails
    found = forecast(stored, plan(stored, "ibm:nowhere", shots=100, repeats=2, seed=0))
    assert (found["kind"], found["shots"], len(found["seeds"])) == ("hardware", 100, 2)
    assert found["estimated_device_seconds"] == pytest.approx(200 * (stored.compiled.resources.duration + 250e-6))
    with pytest.raises(InputError, match="has no"):
        forecast(stored, plan(stored, "noisy:iqm-54", shots=100, repeats=2, seed=0))
