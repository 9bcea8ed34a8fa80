"""What could mislead a reader, as data: columns that look like clocks or ids, constants, filled cells, idle rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.errors import BiselectError
from biselect.options import Columns, RowRules, Split, spell
from biselect.pages.words import phrase
from biselect.tables import NO_SPLIT, NamedMatrix, Pool
from biselect.weights import Weigher
from biselect.weights.alignment import ShiftedColumn

T = TypeVar("T")
MOSTLY = 0.5  # a column in which more of the pool than this lies beyond the reference gets a warning
LEAST_NEW = 1.0  # a new category that weighs less than this is nothing to warn of


@dataclass(frozen=True, kw_only=True)
class Caveat:
    """One thing that a reader should know.

    Attributes:
        kind: `clock`, `id`, `mostly-beyond`, `mostly-new`, `mostly-missing`, `constant`, `changed-constant`,
            `dates`, `not-in-reference`, `all-rows`, `all-columns`, `drift`, `rule-idle`, `filled`, `map-chosen`,
            `guess`, `split-taken`, `doubtful-column`, `repeated-ids`, `label-value`, `large-table`, `left-out` or
            `interrupted`.
        text: for people.
        columns: which columns it is about, if any.
        share: of the pool's rows (or the chosen cells) that it is about, from 0 to 1; None where that means nothing.
        serious: whether an answer read without it could be misread.
    """

    kind: str
    text: str
    columns: tuple[str, ...] = ()
    share: float | None = None
    serious: bool = False


class Caveats(list[Caveat]):
    """What a reader should know beside an answer: what was found, and what could not be computed."""

    def attempt(self, part: str, compute: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
        """Compute something that stands beside the answer; None, and a line that says why, where that fails.

        No diagnostic aborts an answer, whatever goes wrong in it; who interrupts it ends the work all the same.

        Args:
            part: the key of its name in the words file, under `parts`; different for every diagnostic.
            compute: takes the arguments and options that follow.
            arguments: of `compute`.
            options: of `compute`.
        """
        try:
            return compute(*arguments, **options)
        except Exception as error:
            self.leave_out(part, error)
            return None

    def collect(self, part: str, look: Callable[..., Iterable[Caveat]], *arguments: Any) -> None:
        """Add what a look over the tables shows, as far as it gets."""
        self.attempt(part, lambda: self.extend(look(*arguments)))

    def look_over(
        self,
        pool: Pool,
        label_column: str | None,
        rules: RowRules,
        problem: SelectionProblem,
        shifts: Sequence[ShiftedColumn],
        drift: str,
    ) -> None:
        """Add what the files, the rules and the drift show; what the columns do is looked at apart."""
        self.collect("files", reading_caveats, pool, label_column)
        self.collect("unused", unused_caveats, pool, rules, problem)
        self.collect("moved", drift_caveats, shifts, problem.column_names, drift)

    def leave_out(self, part: str, error: Exception) -> None:
        """Add, once, the line that says what is missing from the report, and why."""
        why = str(error) if isinstance(error, BiselectError) else f"{type(error).__name__}: {error}"
        caveat = caveat_of("left-out", part=phrase(f"parts.{part}"), why=why.rstrip("."))
        if caveat not in self:
            self.append(caveat)


def caveat_of(
    kind: str,
    columns: Sequence[str] = (),
    share: float | None = None,
    *,
    serious: bool = False,
    sentence: str = "",
    **facts: Any,
) -> Caveat:
    """A caveat whose sentence is told from facts.

    Args:
        kind: one of those that `Caveat` lists.
        columns: which columns it is about.
        share: of the pool's rows or the chosen cells that it is about.
        serious: whether an answer read without it could be misread.
        sentence: its key under `caveat` in the words file; the kind unless given.
        facts: what the sentence needs.
    """
    text = phrase(f"caveat.{sentence or kind}", **facts)
    return Caveat(kind=kind, text=text, columns=tuple(columns), share=share, serious=serious)


def table_caveats(
    weigher: Weigher,
    weights: NDArray[np.float64],
    reference: NamedMatrix,
    pool: NamedMatrix,
    same: Sequence[str] = (),
    rows: int | None = None,
) -> Iterator[Caveat]:
    """What reference and pool show before anything is chosen.

    Args:
        weigher: fitted on the reference.
        weights: of the pool's cells, or of those of a sample of it.
        reference: normal rows, or a sample of them.
        pool: the rows of `weights`.
        same: columns left out as they never change.
        rows: of the whole pool, where `weights` are those of a sample.
    """
    if same:
        yield caveat_of("constant", same, names=", ".join(same))
    yield from beyond_caveats(weigher, weights, reference, pool)
    yield from changed_constants(weigher, weights, rows)


def budget_caveats(problem: SelectionProblem, rows: int) -> Iterator[Caveat]:
    """Budgets that leave nothing to choose."""
    if problem.k == rows:
        yield caveat_of("all-rows")
    if problem.m == len(problem.column_names):
        yield caveat_of("all-columns")


def drift_caveats(shifts: Sequence[ShiftedColumn], names: Sequence[str], drift: str) -> Iterator[Caveat]:
    """Columns whose bulk moved against the reference, and what was done about it."""
    if not shifts:
        return
    farthest = sorted(shifts, key=lambda column: -max(abs(column.shift), abs(np.log(column.stretch))))
    columns = tuple(names[column.position] for column in farthest)
    listed = ", ".join(columns[:5]) + (" …" if len(columns) > 5 else "")
    remedy = phrase(f"caveat.drift_{drift}")
    share, serious = len(columns) / len(names), drift == "keep"
    yield caveat_of("drift", columns, share, serious=serious, n=len(columns), names=listed, done=remedy)


def beyond_caveats(
    weigher: Weigher,
    weights: NDArray[np.float64],
    reference: NamedMatrix | None = None,
    pool: NamedMatrix | None = None,
) -> Iterator[Caveat]:
    """Columns in which most of the pool lies beyond everything in the reference; the tables help to say why."""
    tops = np.where(weigher.beyond_weights > 0, weigher.beyond_weights, np.inf)
    for j, column in enumerate(weigher.columns):
        if not column.type.is_ranked:
            tops[j] = max(weigher.beyond_weights[j], LEAST_NEW)
    beyond = (weights >= tops).mean(axis=0)
    for j in np.flatnonzero(beyond > MOSTLY).tolist():
        name, share, kind = weigher.feature_names[j], float(beyond[j]), "mostly-beyond"
        if not weigher.columns[j].type.is_ranked:
            kind = "mostly-new"
        elif reference is not None and pool is not None:
            kind = _looks_like(reference.values[:, j], pool.values[:, j])
        yield caveat_of(kind, (name,), share, name=name, percent=100 * share)


def _looks_like(before: NDArray[np.float64], now: NDArray[np.float64]) -> str:
    if np.isnan(now).mean() > MOSTLY:
        return "mostly-missing"
    before, now = before[np.isfinite(before)], now[np.isfinite(now)]
    rises = all((np.diff(values) >= 0).all() for values in (before, now))
    whole = all((values == np.round(values)).all() for values in (before, now))
    unique = whole and all(np.unique(values).size == values.size for values in (before, now))
    if now.min() > before.max() and (rises or unique):
        return "clock"
    return "id" if unique else "mostly-beyond"


def changed_constants(weigher: Weigher, weights: NDArray[np.float64], rows: int | None = None) -> Iterator[Caveat]:
    """Columns that the reference knows one value of, and the pool others; of a sample, what `rows` rows would hold."""
    for j, column in enumerate(weigher.columns):
        only, share = column.type.constant(column), float((weights[:, j] > 0).mean())
        if only is None or not share:
            continue
        differs = round(share * (rows or len(weights)))
        name, about = weigher.feature_names[j], phrase("caveat.about") if rows else ""
        yield caveat_of("changed-constant", (name,), share, name=name, n=differs, about=about, value=only)


def reading_caveats(pool: Pool, label_column: str | None) -> Iterator[Caveat]:
    """What was guessed about the tables and could be otherwise."""
    for one in () if pool.guess is None else pool.guess.columns:
        if one.remark:
            facts: dict[str, Any] = {"name": one.name, "remark": one.remark, "way": one.way_out}
            yield caveat_of("guess", (one.name,), serious=one.is_doubtful, **facts)
    if pool.is_split_by_labels:
        yield caveat_of("split-taken", serious=True, until=pool.until, way=spell(Split(until=NO_SPLIT)))
    for name, doubt in pool.doubts.items():
        yield caveat_of("doubtful-column", (name,), serious=True, name=name, doubt=doubt)
    if pool.repeated:
        yield caveat_of("repeated-ids", n=pool.repeated)
    if label_column is not None and pool.positive.lower() not in ("", "1", "true"):
        name = label_column.removesuffix(f"={pool.positive}")
        yield caveat_of("label-value", (name,), value=pool.positive, name=name)


def unused_caveats(pool: Pool, rules: RowRules, problem: SelectionProblem) -> Iterator[Caveat]:
    """Columns and rules that change nothing."""
    if pool.ignored:
        yield caveat_of("not-in-reference", pool.ignored, names=", ".join(pool.ignored))
    if pool.unused_dates:
        yield unused_dates(pool.unused_dates)
    if rules.per is not None and not problem.sample_rules.groups:
        yield caveat_of("rule-idle", (rules.per,), name=rules.per, at_most=str(rules.at_most))


def unused_dates(names: Sequence[str]) -> Caveat:
    """Date columns left out, and how to use them."""
    way = spell(Columns(types={names[0]: "date:hour,weekday,gap"}))
    return caveat_of("dates", names, names=", ".join(names), way=way)


def filled_caveats(pool: NamedMatrix, selection: Selection) -> Iterator[Caveat]:
    """How much of the chosen block was never measured and stands there as the median."""
    absent = np.isnan(pool.values[np.ix_(selection.samples, selection.problem.column_of[selection.features])])
    if filled := int(absent.sum()):
        yield caveat_of("filled", share=filled / absent.size, serious=True, n=filled, cells=absent.size)
