"""The tables of a review session, read and calibrated: what lists, reasons and the learner are made from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.options import Split, Weighing
from biselect.tables import NamedMatrix, Pool, Table, entry_as_text, open_pool, rows_of, varying
from biselect.weights import Weigher
from biselect.weights.alignment import Shift, ShiftedColumn, move_back
from biselect.weights.evidence import gather_evidence

MOST_REASONS = 4  # columns that a row is shown with
MOST_PLAIN = 10_000  # rows of the overall ranking whose known labels are counted ahead


@dataclass(frozen=True, kw_only=True, eq=False)
class ReviewTables:
    """A reference, a pool and the calibration between them.

    Attributes:
        pool: both tables.
        calibrator: fitted on the reference.
        before: the reference's columns that vary.
        now: the same of the pool.
        weighed: `now` with drifted columns moved back.
        moved: those columns.
    """

    pool: Pool
    calibrator: Weigher
    before: NamedMatrix
    now: NamedMatrix
    weighed: NamedMatrix
    moved: tuple[ShiftedColumn, ...]

    @classmethod
    def read(cls, pool: Table, reference: Any, *, split: Split, weighing: Weighing, seed: int) -> Self:
        """Read both tables and calibrate; map and drift of `weighing` are known."""
        rows = open_pool(pool, reference, split=split)
        rows.refuse_unusable(weighing.missing)
        before, now, _ = varying(*rows.matrices)
        aligned, moved = move_back(before, now, str(weighing.drift))
        calibrator = Weigher(weighing.map, missing=weighing.missing, seed=seed).fit(before)
        return cls(pool=rows, calibrator=calibrator, before=before, now=now, weighed=aligned, moved=moved)

    @cached_property
    def scales(self) -> dict[str, dict[str, Any]]:
        """For each column of numbers a digest of the reference's cells, and how the pool's were moved back to them.

        `moved` holds the pool's median, the factor and the reference's median, as in `Shift`; None where nothing was
        moved. Cells of two pools are on one scale where both were moved back to the same reference.
        """
        shifts = Shift.of(self.before.values, self.now.values, self.moved if self.weighed is not self.now else ())
        places = zip(shifts.middles.tolist(), shifts.factors.tolist(), shifts.targets.tolist(), strict=True)
        moved = dict(zip(shifts.columns, places, strict=True))
        return {
            name: {
                "reference": hashlib.sha256(np.sort(self.before.values[:, j]).tobytes()).hexdigest(),
                "moved": moved.get(j),
            }
            for j, name in enumerate(self.before.names)
            if j not in self.weighed.labels
        }

    @property
    def names(self) -> list[str]:
        """Ids of the pool's rows."""
        return self.pool.sample_names

    @cached_property
    def reference_values(self) -> NDArray[np.float64]:
        """The reference as numbers without gaps."""
        return self.calibrator.values(self.before)

    @cached_property
    def pool_values(self) -> NDArray[np.float64]:
        """The pool likewise."""
        return self.calibrator.values(self.weighed)

    @cached_property
    def fingerprint(self) -> str:
        """Tells these tables, as they are weighed, from all others."""
        digest = hashlib.sha256(self.reference_values.tobytes() + self.pool_values.tobytes())
        digest.update("\n".join(self.names).encode())
        return digest.hexdigest()

    def problem(self, k: int, m: int) -> SelectionProblem:
        """The pool's weights, with budgets; what kinds are looked for in."""
        return self.calibrator.problem(self.weighed, k, m, marginals="none", sample_names=self.names)

    def reasons(self, rows: Sequence[int], columns: Sequence[Sequence[str]]) -> list[list[dict[str, Any]]]:
        """Why each row is unusual: in these columns, or where none are given in those that weigh most.

        Args:
            rows: positions in the pool.
            columns: names for each of the rows; empty for the heaviest.
        """
        samples = np.asarray(rows, dtype=np.int64)
        place = {name: j for j, name in enumerate(self.now.names)}
        weights = self.calibrator.weights(rows_of(self.weighed, samples))
        chosen = [
            [place[name] for name in given if name in place]
            or np.argsort(-weight, kind="stable")[:MOST_REASONS].tolist()
            for given, weight in zip(columns, weights, strict=True)
        ]
        used = np.unique(np.concatenate([[], *chosen]).astype(np.int64))
        evidence = gather_evidence(samples, used, self.calibrator, self.now, self.weighed)
        at = {int(j): position for position, j in enumerate(used)}
        return [
            [
                {
                    "column": self.now.names[j],
                    "value": _shown(evidence[i][at[j]].value),
                    "side": evidence[i][at[j]].side,
                    "brief": evidence[i][at[j]].brief,
                    "words": evidence[i][at[j]].words,
                }
                for j in sorted(chosen[i], key=lambda j: -weights[i, j])
            ]
            for i in range(len(samples))
        ]

    def cells(self, rows: Sequence[int]) -> list[dict[str, float | str | None]]:
        """Rows of the pool as the table holds them: numbers, labels of categories, None for missing cells.

        Nothing is moved back, so that a record is known again on another day.
        """
        table = self.pool.matrices[1]
        return [
            {
                name: None if np.isnan(value) else table.labels[j][int(value)] if j in table.labels else float(value)
                for j, (name, value) in enumerate(zip(table.names, table.values[row], strict=True))
            }
            for row in rows
        ]

    def values_of(
        self, cells: Sequence[Mapping[str, Any]], scales: Mapping[str, Mapping[str, Any]]
    ) -> NDArray[np.float64]:
        """Rows of an earlier pool with these columns, on the scale of the present reference.

        A column that was moved back, then or now, to different references cannot be compared and counts as missing.

        Args:
            cells: as `cells` gives them.
            scales: of the earlier tables.

        Returns:
            Rows × columns, without gaps.
        """
        values = np.full((len(cells), len(self.weighed.names)), np.nan)
        labels: dict[int, list[str]] = {}
        for j, name in enumerate(self.weighed.names):
            column = [row[name] for row in cells]
            if j in self.weighed.labels:
                labels[j] = sorted({str(cell) for cell in column if cell is not None})
                place = {label: at for at, label in enumerate(labels[j])}
                values[:, j] = [np.nan if cell is None else place[str(cell)] for cell in column]
            elif name in scales:
                raw = np.array([cell if isinstance(cell, float) else np.nan for cell in column])
                values[:, j] = _rescaled(raw, scales[name], self.scales[name])
        if not len(cells):
            return values
        return self.calibrator.values(replace(self.weighed, values=values, labels=labels))

    def labels_down(self, scores: NDArray[np.float64]) -> dict[str, Any] | None:
        """How many known positives the pool holds, and how many the first n rows of a list do; None without labels."""
        if (labels := self.pool.labels) is None:
            return None
        order = np.argsort(-scores, kind="stable")[:MOST_PLAIN]
        return {"positives": int(labels.sum()), "plain": np.cumsum(labels[order]).tolist()}


def _rescaled(raw: NDArray[np.float64], then: Mapping[str, Any], now: Mapping[str, Any]) -> NDArray[np.float64]:
    """Cells of an earlier pool on the scale of the present reference; NaN where their scales cannot be compared."""
    if then["reference"] != now["reference"]:
        return raw if then["moved"] is None and now["moved"] is None else np.full(raw.shape, np.nan)
    if then["moved"] is None:
        return raw
    middles, factors, targets = np.array(then["moved"], dtype=np.float64)[:, None]
    return Shift(columns=(0,), middles=middles, factors=factors, targets=targets).applied(raw[:, None])[:, 0]


def _shown(value: float | str | None) -> str:
    return f"{value:.6g}" if isinstance(value, float) else entry_as_text(value)
