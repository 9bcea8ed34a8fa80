"""Study: which tasks it needs, what it makes of their results, and how it is drawn."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect_studies.measured import NONE, Circuit, Measured, Survey
from biselect_studies.results import Entry, Findings, Results
from biselect_studies.rule import Reading, hold
from biselect_studies.runner import Records
from biselect_studies.sources import digest
from biselect_studies.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("studies.toml").read_text(encoding="utf-8"))
NAMES = tuple(TEXTS)


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
        readings: why numbers differ from the paper's, where they do; the first that covers a difference counts.
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
        if not quick:  # a quick form has fewer seeds or smaller sizes than what is printed
            found = replace(found, cells=hold(self.name, found.cells))
        made_from = tuple(sorted({task.module for task in self.tasks(quick)}))
        return Results(**vars(found), **self._heading(quick), made_from=made_from, code=self.code(made_from))

    def skipped(self, reason: str, quick: bool) -> Results:
        """No numbers, and why."""
        notes = (f"Skipped: {reason}",)
        return Results(seeds=0, cells=(), notes=notes, **self._heading(quick))

    def code(self, made_from: Iterable[str]) -> str:
        """Digest of all sources that its numbers come from: this study's, and those of the experiments named."""
        digests = [digest(module) for module in (_module(self.name), *made_from)]
        return hashlib.sha256(" ".join(digests).encode()).hexdigest()

    def _heading(self, quick: bool) -> dict[str, Any]:
        return {"study": self.name, "title": self.title, "label": self.label, "quick": quick}


def described(name: str, **parts: Any) -> Study:
    """A study of these parts; what it says to people is in `studies.toml`."""
    texts = TEXTS[name]
    readings = []
    for told in texts.get("readings", ()):
        listed: dict[str, Any] = {name: tuple(value) for name, value in told.items() if isinstance(value, list)}
        readings.append(Reading(**{**told, **listed}))
    choices = tuple(texts["choices"])
    return Study(
        name=name, title=texts["title"], label=texts["label"], choices=choices, readings=tuple(readings), **parts
    )


def study_names() -> list[str]:
    """Names that `load` accepts."""
    return list(NAMES)


def load(name: str) -> Study:
    """The study of that name."""
    if name not in NAMES:
        raise InputError(f"there is no study {name!r}; choose one of: {', '.join(NAMES)}")
    module = import_module(_module(name))
    studies: tuple[Study, ...] = module.STUDIES
    return next(study for study in studies if study.name == name)


def _module(name: str) -> str:
    return f"biselect_studies.studies.{TEXTS[name]['module']}"
