"""What a run measures, one circuit after the other: calibration of the readout first, then each repeat.

A measurement is a job on a service and a record in the store. What it is follows from the manifest alone, so a run
that was killed between any two of them goes on at the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biselect_quantum.devices.compiled_circuit import Compiled
from biselect_quantum.devices.execution.circuit_files import StoredCircuit
from biselect_quantum.devices.execution.samplers import Readout
from biselect_quantum.devices.readout import Calibration, calibration_circuit, prepared, pulse_errors

CALIBRATIONS = 2  # circuits that readout is calibrated by


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One circuit, measured once.

    Attributes:
        repeat: which repeat it is; None for calibration.
        shots: how many are asked for.
        seed: of its shots.
        part: which of the calibration's circuits.
        frame: seed of what calibration prepares, the same for both circuits.
    """

    repeat: int | None
    shots: int
    seed: int
    part: int = 0
    frame: int = 0

    @property
    def name(self) -> str:
        """For people."""
        return f"calibration {self.part + 1} of {CALIBRATIONS}" if self.repeat is None else f"repeat {self.repeat + 1}"


def measurements(asked: Mapping[str, Any]) -> tuple[Measurement, ...]:
    """All that a `plan`, or a fixed run's content, measures, in order."""
    seed, readout = asked["seed"], asked["readout"]
    calibration = [
        Measurement(
            repeat=None,
            shots=(readout + 1 - part) // CALIBRATIONS,
            seed=_drawn(seed, part, 1),
            part=part,
            frame=_drawn(seed, 0, 2),
        )
        for part in range(CALIBRATIONS if readout else 0)
    ]
    repeats = [Measurement(repeat=n, shots=asked["shots"], seed=own) for n, own in enumerate(asked["seeds"])]
    return (*calibration, *repeats)


def circuit_for(measurement: Measurement, circuit: StoredCircuit) -> Compiled:
    """What is measured: the compiled circuit, or one that calibrates its readout."""
    if measurement.repeat is not None:
        return circuit.compiled
    return calibration_circuit(circuit.compiled, circuit.target, measurement.part, measurement.frame)


def by_repeat(taken: Sequence[Measurement], readouts: Sequence[Readout]) -> list[Readout]:
    """The shots of each repeat."""
    return [readout for each, readout in zip(taken, readouts, strict=True) if each.repeat is not None]


def calibration_of(
    circuit: StoredCircuit, taken: Sequence[Measurement], readouts: Sequence[Readout]
) -> Calibration | None:
    """What calibration read; None if there was none."""
    found = [(each, readout) for each, readout in zip(taken, readouts, strict=True) if each.repeat is None]
    if not found:
        return None
    width = circuit.compiled.circuit.num_clbits
    return Calibration(
        prepared=np.array([prepared(width, each.part, each.frame) for each, _ in found]),
        read=[readout for _, readout in found],
        pulse_errors=pulse_errors(circuit.compiled, circuit.target),
    )


def _drawn(seed: int, part: int, use: int) -> int:
    """A seed of its own for each part and use; `repeat_seed` has those without a use."""
    return int(np.random.default_rng([seed, part, use]).integers(1 << 31))
