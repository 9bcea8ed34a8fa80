"""What a run measures, one circuit after the other: calibration first, then each repeat, whole or in random frames.

A measurement is a job on a service and a record in the store. What it is follows from the manifest alone, so a run
that was killed between any two of them goes on at the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biselect.errors import InputError
from biselect_quantum.devices.compiled_circuit import Compiled
from biselect_quantum.devices.execution.circuit_files import StoredCircuit
from biselect_quantum.devices.execution.samplers import Readout
from biselect_quantum.devices.mitigation.choice import Mitigation

if TYPE_CHECKING:
    from biselect_quantum.devices.mitigation.readout import Calibration

CALIBRATIONS = 2  # circuits that readout is calibrated by


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One circuit, measured once.

    Attributes:
        repeat: to which repeat it belongs; None for calibration.
        part: which of the repeat's randomisations, or of the calibration's circuits.
        parts: how many of these there are.
        shots: how many are asked for.
        seed: of its shots.
        frame: of its random Pauli frames, or of what calibration prepares.
    """

    repeat: int | None
    part: int
    parts: int
    shots: int
    seed: int
    frame: int

    @property
    def name(self) -> str:
        """For people."""
        if self.repeat is None:
            return f"calibration {self.part + 1} of {self.parts}"
        return f"repeat {self.repeat + 1}" + (f", part {self.part + 1} of {self.parts}" if self.parts > 1 else "")


def measurements(asked: Mapping[str, Any]) -> tuple[Measurement, ...]:
    """All that a `plan`, or a fixed run's content, measures, in order."""
    mitigation = Mitigation.from_dict(asked["mitigation"])
    seed, found = asked["seed"], []
    for part, shots in enumerate(_divided(mitigation.readout, CALIBRATIONS) if mitigation.readout else ()):
        own = {"seed": _drawn(seed, part, 1), "frame": _drawn(seed, 0, 2)}  # both circuits are of one frame
        found.append(Measurement(repeat=None, part=part, parts=CALIBRATIONS, shots=shots, **own))
    parts = max(1, mitigation.twirl)
    for repeat, seed in enumerate(asked["seeds"]):
        for part, shots in enumerate(_divided(asked["shots"], parts)):
            own = {"seed": _drawn(seed, part, 1) if parts > 1 else seed, "frame": _drawn(seed, part, 2)}
            found.append(Measurement(repeat=repeat, part=part, parts=parts, shots=shots, **own))
    return tuple(found)


def circuit_for(measurement: Measurement, circuit: StoredCircuit, mitigation: Mitigation) -> Compiled:
    """What is measured: the compiled circuit, framed and decoupled where that is asked for, or one that calibrates."""
    compiled = circuit.compiled
    if measurement.repeat is None:
        from biselect_quantum.devices.mitigation.readout import calibration_circuit

        return calibration_circuit(compiled, circuit.target, measurement.part, measurement.frame)
    if mitigation.twirl:
        from biselect_quantum.devices.mitigation.twirling import twirled

        compiled = twirled(compiled, circuit.target, measurement.frame)
    if mitigation.decouple:
        from biselect_quantum.devices.mitigation.decoupling import decoupled

        compiled = decoupled(compiled, circuit.target, mitigation.decouple)
    return compiled


def by_repeat(taken: Sequence[Measurement], readouts: Sequence[Readout]) -> list[Readout]:
    """The shots of each repeat, its parts put together."""
    parts: dict[int, list[Readout]] = {}
    for measurement, readout in zip(taken, readouts, strict=True):
        if measurement.repeat is not None:
            parts.setdefault(measurement.repeat, []).append(readout)
    return [
        Readout.of_table(np.concatenate([one.bits for one in found]), np.concatenate([one.counts for one in found]))
        for found in parts.values()
    ]


def calibration_of(
    circuit: StoredCircuit, taken: Sequence[Measurement], readouts: Sequence[Readout]
) -> Calibration | None:
    """What calibration read; None if there was none."""
    from biselect_quantum.devices.mitigation.readout import Calibration, prepared, pulse_errors

    found = [(each, readout) for each, readout in zip(taken, readouts, strict=True) if each.repeat is None]
    if not found:
        return None
    width = circuit.compiled.circuit.num_clbits
    return Calibration(
        prepared=np.array([prepared(width, each.part, each.frame) for each, _ in found]),
        read=[readout for _, readout in found],
        pulse_errors=pulse_errors(circuit.compiled, circuit.target),
    )


def _divided(shots: int, parts: int) -> list[int]:
    """Shots among parts, the first ones one more where they do not divide."""
    if shots < parts:
        raise InputError(f"{shots} shots cannot be divided among {parts} circuits; take more shots, or fewer circuits")
    return [shots // parts + (part < shots % parts) for part in range(parts)]


def _drawn(seed: int, part: int, use: int) -> int:
    """A seed of its own for each part and use; `repeat_seed` has those without a use."""
    return int(np.random.default_rng([seed, part, use]).integers(1 << 31))
