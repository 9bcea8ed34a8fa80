"""What a finished run says."""

from biselect.hardware.execute.manifest import load_run
from biselect.hardware.execute.outcomes import outcome
from biselect.hardware.execute.runner import execute
from biselect.hardware.execute.samplers import SectorSampling
from biselect.hardware.execute.store import RunStore


def test_an_analysis_can_be_had_again_from_the_files(whole):
    again = load_run(whole.folder)
    with RunStore.open(again) as store:
        found = outcome(again, store.readouts())
    assert found.kind == "exact simulation, not hardware"
    assert found.strict.feasible == found.strict.shots == 120
    assert found.to_dict() == outcome(whole, execute(whole, SectorSampling())).to_dict()
