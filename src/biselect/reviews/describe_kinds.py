"""Kinds of unusual as plain data, for pages, files and the terminal."""

from typing import Any

import numpy as np

from biselect.core import Selection
from biselect.reviews.evidence import CalibratedPool
from biselect.reviews.kinds import Kind, KindList


def describe_kinds(kinds: KindList, answer: Selection, table: CalibratedPool | None) -> dict[str, Any]:
    """Every kind with its rows, columns, proof and cells, and how near they are to each other.

    Args:
        kinds: what was found.
        answer: the block of the whole problem, which is compared with each kind.
        table: what stands behind the problem; None for a problem of weights.
    """
    shared_rows, nearness = kinds.shared_rows, kinds.nearness
    chosen = set(answer.samples.tolist())
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
                "in_answer": len(chosen & set(kind.selection.samples.tolist())),
                "selection": kind.selection.to_dict(),
                "rows": _rows(kind, table),
                "hits": _hits(kind, table),
            }
            for number, kind in enumerate(kinds)
        ],
    }


def _rows(kind: Kind, table: CalibratedPool | None) -> list[dict[str, Any]]:
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
                seen = evidence[position][place]
                cell |= {"value": seen.value, "filled": seen.filled, "words": seen.words, "direction": seen.direction}
            cells.append(cell)
        index = int(selection.samples[position])
        label = None if table is None or table.pool.labels is None else bool(table.pool.labels[index])
        beside = {} if table is None else {name: texts[index] for name, texts in table.pool.shown.items()}
        rows.append(
            {"name": selection.sample_names[position], "index": index, "cells": cells, "label": label, "shown": beside}
        )
    return rows


def _hits(kind: Kind, table: CalibratedPool | None) -> int | None:
    if table is None or table.pool.labels is None:
        return None
    return int(table.pool.labels[kind.selection.samples].sum())
