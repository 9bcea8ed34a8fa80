"""Check the proof of a large table against the table itself: weigh every row again, part by part.

`biselect.solvers.check_proof` says what must hold of a row, and decides every row that comes near; here whole blocks
are shown to be far from it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.engines.choose import bytes_of, engine_for
from biselect.errors import BiselectError, InputError
from biselect.partitions.any_source import partitions_of
from biselect.partitions.parts import Part
from biselect.partitions.spool import Spool
from biselect.partitions.table_pass import Arrays
from biselect.progress import Steps, steps_of
from biselect.reviews.large.blocks import joined, told_of
from biselect.reviews.large.weighing import FILE, Weighing
from biselect.solvers import check_proof


@dataclass(frozen=True, kw_only=True, eq=False)
class Checking:
    """The pass: every row that was not kept is held against the one that stands for it.

    Attributes:
        name: what a person reads while it runs.
        weighing: how rows are weighed.
        screen: what must hold of a row; it knows no kept ones, whose weights the pass brings back.
        kept: where these stand, ascending.
    """

    name: str
    weighing: Weighing
    screen: check_proof.Screen
    kept: NDArray[np.int64]

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        found: dict[str, NDArray[Any]] | None = None
        with told_of(part):
            for first, block in part.blocks(self.weighing.features.names):
                if block.num_rows:
                    one = self._of_block(first, self.weighing.weights(block, first))
                    found = one if found is None else joined(found, one, list(found))
        assert found is not None
        return found

    def _of_block(self, first: int, W: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        low, high = np.searchsorted(self.kept, [first, first + len(W)])
        own = np.zeros(len(W), dtype=bool)
        own[self.kept[low:high] - first] = True
        for row in np.flatnonzero(self._near(W) & ~own):
            self.screen.row(first + int(row), W[row].tolist())
        return {
            "first": np.array([first]),
            "rows": np.array([len(W)]),
            "kept": np.array([high - low]),
            "weights": W[own],
        }

    def _near(self, W: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Rows that may be worse than is claimed, as far as rounded sums tell."""
        screen = self.screen
        over = screen.weight * (W - np.array(screen.weights))
        place = over.shape[1] - screen.m
        sums = np.partition(over, place, axis=1)[:, place:].sum(axis=1)
        near = ~(sums < screen.score - check_proof.ROUNDED * (1 + abs(screen.score) + np.abs(over).sum(axis=1)))
        if screen.heavy is not None:
            near |= ~(W.sum(axis=1) < screen.heavy * (1 - check_proof.ROUNDED))
        return near

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        return joined(before, after, list(before))


def check_table(
    folder: str | Path,
    table: Any,
    *,
    part: int | None = None,
    on: str | None = None,
    memory: int | str | None = None,
    progress: Steps | bool | None = None,
) -> str:
    """Check that an answer's proof holds for the table that it was found in; in words, what was checked.

    Args:
        folder: with proof.json, problem.npz and calibration.npz.
        table: the pool, as it was given to `biselect.review`.
        part: which of its parts to look at, from 0; None for all.
        on: where: as for `biselect.review`.
        memory: as there.
        progress: as there.
    """
    folder, step = Path(folder), steps_of(progress)
    try:
        proof, problem = check_proof.read_proof(folder / "proof.json", folder / "problem.npz")
        if "screen" not in proof:
            raise InputError(f"{folder / 'proof.json'}: the problem holds every row; check it without a table")
        screen = check_proof.Screen(problem, proof)
        weighing = Weighing.load(folder / FILE)
        asked = Checking(
            name="Weighing the rows again",
            weighing=weighing,
            screen=_without_rows(screen),
            kept=np.array(proof["screen"]["kept"], dtype=np.int64),
        )
        with Spool() as spool, engine_for(on, memory) as engine:
            given = partitions_of(table, memory=bytes_of(memory), spool=spool)
            parts, rows = given.parts, proof["screen"]["rows"]
            if given.rows > rows:
                raise BiselectError(f"refused: {given.name} has {given.rows:,} rows, more than the table of {rows:,}")
            if part is not None and not 0 <= part < len(parts):
                raise InputError(f"part {part}: the table has {len(parts)} parts, counted from 0")
            parts = parts if part is None else parts[part : part + 1]
            with step(f"{asked.name}: {sum(one.rows for one in parts):,} rows in {len(parts):,} parts") as told:
                found = engine.run(asked, parts, told)
        positions = asked.kept[_within(asked.kept, found)]
        for position, weights in zip(positions.tolist(), found["weights"].tolist(), strict=True):
            screen.row(position, weights)
        names = ("first", "rows", "kept")
        words = screen.whole(
            [dict(zip(names, map(int, one), strict=True)) for one in zip(*(found[name] for name in names), strict=True)]
        )
        return words if part is None else f"{words} ({parts[0].name})"
    except check_proof.ProofError as error:
        raise BiselectError(f"refused: {error}") from error


def _without_rows(screen: check_proof.Screen) -> check_proof.Screen:
    """The same without the rows of the problem: small enough to travel."""
    light = copy(screen)
    light.cells, light.place = [], {}
    return light


def _within(kept: NDArray[np.int64], found: Arrays) -> NDArray[np.bool_]:
    """Which of the kept rows stand in the blocks that were looked at."""
    first, rows = found["first"].astype(np.int64), found["rows"].astype(np.int64)
    at = np.searchsorted(first, kept, side="right") - 1
    return (at >= 0) & (kept < first[at] + rows[at])
