"""One file per table or figure of the paper, and a runner that resumes. `reproduce(name, folder)` does it all."""

from biselect.studies.measured import Circuit, Measured, Survey
from biselect.studies.on_device import OnDevice
from biselect.studies.render import reproduce, skip
from biselect.studies.results import Results
from biselect.studies.study import Study, load, study_names
from biselect.studies.task import Task

__all__ = [
    "Circuit",
    "Measured",
    "OnDevice",
    "Results",
    "Study",
    "Survey",
    "Task",
    "load",
    "reproduce",
    "skip",
    "study_names",
]
