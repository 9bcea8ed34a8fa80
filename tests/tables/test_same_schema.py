"""One table as CSV, Excel, Parquet, pandas and polars, typed or all text: the same roles and the same numbers."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.tables import open_pool

LOCALES = {"de": (";", ",", ".", "%d.%m.%Y", ("ja", "nein")), "us": (",", ".", ",", "%m/%d/%Y", ("Yes", "No"))}


def written(value, decimals, decimal, thousands):
    return f"{value:,.{decimals}f}".replace(",", "\0").replace(".", decimal).replace("\0", thousands)


def some_table(seed):
    """Columns by name: what they hold as values, and as texts of a country."""
    rng, locale = np.random.default_rng(seed), LOCALES[["de", "us"][seed % 2]]
    _, decimal, thousands, form, yes_no = locale
    rows = int(rng.integers(40, 120))
    days = [date(2025, 1, 1) + timedelta(days=int(day)) for day in np.sort(rng.integers(0, 300, rows))]
    amounts = rng.lognormal(6, 2, rows).round(2)
    shares = rng.normal(50, 20, rows).round(1)
    counts = rng.poisson(400, rows) * 7
    waits = rng.integers(30, 90_000, rows)
    gaps = rng.random(rows) < 0.1
    kinds = {
        "order": ([f"A{i:04d}" for i in range(rows)],) * 2,
        "day": (days, [day.strftime(form) for day in days]),
        "amount": (amounts, [written(x, 2, decimal, thousands) for x in amounts]),
        "price": (amounts / 4, [written(x, 4, decimal, thousands) + " €" for x in amounts / 4]),
        "share": (
            [None if gap else float(x) for x, gap in zip(shares, gaps, strict=True)],
            ["n/a" if gap else written(x, 1, decimal, "") + " %" for x, gap in zip(shares, gaps, strict=True)],
        ),
        "count": (
            [None if gap else int(x) for x, gap in zip(counts, gaps, strict=True)],
            ["" if gap else str(x) for x, gap in zip(counts, gaps, strict=True)],
        ),
        "wait": ([timedelta(seconds=int(x)) for x in waits], [str(timedelta(seconds=int(x))) for x in waits]),
        "open": ([bool(x % 2 == 0) for x in range(rows)], [str(x % 2 == 0) for x in range(rows)]),
        "vip": ([yes_no[int(x % 3 > 0)] for x in counts],) * 2,
        "zip": ([f"{int(x):05d}" for x in rng.integers(1000, 99999, 12)[np.arange(rows) % 12]],) * 2,
        "mcc": ([int(x) for x in rng.choice([5411, 5812, 5999], rows)], None),
        "colour": ([str(x) for x in rng.choice(["red", "blue", "green"], rows)],) * 2,
        "note": ([f"some words about {i}" for i in range(rows)],) * 2,
    }
    kinds["mcc"] = (kinds["mcc"][0], [str(x) for x in kinds["mcc"][0]])
    optional = [name for name in kinds if name not in ("order", "amount")]
    chosen = ["order", "amount", *rng.permutation(optional)[: int(rng.integers(4, 9))].tolist()]
    return {name: kinds[name] for name in chosen}, locale


def forms(folder, columns, locale):
    """The table in every form in which it may come."""
    from openpyxl import Workbook

    values = {name: list(one) for name, (one, _) in columns.items()}
    texts = {name: list(one) for name, (_, one) in columns.items()}
    delimiter, names = locale[0], list(columns)
    cells = [[f'"{cell}"' if delimiter in cell else cell for cell in row] for row in zip(*texts.values(), strict=True)]
    (folder / "t.csv").write_text("\n".join(delimiter.join(row) for row in [names, *cells]) + "\n")
    for name, table in (("typed", values), ("texts", texts)):
        book = Workbook()
        book.active.append(names)
        for row in zip(*table.values(), strict=True):
            book.active.append([None if cell == "" else cell for cell in row])
        book.save(folder / f"{name}.xlsx")
    pq.write_table(pa.table(texts), folder / "texts.parquet")
    plain = {
        name: [datetime(*x.timetuple()[:3]) if isinstance(x, date) else x for x in v] for name, v in values.items()
    }
    return [
        *(folder / name for name in ("t.csv", "typed.xlsx", "texts.xlsx", "texts.parquet")),
        *(pd.DataFrame(texts), pl.DataFrame(texts), pa.table(texts), pd.DataFrame(plain), pl.DataFrame(plain)),
    ]


@pytest.mark.parametrize("seed", range(30))
def test_every_form_gives_the_same_roles_and_the_same_numbers(tmp_path, seed):
    columns, locale = some_table(seed)
    first, *others = forms(tmp_path, columns, locale)
    roles, pool = bs.inspect(first).roles, open_pool(first)
    for source in others:
        table = bs.inspect(source)
        assert table.roles == roles, source
        other = open_pool(table)
        assert (other.sample_names, other.categories, list(other.shown)) == (
            *(pool.sample_names, pool.categories),
            list(pool.shown),
        )
        for ours, theirs in zip(pool.matrices, other.matrices, strict=True):
            assert ours.names == theirs.names
            for at, name in enumerate(ours.names):
                mine, yours = (_comparable(one, at) for one in (ours, theirs))
                assert mine == yours, (source, name)


def _comparable(matrix, at):
    """A column as labels, or as numbers without the last bits, which a spreadsheet rounds."""
    values, labels = matrix.values[:, at], matrix.labels.get(at)
    if labels is None:
        return [None if value != value else float(f"{value:.10g}") for value in values]
    return [None if value != value else labels[int(value)] for value in values]
