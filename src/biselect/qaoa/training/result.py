"""Training: the angles found, how good they are and how they were found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import number
from biselect.core.files import read_json, write_file
from biselect.errors import InputError

FORMAT = "biselect-angles-2"


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
        objective: parts and weights, threshold and share.
        value: the objective at the angles; lower is better, a hit rate counts as -log p.
        energy: expected energy at the angles.
        hit_rate: probability of an energy at or below the threshold; None without a threshold.
        strategy: how it was searched.
        seed: of the search.
        evaluations: calls of the objective. One with its gradient counts as one; it takes about three times as long.
        trace: (evaluations, value) of every improvement within the depth and schedule then worked on.
        stages: the best of every depth and schedule on the way, in order; the last is the answer.
        notes: what a reader should know: a flat landscape, a threshold out of reach.
        seconds: how long it took; not part of the stored form.
    """

    circuit: Mapping[str, Any]
    schedule: str
    depth: int
    angle_names: tuple[str, ...]
    angles: NDArray[np.float64]
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
    seconds: float | None = None

    @property
    def ladder(self) -> dict[int, float]:
        """The best value of every depth of this schedule.

        >>> from biselect.core import SelectionProblem
        >>> from biselect.qaoa import Ansatz
        >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
        >>> trained = Ansatz(problem, depth=2, schedule="layerwise").train(strategy="ladder")
        >>> list(trained.ladder)
        [1, 2]
        """
        return {stage.depth: stage.value for stage in self.stages if stage.schedule == self.schedule}

    def to_dict(self) -> dict[str, Any]:
        """Plain data without a clock: the same for the same input and seed."""
        plain = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "seconds"}
        stages = [
            {
                **vars(stage),
                "angles": stage.angles.tolist(),
                "value": stage.value if np.isfinite(stage.value) else None,
            }
            for stage in self.stages
        ]
        return {"format": FORMAT, **plain, "angles": self.angles.tolist(), "stages": stages}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text; written to a file too where a path is given."""
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_file(path, text)
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> Training:
        """Read what `to_json` gave: a path, or the text itself."""
        is_text = isinstance(source, str) and source.lstrip()[:1] in ("", "{", "[")
        where = "" if is_text else f"{source}: "
        content: Any = None if is_text else read_json(source)
        try:
            content = json.loads(str(source)) if is_text else content
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']}, not {FORMAT}; train again")
            given = {item.name: content[item.name] for item in fields(cls) if item.name != "seconds"}
            given |= {
                "angles": np.array(content["angles"], dtype=np.float64),
                "stages": tuple(_stage(stage) for stage in content["stages"]),
                "trace": tuple((int(count), float(value)) for count, value in content["trace"]),
                "angle_names": tuple(content["angle_names"]),
                "notes": tuple(content["notes"]),
            }
            if given["angles"].shape != (len(given["angle_names"]),):
                raise ValueError("it names another number of angles than it has")
            return cls(**given)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{where}not angles written by biselect: {error}") from error


def load_angles(path: str | Path) -> Training | list[float]:
    """Angles from a JSON file: what training wrote, or a plain list of numbers."""
    content = read_json(path)
    if not isinstance(content, list):
        return Training.from_json(Path(path))
    try:
        return [number("an angle", angle) for angle in content]
    except (InputError, OverflowError):
        raise InputError(f"{path}: the angles must be a list of finite numbers") from None


def _stage(content: dict[str, Any]) -> Stage:
    value = np.inf if content["value"] is None else float(content["value"])
    return Stage(**{**content, "angles": np.array(content["angles"], dtype=np.float64), "value": value})
