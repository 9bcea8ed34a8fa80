"""What devices have found of a study: runs that are kept, each shown only in the row that it was made for.

`runs/` lies beside the cells and is shared like them, so a circuit that stands in two tables is paid for once:
`runs/DEVICE/CIRCUIT/circuit` is what was compiled for the device as it was then, `runs/DEVICE/CIRCUIT/10x4096` a run as
`biselect run` makes it, with its manifest, jobs and results. Names of folders prove nothing: every circuit is sealed
with the experiment, cell and device that it is for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.errors import BiselectError, InputError
from biselect_quantum.devices import DeviceCircuit
from biselect_quantum.devices.execution.outcomes import Outcome, outcome
from biselect_quantum.devices.execution.run import StoredRun, is_fixed, load_run
from biselect_quantum.devices.execution.runner import execute, progress
from biselect_quantum.devices.execution.samplers import kind_of
from biselect_quantum.devices.execution.store import BusyError

if TYPE_CHECKING:
    from biselect_studies.study import Study

RUNS, ORIGIN = "runs", "study"
LONGEST = 48  # characters of a device's name that its folder keeps


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """One circuit of a hardware table.

    Attributes:
        name: of its folder.
        experiment: module of `studies.experiments` whose `prepare(cell, target)` compiles it.
        cell: its parameters, as pairs.
        hardware: repeats, and shots of each, on hardware.
        model: the same under a noise model, where every shot costs processor time.
    """

    name: str
    experiment: str
    cell: tuple[tuple[str, Any], ...]
    hardware: tuple[int, int]
    model: tuple[int, int]

    def size(self, device: str) -> tuple[int, int]:
        """Repeats and shots on a device, or in the folder of one."""
        return self.hardware if device.startswith("ibm") else self.model

    def origin(self, on: str) -> dict[str, Any]:
        """What its compiled form for a device is sealed with."""
        return {"experiment": self.experiment, "cell": dict(self.cell), "on": on}

    def check(self, stored: DeviceCircuit, on: str, where: Path) -> None:
        """Refuse a compiled circuit that is not this one for that device."""
        sealed = stored.manifest().get(ORIGIN) or {}
        wanted = self.origin(on)
        if other := [name for name, value in wanted.items() if sealed.get(name) != value]:
            raise InputError(
                f"{where}: holds another circuit than {self.name} for {on} (its {' and '.join(other)} differ); "
                "move it away, and the same command makes the right one"
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What a device found of a study's circuits.

    Attributes:
        on: the device.
        kind: what its shots are: hardware, or a noise model.
        outcomes: by circuit; None for one that is pending or refused.
        refused: why, by the name of the circuit.
    """

    on: str
    kind: str
    outcomes: Mapping[Circuit, Outcome | None]
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What the column of the device is marked with."""
        return f"on {self.on} ({self.kind.partition(',')[0]})"

    def lacking(self, *circuits: Circuit) -> str:
        """Why there is no outcome of some circuits: `refused` or `pending`."""
        return "refused" if any(circuit.name in self.refused for circuit in circuits) else "pending"

    @property
    def owed(self) -> list[str]:
        """Circuits that are pending."""
        missing = [circuit for circuit, found in self.outcomes.items() if found is None]
        return [circuit.name for circuit in missing if self.lacking(circuit) == "pending"]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: every figure of every finished run, and which are pending or refused."""
        return {
            "on": self.on,
            "kind": self.kind,
            "label": self.label,
            "runs": {
                circuit.name: self.lacking(circuit) if found is None else found.to_dict()
                for circuit, found in self.outcomes.items()
            },
            "refused": dict(self.refused),
        }


@dataclass(frozen=True, kw_only=True)
class Survey:
    """All devices of a folder.

    Attributes:
        devices: those that runs were fixed for.
        left_out: why, by the name of a folder that is not that of its runs' device, such as a copy, or all damaged.
    """

    devices: tuple[Measured, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What a reader must know of the columns of devices, or that there are none."""
        refused = [f"{name} on {each.on}: {why}" for each in self.devices for name, why in each.refused.items()]
        refused += [f"{RUNS}/{name}: {why}" for name, why in self.left_out.items()]
        aside = f" Refused: {'; '.join(refused)}." if refused else ""
        if not self.devices:
            return "No column was measured on a device; --device does that." + aside
        said = "; ".join(f"{device.on}: {device.kind}" for device in self.devices)
        owed = [f"{name} on {device.on}" for device in self.devices for name in device.owed]
        return (
            f"Columns of devices ({said}): the same conditions, compiled for the device's own best patch with angles "
            "found for it, beside the paper's device and not compared. p_BK is pooled over all shots with its exact "
            "95 % interval; 'by repeat' is the median with the lowest and highest repeat, exact-budget mass the mean "
            "with both; a gap is that of the best shot, up to the worst repeat's. All that the runs say is under "
            "'devices' in results.json." + (f" Pending: {', '.join(owed)}." if owed else "") + aside
        )


NONE = Survey()


def measured(study: Study, folder: Path, quick: bool) -> Survey:
    """What the runs in a folder have found of a study; asks no device, and no damage to a run stops it."""
    if study.device is None or not (folder / RUNS).is_dir():
        return NONE
    devices, left_out = [], {}
    for home in sorted(path for path in (folder / RUNS).iterdir() if path.is_dir()):
        outcomes: dict[Circuit, Outcome | None] = dict.fromkeys(study.device.circuits(quick))
        on, refused = "", {}
        for circuit in outcomes:
            try:
                if run := kept_run(home, circuit):
                    on = run.on
                    outcomes[circuit] = _kept_outcome(run)
            except BiselectError as error:
                refused[circuit.name] = str(error)
        if on:
            devices.append(Measured(on=on, kind=kind_of(on), outcomes=outcomes, refused=refused))
        elif refused:
            left_out[home.name] = "; ".join(dict.fromkeys(refused.values()))
    return Survey(devices=tuple(devices), left_out=left_out)


def home_name(on: str) -> str:
    """The folder of a device: its name as files may be called, and a hash, for two names may look alike there."""
    plain = "".join(c if c.isascii() and c.isalnum() else "-" for c in on)[:LONGEST]
    return f"{plain}-{hashlib.sha256(on.encode()).hexdigest()[:8]}"


def run_folder(home: Path, circuit: Circuit) -> Path:
    """Where the run of a circuit is kept."""
    repeats, shots = circuit.size(home.name)
    return home / circuit.name / f"{repeats}x{shots}"


def kept_run(home: Path, circuit: Circuit) -> StoredRun | None:
    """The run of a circuit; None where none was fixed. Refuses one that is of something else."""
    folder = run_folder(home, circuit)
    if not is_fixed(folder):
        return None
    run = load_run(folder)
    if home.name != home_name(run.on):
        raise InputError(f"holds runs of {run.on}, whose folder is {home_name(run.on)}")
    circuit.check(run.circuit, run.on, folder)
    if (len(run.seeds), run.shots) != circuit.size(run.on):
        raise InputError(f"{folder}: holds {len(run.seeds)} × {run.shots} shots, not what its name says; move it away")
    return run


def _kept_outcome(run: StoredRun) -> Outcome | None:
    """The figures of a finished run; None for one that is not, or that another process is at."""
    try:
        return outcome(run, execute(run)) if progress(run)[0] == len(run.measurements) else None
    except BusyError:
        return None
