"""Thresholds E_BK: the best energy of a named pool of evidence, fixed before anything is measured against it.

A manifest is a JSON file of such thresholds with a hash of its own. A threshold belongs to one problem and is refused
for any other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import Selection, SelectionProblem
from biselect.core.files import write_file
from biselect.core.untrusted import read_json, refused_as
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz

FORMAT = "biselect-thresholds-1"


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Best-known energy E_BK of a problem, with the evidence that it comes from.

    Attributes:
        problem_hash: the problem's digest.
        value: E_BK.
        pool: name of the evidence.
        recipe: how to get the evidence again: plain data.

    >>> from biselect import solve
    >>> problem = SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1)
    >>> Threshold.from_selection(solve(problem)).of(problem)
    -3.0
    """

    problem_hash: str
    value: float
    pool: str
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not np.isfinite(self.value):
            raise InputError(f"a threshold must be a finite energy, got {self.value}")

    @classmethod
    def from_shots(
        cls, ansatz: Ansatz, angles: ArrayLike, *, shots: int, seed: int, pool: str = "noiseless shots"
    ) -> Threshold:
        """Take the best of `shots` shots of a circuit."""
        value = float(ansatz.sample(angles, shots, seed).energies[0])
        recipe = {
            "shots": shots,
            "seed": seed,
            "schedule": ansatz.schedule.name,
            "depth": ansatz.schedule.depth,
            "angles": np.asarray(angles, dtype=np.float64).tolist(),
        }
        return cls(problem_hash=ansatz.problem.digest, value=value, pool=pool, recipe=recipe)

    @classmethod
    def from_selection(cls, selection: Selection) -> Threshold:
        """Take the energy that a solver reached."""
        return cls(
            problem_hash=selection.problem.digest,
            value=selection.energy,
            pool=f"solver {selection.solver}",
            recipe={"proven_optimal": selection.proven_optimal},
        )

    def of(self, problem: SelectionProblem) -> float:
        """The energy, for the problem that it belongs to.

        Raises:
            InputError: another problem.
        """
        problem.refuse_other(self.problem_hash, f"the threshold from {self.pool!r}")
        return self.value


def save_thresholds(path: str | Path, thresholds: Iterable[Threshold]) -> None:
    """Write a manifest of thresholds, once.

    Raises:
        InputError: the file exists already.
    """
    entries = [asdict(threshold) for threshold in thresholds]
    content = {"format": FORMAT, "hash": _hash(entries), "thresholds": entries}
    try:
        write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n", once=True)
    except FileExistsError:
        raise InputError(f"{path}: exists already; thresholds are fixed once, so name another file") from None


def load_thresholds(path: str | Path) -> list[Threshold]:
    """Read a manifest of thresholds.

    Raises:
        InputError: no manifest, or one that was changed after it was written.
    """
    content = read_json(path)
    with refused_as(f"{path}: not a manifest of thresholds"):
        if content["format"] != FORMAT:
            raise ValueError(f"its format is not {FORMAT}")
        if content["hash"] != _hash(content["thresholds"]):
            raise ValueError("its entries were changed after it was written")
        return [Threshold(**entry) for entry in content["thresholds"]]


def threshold_for(problem: SelectionProblem, path: str | Path) -> Threshold:
    """The threshold of one problem out of a manifest."""
    for threshold in load_thresholds(path):
        if threshold.problem_hash == problem.digest:
            return threshold
    raise InputError(f"{path}: has no threshold for problem {problem.digest[:12]}…; was the problem changed?")


def _hash(entries: list[dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()
