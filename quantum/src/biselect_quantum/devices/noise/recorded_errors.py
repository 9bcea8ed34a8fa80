"""What a device has recorded of its errors: what is missing is refused or filled in by a rule, never taken for none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biselect.core.checks import number
from biselect.errors import InputError
from biselect_quantum.devices.device_errors import FAULTY, PASSIVE
from biselect_quantum.devices.targets import from_snapshot, snapshot

if TYPE_CHECKING:
    from qiskit.transpiler import Target

FILLED = "filled in: "  # begins the part of a target's description that says what was not recorded
WORST = "worst"
TIMES = ("t1", "t2")

Use = tuple[str, tuple[int, ...]]
"""An operation and the qubits that it acts on."""


def filled_in(target: Target, by: str | Mapping[str, float]) -> Target:
    """Fill in figures that a device has not recorded.

    The description of the target says with what, and so does every noise model of it.

    Args:
        target: some of whose errors, T1 or T2 are not recorded.
        by: `worst` for the worst figure of the same kind that the device has recorded (errors of a half and more mark
            what is broken, and do not count); or the figures themselves, published ones for instance: errors by the
            name of the gate, of the readout as `measure`, seconds as `t1` and `t2`. What neither knows stays missing.

    >>> from biselect_quantum.devices import load_target
    >>> rates = {"r": 1e-3, "cz": 5e-3, "measure": 2e-2, "t1": 40e-6, "t2": 20e-6}
    >>> filled_in(load_target("iqm-54"), rates).description
    'iqm-54; filled in: error of cz 0.005, error of measure 0.02, error of r 0.001, t1 4e-05 s, t2 2e-05 s'
    """
    content = {name: value for name, value in snapshot(target).items() if name != "hash"}
    if isinstance(by, str):
        if by != WORST:
            raise InputError(f"missing figures are filled in by {WORST!r} or by given ones, not by {by!r}")
        rates = {name: max(figures) for name, gate in content["gates"].items() if (figures := _usable(gate["error"]))}
        rates |= {time: min(figures) for time in TIMES if (figures := _known(content[time]))}
    else:
        rates = {name: number(f"the figure of {name}", value) for name, value in by.items()}
        if strange := sorted(set(rates) - set(content["gates"]) - set(TIMES)):
            raise InputError(f"{target.description!r} has no {', '.join(strange)} to fill in")
        if bad := [name for name, rate in rates.items() if rate < 0 or (name not in TIMES and rate > 1)]:
            raise InputError(f"the figures of {', '.join(bad)} are neither errors within 0..1 nor times")
    notes = []
    for name, gate in content["gates"].items():
        missing = [
            error is None and seconds != 0 for error, seconds in zip(gate["error"], gate["duration"], strict=True)
        ]
        if name in rates and name not in PASSIVE and any(missing):
            gate["error"] = [rates[name] if gap else error for error, gap in zip(gate["error"], missing, strict=True)]
            notes.append(f"error of {name} {rates[name]:.3g}{_share(missing)}")
    for time in TIMES:
        missing = [value is None for value in content[time]]
        if time in rates and any(missing):
            content[time] = [rates[time] if value is None else value for value in content[time]]
            notes.append(f"{time} {rates[time]:.3g} s{_share(missing)}")
    if notes:
        content["name"] = f"{content['name']}; {FILLED}{', '.join(notes)}"
    return from_snapshot(content)


def filling(target: Target) -> str:
    """What of a device's figures was filled in, to be added to a label; nothing where all were recorded."""
    _, marker, note = (target.description or "").partition(FILLED)
    return f"; {marker}{note}" if marker else ""


def check_figures(target: Target, operations: Iterable[Use], waiting: Sequence[int] = ()) -> None:
    """Refuse a circuit of whose operations some have no recorded error; and of whose waiting qubits, no T1 or T2.

    An operation that takes no time is virtual: it may lack an error. Without T1 and T2 all of a gate's error counts as
    depolarisation, so only waiting needs them.
    """
    lacks: Counter[str] = Counter()
    uses = set(operations)
    recorded: dict[str, Any] = {name: target[name] for name, _ in uses}  # Qiskit makes it anew for everyone who asks
    for name, place in uses:
        entry = recorded[name].get(place)
        if (entry is None or entry.error is None) and not (entry is not None and entry.duration == 0):
            lacks[f"error of {name}"] += 1
        if waiting and name != "measure" and (entry is None or entry.duration is None):
            lacks[f"duration of {name}"] += 1
    for qubit in waiting:
        properties = target.qubit_properties[qubit] if target.qubit_properties else None
        for time in TIMES:
            lacks[f"{time.upper()} of a waiting qubit"] += getattr(properties, time, None) is None
    if missing := [f"{what} ({count}×)" for what, count in sorted(lacks.items()) if count]:
        raise InputError(
            f"{target.description!r} has not recorded what a noise model of this circuit needs: {', '.join(missing)}. "
            "That is not taken for none: fill in errors, T1 and T2 with biselect_quantum.devices.noise.filled_in, by "
            "the worst recorded figure or by published ones, or take a device that has recorded it"
        )


def _known(figures: Sequence[Any]) -> list[float]:
    return [figure for figure in figures if figure is not None]


def _usable(errors: Sequence[Any]) -> list[float]:
    return [error for error in _known(errors) if error < FAULTY]


def _share(missing: Sequence[bool]) -> str:
    return "" if all(missing) else f" at {sum(missing)} of {len(missing)}"
