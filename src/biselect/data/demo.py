"""The excerpt of the Credit Card table that ships with the package; see excerpt/ATTRIBUTION.md."""

from importlib.resources import as_file, files

from biselect.data.pools import Pool, Roles, from_two_tables
from biselect.data.tables import read_table

ROLES = Roles(id_column="transaction", label_column="Class", time_column="Time")


def demo_pool() -> Pool:
    """13,145 early transactions as the reference, 600 later ones (15 frauds) as the pool."""
    tables = []
    for name in ("reference", "pool"):
        with as_file(files("biselect.data") / "excerpt" / f"{name}.parquet") as path:
            tables.append(read_table(path))
    return from_two_tables(tables[0], tables[1], ROLES)
