"""Everything a report says, as plain data: page, terminal, notebook and files come from the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect._version import __version__
from biselect.core import Selection, SelectionProblem
from biselect.core.selection import Swap
from biselect.pages.html import FORMAT
from biselect.pages.words import words_of
from biselect.reviews.caveats import Caveats
from biselect.reviews.finding import FALSE_SHARE, Finding, shared
from biselect.reviews.kinds import Kind, KindList
from biselect.reviews.reasons import Part, Reasons, reasons_of, shown_value, values_of
from biselect.tables import Pool, entry_as_text
from biselect.tables.row_rules import rules_in_words
from biselect.weights.scoring import Scoring
from biselect.weights.weighed_tables import WeighedTables

NEAR_ROWS, NEAR_COLUMNS = 6, 9  # left out, drawn beside the block
MOST_ROWS = 40  # of the block that are drawn
NEAREST_SAMPLES, NEAREST_FEATURES = 10, 8
MOST_PLACES, MOST_SOUGHT = 5, 100_000  # reference rows whose places are told, and rows among which they are looked up


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeTable:
    """The table that the rows of a problem were kept from.

    Attributes:
        kept: the problem over the kept rows alone.
        rows: of the whole pool.
        reference_rows: of the whole reference.
        most: what any other row adds at most to a choice; None if there is no other row.
        positives: known positives in the whole pool; None without labels.
        missing: how many cells of the whole pool are.
    """

    kept: SelectionProblem
    rows: int
    reference_rows: int
    most: float | None
    positives: int | None
    missing: int

    def facts(self, selection: Selection) -> dict[str, Any]:
        """For the page: how many rows were searched, and how far below the chosen ones the others lie."""
        values = selection.explain(nearest=0).sample_values
        return {"rows": self.rows, "kept": self.kept.n_samples, "most": self.most, "least_chosen": float(values.min())}


def report_data(
    kinds: KindList,
    nearby: Sequence[Selection],
    caveats: Caveats,
    *,
    title: str,
    reproduce: Mapping[str, Any],
    table: WeighedTables | None = None,
    finding: Finding | None = None,
    holds: NDArray[np.bool_] | None = None,
    whole: WholeTable | None = None,
) -> dict[str, Any]:
    """The report of an answer and its further kinds.

    Args:
        kinds: of unusual; the first is the answer.
        nearby: answers of neighbouring budgets, this one among them.
        caveats: what the reader must know beside the answer; what fails here is added to them.
        title: what the reader sees first.
        reproduce: command, seed and inputs that give this answer again.
        table: what stands behind the problem; None for a problem of weights.
        finding: what the answer amounts to; None without a table.
        holds: which rows of the pool stand out one by one; None where that was not asked.
        whole: the table that the rows were kept from; None if they are all of it.
    """
    answer, attempt = kinds[0].selection, caveats.attempt
    problem = answer.problem
    rows = problem.n_samples if whole is None else whole.rows
    rules = rules_in_words(problem, None if table is None else table.per)
    reasons = None if table is None else Reasons(scoring=table.scoring, raw=table.raw if table.moved else None)
    described = [_kind(number, kind, kinds, table, reasons, finding) for number, kind in enumerate(kinds, 1)]
    data = {
        "format": FORMAT,
        "title": title,
        "version": __version__,
        "noun": words_of().noun(None if table is None else table.id_column),
        "reference": None if table is None else "self" if table.is_own_reference else table.reference_name,
        "finding": None if finding is None else finding.to_dict(),
        "selection": replace(answer, problem=kinds[0].solved.problem).to_dict(),
        "budgets": {"k": problem.k, "m": problem.m, "samples": rows, "columns": len(problem.column_names)},
        "columns": list(problem.column_names),
        "rules": rules,
        "kinds": {"words": kinds.words, "close": kinds.close, "stopped": kinds.stopped, "list": described},
        "block": attempt("block", _block, answer, reasons),
        "neighbours": [_neighbour(one, answer) for one in nearby],
        "near_samples": _near(answer.explain(NEAREST_SAMPLES).sample_swaps, problem.sample_name, answer.score),
        "near_features": _near(answer.explain(NEAREST_FEATURES).feature_swaps, _feature_label(problem), answer.score),
        "false_share": None if holds is None else _false_share(holds, answer),
        "calibration": attempt("calibration", _calibration, table, whole),
        "labels": attempt("labels", _labels, answer, table, rows, whole),
        "tables": None if table is None else _tables(table, whole),
        "searched": None if whole is None else whole.facts(answer),
        "reproduce": {**reproduce, "problem_hash": kinds[0].solved.problem.digest},
    }
    if finding is not None and reasons is not None:
        data["finding"] |= {"shared": described[0]["shared"], "places": attempt("places", _places, finding, table)}
        data["finding"]["beyond"] = _beyond(reasons.scoring, answer)
        data["finding"] |= {"headline": words_of().headline(data), "text": words_of().finding(data)}
    data["warnings"] = [{**asdict(caveat), "columns": list(caveat.columns)} for caveat in caveats]  # when all is done
    return data


def _kind(
    number: int,
    kind: Kind,
    kinds: KindList,
    table: WeighedTables | None,
    reasons: Reasons | None,
    finding: Finding | None,
) -> dict[str, Any]:
    """A kind with its rows, the highest score first."""
    selection, problem = kind.selection, kind.selection.problem
    scores = kind.row_scores[selection.samples]
    order = np.argsort(-scores, kind="stable")
    samples = selection.samples[order]
    parts = _problem_parts(kind, samples) if reasons is None else reasons.parts(samples, selection.features)
    alike, traits_in_words, labels, beside = samples, [], None, []
    records: list[dict[str, str]] = [{}] * samples.size
    if table is not None and reasons is not None:
        pool = table.pool
        labels, beside, records = pool.labels, [table.time_column, *pool.shown], _records(pool, samples)
        alike, traits = shared(table.scoring.pool, samples, selection.features)
        if finding is not None and number == 1:
            alike, traits = np.array(finding.pool_rows, dtype=np.int64), dict.fromkeys(finding.traits, 0.0)
        traits_in_words = [reasons.trait(alike, feature) for feature in kind.features.tolist() if feature in traits]
    return {
        "number": number,
        "name": kind.name,
        "nearness": kinds.nearness[number - 1],
        "p": kind.p,
        "selection": selection.to_dict(),
        "columns": list(kind.column_names),
        "directions": list(kind.directions),
        "feature_scores": {
            problem.feature_name(f): float(problem.feature_scores[f])
            for f in kind.features.tolist()
            if problem.feature_scores[f]
        },
        "shared": traits_in_words,
        "hits": None if labels is None else int(labels[selection.samples].sum()),
        "rows": [
            {
                "name": problem.sample_name(i),
                "index": i,
                "score": float(score),
                "shares": not alike.size or i in alike,
                "parts": [part.to_dict() for part in own],
                "reasons": [own.index(part) for part in reasons_of(own)],
                "label": None if labels is None else bool(labels[i]),
                "shown": {name: record[name] for name in beside if name in record},
                "record": record,
            }
            for i, score, own, record in zip(samples.tolist(), scores[order].tolist(), parts, records, strict=True)
        ],
    }


def _records(pool: Pool, rows: NDArray[np.int64]) -> list[dict[str, str]]:
    """Rows as they stand in their table: what is shown beside them, and their columns in use."""
    columns = {name: [texts[i] for i in rows.tolist()] for name, texts in pool.shown.items()}
    table = pool.candidates.take(rows)
    columns |= {name: [entry_as_text(value) for value in table[name].to_pylist()] for name in table.column_names}
    return [dict(zip(columns, texts, strict=True)) for texts in zip(*columns.values(), strict=True)]


def _beyond(scoring: Scoring, answer: Selection) -> int:
    """How many rows score higher than every reference row."""
    highest = float(scoring.reference_scores(answer.features).max())
    return int((scoring.pool_scores(answer.features) > highest).sum())


def _places(finding: Finding, table: WeighedTables) -> list[str]:
    """Where the first reference rows that are like the finding's stand; empty in a large table."""
    own = table.weigher.own_places
    rows = np.flatnonzero(own >= 0)
    if not rows.size or own.size > MOST_SOUGHT or not finding.reference_rows:
        return []
    in_sample = rows[np.argsort(own[rows])]
    return [table.pool.reference_place(int(row)) for row in in_sample[list(finding.reference_rows[:MOST_PLACES])]]


def _problem_parts(kind: Kind, samples: NDArray[np.int64]) -> list[list[Part]]:
    """Parts of rows of a problem that no table stands behind: the chosen cells, and what a row is worth on its own."""
    problem, features = kind.selection.problem, kind.features.tolist()
    cells = problem.coupling_weight * problem.coupling[np.ix_(samples, features)].astype(np.float64)
    empty: dict[str, Any] = {"value": None, "shown": "", "moved_from": None, "usual": "", "like": False, "against": ""}
    rows = []
    for i, own in zip(samples.tolist(), cells.tolist(), strict=True):
        parts = [(problem.feature_name(f), problem.direction(f), part) for f, part in zip(features, own, strict=True)]
        if alone := float(problem.sample_scores[i]):
            parts.append((words_of().alone, "", alone))
        rows.append(
            [
                Part(column=name, direction=direction, part=part, is_reason=part > 0, **empty)
                for name, direction, part in parts
            ]
        )
    return rows


def _feature_label(problem: SelectionProblem) -> Callable[[int], str]:
    return lambda feature: words_of().directed(problem.feature_name(feature), problem.direction(feature))


def _block(answer: Selection, reasons: Reasons | None) -> dict[str, Any]:
    """The chosen rows and columns among their neighbours: what each cell weighs and holds, and how columns spread."""
    problem, kind = answer.problem, Kind(selection=answer, solved=answer)
    scores, features = kind.row_scores, kind.features.tolist()
    samples = answer.samples[np.argsort(-scores[answer.samples], kind="stable")][:MOST_ROWS]
    others = [swap.enters for swap in answer.explain(NEAR_ROWS).sample_swaps]
    rows = np.array([*samples, *sorted(others, key=lambda i: -scores[i])], dtype=np.int64)
    chosen = [int(problem.column_of[f]) for f in features]
    if reasons is None:
        left_out = [swap.enters for swap in answer.explain(NEAR_COLUMNS).feature_swaps]
        weights = problem.coupling[np.ix_(rows, features + left_out)].astype(float)
        positions = features + left_out
        columns: list[dict[str, Any]] = [
            {"name": problem.feature_name(f), "direction": problem.direction(f)} for f in positions
        ]
        values: list[list[str]] | None = None
    else:
        scoring = reasons.scoring
        totals = scoring.parts(answer.samples, answer.features).sum(axis=0)
        left_out = [j for j in np.argsort(-totals, kind="stable").tolist() if j not in chosen][:NEAR_COLUMNS]
        table = scoring.pool
        weights = np.column_stack([table.weights[rows][:, features], table.cells.weights[rows][:, left_out]])
        weighed = table.cells.rows
        pool = weighed if reasons.raw is None else reasons.raw
        columns, texts = [], []
        for j, feature in zip(chosen + left_out, features + [None] * len(left_out), strict=True):
            decimals = reasons.decimals[j]
            texts.append([shown_value(value, decimals) for value in values_of(pool, j, rows)])
            column = scoring.weigher.columns[j]
            columns.append(
                {
                    "name": scoring.features.names[j],
                    "direction": "" if feature is None else problem.direction(feature),
                    "usual": reasons.usual(j).text(decimals),
                    "picture": {**column.type.picture(column), "chosen": values_of(weighed, j, samples)},
                }
            )
        values = np.array(texts, dtype=object).T.tolist()
    return {
        "columns": columns,
        "chosen": len(chosen),
        "rows": [{"name": problem.sample_name(i), "chosen": i in answer.samples} for i in rows.tolist()],
        "weights": weights.tolist(),
        "values": values,
        "highest": float(weights.max()),
        "not_drawn": problem.k - len(samples),
    }


def _neighbour(near: Selection, answer: Selection) -> dict[str, Any]:
    """A neighbouring budget: its score, and what changes against the answer."""
    problem = near.problem
    return {
        "k": problem.k,
        "m": problem.m,
        "score": near.score,
        "proven": near.proven_optimal,
        "gap": near.gap if np.isfinite(near.gap) else None,
        "columns": [_feature_label(problem)(f) for f in near.features.tolist()],
        "rows_shared": int(np.isin(answer.samples, near.samples).sum()),
    }


def _near(swaps: Sequence[Swap], name: Callable[[int], str], score: float) -> list[dict[str, Any]]:
    return [
        {
            "enters": name(swap.enters),
            "leaves": name(swap.leaves),
            "cost": swap.cost,
            "share": swap.cost / abs(score) if score else 0.0,
        }
        for swap in swaps
    ]


def _false_share(holds: NDArray[np.bool_], answer: Selection) -> dict[str, Any] | None:
    """How many rows stand out one by one; None if none does, which says nothing."""
    if not holds.any():
        return None
    return {"level": FALSE_SHARE, "chosen": int(holds[answer.samples].sum()), "pool": int(holds.sum())}


def _calibration(table: WeighedTables | None, whole: WholeTable | None) -> dict[str, Any] | None:
    """How the cells were weighed, and what is special about the columns."""
    if table is None:
        return None
    facts = table.weigher.facts
    tied = sorted(facts.tied.items(), key=lambda item: -item[1])
    return {
        **asdict(facts),
        "categories": list(facts.categories),
        "constant": list(facts.constant),
        "zero_mad": list(facts.zero_mad),
        "missing_pool": int(np.isnan(table.pool.matrices[1].values).sum()) if whole is None else whole.missing,
        "tied": [{"feature": name, "share": share} for name, share in tied if share > 0.01][:8],
        "near_weight": table.scoring.near_weight,
    }


def _tables(table: WeighedTables, whole: WholeTable | None) -> dict[str, Any]:
    """Which rows were the reference and which the pool, and which columns were left out."""
    pool = table.pool
    sizes = [len(matrix) for matrix in pool.matrices] if whole is None else [whole.reference_rows, whole.rows]
    return {
        name: {"rows": rows, "times": list(pool.times[name]) if name in pool.times else None}
        for name, rows in zip(("reference", "pool"), sizes, strict=True)
    } | {"time_column": table.time_column, "excluded": list(pool.excluded)}


def _labels(
    answer: Selection, table: WeighedTables | None, rows: int, whole: WholeTable | None
) -> dict[str, Any] | None:
    """How many known positives were chosen; `whole` knows how many there are where not all rows are here."""
    if table is None or (labels := table.pool.labels) is None:
        return None
    positives = None if whole is None else whole.positives
    hits, total = int(labels[answer.samples].sum()), int(labels.sum()) if positives is None else positives
    attainable = _attainable(answer.problem, labels) if positives is None else min(total, answer.problem.k)
    return {
        "positives": total,
        "hits": hits,
        "chosen": int(answer.samples.size),
        "f1": 2 * hits / (answer.samples.size + total),
        "attainable": attainable,
        "rows": rows,
        "by_chance": float(answer.samples.size * total / rows),
    }


def _attainable(problem: SelectionProblem, labels: NDArray[np.bool_]) -> int:
    """How many known positives a choice of k rows could hold at most, as the rules go."""
    rules = problem.sample_rules
    allowed = set(np.flatnonzero(labels).tolist()) - set(rules.forced_out)
    for group in rules.groups:
        members = sorted(allowed & set(group.members))
        allowed -= set(members[group.at_most :])
    return min(len(allowed), problem.k - sum(not labels[i] for i in rules.forced_in))
