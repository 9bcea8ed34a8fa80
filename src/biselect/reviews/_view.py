"""Everything a report says, as plain data: a person's page and a machine's file come from the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect._version import __version__
from biselect.core import Selection, SelectionProblem
from biselect.core.sector import count_in_words
from biselect.core.selection import Explanation, Swap
from biselect.pages.html import FORMAT
from biselect.pages.words import words_of
from biselect.reviews._chance import Chance, FalseShare, carries, coverage, find, row_shares, row_weights
from biselect.reviews._explorer import column_pictures
from biselect.reviews.caveats import Caveats, filled_caveats
from biselect.reviews.kinds import SIDES, Kind, KindList
from biselect.solvers.representatives import of_kept_rows
from biselect.tables import rows_of
from biselect.tables.row_rules import rules_in_words
from biselect.weights.evidence import Evidence, WeighedPool

MOST_ROWS, MOST_COLUMNS = 60, 60  # a picture with more cells than this is a carpet
FEWEST_NEAR = 12  # of which at least so many show what was left out
NEAREST_SAMPLES, NEAREST_FEATURES = 10, 8


def summarise(
    selection: Selection,
    *,
    title: str,
    reproduce: Mapping[str, Any],
    caveats: Caveats | None = None,
    view: Mapping[str, Any] | None = None,
    table: WeighedPool | None = None,
    kinds: KindList | None = None,
    guarantee: FalseShare | None = None,
    how_many: Mapping[str, Any] | None = None,
    chance: Chance | None = None,
    whole: WholeTable | None = None,
) -> dict[str, Any]:
    """The report of a selection.

    Args:
        selection: the answer.
        title: what the reader sees first.
        reproduce: command, seed and inputs that give this answer again.
        caveats: what the reader must know beside the answer; what fails here is added to them.
        view: the interactive part, from `explore`.
        table: what stands behind the problem; None for a problem of weights.
        kinds: blocks beside the answer; None where they were not looked for.
        guarantee: which rows hold at an expected false share; None without a reference.
        how_many: what other numbers of columns show, from `how_many`; None without a reference.
        chance: how far chance gets, from `null_for`; None where it was not compared.
        whole: the table that the rows were kept from; None where they are all of it.
    """
    whole_problem = selection.problem
    if whole is not None:
        selection = of_kept_rows(selection, whole.kept)
    problem, why = selection.problem, selection.explain(nearest=max(MOST_ROWS, NEAREST_SAMPLES))
    parts = problem.score_parts(selection.samples, selection.features)
    rows = problem.n_samples if whole is None else whole.rows
    caveats = Caveats() if caveats is None else caveats
    attempt, block = caveats.attempt, (selection.samples, selection.features)
    evidence = None if table is None else attempt("evidence", table.evidence, *block)
    sides = None if evidence is None else [[cell.side for cell in row] for row in evidence]
    described = None if kinds is None else attempt("kind_rows", describe_kinds, kinds, selection, table)
    finding = attempt("finding", find, selection, chance, sides, described)
    finding = finding and {"words": words_of().finding(finding | {"of": rows}), **finding, "of": rows}
    standing = [] if finding is None else finding["rows"]
    caveats.collect("filled", filled_caveats, evidence or ())
    pictures = None
    if table is not None and evidence is not None:
        carrying = carries(why.cells)
        pictures = attempt("pictures", column_pictures, selection, table, evidence, carrying, standing)
    return {
        "format": FORMAT,
        "title": title,
        "version": __version__,
        "finding": finding,
        "selection": replace(selection, problem=whole_problem).to_dict(),
        "budgets": {"k": problem.k, "m": problem.m, "samples": rows, "features": problem.n_features},
        "rules": (rules := rules_in_words(problem, None if table is None else table.per)),
        "choices": count_in_words(replace(problem.sector, n_samples=rows).size) if rules is None else None,
        "parts": _shares(parts),
        "rows": _rows(selection, why, table, evidence, standing),
        "columns": [
            {
                "name": selection.feature_names[j],
                "value": float(why.feature_values[j]),
                "picture": None if pictures is None else pictures[j],
            }
            for j in np.argsort(-why.feature_values, kind="stable")
        ],
        "coverage": attempt("coverage", coverage, selection),
        "how_many": how_many,
        "kinds": described,
        "guarantee": None if guarantee is None else _held(guarantee, selection),
        "near_samples": _near(why.sample_swaps[:NEAREST_SAMPLES], problem.sample_name, selection.score),
        "near_features": _near(why.feature_swaps[:NEAREST_FEATURES], problem.feature_name, selection.score),
        "heatmap": attempt("heatmap", _heatmap, selection, why, table),
        "calibration": attempt("calibration", _calibration, table, selection, whole),
        "labels": attempt("labels", _label_facts, selection, table, rows, whole),
        "tables": None if table is None else _tables(table, whole),
        "searched": None if whole is None else whole.facts(selection),
        "view": view,
        "reproduce": {**reproduce, "problem_hash": whole_problem.digest},
        "warnings": [{**asdict(caveat), "columns": list(caveat.columns)} for caveat in caveats],  # when all is done
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class WholeTable:
    """The table that the rows of a problem were kept from.

    Attributes:
        kept: the problem over the kept rows alone.
        rows: of the whole pool.
        reference_rows: of the whole reference.
        most: what any other row adds at most to a choice; None where there is none.
        positives: known positives in the whole pool; None without labels.
        calibration: finds out what the whole pool says about the calibration.
    """

    kept: SelectionProblem
    rows: int
    reference_rows: int
    most: float | None
    positives: int | None
    calibration: Callable[[], dict[str, Any]]

    def facts(self, selection: Selection) -> dict[str, Any]:
        """For the page: how many rows were searched, and how far below the chosen ones the others lie."""
        values = selection.explain(nearest=0).sample_values
        return {"rows": self.rows, "kept": self.kept.n_samples, "most": self.most, "least_chosen": float(values.min())}


def _held(guarantee: FalseShare, selection: Selection) -> dict[str, Any]:
    return {
        "level": guarantee.level,
        "chosen": int(guarantee.holds[selection.samples].sum()),
        "pool": int(guarantee.holds.sum()),
    }


def _rows(
    selection: Selection,
    why: Explanation,
    table: WeighedPool | None,
    evidence: Sequence[Sequence[Evidence]] | None,
    standing: Sequence[int],
) -> list[dict[str, Any]]:
    """The chosen rows, strongest first; within a row the strongest feature first."""
    weights = row_weights(selection.problem, selection.features)[selection.samples].round(9)
    labels, beside = (None, {}) if table is None else (table.pool.labels, table.pool.shown)
    rows, shares, carrying = [], row_shares(selection), carries(why.cells)
    for position in np.argsort(-why.sample_values, kind="stable"):
        row_cells = []
        for j in np.argsort(-why.cells[position], kind="stable"):
            cell: dict[str, Any] = {"feature": selection.feature_names[j], "adds": float(why.cells[position, j])}
            cell["carries"] = bool(carrying[position, j])
            if evidence is not None:
                evidence_here = evidence[position][j]
                cell |= {
                    "value": evidence_here.value,
                    "filled": evidence_here.filled,
                    "words": evidence_here.words,
                    "brief": evidence_here.brief,
                }
                cell |= {"direction": evidence_here.direction, "side": evidence_here.side}
            row_cells.append(cell)
        index = int(selection.samples[position])
        rows.append(
            {
                "name": selection.sample_names[position],
                "index": index,
                "value": float(why.sample_values[position]),
                "marginal": float(why.sample_marginals[position]),
                "weight": float(weights[position]),
                "rank": 1 + int((weights > weights[position]).sum()),
                "tied": int((weights == weights[position]).sum()) > 1,
                "stands_out": index in standing,
                "cells": row_cells,
                "coverage": float(shares[position]),
                "label": None if labels is None else bool(labels[index]),
                "shown": {name: texts[index] for name, texts in beside.items()},
            }
        )
    return rows


def _heatmap(selection: Selection, why: Explanation, table: WeighedPool | None) -> dict[str, Any]:
    """The chosen block in its surroundings: chosen rows and columns first, then the nearest left out."""
    problem = selection.problem
    chosen_rows = _strongest_first(selection.samples, why.sample_values)[: MOST_ROWS - FEWEST_NEAR]
    chosen_columns = _strongest_first(selection.features, why.feature_values)[: MOST_COLUMNS - FEWEST_NEAR]
    near_rows = [swap.enters for swap in why.sample_swaps][: max(FEWEST_NEAR, MOST_ROWS // 2 - len(chosen_rows))]
    near_columns = [swap.enters for swap in why.feature_swaps][: MOST_COLUMNS - len(chosen_columns)]
    shown_rows, columns = chosen_rows + near_rows, chosen_columns + near_columns
    weights = problem.coupling[np.ix_(shown_rows, columns)].astype(float)
    sides = _sides(table, shown_rows, columns)
    return {
        "columns": [{"name": problem.feature_name(j), "chosen": j in chosen_columns} for j in columns],
        "rows": [
            {
                "name": problem.sample_name(i),
                "chosen": i in chosen_rows,
                "weights": weights[position].tolist(),
                "sides": None if sides is None else sides[position],
            }
            for position, i in enumerate(shown_rows)
        ],
        "lowest": float(weights.min()),
        "highest": float(weights.max()),
        "not_drawn": {
            "chosen": problem.k - len(chosen_rows) + problem.m - len(chosen_columns),
            "rows": problem.n_samples - problem.k - len(near_rows),
            "columns": problem.n_features - problem.m - len(near_columns),
        },
    }


def _sides(table: WeighedPool | None, rows: Sequence[int], columns: Sequence[int]) -> list[list[str]] | None:
    """Which side of the reference each cell lies on."""
    if table is None:
        return None
    matrix = rows_of(table.pool.matrices[1] if table.weighed is None else table.weighed, np.array(rows))
    sides = table.calibrator.directions(matrix)[:, columns]
    return [[SIDES[side] for side in row] for row in sides]


def _strongest_first(items: NDArray[np.int64], values: NDArray[np.float64]) -> list[int]:
    return items[np.argsort(-values, kind="stable")].tolist()


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


def _shares(parts: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Each component's score and its share of all magnitudes."""
    total = sum(abs(part) for part in parts.values()) or 1.0
    return {name: {"score": part, "share": abs(part) / total} for name, part in parts.items()}


def _calibration(table: WeighedPool | None, selection: Selection, whole: WholeTable | None) -> dict[str, Any] | None:
    if table is None:
        return None
    calibrator, facts = table.calibrator, table.calibrator.facts
    weights = selection.problem.coupling
    block = weights[np.ix_(selection.samples, selection.features)]
    top = facts.largest_weight
    tied = sorted(facts.tied.items(), key=lambda item: -item[1])
    return {
        **asdict(facts),
        "categories": list(facts.categories),
        "constant": list(facts.constant),
        "zero_mad": list(facts.zero_mad),
        "cap": calibrator.cap,
        "missing": calibrator.missing,
        "missing_pool": int(calibrator.absent(table.pool.matrices[1]).sum()),
        "tied": [{"feature": name, "share": share} for name, share in tied if share > 0.01][:8],
        "clipped_pool": float((weights >= top).mean()),
        "clipped_block": float((block >= top).mean()),
    } | (whole.calibration() if whole else {})


def _tables(table: WeighedPool, whole: WholeTable | None) -> dict[str, Any]:
    """Which rows were the reference and which the pool, and which columns were left out."""
    pool = table.pool
    sizes = [len(matrix) for matrix in pool.matrices] if whole is None else [whole.reference_rows, whole.rows]
    return {
        name: {"rows": rows, "times": list(pool.times[name]) if name in pool.times else None}
        for name, rows in zip(("reference", "pool"), sizes, strict=True)
    } | {"time_column": table.time_column, "excluded": list(pool.excluded)}


def _label_facts(
    selection: Selection, table: WeighedPool | None, rows: int, whole: WholeTable | None
) -> dict[str, Any] | None:
    """How many known positives were chosen; `whole` knows how many there are where not all rows are here."""
    if table is None or (labels := table.pool.labels) is None:
        return None
    positives = None if whole is None else whole.positives
    hits, total = int(labels[selection.samples].sum()), int(labels.sum()) if positives is None else positives
    attainable = _attainable(selection.problem, labels) if positives is None else min(total, selection.problem.k)
    return {
        "positives": total,
        "hits": hits,
        "chosen": int(selection.samples.size),
        "f1": 2 * hits / (selection.samples.size + total),
        "attainable": attainable,
        "rows": rows,
        "by_chance": float(selection.samples.size * total / rows),
    }


def _attainable(problem: SelectionProblem, labels: NDArray[np.bool_]) -> int:
    """How many known positives a choice of k rows could hold at most, as the rules go."""
    rules = problem.sample_rules
    allowed = set(np.flatnonzero(labels).tolist()) - set(rules.forced_out)
    for group in rules.groups:
        members = sorted(allowed & set(group.members))
        allowed -= set(members[group.at_most :])
    return min(len(allowed), problem.k - sum(not labels[i] for i in rules.forced_in))


def describe_kinds(kinds: KindList, answer: Selection, table: WeighedPool | None) -> dict[str, Any]:
    """Every kind with its rows, columns, proof and cells, and how near they are to each other.

    Args:
        kinds: what was found.
        answer: the block of the whole problem, which is compared with each kind.
        table: what stands behind the problem; None for a problem of weights.
    """
    shared_rows, nearness = kinds.shared_rows, kinds.nearness
    rows_of_answer = set(answer.samples.tolist())
    return {
        "words": kinds.words,
        "close": kinds.close,
        "apart": "columns",
        "stopped": kinds.stopped,
        "null_scores": kinds.null_scores.tolist(),
        "found": [
            {
                "number": number + 1,
                "name": kind.name,
                "nearness": nearness[number],
                "chance": kind.chance,
                "columns": list(kind.column_names),
                "sides": list(kind.sides),
                "shared_rows": shared_rows[number].tolist(),
                "in_answer": len(rows_of_answer & set(kind.selection.samples.tolist())),
                "selection": kind.selection.to_dict(),
                "rows": _kind_rows(kind, table),
                "hits": _hits(kind, table),
            }
            for number, kind in enumerate(kinds)
        ],
    }


def _kind_rows(kind: Kind, table: WeighedPool | None) -> list[dict[str, Any]]:
    """Rows of a kind, strongest first, with the cells of its columns."""
    selection, why = kind.selection, kind.selection.explain()
    columns = np.array(kind.columns)
    by_column = np.argsort(-why.feature_values, kind="stable")  # as `kind.columns` stand
    evidence = None if table is None else table.evidence(selection.samples, columns)
    rows = []
    for position in np.argsort(-why.sample_values, kind="stable"):
        cells: list[dict[str, Any]] = []
        for place, name in enumerate(kind.column_names):
            cell: dict[str, Any] = {"feature": name, "adds": float(why.cells[position, by_column[place]])}
            if evidence is not None:
                here = evidence[position][place]
                cell |= {"value": here.value, "filled": here.filled, "words": here.words, "direction": here.direction}
            cells.append(cell)
        index = int(selection.samples[position])
        label = None if table is None or table.pool.labels is None else bool(table.pool.labels[index])
        beside = {} if table is None else {name: texts[index] for name, texts in table.pool.shown.items()}
        rows.append(
            {"name": selection.sample_names[position], "index": index, "cells": cells, "label": label, "shown": beside}
        )
    return rows


def _hits(kind: Kind, table: WeighedPool | None) -> int | None:
    if table is None or table.pool.labels is None:
        return None
    return int(table.pool.labels[kind.selection.samples].sum())
