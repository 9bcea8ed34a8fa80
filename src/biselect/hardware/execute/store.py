"""What a run has so far, on disk: whole records, one a line, that survive a kill at any moment.

A record is written with its own checksum and synced before the next step. Only the end of a file can be torn; it is
cut back to the last whole record when the run is taken up again. A record that is broken further up was not torn but
changed, and is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.errors import BiselectError, InputError
from biselect.hardware.execute.readout import Readout

if TYPE_CHECKING:
    from biselect.hardware.execute.manifest import Run

RESULTS, JOBS, LOCK = "results.jsonl", "jobs.jsonl", ".lock"
CHECK = "check"
Record = dict[str, Any]


class BusyError(BiselectError):
    """Another process is at work on the same run."""


class RunStore:
    """Results and jobs of one run.

    Args:
        run: whose manifest every record belongs to.
    """

    def __init__(self, run: Run) -> None:
        self.folder = run.folder
        self._run = run

    def repair(self) -> list[str]:
        """Cut torn ends off; gives the names of the files that had one. Only for who holds the lock."""
        return [name for name in (RESULTS, JOBS) if _cut_torn_end(self.folder / name)]

    def readouts(self) -> list[Readout]:
        """The finished repeats, in order."""
        found = []
        for number, record in enumerate(self._records(RESULTS)):
            where = f"{self.folder / RESULTS}: record {number + 1}"
            try:
                if record["repeat"] != number:
                    raise InputError(f"repeat {number} is missing")
                if number >= len(self._run.seeds):
                    raise InputError(f"the run has {len(self._run.seeds)} repeats only")
                if (record["seed"], record["asked"]) != (self._run.seeds[number], self._run.shots):
                    raise InputError("its seed or its shots are not those of the manifest")
                readout = Readout.from_dict(record)
                self.check(readout)
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"{where} does not belong to the run: {error}; the file was changed") from None
            found.append(readout)
        return found

    def check(self, readout: Readout) -> None:
        """Refuse what the run's circuit cannot have given."""
        width, wanted = readout.bits.shape[1], self._run.circuit.compiled.circuit.num_clbits
        if width != wanted:
            raise InputError(f"the shots have {width} classical bits, the circuit has {wanted}")
        if readout.counts.min() < 0 or not 0 < readout.shots <= self._run.shots:
            raise InputError(f"there are {readout.shots} shots, {self._run.shots} were asked for")

    def add(self, repeat: int, readout: Readout) -> None:
        """Keep a finished repeat, with its seed and how many shots were asked for."""
        self.check(readout)
        facts = {"repeat": repeat, "seed": self._run.seeds[repeat], "asked": self._run.shots}
        self._append(RESULTS, {**facts, **readout.to_dict()})

    def jobs(self) -> dict[int, Record]:
        """The last event of each repeat's jobs."""
        return {record["repeat"]: record for record in self._records(JOBS)}

    def note(self, repeat: int, event: str, **facts: Any) -> None:
        """Keep what happened to a job: submitting, submitted, refused, failed or uncollected."""
        self._append(JOBS, {"repeat": repeat, "event": event, **facts})

    def _records(self, name: str) -> list[Record]:
        path = self.folder / name
        whole, torn = _read(path)
        if torn:
            raise InputError(f"{path}: its end is torn; run again to repair it")
        if any(record["manifest"] != self._run.hash for record in whole):
            raise InputError(f"{path}: holds records of another manifest; give the run a folder of its own")
        return whole

    def _append(self, name: str, content: Record) -> None:
        path = self.folder / name
        line = _sealed({**content, "manifest": self._run.hash})
        try:
            new = not path.exists()
            with open(path, "ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
            if new:
                _sync_folder(self.folder)
        except OSError as error:
            raise InputError(f"{path}: cannot write there: {error.strerror or error}") from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run's folder for this process alone; the lock goes with the process, however it ends."""
    try:
        lock = open(folder / LOCK, "w")
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BusyError(f"{folder}: another process is at work on this run; wait for it to end") from None
        yield


def _sealed(content: Record) -> bytes:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    check = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]},"{CHECK}":"{check}"}}\n'.encode()


def _opened(line: bytes) -> Record | None:
    """The record of a line, or None if it is not as it was written."""
    try:
        content: Record = json.loads(line)
        check = content.pop(CHECK)
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None
    return content if hashlib.sha256(text.encode()).hexdigest() == check else None


def _read(path: Path) -> tuple[list[Record], int]:
    """Whole records, and how many bytes at the end are torn."""
    if not path.exists():
        return [], 0
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    whole: list[Record] = []
    for number, line in enumerate(lines):
        record = _opened(line) if line.endswith(b"\n") else None
        if record is not None:
            whole.append(record)
        elif number == len(lines) - 1:
            return whole, len(line)
        else:
            raise InputError(f"{path}: record {number + 1} is broken; the file was changed, so nothing in it is used")
    return whole, 0


def _cut_torn_end(path: Path) -> bool:
    _, torn = _read(path)
    if torn:
        with open(path, "r+b") as file:
            file.truncate(path.stat().st_size - torn)
            os.fsync(file.fileno())
    return bool(torn)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
