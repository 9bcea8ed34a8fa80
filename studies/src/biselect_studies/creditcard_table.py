"""What the Credit Card studies share: sizes, the paper's choices, methods, and reading slices back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.inference import FEWEST_UNITS, Comparison, compare
from biselect.data.creditcard import find_credit_card
from biselect.errors import MissingDataError
from biselect_studies.results import Entry
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

SIZES = {20: 3, 50: 5, 80: 8}  # N and k
D, M = 12, 4
SPLIT = (60, 20, 20)
PAPER_MAPS = {20: "conformal", 50: "ecdf", 80: "conformal"}
SEQUENTIAL = ("feature-first:sum", "feature-first:max", "feature-first:median")
HEURISTICS = {
    "swap-sa": "Swap-SA",
    "greedy": "Greedy+LS",
    "coordinate-ascent": "Coord.-ascent",
    "tabu": "Tabu",
}
PAPER_SLICES, SLICES = 25, 200
LEVEL = 0.05
BLOCK = 100  # few tasks a cell: each process that takes one must make the weights of a whole window


def absent() -> str | None:
    """Why the Credit Card studies cannot run here, or None."""
    try:
        find_credit_card()
    except MissingDataError as error:
        return str(error)
    return None


def slices(quick: bool) -> int:
    """Slices of each cell: the paper's 25, or 200."""
    return PAPER_SLICES if quick else SLICES


def cell(size: int, methods: tuple[str, ...], **more: Any) -> dict[str, Any]:
    """A cell of `creditcard_slices`: the paper's protocol unless said otherwise."""
    usual = {
        "percent": SPLIT,
        "window": "test",
        "pool": "balanced",
        "N": size,
        "D": D,
        "k": SIZES[size],
        "m": M,
        "map": PAPER_MAPS[size],
    }
    return {**usual, "methods": methods, **more}


def tasks_of(cells: list[dict[str, Any]], seeds: int, experiment: str = "creditcard_slices") -> list[Task]:
    """Tasks for all cells."""
    return [task for one in cells for task in tasks_for(experiment, one, seeds, block=BLOCK)]


def read(records: Records, one: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """All values of a cell."""
    return records[tuple(sorted(one.items()))]


def heading(size: int, features: int = D) -> str:
    """A size as the paper writes it."""
    return f"({size},{features},{SIZES[size]},{M})"


def paired(values: dict[str, NDArray[Any]], first: str, second: str) -> tuple[Comparison, Comparison]:
    """F1 of one method minus another's: slices resampled, then frauds resampled.

    In unbalanced pools the hits of a slice do not add up to its F1; nearly all hold one fraud, so there a slice goes
    with its first one.
    """
    by_slice = compare(values[first] - values[second])
    if f"hits {first}" not in values:
        return by_slice, compare(values[first] - values[second], clusters=values["fraud"])
    hits = values[f"hits {first}"].astype(float) - values[f"hits {second}"]
    return by_slice, compare(hits, clusters=values["frauds"])


def comparison_entry(row: str, column: str, found: Comparison) -> Entry:
    """A comparison as a number of a table, without a figure of the paper."""
    return Entry(row=row, column=column, ours=found.mean, low=found.low, high=found.high, paper=None, verdict="-")


def claim(text: str, found: Mapping[int, Comparison], adjusted: Mapping[int, float]) -> str:
    """A claim of the form "this is above that", and by size whether it holds here.

    Args:
        text: the claim.
        found: by size.
        adjusted: their p-values after Holm's correction; interval and p-value must both be sure.

    >>> one = Comparison(mean=0.1, low=0.02, high=0.2, p=0.01, units=75)
    >>> claim("joint beats luck", {20: one}, {20: 0.03})
    'Claim: joint beats luck. N = 20: holds (+0.100 [+0.020, +0.200], Holm p 0.030).'
    >>> claim("joint beats luck", {20: one}, {20: 0.12})
    'Claim: joint beats luck. N = 20: not sure (+0.100 [+0.020, +0.200], Holm p 0.120).'
    """
    lines = []
    for size, one in found.items():
        sure = adjusted[size] <= LEVEL
        word = "holds" if sure and one.low > 0 else "does not hold here" if sure and one.high < 0 else "not sure"
        between = f"[{one.low:+.3f}, {one.high:+.3f}]" if one.units >= FEWEST_UNITS else f"{one.units} units only"
        lines.append(f"N = {size}: {word} ({one.mean:+.3f} {between}, Holm p {adjusted[size]:.3f})")
    return f"Claim: {text}. {'; '.join(lines)}."


def choose(on_buffer: Mapping[str, Mapping[str, NDArray[Any]]], heuristics: Collection[str]) -> tuple[str, str]:
    """Map and aggregate by the paper's rule: best joint and best sequential mean on the buffer, averaged.

    Args:
        on_buffer: by map, values of the heuristics and of the sequential rules there.
        heuristics: the joint selectors that may speak for a map.

    >>> means = {"feature-first:sum": [0.4], "feature-first:max": [0.5], "feature-first:median": [0.1]}
    >>> choose({"ecdf": {**means, "greedy": [0.5]}, "abs-z": {**means, "greedy": [0.6]}}, ["greedy"])
    ('abs-z', 'feature-first:max')
    """

    def judged(name: str) -> tuple[float, str]:
        means = {method: float(np.mean(values)) for method, values in on_buffer[name].items()}
        rule = max(SEQUENTIAL, key=means.__getitem__)
        return (max(means[method] for method in heuristics) + means[rule]) / 2, rule

    best = max(on_buffer, key=lambda name: judged(name)[0])
    return best, judged(best)[1]


def best_heuristic(values: dict[str, NDArray[Any]]) -> str:
    """The joint heuristic with the highest mean F1, as the paper reports it (the first on a tie)."""
    return max(HEURISTICS, key=lambda name: float(np.mean(values[name])))
