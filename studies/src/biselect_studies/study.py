"""Study: which tasks it needs, what it makes of their results, and how it is drawn."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect_studies.measured import NONE, Circuit, Measured, Survey
from biselect_studies.readings import Reading
from biselect_studies.results import Entry, Findings, Results
from biselect_studies.runner import Records
from biselect_studies.sources import digest
from biselect_studies.task import EXPERIMENTS, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDIES = {
    "formulation-evidence-summary": "formulation_evidence_summary",
    "joint-vs-sequential-practical": "joint_vs_sequential_practical",
    "joint-vs-sequential-ci": "joint_vs_sequential_ci",
    "joint-vs-sequential-param-sweep-heatmaps": "joint_vs_sequential_param_sweep_heatmaps",
    "solver-matched-compute": "solver_matched_compute",
    "synthetic-calibration-robustness": "synthetic_calibration_robustness",
    "synthetic-mechanism-stable": "synthetic_mechanism_stable",
    "qaoa-parameterizations": "optimised_14_10:PARAMETERIZATIONS",
    "cgxy-noiseless-evidence": "grouping_by_depth:EVIDENCE",
    "qaoa-sparse-exact-14-10-readout": "optimised_14_10:READOUT",
    "qaoa-calibration-grouped-multiangle": "grouping_by_depth:RECOVERED",
    "cgxy-best-known-threshold-summary-p3": "threshold_tables:BY_SCHEDULE",
    "cgxy-fully-grouped-qpu-replay-p3": "threshold_tables:BY_INSTANCE",
    "cgxy-grouping-randomization-control": "cgxy_grouping_randomization_control",
    "penalty-x-vs-strict-feasible-qaoa": "penalty_x_vs_strict_feasible_qaoa",
    "creditcard-bilinear-cg-best-known-replay": "replay_tables",
    "hardware-run-summary": "wide_tables:BY_WIDTH",
    "cgxy-fixed-angle-condition-details": "wide_tables:BY_CONDITION",
    "theory-gaussian": "theory_gaussian",
    "theory-bernstein": "theory_bernstein",
    "theory-clipped": "theory_clipped",
    "theory-covariance": "theory_covariance",
    "implementation-path-factorial": "path_tables:FACTORIAL",
    "compiler-path-scaling-baseline": "path_tables:SCALING",
    "cross-platform-compilation": "cross_platform_compilation",
    "circuit": "circuit",
    "routing-check": "routing_check",
    "submitted-coupling-diagnostic": "submitted_coupling_diagnostic",
    "joint-vs-sequential-real-creditcard": "joint_vs_sequential_real_creditcard",
    "joint-vs-sequential-real-creditcard-protocol-stress": "joint_vs_sequential_real_creditcard_protocol_stress",
    "real-creditcard-calibration-data-quality": "real_creditcard_calibration_data_quality",
    "real-creditcard-calibration-mechanism": "real_creditcard_calibration_mechanism",
    "real-creditcard-improvement": "real_creditcard_improvement",
    "creditcard-neighbouring-budgets": "creditcard_neighbouring_budgets",
    "joint-vs-sequential-real-ibm-aml-hi-small": "joint_vs_sequential_real_ibm_aml_hi_small",
    "joint-vs-sequential-real-ibm-aml-hi-small-trigger-menu-stage1-baseline": "joint_vs_sequential_real_ibm_aml_hi_small_trigger_menu_stage1_baseline",
    "stage1-turn-on": "stage1_turn_on",
}
"""Every study, and the module of this package that it lives in; there its name is STUDY unless another one is given."""


@dataclass(frozen=True, kw_only=True)
class DeviceColumns:
    """The columns of a table that a device can fill.

    Attributes:
        circuits: of the quick (True) or full form.
        entries: numbers from what a device measured, beside the finished work; the last argument as for `summarise`.
        brackets: what stands in their brackets where it is not what stands in the study's own.
    """

    circuits: Callable[[bool], Sequence[Circuit]]
    entries: Callable[[Measured, Records, bool], Sequence[Entry]]
    brackets: str = ""


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or figure of the paper.

    Attributes:
        name: the paper's label in kebab case.
        title: what it shows, in one line.
        label: the paper's own label, or the statement that a theory study tests.
        tasks: the work of the quick (True) or full form.
        summarise: numbers from the finished work; the second argument says whether it is the quick form.
        draw: the figure, from the numbers alone.
        choices: what the paper left open, and what we chose.
        readings: why numbers differ from the paper's, where they do; the first that covers a number counts.
        timed: whether it measures clock time: then one task runs at a time, on this machine.
        absent: why it cannot run here, such as a table that is not at hand; None where it can.
        device: columns that a device can fill; None where there are none.
    """

    name: str
    title: str
    label: str
    tasks: Callable[[bool], Sequence[Task]]
    summarise: Callable[[Records, bool], Findings]
    draw: Callable[[Findings], Figure]
    choices: tuple[str, ...]
    readings: tuple[Reading, ...] = ()
    timed: bool = False
    absent: Callable[[], str | None] = lambda: None
    device: DeviceColumns | None = None

    def results(self, records: Records, quick: bool, measured: Survey = NONE) -> Results:
        """The numbers under the study's name, those of devices last."""
        found = self.summarise(records, quick)
        if self.device is not None:
            cells = [entry for device in measured.devices for entry in self.device.entries(device, records, quick)]
            found = replace(
                found,
                cells=(*found.cells, *cells),
                brackets="; ".join(filter(None, [found.brackets, self.device.brackets if cells else ""])),
                notes=(*found.notes, measured.note),
                extra={**found.extra, "devices": [device.to_dict() for device in measured.devices]},
            )
        return Results(**vars(found), **self._heading(quick), code=self.code(quick))

    def skipped(self, reason: str, quick: bool) -> Results:
        """No numbers, and why."""
        notes = (f"Skipped: {reason}",)
        return Results(seeds=0, cells=(), notes=notes, **self._heading(quick))

    def code(self, quick: bool) -> str:
        """Digest of all sources that its numbers come from: this study's, and those of its experiments."""
        experiments = {f"{EXPERIMENTS}.{task.experiment}" for task in self.tasks(quick)}
        digests = [digest(module) for module in (_place(self.name)[0], *sorted(experiments))]
        return hashlib.sha256(" ".join(digests).encode()).hexdigest()

    def _heading(self, quick: bool) -> dict[str, Any]:
        return {"study": self.name, "title": self.title, "label": self.label, "quick": quick}


def study_names() -> list[str]:
    """Names that `load` accepts."""
    return list(STUDIES)


def load(name: str) -> Study:
    """The study of that name."""
    if name not in STUDIES:
        raise InputError(f"there is no study {name!r}; choose one of: {', '.join(STUDIES)}")
    module, attribute = _place(name)
    study: Study = getattr(import_module(module), attribute)
    return study


def _place(name: str) -> tuple[str, str]:
    """Module and attribute of a study."""
    module, _, attribute = STUDIES[name].partition(":")
    return f"biselect_studies.{module}", attribute or "STUDY"
