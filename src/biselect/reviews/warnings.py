"""What could mislead a reader, as data: columns that look like clocks or ids, constants, filled cells, idle rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import BiselectError
from biselect.options import Columns, RowRules, spell
from biselect.tables import NamedMatrix, Pool
from biselect.weights import Weigher
from biselect.weights.alignment import ShiftedColumn

T = TypeVar("T")
MOSTLY = 0.5  # a column in which more of the pool than this lies beyond the reference gets a warning
LOOKS = {
    "clock": "it only ever rises, like a clock or a running number",
    "id": "whole numbers of which no two are equal, like an id",
    "mostly-beyond": "it has drifted, or it looks like an id or a clock",
    "mostly-new": "it has drifted, or it names a time or a place of its own",
    "mostly-missing": "it was hardly ever missing before",
}
LEAST_NEW = 1.0  # a new category that weighs less than this is nothing to warn of
FEWEST_DIGITS, FEWEST_CODES, FEWEST_REPEATS = 3, 5, 5  # of a code, of different ones, and of rows for each
APART = 4  # so many times as many steps lie between the least and the largest code as there are codes


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a reader should know.

    Attributes:
        kind: `clock`, `id`, `mostly-beyond`, `mostly-new`, `mostly-missing`, `constant`, `changed-constant`, `code`,
            `dates`, `not-in-reference`, `all-rows`, `all-columns`, `drift`, `rule-idle`, `filled`, `map-chosen`,
            `doubtful-column`, `code-taken`, `repeated-ids`, `label-value`, `large-table`, `left-out` or
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


class Findings(list[Finding]):
    """What a reader should know beside an answer: what was found, and what could not be computed."""

    def attempt(self, what: str, compute: Callable[..., T], *arguments: Any, **options: Any) -> T | None:
        """Compute something that stands beside the answer; None, and a line that says why, where that fails.

        No diagnostic aborts an answer, whatever goes wrong in it; who interrupts it ends the work all the same.

        Args:
            what: in words, to follow `Left out, `; different for every diagnostic.
            compute: takes the arguments and options that follow.
            arguments: of `compute`.
            options: of `compute`.
        """
        try:
            return compute(*arguments, **options)
        except Exception as error:
            self.leave_out(what, error)
            return None

    def collect(self, what: str, look: Callable[..., Iterable[Finding]], *arguments: Any) -> None:
        """Add what a look over the tables shows, as far as it gets."""
        self.attempt(what, lambda: self.extend(look(*arguments)))

    def look_over(
        self,
        pool: Pool,
        label_column: str | None,
        rules: RowRules,
        problem: SelectionProblem,
        moved: Sequence[ShiftedColumn],
        drift: str,
    ) -> None:
        """Add what the files, the rules and the drift show; what the columns do is looked at apart."""
        names = [problem.feature_name(j) for j in range(problem.n_features)]
        self.collect("what was guessed about the files", reading_findings, pool, label_column)
        self.collect("columns and rules without a part", unused_findings, pool, rules, problem)
        self.collect("columns that moved", drift_findings, moved, names, drift)

    def leave_out(self, what: str, error: Exception) -> None:
        """Add, once, the line that says what is missing from the report, and why."""
        why = str(error) if isinstance(error, BiselectError) else f"{type(error).__name__}: {error}"
        finding = Finding(kind="left-out", text=f"Left out, {what}: {why.rstrip('.')}.")
        if finding not in self:
            self.append(finding)


def table_findings(
    calibrator: Weigher,
    problem: SelectionProblem,
    reference: NamedMatrix,
    pool: NamedMatrix,
    same: Sequence[str] = (),
    rows: int | None = None,
) -> Iterator[Finding]:
    """What reference and pool show before anything is chosen.

    Args:
        calibrator: fitted on the reference.
        problem: the pool's weights, or those of a sample of it.
        reference: normal rows, or a sample of them.
        pool: the rows of the problem.
        same: columns left out as they never change.
        rows: of the whole pool, where the problem is a sample of it.
    """
    if same:
        text = f"Left out, the same in every row of reference and pool: {', '.join(same)}."
        yield Finding(kind="constant", columns=tuple(same), text=text)
    yield from beyond_findings(calibrator, problem, reference, pool)
    if problem.k == (rows or problem.n_samples):
        text = "k equals the size of the pool: every row is chosen, only the columns were selected."
        yield Finding(kind="all-rows", text=text)
    if problem.m == problem.n_features:
        text = "m equals the number of features: every column is chosen, only the rows were selected."
        yield Finding(kind="all-columns", text=text)
    yield from changed_constants(calibrator, problem, rows)
    yield from code_findings(calibrator, reference)


def drift_findings(moved: Sequence[ShiftedColumn], names: Sequence[str], drift: str) -> Iterator[Finding]:
    """Columns whose bulk moved against the reference, and what was done about it."""
    if not moved:
        return
    farthest = sorted(moved, key=lambda column: -max(abs(column.shift), abs(np.log(column.stretch))))
    columns = tuple(names[column.position] for column in farthest)
    shown = ", ".join(columns[:5]) + (" …" if len(columns) > 5 else "")
    done = (
        "they were moved back to the reference's median and quartile range before weighing, so that drift is not the "
        "finding"
        if drift == "recentre"
        else "they were weighed as they are, so drift may be the finding"
    )
    many = f"{len(columns)} column{'s' * (len(columns) != 1)}"
    text = f"The bulk of the pool moved against the reference in {many} ({shown}): {done}."
    yield Finding(kind="drift", columns=columns, share=len(columns) / len(names), text=text, serious=drift == "keep")


def beyond_findings(
    calibrator: Weigher,
    problem: SelectionProblem,
    reference: NamedMatrix | None = None,
    pool: NamedMatrix | None = None,
) -> Iterator[Finding]:
    """Columns in which most of the pool lies beyond everything in the reference; the tables help to say why."""
    tops = np.where(calibrator.beyond_weights > 0, calibrator.beyond_weights, np.inf)
    for j, found in calibrator.categories.items():
        tops[j] = max(min(float(found.surprise(0)), calibrator.cap), LEAST_NEW)
    beyond = (problem.coupling >= tops).mean(axis=0)
    for j in np.flatnonzero(beyond > MOSTLY).tolist():
        name, share, kind = problem.feature_name(j), float(beyond[j]), "mostly-beyond"
        if j in calibrator.categories:
            kind = "mostly-new"
        elif reference is not None and pool is not None:
            kind = _looks_like(reference.values[:, j], pool.values[:, j])
        lies = "is missing" if kind == "mostly-missing" else "lies beyond the reference"
        text = (
            f"Column {name!r} {'is new' if kind == 'mostly-new' else lies} in {100 * share:.0f} % of the pool: "
            f"{LOOKS[kind]}; leave it out unless that is what you look for."
        )
        yield Finding(kind=kind, columns=(name,), share=share, text=text)


def _looks_like(before: NDArray[np.float64], now: NDArray[np.float64]) -> str:
    if np.isnan(now).mean() > MOSTLY:
        return "mostly-missing"
    before, now = before[np.isfinite(before)], now[np.isfinite(now)]
    rises = all((np.diff(values) >= 0).all() for values in (before, now))
    whole = all((values == np.round(values)).all() for values in (before, now))
    counted = whole and all(np.unique(values).size == values.size for values in (before, now))
    if now.min() > before.max() and (rises or counted):
        return "clock"
    return "id" if counted else "mostly-beyond"


def changed_constants(calibrator: Weigher, problem: SelectionProblem, rows: int | None = None) -> Iterator[Finding]:
    """Columns that the reference knows one value of, and the pool others; of a sample, what `rows` rows would hold."""
    for j, found in calibrator.categories.items():
        share = float((problem.coupling[:, j] > 0).mean())
        if len(found.counts) > 1 or not share:
            continue
        differs = round(share * (rows or problem.n_samples))
        about = "about " if rows else ""
        name, only = problem.feature_name(j), next(iter(found.counts))
        text = (
            f"{name}: constant ({'missing' if only is None else only}) in the reference, differs in {about}{differs:,} "
            f"pool row{'s' * (differs != 1)}; what was never seen before weighs most."
        )
        yield Finding(kind="changed-constant", columns=(name,), share=share, text=text)


def code_findings(calibrator: Weigher, reference: NamedMatrix) -> Iterator[Finding]:
    """Columns of numbers that look like codes: few whole ones of one length, far apart and each of them common."""
    for j, name in enumerate(reference.names):
        if j in calibrator.categories:
            continue
        values = reference.values[:, j]
        known = values[~np.isnan(values)]
        if (known < 10 ** (FEWEST_DIGITS - 1)).any() or (known != np.round(known)).any() or known.max() >= 1e12:
            continue
        codes = np.unique(known.astype(np.int64))
        steps = np.diff(codes)
        often = known.size >= FEWEST_REPEATS * codes.size
        apart = codes.size >= FEWEST_CODES and steps.sum() >= APART * codes.size * np.gcd.reduce(steps)
        of_one_length = len(str(codes[0])) == len(str(codes[-1]))
        if often and apart and of_one_length:
            text = (
                f"Column {name!r} looks like a code: {codes.size:,} different whole numbers from {codes[0]} to "
                f"{codes[-1]}. It was taken for a quantity; if it names things, say "
                f"{spell(Columns(types={name: 'category'}))}."
            )
            yield Finding(kind="code", columns=(name,), text=text)


def reading_findings(pool: Pool, label_column: str | None) -> Iterator[Finding]:
    """What was guessed about the files and could be otherwise."""
    for name, doubt in pool.doubts.items():
        yield Finding(kind="doubtful-column", columns=(name,), text=f"Column {name!r} {doubt}.", serious=True)
    if pool.codes:
        text = (
            f"Taken as categories, since names and values look like codes: {', '.join(pool.codes)}. A quantity after "
            f"all? Say {spell(Columns(types=dict.fromkeys(pool.codes, 'number')))}."
        )
        yield Finding(kind="code-taken", columns=tuple(pool.codes), text=text)
    if pool.repeated:
        text = f"{pool.repeated:,} row{'s' * (pool.repeated != 1)} left out: another one has the same id."
        yield Finding(kind="repeated-ids", text=text)
    if pool.positive.lower() not in ("", "1", "true"):
        name = str(label_column).removesuffix(f"={pool.positive}")
        text = f"{pool.positive!r} in {name!r} was taken for a known positive."
        yield Finding(kind="label-value", columns=(name,), text=text)


def unused_findings(pool: Pool, rules: RowRules, problem: SelectionProblem) -> Iterator[Finding]:
    """Columns and rules that change nothing."""
    if pool.ignored:
        text = f"Not used, absent from the reference: {', '.join(pool.ignored)}."
        yield Finding(kind="not-in-reference", columns=pool.ignored, text=text)
    if pool.unused_dates:
        yield unused_dates(pool.unused_dates)
    if rules.per is not None and not problem.sample_rules.groups:
        text = f"No value of {rules.per} stands in more than {rules.at_most} pool rows: the limit changes nothing."
        yield Finding(kind="rule-idle", columns=(rules.per,), text=text)


def unused_dates(names: Sequence[str]) -> Finding:
    """Date columns left out, and how to use them."""
    parts = spell(Columns(types={names[0]: "date:hour,weekday,gap"}))
    text = f"Left out, dates: {', '.join(names)}. To use parts of one say {parts}."
    return Finding(kind="dates", columns=tuple(names), text=text)


def filled_findings(cells: Sequence[Sequence[Any]]) -> Iterator[Finding]:
    """How much of the chosen block was never measured; `cells` is its evidence."""
    absent = [cell.filled for row in cells for cell in row]
    if filled := sum(absent):
        text = (
            f"{filled} of the {len(absent)} chosen cells {'is' if filled == 1 else 'are'} missing in the pool: the "
            "reference median stands in, marked as filled."
        )
        yield Finding(kind="filled", share=filled / len(absent), text=text, serious=True)
