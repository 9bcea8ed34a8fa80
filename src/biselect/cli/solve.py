"""`biselect solve`: any bipartite selection, from a problem file or a table of weights."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.cli import options
from biselect.cli.answer import answer, reproduce
from biselect.cli.console import Steps
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.core import Selection, SelectionProblem


def solve(
    problem: options.Problem,
    k: options.KOfTable = None,
    m: options.MOfTable = None,
    id_column: options.RowNames = None,
    exclude: options.Exclude = None,
    solver: options.Solver = "auto",
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    proof: options.Proof = False,
    neighbours: options.Neighbours = options.NEIGHBOURS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose k rows and m columns of PROBLEM so that the block between them weighs most.

    A .json problem holds `coupling` (a list of rows), `k`, `m` and, if wanted, `sample_scores`, `feature_scores`,
    `coupling_weight`, `sample_names`, `feature_names`. A table (.csv, .parquet, .arrow, .jsonl) holds weights only;
    then -k and -m are required. Given with a problem file, -k and -m replace its budgets.
    """
    from biselect.report import explore, shared_block, summarise

    steps = Steps(quiet)
    with steps.step(f"Reading {problem.name}"):
        loaded = read_problem(problem, k, m, id_column, exclude or [])

    def summary(selection: Selection, nearby: list[Selection]) -> dict[str, Any]:
        return summarise(
            selection,
            title=f"Selection from {problem.name}",
            reproduce=reproduce(seed, [problem]),
            view=explore(selection, nearby, shared_block(selection, nearby)),
        )

    answer(
        loaded,
        summary,
        solver=solver,
        seed=seed,
        time_limit=time_limit,
        folder=out,
        proof=proof,
        neighbours=neighbours,
        as_json=as_json,
        steps=steps,
    )


def read_problem(
    path: Path, k: int | None, m: int | None, id_column: str | None, exclude: list[str]
) -> SelectionProblem:
    """A problem from any file that can hold one; `exclude` names columns of a weight table to leave out."""
    from biselect.core import SelectionProblem

    budgets = {name: value for name, value in (("k", k), ("m", m)) if value is not None}
    if path.suffix.lower() == ".npz":
        stored = SelectionProblem.load(path)
        return SelectionProblem.from_dict({**_fields(stored), **budgets}) if budgets else stored
    if path.suffix.lower() == ".json":
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read as JSON: {error}") from error
        return SelectionProblem.from_dict({**content, **budgets} if isinstance(content, dict) else content)
    return _from_weights(path, budgets, id_column, exclude)


def _from_weights(path: Path, budgets: dict[str, int], id_column: str | None, exclude: list[str]) -> SelectionProblem:
    import numpy as np

    from biselect.core import SelectionProblem
    from biselect.data.tables import CsvForm, numeric, read_table, require_columns, texts

    table = read_table(path, CsvForm(text_columns=[] if id_column is None else [id_column]))
    if len(budgets) < 2:
        raise InputError(f"{path}: a table of weights has no budgets; give both -k and -m")
    left_out = options.listed(exclude, table.column_names)
    require_columns(table, left_out if id_column is None else [id_column, *left_out], str(path))
    names = [name for name in table.column_names if name not in {id_column, *left_out}]
    if any(ending in path.name.lower() for ending in (".csv", ".tsv")):  # other files know names from weights
        _refuse_weights_for_names(names, path)
    weights = numeric(table, names, str(path))
    return SelectionProblem(
        coupling=np.column_stack([weights[name].to_numpy() for name in names]) if names else np.empty((0, 0)),
        sample_names=None if id_column is None else tuple(texts(table, id_column, str(path))),
        feature_names=tuple(names),
        k=budgets["k"],
        m=budgets["m"],
    )


def _refuse_weights_for_names(names: list[str], path: Path) -> None:
    """A first row of numbers is taken for weights, unless it counts on, as 0, 1, 2 or 2019, 2020 do."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return
    counts = all(name.isdigit() for name in names) and all(there - here == 1 for here, there in pairwise(numbers))
    if names and not counts:
        raise InputError(
            f"{path}: the first row holds numbers only ({', '.join(names[:3])}, …), and it would be lost as names; "
            "give every column a name in a first row of its own"
        )


def _fields(problem: SelectionProblem) -> dict[str, Any]:
    from dataclasses import fields

    return {field.name: getattr(problem, field.name) for field in fields(problem)}
