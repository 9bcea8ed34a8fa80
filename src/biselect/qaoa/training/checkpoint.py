"""Finished descents on disk, so that a training can be killed and taken up again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.qaoa.training.descent import Descent

FORMAT = "biselect-training-1"
PAUSE = 1.0  # seconds between two writings: what a kill may cost


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
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise ValueError(f"its format is not {FORMAT}")
            task, seconds = content["task"], float(content["seconds"])
            done = {name: Descent.from_dict(entry) for name, entry in content["done"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{self.path}: not the checkpoint of a training ({error}); remove it or name another"
            ) from error
        if other := [name for name in self.task if task.get(name) != self.task[name]]:
            raise OtherTrainingError(self.path, other)
        self.done, self.seconds = done, seconds

    def add(self, name: str, descent: Descent, seconds: float) -> None:
        """Keep a result; `seconds` is what the whole training has taken so far."""
        self.done[name], self.seconds = descent, seconds
        if time.monotonic() - self._written >= PAUSE:
            self.write()

    def write(self) -> None:
        """Replace the file, whole or not at all."""
        if self.path is None:
            return
        done = {name: descent.to_dict() for name, descent in self.done.items()}
        content = {"format": FORMAT, "task": self.task, "seconds": self.seconds, "done": done}
        write_file(self.path, json.dumps(content))
        self._written = time.monotonic()
