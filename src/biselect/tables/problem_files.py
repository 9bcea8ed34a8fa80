"""Selection problems from files: stored problems, JSON, and tables of weights."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.untrusted import read_json, refused_as
from biselect.errors import InputError
from biselect.options import ANY, Columns, names_in, spell
from biselect.tables._named_columns import numeric, require_columns, texts
from biselect.tables.readers import read_table
from biselect.tables.readers.sources import Source


def read_problem(
    path: str | Path,
    k: int | None = None,
    m: int | None = None,
    id_column: str | None = None,
    exclude: str | Sequence[str] = (),
) -> SelectionProblem:
    """A problem from any file that can hold one.

    Args:
        path: `.npz` from `SelectionProblem.save`, `.json` with the problem's fields, or a table of weights, in
            any file that `biselect.tables.readers.read_table` takes, with one row a sample and one column a feature.
        k: how many samples; replaces what the file says, and a table says nothing.
        m: how many features, likewise.
        id_column: the column of a table that names its rows.
        exclude: columns of a table to leave out.
    """
    source = Source.of(path)
    budgets: dict[str, Any] = {name: value for name, value in (("k", k), ("m", m)) if value is not None}
    suffix = "" if source.part else source.path.suffix.lower()
    if suffix == ".npz":
        problem = SelectionProblem.load(source.path)
        return replace(problem, **budgets) if budgets else problem
    if suffix == ".json":
        content = read_json(source.path)
        with refused_as(f"{source}: holds no problem"):
            return SelectionProblem.from_dict({**content, **budgets} if isinstance(content, dict) else content)
    table = read_table(path, columns=Columns(id=id_column))
    if k is None or m is None:
        raise InputError(f"{path}: a table of weights has no budgets; give both {spell(k=ANY)} and {spell(m=ANY)}")
    left_out = names_in(exclude, table.column_names)
    require_columns(table, left_out if id_column is None else [id_column, *left_out], str(path))
    names = [name for name in table.column_names if name not in {id_column, *left_out}]
    weights = numeric(table, names, str(path))
    return SelectionProblem(
        coupling=np.column_stack([weights[name].to_numpy() for name in names]) if names else np.empty((0, 0)),
        sample_names=None if id_column is None else tuple(texts(table, id_column, str(path))),
        feature_names=tuple(names),
        k=k,
        m=m,
    )
