"""What the hardware tables share: simulation, noise model and devices beside the printed figures, never as equals."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from biselect_quantum.devices.analysis import Range
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry

if TYPE_CHECKING:
    from biselect_quantum.devices.execution.outcomes import Outcome

BESIDE = "Simulated, beside a figure that the paper measured on a device."
NOT_HARDWARE = (
    "'ideal' is exact simulation; 'noise model' is the recorded calibration of FakeBoston (Heron r3): noise model, "
    "not hardware. The paper's figures are of a real Heron r3 on another day, another patch and instances it does not "
    "give, so they stand beside ours and are not compared."
)
RANGES = "Each entry is the mean over repeats with its lowest and highest; a single run has no range."
BY_REPEAT = "lowest and highest repeat"
TWIRLED = "Under the noise model gate errors are twirled to Paulis, waiting qubits do not relax, and readout errs."
BY_PATH = {"paper": "noise model", "ours": "noise model, our path"}
TWO_PATHS = (
    "'Noise model' alone is by the paper's path, complete fractional: XXPlusYY fused, edges in coloured order, angles "
    "bound late, RZZ folded. 'Our path' is the Y-frame, which knows the start."
)
Measure = Callable[..., Range | float | None]
"""A number from outcomes of runs; None where the shots do not give it, such as a gap without a feasible shot."""


def beside(row: str, column: str, values: ArrayLike) -> Entry:
    """The mean over repeats with its range, beside a device's figure."""
    found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return ranged(row, column, Range(float(found.mean()), float(found.min()), float(found.max())), found.size)


def on_device(device: Measured, row: str, name: str, measure: Measure, *circuits: Circuit) -> Entry:
    """A number in a column of a device; pending or refused while a circuit has no outcome."""
    column = f"{name} {device.label}"
    outcomes = [device.outcomes.get(circuit) for circuit in circuits]
    missing = any(outcome is None for outcome in outcomes)
    found = None if missing else measure(*outcomes)
    if found is None:
        why = device.lacking(*circuits) if missing else "none"
        return Entry(row=row, column=column, ours=nan, low=nan, high=nan, verdict=why)
    return ranged(row, column, found if isinstance(found, Range) else Range(found, found, found))


def ranged(row: str, column: str, found: Range, units: int = 0) -> Entry:
    """A figure with its range, beside a device's."""
    ours, low, high = found
    return Entry(row, column, ours, low, high, units=units, range=(low, high), aside=BESIDE)


def scaled(found: Range, factor: float) -> Range:
    """A figure in other units."""
    return Range(*(factor * value for value in found))


def mass(found: Outcome) -> Range:
    """Exact-budget mass, per cent."""
    return scaled(found.strict.feasible_rate, 100)


def hit_rates(name: str, factor: float) -> dict[str, Measure]:
    """Columns of the hit rate p_BK of a run: of its circuit on a perfect device, pooled, and by repeat."""
    return {
        f"{name} without errors": lambda found: factor * ideal_hit_rate(found),
        name: lambda found: scaled(found.strict.hit_rate, factor),
        f"{name} by repeat": lambda found: scaled(found.strict.hit_rate_by_repeat, factor),
    }


def ideal_hit_rate(found: Outcome) -> float:
    """p_BK of a run's own circuit on a perfect device, exactly."""
    from biselect_quantum.devices.execution.exact_shots import sector_state
    from biselect_quantum.simulate.layers import energy_scale, energy_table, rounding_slack

    circuit = found.run.circuit
    goal = found.strict.threshold + rounding_slack(energy_scale(circuit.problem), np.float64)
    chances = np.abs(sector_state(circuit.compiled.program)) ** 2
    return float(chances[energy_table(circuit.problem) <= goal].sum())
