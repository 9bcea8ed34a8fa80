"""The process beside the server that does the jobs: what it is at, and a way to stop it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biselect.errors import BiselectError


class BusyError(BiselectError):
    """Another job is under way."""


@dataclass(kw_only=True)
class Job:
    """One job, from its start to its end.

    Attributes:
        number: tells it from others.
        name: of the method of `Jobs`.
        then: the page to go to when it is done, and where the person came from if it is not.
        back: see `then`.
        given: what it was given.
        short: whether it gives way to others.
        changed: when the table that it is about was last changed.
        step: what it is at, in words.
        done: share of that step; None where nobody knows.
        began: on this machine's clock.
        finished: whether it is over.
        result: what it gave.
        error: why it gave nothing.
    """

    number: int
    name: str
    then: str = "/"
    back: str = "/"
    given: dict[str, Any] = field(default_factory=dict)
    short: bool = False
    changed: int = 0
    step: str = ""
    done: float | None = None
    began: float = field(default_factory=time.monotonic)
    finished: bool = False
    result: Any = None
    error: str | None = None


class Worker:
    """Does one job at a time; a new process is started when there is none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.job: Job | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lock, self._changed = threading.RLock(), threading.Condition()
        self._turn = threading.Lock()  # of short jobs
        self._number = 0

    def start(self, name: str, given: dict[str, Any], **more: Any) -> Job:
        """Begin a job; `more` is what else a `Job` knows from its start: `then`, `back`, `changed` and `short`."""
        with self._lock:
            if self.job is not None and not self.job.finished:
                if not self.job.short:
                    raise BusyError("another job is under way; wait for it, or stop it")
                self._finish(self.job, error="something else was asked for")  # the process comes to that next
            self._number += 1
            self.job = Job(number=self._number, name=name, given=given, **more)
            self._send({"number": self._number, "job": name, "given": given})
            return self.job

    def _send(self, wanted: dict[str, Any]) -> None:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "biselect.app.jobs", str(self.folder)]
            alone = {**os.environ, "PYTHONSAFEPATH": "1"}  # else `-m` would import what lies beside the tables
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=alone
            )
            threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has just ended, which the listener tells
            self._process.stdin.write(json.dumps(wanted) + "\n")
            self._process.stdin.flush()

    def result(self, name: str, given: dict[str, Any], patience: float) -> Any:
        """A short job's result, one after the other; an error of ours where it fails or takes too long."""
        with self._turn:
            job = self.start(name, given, short=True)
            with self._changed:
                self._changed.wait_for(lambda: job.finished, patience)
        if not job.finished:
            self.stop()
            raise BusyError(f"that takes longer than {patience:g} s")
        if job.error is not None:
            raise BiselectError(job.error)
        return job.result

    def stop(self) -> None:
        """End whatever is under way, at once."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                process.kill()
                process.wait()
            if self.job is not None and not self.job.finished:
                self._finish(self.job, error="stopped")

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if process is self._process:
                    with suppress(ValueError):  # half a line is the last of a process that was killed
                        self._hear(json.loads(line))
        with self._lock:
            if process is self._process and self.job is not None and not self.job.finished:
                self._finish(self.job, error="the process that did it has ended; the terminal may say why")
        process.wait()
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()

    def _hear(self, told: dict[str, Any]) -> None:
        job = self.job
        if job is not None and "step" in told:
            job.step, job.done = told["step"], told["done"]
        elif job is not None and told["number"] == job.number:
            self._finish(job, told.get("result"), told.get("error"))

    def _finish(self, job: Job, result: Any = None, error: str | None = None) -> None:
        job.result, job.error, job.finished = result, error, True
        with self._changed:
            self._changed.notify_all()
