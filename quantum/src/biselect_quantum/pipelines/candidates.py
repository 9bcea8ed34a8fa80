"""From a table to a problem that a circuit can hold: few rows, few columns, weighed as the preset says."""

from __future__ import annotations

from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect.options import Weighing
from biselect.progress import Steps, steps_of
from biselect.tables import tables_of
from biselect.weights.directed import undirected
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

SIZE = (12, 8, 3, 5)  # N, D, k, m: the paper's 20 qubits


def table_problem(
    pool: Any,
    reference: Any = None,
    *,
    samples: int = SIZE[0],
    features: int = SIZE[1],
    k: int = SIZE[2],
    m: int = SIZE[3],
    weighing: Weighing = Weighing(),
    seed: int = 0,
    progress: Steps | bool | None = None,
) -> SelectionProblem:
    """Weigh a pool, and take its heaviest rows and their heaviest columns as candidates for a circuit.

    Args:
        pool: rows to choose from, as `biselect.review` takes them.
        reference: normal rows; None to compare the pool with itself.
        samples: N, how many rows are candidates: those of the largest total weight.
        features: D, how many columns: those of the largest total weight in these rows.
        k: how many rows a choice has.
        m: how many columns a choice has.
        weighing: what counts as unusual; the preset `paper` takes the paper's weights and marginals.
        seed: fixes every draw of the weigher.
        progress: as for `biselect.review`.

    Returns:
        A problem with one feature a column, rows and columns in the order of the table. In the product's own form a
        column weighs what it does at either end.

    Raises:
        InputError: a table with fewer rows or columns than candidates, or budgets that leave no choice.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> problem = table_problem(rng.normal(size=(40, 6)), rng.normal(size=(90, 6)), samples=5, features=4, k=2, m=2)
    >>> problem.coupling.shape, problem.k, problem.m
    ((5, 4), 2, 2)
    """
    form = Form.of(weighing)
    size = {"samples": check_integer("samples", samples), "features": check_integer("features", features)}
    tables = WeighedTables.read(*tables_of(pool, reference), form, seed=seed, step=steps_of(progress)).scored(k, m)
    whole = undirected(tables.problem())
    for (name, count), have in zip(size.items(), whole.coupling.shape, strict=True):
        if count > have:
            raise InputError(f"{name} is {count}, but the table has only {have} to choose from; give fewer")
    weights = np.asarray(whole.coupling, dtype=np.float64)
    rows = np.sort(np.argsort(-weights.sum(axis=1), kind="stable")[:samples])
    columns = np.sort(np.argsort(-weights[rows].sum(axis=0), kind="stable")[:features])
    block, own, of_columns = weights[np.ix_(rows, columns)], whole.sample_scores[rows], whole.feature_scores[columns]
    if form.marginals is not None:  # the paper's are those of the candidates
        names = tables.weigher.feature_names
        at = np.array([names.index(whole.feature_name(column)) for column in columns])
        own, of_columns = form.marginals(block, tables.weigher.residuals(tables.weighed)[np.ix_(rows, at)])
    return SelectionProblem(
        coupling=block,
        sample_scores=own,
        feature_scores=of_columns,
        coupling_weight=whole.coupling_weight,
        sample_names=[whole.sample_name(row) for row in rows],
        feature_names=[whole.feature_name(column) for column in columns],
        k=k,
        m=m,
    )
