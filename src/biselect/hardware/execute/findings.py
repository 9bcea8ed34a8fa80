"""Outcome: a finished run and what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from biselect.core.files import write_file
from biselect.hardware.analysis import Repaired, Strict, analyse, analyse_repaired
from biselect.hardware.execute.devices import kind_of
from biselect.hardware.execute.manifest import Run
from biselect.hardware.execute.readout import Readout
from biselect.hardware.resources import Resources

ANALYSIS = "analysis.json"
REP_DELAY = 250e-6  # seconds between two shots, the default of IBM's devices


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a run found.

    Attributes:
        run: the run.
        kind: what its shots are: an exact simulation, a noise model, or hardware.
        strict: figures of the shots as measured.
        repaired: figures after band-1 repair.
    """

    run: Run
    kind: str
    strict: Strict
    repaired: Repaired

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; the same for the same shots."""
        return {
            "on": self.run.on,
            "kind": self.kind,
            "manifest_hash": self.run.hash,
            "threshold_pool": self.run.threshold.pool,
            "strict": self.strict.to_dict(),
            "band_1_repair": self.repaired.to_dict(),
        }


def outcome(run: Run, readouts: Sequence[Readout]) -> Outcome:
    """Decode and analyse the repeats of a run."""
    circuit = run.circuit
    layout = circuit.compiled.clbits
    return Outcome(
        run=run,
        kind=kind_of(run.on),
        strict=analyse(
            circuit.problem,
            [readout.decoded(circuit.problem, layout, circuit.placement) for readout in readouts],
            threshold=run.threshold.of(circuit.problem),
            reference=run.reference("dense"),
        ),
        repaired=analyse_repaired(
            circuit.surrogate,
            [readout.decoded(circuit.surrogate, layout) for readout in readouts],
            reference=run.reference("sparse"),
        ),
    )


def conclude(run: Run, readouts: Sequence[Readout]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    found = outcome(run, readouts)
    text = json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n"
    write_file(run.folder / ANALYSIS, text)
    return found


def device_seconds(resources: Resources, shots: int, repeats: int) -> float | None:
    """Estimated time on a device: circuit and pause for each shot, without queue and start-up."""
    if resources.duration is None:
        return None
    return repeats * shots * (resources.duration + REP_DELAY)
