"""What a training keeps: where its descents led, the angles it ends with, and a checkpoint to be taken up again."""

import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import number
from biselect.core.files import write_file
from biselect.core.untrusted import check_seal, json_of, read_json, refused_as, seal
from biselect.errors import AlteredWarning, InputError

KNOWLEDGE = {"optimum": "trained for the known optimum", "hit-rate": "threshold known beforehand"}
ANGLES_FORMAT, CHECKPOINT_FORMAT = "biselect-angles-4", "biselect-training-4"
HEAD = b'{"format": "biselect-training-'  # how the file of a checkpoint begins, of any release
Vector = NDArray[np.float64]
PAUSE = 1.0  # seconds between two writings of a checkpoint: what a kill may cost


@dataclass(frozen=True, kw_only=True, eq=False)
class Descent:
    """Where one start led.

    Attributes:
        angles: the best seen.
        value: the objective there; infinite where every evaluation failed.
        evaluations: how many it took.
        trace: (evaluations, value) of every improvement.
        flat: whether nothing showed a way down: no slope at the start, no other value later.
        failed: whether an evaluation gave no finite number, which ends a descent.
    """

    angles: NDArray[np.float64]
    value: float
    evaluations: int
    trace: tuple[tuple[int, float], ...]
    flat: bool = False
    failed: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """The best angles of one depth and schedule on the way.

    Attributes:
        schedule: name.
        depth: p, how many layers.
        angles: free angles of that schedule.
        value: the objective there; infinite, and null in JSON, where no evaluation gave a number.
    """

    schedule: str
    depth: int
    angles: NDArray[np.float64]
    value: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """What training found.

    Attributes:
        circuit: which circuit they are for, as `AnsatzSpec.describe` gives it.
        schedule: name of the schedule.
        depth: p, how many layers.
        angle_names: what each angle is.
        angles: the free angles.
        inert: names of the angles that change nothing that can be measured; they are 0.
        in_units: layer angles (p, G + 1), each γ times the spread of its cost terms: what `start_from` takes to another
            problem, depth or schedule.
        objective: its name, parts and weights, threshold and share.
        value: the objective at the angles; lower is better, a hit rate counts as -log p.
        energy: expected energy at the angles.
        hit_rate: probability of an energy at or below the threshold; None without a threshold.
        strategy: how it was searched.
        seed: of the search.
        evaluations: calls of the objective. One with its gradient counts as one; it takes about three times as long.
        trace: (evaluations, value) of every improvement within the depth and schedule then worked on.
        stages: the best of every depth and schedule on the way, in order; the last is the answer.
        notes: what a reader should know: a flat landscape, a threshold out of reach, fewer hits than by uniform choice.
        best_choice: samples and features of the best of the training's own shots; None where none were taken.
        nulls: what the hit rate is worth, as `Nulls.to_dict` gives it; None where nobody asked.
        spread: of several seeds: lower quartile, median and upper quartile of `value`, `energy` and `hit_rate`.
        seconds: how long it took; not part of the stored form.
    """

    circuit: Mapping[str, Any]
    schedule: str
    depth: int
    angle_names: tuple[str, ...]
    angles: NDArray[np.float64]
    inert: tuple[str, ...]
    in_units: NDArray[np.float64]
    objective: Mapping[str, Any]
    value: float
    energy: float
    hit_rate: float | None
    strategy: str
    seed: int
    evaluations: int
    trace: tuple[tuple[int, float], ...]
    stages: tuple[Stage, ...]
    notes: tuple[str, ...] = ()
    best_choice: tuple[list[int], list[int]] | None = None
    nulls: Mapping[str, Any] | None = None
    spread: Mapping[str, Sequence[float]] | None = None
    seconds: float | None = None

    @property
    def knowledge(self) -> str:
        """What training knew of the answer, in the words that stand beside every hit rate."""
        return knowledge_of(str(self.objective["name"]))

    @property
    def ladder(self) -> dict[int, float]:
        """Best value of every depth of this schedule.

        >>> from biselect.core import SelectionProblem
        >>> from biselect_quantum.circuits import Ansatz
        >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
        >>> trained = Ansatz(problem, depth=2, schedule="layerwise").train(strategy="ladder")
        >>> list(trained.ladder)
        [1, 2]
        """
        return {stage.depth: stage.value for stage in self.stages if stage.schedule == self.schedule}

    def to_dict(self) -> dict[str, Any]:
        """Plain data without a clock: the same for the same input and seed."""
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "seconds"}
        stages = [_plain(stage) for stage in self.stages]
        arrays = {"angles": self.angles.tolist(), "in_units": self.in_units.tolist()}
        return {"format": ANGLES_FORMAT, **plain, **arrays, "stages": stages}

    def to_json(self, path: str | Path | None = None) -> str:
        """Write the training as JSON text; to a file too where a path is given."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_file(path, text)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Self:
        """Read the text or the file that `to_json` wrote.

        Raises:
            InputError: no angles of this release.
        """
        is_text = isinstance(source, str) and source.lstrip()[:1] in ("", "{", "[")
        where = "" if is_text else f"{source}: "
        content: Any = None if is_text else read_json(source)
        with refused_as(f"{where}not angles written by biselect"):
            content = json_of(str(source)) if is_text else content
            if content["format"] != ANGLES_FORMAT:
                raise ValueError(f"its format is {content['format']}, not {ANGLES_FORMAT}; train again")
            values = {item.name: content[item.name] for item in fields(cls) if item.name != "seconds"}
            values |= {
                "angles": np.array(content["angles"], dtype=np.float64),
                "in_units": np.array(content["in_units"], dtype=np.float64),
                "inert": tuple(content["inert"]),
                "stages": tuple(Stage(**_restored(stage)) for stage in content["stages"]),
                "trace": _trace(content),
                "angle_names": tuple(content["angle_names"]),
                "notes": tuple(content["notes"]),
            }
            if values["angles"].shape != (len(values["angle_names"]),):
                raise ValueError("it names another number of angles than it has")
            return cls(**values)


def knowledge_of(objective: str) -> str:
    """What training for an objective of this name knows of the answer."""
    return KNOWLEDGE.get(objective, "trained blind")


def load_angles(path: str | Path) -> Training | list[float]:
    """Angles from a JSON file: what training wrote, or a plain list of numbers."""
    content = read_json(path)
    if not isinstance(content, list):
        return Training.from_json(Path(path))
    try:
        return [number("an angle", angle) for angle in content]
    except (InputError, OverflowError):
        raise InputError(f"{path}: the angles must be a list of finite numbers") from None


def _plain(record: Descent | Stage) -> dict[str, Any]:
    """Plain data; `_restored` gives back the same bits. An infinite value is null."""
    return {
        **vars(record),
        "angles": record.angles.tolist(),
        "value": record.value if np.isfinite(record.value) else None,
    }


def _restored(content: Mapping[str, Any]) -> dict[str, Any]:
    value = np.inf if content["value"] is None else float(content["value"])
    return {**content, "angles": np.array(content["angles"], dtype=np.float64), "value": value}


def _trace(content: Mapping[str, Any]) -> tuple[tuple[int, float], ...]:
    return tuple((int(count), float(value)) for count, value in content["trace"])


class OtherTrainingError(InputError):
    """A checkpoint belongs to another training than the one that would take it up; `differs` names in what."""

    def __init__(self, path: Path, differs: list[str]) -> None:
        self.differs = differs
        super().__init__(
            f"{path}: belongs to another training (it differs in {', '.join(differs)}); remove it or name another file"
        )


class Checkpoint:
    """Results of descents by name. A strategy runs again from its beginning and finds here what is done already.

    Args:
        path: the file; None keeps nothing.
        task: plain data that a training shares with the file it takes up, or else is refused.
    """

    def __init__(self, path: str | Path | None, task: dict[str, Any]) -> None:
        self.path = None if path is None else Path(path)
        self.task = json.loads(json.dumps(task))
        self.done: dict[str, Descent] = {}
        self.seconds = 0.0
        self._written = time.monotonic()
        if self.path is not None:
            if not self.path.parent.is_dir():
                raise InputError(f"{self.path}: there is no folder {self.path.parent}")
            if self.path.exists():
                self._read()

    def _read(self) -> None:
        assert self.path is not None
        try:
            with refused_as(f"{self.path}: cannot be used"):
                content = read_json(self.path)
                check_seal(content, self.path)
                if content["format"] != CHECKPOINT_FORMAT:
                    raise ValueError(f"its format is not {CHECKPOINT_FORMAT}")
                task, seconds = content["task"], float(content["seconds"])
                descents = {
                    name: Descent(**_restored(entry) | {"trace": _trace(entry)})
                    for name, entry in content["done"].items()
                }
                other = [name for name in self.task if task.get(name) != self.task[name]]
        except InputError as error:
            if not self._is_ours():
                raise InputError(f"{self.path}: not the checkpoint of a training; remove it or name another") from error
            warnings.warn(f"{error}; the training begins anew", AlteredWarning, stacklevel=2)
            return
        if other:
            raise OtherTrainingError(self.path, other)
        self.done, self.seconds = descents, seconds

    def _is_ours(self) -> bool:
        """Whether a file that cannot be used was a checkpoint, which may be written anew, and not a file of the user.

        Its first bytes say so, which are the last to go; nothing is lost with an empty file.
        """
        assert self.path is not None
        head = self.path.read_bytes()[: len(HEAD)]
        return not head or head == HEAD

    def add(self, name: str, descent: Descent, seconds: float) -> None:
        """Keep a result; `seconds` is what the whole training has taken so far."""
        self.done[name] = descent
        self.seconds = seconds
        if time.monotonic() - self._written >= PAUSE:
            self.write()

    def write(self) -> None:
        """Replace the file, whole or not at all."""
        if self.path is None:
            return
        descents = {name: _plain(descent) for name, descent in self.done.items()}
        content = {"format": CHECKPOINT_FORMAT, "task": self.task, "seconds": self.seconds, "done": descents}
        write_file(self.path, json.dumps(seal(content)))
        self._written = time.monotonic()
