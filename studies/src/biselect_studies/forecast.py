"""How long a reproduction will take: processor time of each experiment's tasks, from earlier runs or as recorded.

`times.json` in an output folder holds what was measured there. Where it has nothing of an experiment, `costs.toml` has
what `studies/scripts/record_costs.py` measured once, on another machine.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

from biselect.core.files import write_file
from biselect_studies.runner import CELLS, pending_of
from biselect_studies.study import Study
from biselect_studies.task import Task

TIMES = "times.json"
Costs = dict[str, dict[str, tuple[int, float]]]
"""Tasks and their seconds of processor time, by experiment; of the `quick` and the `full` form."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is left to do, and how long it will take.

    Attributes:
        tasks: how many are left.
        seconds: processor time of those whose cost is known, one core of the machine where it was measured.
        here: how many of the tasks are of an experiment that was measured in this folder.
        unknown: tasks of experiments whose cost was never measured, by experiment.
    """

    tasks: int
    seconds: float
    here: int
    unknown: Mapping[str, int]

    def told(self, cores: int) -> str:
        """In a sentence or two, for so many cores."""
        if not self.tasks:
            return "Nothing is left to compute: all of it is in the folder."
        if sum(self.unknown.values()) == self.tasks:
            return f"{self.tasks:,} tasks are left; none like them was ever measured, so the time is not known."
        minutes = self.seconds / cores / 60
        about = f"about {minutes:.0f} min" if minutes >= 1.5 else f"about {self.seconds / cores:.0f} s"
        where = "measured in this folder" if self.here == self.tasks else "measured on another machine"
        if 0 < self.here < self.tasks:
            where = f"measured in this folder for {self.here} of them, on another machine for the rest"
        text = f"{self.tasks:,} tasks are left: {about} on {cores} free cores, by times {where}."
        if self.unknown:
            each = ", ".join(f"{count} of {name}" for name, count in self.unknown.items())
            text += f" Not counted, as they were never measured: {each}."
        return text


def forecast(studies: Iterable[Study], folder: Path, quick: bool) -> Forecast:
    """Of all tasks that these studies still need."""
    wanted = dict.fromkeys(task for study in studies if not study.absent() for task in study.tasks(quick))
    measured, recorded = _known(folder, quick)
    seconds, here, unknown = 0.0, 0, dict[str, int]()
    left = pending_of(wanted, folder / CELLS)
    for task in left:
        known = measured.get(task.experiment) or recorded.get(task.experiment)
        if known is None:
            unknown[task.experiment] = unknown.get(task.experiment, 0) + 1
        else:
            seconds += known[1] / known[0]
            here += task.experiment in measured
    return Forecast(tasks=len(left), seconds=seconds, here=here, unknown=unknown)


def longest_first(tasks: Iterable[Task], folder: Path, quick: bool) -> list[Task]:
    """Tasks in the order of what their experiments take, those never measured first: no core idles at the end."""
    measured, recorded = _known(folder, quick)

    def seconds(task: Task) -> float:
        count, total = measured.get(task.experiment) or recorded.get(task.experiment) or (1, inf)
        return total / count

    return sorted(tasks, key=seconds, reverse=True)


def _known(folder: Path, quick: bool) -> tuple[dict[str, tuple[int, float]], dict[str, tuple[int, float]]]:
    """What was measured in the folder, and what is on record."""
    form = _form(quick)
    return read_times(folder).get(form, {}), recorded_costs().get(form, {})


def keep_times(folder: Path, quick: bool, spent: Mapping[str, list[float]]) -> None:
    """Add what tasks took to what the folder holds."""
    if not spent:
        return
    times = read_times(folder)
    form = times.setdefault(_form(quick), {})
    for experiment, seconds in spent.items():
        count, total = form.get(experiment, (0, 0.0))
        form[experiment] = count + len(seconds), round(total + sum(seconds), 3)
    write_file(folder / TIMES, json.dumps(times, indent=1, sort_keys=True) + "\n")


def read_times(folder: Path) -> Costs:
    """What the folder holds; nothing where it is damaged, as a forecast is no result."""
    try:
        content = json.loads((folder / TIMES).read_text(encoding="utf-8"))
        return {
            form: {name: (int(count), float(seconds)) for name, (count, seconds) in each.items() if count > 0}
            for form, each in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def recorded_costs() -> Costs:
    """What was measured once, on another machine."""
    content = tomllib.loads(Path(__file__).with_name("costs.toml").read_text(encoding="utf-8"))
    return {form: {name: (1, float(seconds)) for name, seconds in each.items()} for form, each in content.items()}


def _form(quick: bool) -> str:
    return "quick" if quick else "full"
