"""Check the answer about a large table against the table itself: weigh every row again, part by part.

What the problem says of the kept rows is computed anew: their ids, weights and own scores, and the rules. Of any other
row `biselect.solvers.check_proof` says what must hold, and decides where it comes near; here whole blocks are shown to
be far from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.counts import drawn
from biselect.core import SelectionProblem
from biselect.core.untrusted import shortened
from biselect.errors import BiselectError, InputError
from biselect.large._collecting import moved_back, top_sums
from biselect.large._survey import sample_share
from biselect.large._weighing import Weighing
from biselect.large.dataset import Part
from biselect.large.engines import bytes_of, engine_for
from biselect.large.gathering import neighbour_cutoff, pool_of
from biselect.large.passes import Arrays, joined, merged_blocks, packed, unpacked
from biselect.large.sides import open_parts
from biselect.large.spool import Spool
from biselect.options import Compute, Csv, RowRules
from biselect.options import Weighing as WeighingOptions
from biselect.progress import Steps, steps_of
from biselect.tables import Table, require_columns
from biselect.weights.alignment import ShiftedColumn
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables
from biselect.weights.whole_row import PoolFacts

FILE = "calibration.npz"
ROUNDED = 1e-9  # by which numbers of another machine may differ


@dataclass(frozen=True, kw_only=True, eq=False)
class Checking:
    """The pass: every row that was not kept is held against those that stand for it.

    Attributes:
        name: what a person reads while it runs.
        weighing: how rows are weighed.
        m: how many columns are chosen.
        most: what a row that was not kept may add to a choice; None if every row was kept.
        kept_rows: where these stand, ascending.
        beside: columns that kept rows bring along, beside the features.
        share: of the rows whose weights say what counts as heavy.
        first: position of the first row to weigh; of other rows only these are.
        last: position of the row after the last.
    """

    name: str
    weighing: Weighing
    m: int
    most: float | None
    kept_rows: NDArray[np.int64]
    beside: tuple[str, ...]
    share: float
    first: int
    last: int

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        return merged_blocks(part, [*self.weighing.features.names, *self.beside], self._of_block, self.merged)

    def _of_block(self, first: int, block: pa.Table) -> Arrays:
        sampled = drawn(first, block.num_rows, self.share, self.weighing.weigher.seed)
        rows = np.arange(block.num_rows) if self.first <= first < self.last else np.flatnonzero(sampled)
        W = self.weighing.weights(block.take(rows), first) if rows.size else np.empty((0, 1))
        own = self.kept_rows[(self.kept_rows >= first) & (self.kept_rows < first + block.num_rows)] - first
        totals, others = W.sum(axis=1), ~np.isin(rows, own)
        heaviest = np.argmax(np.where(others, totals, -np.inf)) if rows.size else 0
        if self.most is not None and rows.size:
            sums = np.empty(len(W))
            top_sums(W, self.m, sums)
            for row in np.flatnonzero((sums >= self.most * (1 - ROUNDED)) & others):
                if sum(sorted(map(Fraction, W[row].tolist()))[-self.m :]) > Fraction(self.most):
                    position = first + int(rows[row])
                    raise BiselectError(
                        f"refused: row {position:,} was not kept, but scores more than what stands for it"
                    )
        return {
            "totals": totals[sampled[rows]],
            "heaviest": np.array([[totals[heaviest], first + rows[heaviest]]]) if others.any() else np.empty((0, 2)),
            **packed([block.take(own)]),
        }

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        return joined(before, after, list(before))


def weigh_again(
    folder: Path,
    problem: SelectionProblem,
    most: float | None,
    screened: dict[str, Any] | None,
    table: Any,
    *,
    part: int | None = None,
    id_column: str | None = None,
    compute: Compute = Compute(),
    progress: Steps | bool | None = None,
) -> tuple[WeighedTables, str]:
    """The kept rows as the table has them, if all of it is as the problem says; and in words, what was looked at.

    Args:
        folder: holds the calibration.
        problem: the problem over the kept rows.
        most: what any other row may add to a choice; None if there is no other row.
        screened: where the kept rows stand, as the proof says; None where every row was kept.
        table: the pool, as it was given to `biselect.review`.
        part: which of its parts to weigh, from 0; None for all.
        id_column: the table's column of ids; None for the one that the calibration names.
        compute: where: as for `biselect.review`.
        progress: as there.
    """
    weighing, step = Weighing.load(folder / FILE), steps_of(progress)
    roles = replace(weighing.roles, id_column=id_column or weighing.roles.id_column)
    beside = tuple(name for name in (roles.id_column, roles.per, *roles.show) if name is not None)
    rows, positions = problem.n_samples, np.arange(problem.n_samples)
    if screened is not None:
        rows, positions = screened["rows"], np.array(screened["kept"], dtype=np.int64)
    with Spool() as spool, engine_for(compute.on, compute.memory) as engine:
        as_weighed = Table(Table.of(table).source, roles.text_columns(), Csv(date_format=roles.date_format))
        source, _ = open_parts(as_weighed, bytes_of(compute.memory), spool)
        require_columns(source.schema.empty_table(), [*weighing.features.names, *beside], source.name)
        refuse_other("proof.json", source.rows, rows, at="rows of the table")
        if part is not None and not 0 <= part < len(source.parts):
            raise InputError(f"part {part}: the table has {len(source.parts)} parts, counted from 0")
        parts = source.parts if part is None else source.parts[part : part + 1]
        looked_at = sum(one.rows for one in parts)
        light, known = weighing.weigher.for_weights(), weighing.reference
        checking = Checking(
            name="Weighing the rows again",
            weighing=replace(weighing, weigher=light, reference=known.only(known.columns)),
            m=problem.m,
            most=most,
            kept_rows=positions,
            beside=beside,
            share=sample_share(rows, len(weighing.features.names)),
            first=parts[0].first,
            last=parts[0].first + looked_at,
        )
        with step(f"{checking.name}: {looked_at:,} rows in {len(parts):,} parts") as bar:
            arrays = engine.run(checking, source.parts, bar)
    block = unpacked(arrays)
    pool = replace(pool_of(block, positions, roles, weighing.features, block), excluded=tuple(roles.exclude))
    raw = weighing.features.matrix(block, positions)
    question, rules = weighing.question, RowRules(**weighing.question["rules"])
    heavy = neighbour_cutoff(arrays["totals"], checking.share, len(weighing.weigher.feature_names))
    total, position = max(arrays["heaviest"].tolist(), default=(-np.inf, None))
    if position is not None and total >= heavy:  # of rows that were not kept, if there are any
        raise BiselectError(f"refused: row {int(position):,} weighs {total:.6g} in all, so it was to be kept")
    if screened is not None:
        refuse_other("proof.json", heavy, screened["heavy"], at="heavy")
    moved = () if weighing.shifts is None else weighing.shifts.columns
    tables = WeighedTables(
        pool=pool,
        form=Form.of(WeighingOptions(drift=question["drift"])),
        weigher=weighing.weigher,
        reference=weighing.weigher.sample.rows,
        raw=raw,
        weighed=moved_back(raw, weighing.shifts),
        moved=tuple(ShiftedColumn(position=j, shift=0.0, stretch=1.0) for j in moved),
        time_column=roles.time_column,
        id_column=weighing.roles.id_column,
        per=rules.per,
        is_own_reference=bool(question["is_own_reference"]),
    ).scored(question["k"], question["m"], rules, PoolFacts(rows=rows, heavy=heavy))
    ruled = {"sample_rules": None}  # unless there are any
    refuse_other("problem.npz", ruled | tables.problem(rules).to_dict(), ruled | problem.to_dict())
    words = f"all {rows:,} rows of the table checked"
    if part is not None:
        words = f"{looked_at:,} of {rows:,} rows of the table checked ({parts[0].name}), the others taken on trust"
    return tables, words


def refuse_other(file: str, ours: Any, theirs: Any, scale: float = 0.0, at: str = "") -> None:
    """Refuse a file that tells something else than it should, or more.

    Args:
        file: for messages.
        ours: what it should tell.
        theirs: what it tells.
        scale: numbers may differ by a small share of this, and of themselves.
        at: the names that lead here.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            refuse_other(file, sorted(ours), sorted(theirs), at=f"{at} names".strip())
        for name, own in ours.items():
            refuse_other(file, own, theirs[name], scale, f"{at} {name}".strip())
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        if not (ours and type(ours[0]) is float and ours == theirs):  # many numbers, and hardly ever another
            for place, (own, other) in enumerate(zip(ours, theirs, strict=True)):
                refuse_other(file, own, other, scale, f"{at} {place}".strip())
    elif not (type(ours) is type(theirs) and ours == theirs):
        numbers = float in (kinds := {type(ours), type(theirs)}) and kinds <= {int, float}
        if not (numbers and isclose(ours, theirs, rel_tol=ROUNDED, abs_tol=ROUNDED * scale)):
            sides = (
                one.decode("utf-8", "backslashreplace").strip() if isinstance(one, bytes) else one
                for one in (theirs, ours)
            )
            theirs, ours = map(shortened, sides)
            raise BiselectError(f"refused: {file} says {theirs} for {at!r}, where it should say {ours}")
