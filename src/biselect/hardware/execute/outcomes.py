"""Outcome: a finished run and what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from biselect.core.files import write_file
from biselect.hardware.analysis import Repaired, Strict, analyse, analyse_repaired
from biselect.hardware.execute.devices import kind_of
from biselect.hardware.execute.manifest import StoredRun
from biselect.hardware.execute.measured_bits import Readout

ANALYSIS = "analysis.json"


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """What a run found.

    Attributes:
        run: the run.
        kind: what its shots are: an exact simulation, a noise model, or hardware.
        strict: figures of the shots as measured.
        repaired: figures after band-1 repair.
    """

    run: StoredRun
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
            "strict": asdict(self.strict),
            "band_1_repair": asdict(self.repaired),
        }


def outcome(run: StoredRun, readouts: Sequence[Readout]) -> Outcome:
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


def conclude(run: StoredRun, readouts: Sequence[Readout]) -> Outcome:
    """`outcome`, written to the run's folder too."""
    found = outcome(run, readouts)
    text = json.dumps(found.to_dict(), indent=1, allow_nan=False) + "\n"
    write_file(run.folder / ANALYSIS, text)
    return found
