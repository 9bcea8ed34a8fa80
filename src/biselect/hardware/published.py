"""Ion traps as their makers published them: what one figure a device says, as a target of all pairs.

A Qiskit Target has no word for how many gates run at once, nor for an error that grows with the angle of a gate; both
are looked up here, under the target's name.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import permutations
from math import pi
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiskit.transpiler import Target

PER_PAIR = 2.4  # two independent errors of one qubit, as one average infidelity of the pair: 4/5 · 2 · 3/2


@dataclass(frozen=True, kw_only=True)
class Published:
    """One ion trap; a figure that nobody published is None.

    Attributes:
        name: as `load_target` takes it.
        qubits: how many, every pair of them joined.
        pulses: single-qubit gates; RZ is virtual.
        pair: the two-qubit gate, of any angle.
        figures: by name, each with the key of its source.
    """

    name: str
    qubits: int
    pulses: tuple[str, ...]
    pair: str
    figures: dict[str, tuple[float, str]]

    def figure(self, name: str) -> float | None:
        """A published value."""
        return self.figures[name][0] if name in self.figures else None

    @property
    def gates_at_once(self) -> int:
        """How many gates can run at the same time."""
        return int(self.figures["gates_at_once"][0])

    @property
    def readout_error(self) -> float | None:
        """Of one bit, zeros and ones alike; state preparation is in it."""
        both = self.figure("readout_error_0"), self.figure("readout_error_1")
        return self.figure("readout_error") if None in both else sum(both) / 2  # type: ignore[arg-type]

    def pair_error(self, angle: float = pi / 2) -> float:
        """Average infidelity of the two-qubit gate by an angle, with what memory costs both ions meanwhile.

        Quantinuum's law is linear, (slope · |θ|/π + offset) times the error of the full gate; where none is published,
        every angle errs as the full gate.
        """
        full, waiting = self.figures["pair_error"][0], PER_PAIR * (self.figure("memory_error") or 0.0)
        slope, offset = self.figure("angle_slope"), self.figure("angle_offset")
        share = 1.0 if slope is None or offset is None else slope * abs(angle) / pi + offset
        return full * share + waiting

    def content(self) -> dict[str, Any]:
        """Gates, durations, errors and coherence in the form of a target snapshot."""
        single = [[qubit] for qubit in range(self.qubits)]
        pairs = [list(pair) for pair in permutations(range(self.qubits), 2)]

        def gate(places: list[list[int]], seconds: float | None, error: float | None) -> dict[str, Any]:
            count = len(places)
            return {"qubits": places, "duration": [seconds] * count, "error": [error] * count, "angle_bounds": None}

        pulse = gate(single, self.figure("pulse_seconds"), self.figure("pulse_error"))
        return {
            "name": self.name,
            "qubits": self.qubits,
            "dt": None,
            "t1": [self.figure("t1")] * self.qubits,
            "t2": [self.figure("t2")] * self.qubits,
            "gates": {
                **{name: gate(single, 0.0, 0.0) if name == "rz" else pulse for name in self.pulses},
                self.pair: gate(pairs, self.figure("pair_seconds"), self.pair_error()),
                "measure": gate(single, self.figure("readout_seconds"), self.readout_error),
                "delay": gate(single, None, None),
            },
        }


def published(target: Target | str) -> Published | None:
    """The ion trap of this name, or that a target was made for; None for any other device."""
    name = target if isinstance(target, str) else target.description or ""
    return ion_traps().get(name)


@cache
def ion_traps() -> dict[str, Published]:
    """Every ion trap that has a name."""
    return {
        name: Published(
            name=name,
            qubits=entry["qubits"],
            pulses=tuple(entry["pulses"]),
            pair=entry["pair"],
            figures={figure: (value, source) for figure, (value, source) in entry["figures"].items()},
        )
        for name, entry in named_devices().items()
        if "figures" in entry
    }


@cache
def named_devices() -> dict[str, dict[str, Any]]:
    """What is written down about every named target, Heron and IQM included."""
    return {name: entry for name, entry in _tables().items() if name != "sources"}


def source(key: str) -> str:
    """Where a figure was published."""
    return str(_tables()["sources"][key])


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("devices.toml").read_text(encoding="utf-8"))
