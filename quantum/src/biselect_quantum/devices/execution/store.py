"""What a run has so far: one SQLite file, which is also the run's lock.

The process that works on a run holds the file's exclusive lock, which the operating system releases when the process
ends, however it ends. Every record is a transaction of its own, so a killed process loses at most the record it was
writing, and carries a hash, so that a changed or damaged file is refused.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.core.untrusted import check_seal, json_of, refused_as, seal
from biselect.errors import BiselectError, InputError
from biselect_quantum.devices.execution.samplers import RawShots

if TYPE_CHECKING:
    from biselect_quantum.devices.execution.run import StoredRun

RESULTS = "results.sqlite"
TABLES = ("measurements", "jobs")  # one record for each that is finished; one for each event of a job
Record = dict[str, Any]


class BusyError(BiselectError):
    """Another process is at work on the same run."""


class RunStore:
    """Results and jobs of one run, as `RunStore.open` gives it."""

    def __init__(self, run: StoredRun, database: sqlite3.Connection) -> None:
        self._run = run
        self._database = database

    @classmethod
    @contextmanager
    def open(cls, run: StoredRun) -> Iterator[RunStore]:
        """The store of a run, for this process alone."""
        with locked(run.folder) as database:
            yield cls(run, database)

    def readouts(self) -> list[RawShots]:
        """What the finished measurements read, in order."""
        return [self._readout(number, record) for number, record in enumerate(self._records("measurements"))]

    def _readout(self, number: int, record: Record) -> RawShots:
        try:
            if number >= len(self._run.measurements):
                raise InputError(f"the run has {len(self._run.measurements)} measurements only")
            expected = self._facts(number)
            if other := [name for name in expected if record[name] != expected[name]]:
                raise InputError(f"it differs from the manifest in {', '.join(other)}")
            readout = RawShots.from_dict(record)
            self.check(number, readout)
        except (KeyError, TypeError, ValueError) as error:
            where = f"{self._run.folder / RESULTS}: record {number + 1}"
            raise InputError(f"{where} does not belong to the run: {error}; the file was changed") from None
        return readout

    def check(self, number: int, readout: RawShots) -> None:
        """Refuse what a measurement of the run cannot have given."""
        width, clbits = readout.bits.shape[1], self._run.circuit.gates.num_clbits
        if width != clbits:
            raise InputError(f"the shots have {width} classical bits, the circuit has {clbits}")
        planned_shots = self._run.measurements[number].shots
        if readout.counts.min() < 0 or not 0 < readout.shots <= planned_shots:
            raise InputError(f"there are {readout.shots} shots, {planned_shots} were asked for")

    def add(self, number: int, readout: RawShots) -> None:
        """Keep a finished measurement, with its seed and how many shots were asked for."""
        self.check(number, readout)
        self._append("measurements", {**self._facts(number), **readout.to_dict()})

    def jobs(self) -> dict[tuple[int, ...], Record]:
        """The last event of each job, by the measurements that it takes."""
        return {tuple(record["measurements"]): record for record in self._records("jobs")}

    def note(self, measurements: Sequence[int], event: str, **facts: Any) -> None:
        """Keep what happened to a job: submitting, submitted, refused, failed or uncollected."""
        self._append("jobs", {"measurements": list(measurements), "event": event, **facts})

    def _facts(self, number: int) -> Record:
        """What the manifest says about a measurement."""
        measurement = self._run.measurements[number]
        return {"measurement": number, "seed": measurement.seed, "asked": measurement.shots}

    def _append(self, table: str, content: Record) -> None:
        record = json.dumps(seal({**content, "manifest": self._run.hash}), allow_nan=False)
        self._database.execute(f"INSERT INTO {table} (record) VALUES (?)", (record,))

    def _records(self, table: str) -> list[Record]:
        path = self._run.folder / RESULTS
        records = []
        for number, (text,) in enumerate(self._database.execute(f"SELECT record FROM {table} ORDER BY number")):
            with refused_as(f"{path}: record {number + 1} of {table} cannot be read"):
                record: Record = json_of(text)
                check_seal(record, f"{path}: record {number + 1} of {table}")
            if record.get("manifest") != self._run.hash:
                raise InputError(f"{path}: holds records of another manifest; give the run a folder of its own")
            records.append(record)
        return records


@contextmanager
def locked(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database of a run, held by this process alone until the block ends."""
    path = folder / RESULTS
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
            database.execute("PRAGMA locking_mode = EXCLUSIVE")  # the first lock is kept until the file is closed
            database.execute("PRAGMA synchronous = EXTRA")
            database.execute("BEGIN EXCLUSIVE")
            for table in () if database.execute("SELECT 1 FROM sqlite_master").fetchone() else TABLES:
                database.execute(f"CREATE TABLE {table} (number INTEGER PRIMARY KEY, record TEXT)")
            database.execute("COMMIT")
            ((state,),) = database.execute("PRAGMA integrity_check(1)").fetchall()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where damaged text is no UTF-8
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise BusyError(f"{folder}: another process is at work on this run; wait for it to end") from None
        raise InputError(f"{path}: is damaged or cannot be read and written: {error}") from error
