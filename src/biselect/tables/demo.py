"""The excerpt of the Credit Card table that ships with the package; see excerpt/ATTRIBUTION.md."""

from importlib.resources import as_file, files

import pyarrow as pa

from biselect.options import Columns
from biselect.tables._split import Pool, from_two_tables
from biselect.tables.readers import read_table
from biselect.tables.roles import Roles

COLUMNS = Columns(id="transaction", label="Class", time="Time")


def demo_tables() -> tuple[pa.Table, pa.Table]:
    """600 later transactions (15 frauds) as the pool, 13,145 early ones as the reference."""
    with as_file(files("biselect.tables") / "excerpt") as folder:
        return read_table(folder / "pool.parquet"), read_table(folder / "reference.parquet")


def demo_pool() -> Pool:
    """Both tables as calibration and selection take them."""
    pool, reference = demo_tables()
    return from_two_tables(reference, pool, Roles.of(COLUMNS))
