"""What a session asks of its tables: pool and reference on one scale, the answer's columns, and the kinds beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.large.opening import large_tables, needs_all_rows
from biselect.options import Compute, Split, Weighing
from biselect.pages.words import phrase
from biselect.progress import Steps
from biselect.reviews.kinds import find_kinds
from biselect.solvers import solve
from biselect.tables import Table
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

SECONDS = 10.0  # for the answer and for each further kind: columns to go by need no proof


def open_tables(
    table: Table,
    reference: Any,
    weighing: Weighing,
    *,
    split: Split,
    seed: int,
    k: int | None,
    m: int | None,
    step: Steps,
) -> WeighedTables:
    """Read and weigh both tables; of a table that no memory holds, the rows that stand out most.

    Args:
        table: the pool, with what its columns are.
        reference: normal rows; None to split the table in time, or to compare it with itself.
        weighing: what counts as unusual.
        split: where to split the table.
        seed: fixes every draw.
        k: how many rows an answer has; None for the usual number.
        m: how many columns; None for the usual number.
        step: tells a person what is done.
    """
    form = Form.of(weighing)
    if needs_all_rows(form.weigher(seed), form, table.columns, weighing) is None:
        options: Any = {"per": None, "split": split, "missing": form.missing, "seed": seed, "compute": Compute()}
        with large_tables(table, reference, step, **options) as large:
            if large is not None:
                from biselect.large.gathering import gather  # loads numba

                kept = gather(large, form.weigher(seed), k=k, m=m, drift=form.drift, ids=frozenset())
                return kept.weighed(form).scored(k or kept.usual_rows, m, whole=kept.whole)
    tables = WeighedTables.read(table, reference, form, seed=seed, step=step, split=split)
    with step(phrase("steps.weighing")):
        return tables.scored(k, m)


def find_question(
    tables: WeighedTables, kinds: int, seed: int, time_limit: float | None, step: Steps
) -> dict[str, Any]:
    """The answer's columns, and the rows of each kind.

    Args:
        tables: with their budgets.
        kinds: how many kinds to look for.
        seed: fixes every draw.
        time_limit: seconds for each of them; None for ten.
        step: tells a person what is done.

    Returns:
        Plain data, to be stored: `features` with column and direction, `kinds` with name and positions of rows.
    """
    limits: dict[str, Any] = {"seed": seed, "time_limit": time_limit or SECONDS}
    with step(phrase("steps.kinds")):
        found = find_kinds(solve(tables.problem(), **limits, progress=False), kinds=kinds, **limits)
    features, answer = tables.scoring.features, found[0].selection.features
    return {
        "features": [[features.names[features.columns[f]], features.directions[f]] for f in answer.tolist()],
        "kinds": [{"name": kind.name, "rows": kind.selection.samples.tolist()} for kind in found],
    }


def features_of(question: Mapping[str, Any], tables: WeighedTables) -> NDArray[np.int64]:
    """The answer's directed columns, as positions."""
    features = tables.scoring.features
    labels = [(features.names[j], side) for j, side in zip(features.columns, features.directions, strict=True)]
    return np.array([labels.index((column, side)) for column, side in question["features"]], dtype=np.int64)


def fingerprint(tables: WeighedTables) -> str:
    """Tells these tables, as they are weighed, from all others."""
    digest = hashlib.sha256(tables.weigher.values(tables.reference).tobytes())
    digest.update(tables.weigher.values(tables.weighed).tobytes())
    digest.update("\n".join(tables.pool.sample_names).encode())
    return digest.hexdigest()
