"""Tables of a few thousand rows that are treated as if no memory held them."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from biselect.large import _collecting as collecting
from biselect.large import _survey as survey
from biselect.large import gathering, opening


@pytest.fixture
def tiny_memory(monkeypatch):
    """Everything beyond a thousand cells is too large; samples and what is kept are as much smaller."""
    monkeypatch.setattr(opening, "POOL_CELLS", 1000)
    monkeypatch.setattr(survey, "SAMPLE", 600)
    monkeypatch.setattr(gathering, "EXACT_CELLS", 100)
    monkeypatch.setattr(gathering, "LOOKED_UP", 60)
    monkeypatch.setattr(gathering, "KEPT_ROWS", 80)
    monkeypatch.setattr(gathering, "MOST_KEPT", 800)
    monkeypatch.setattr(collecting, "CHUNK", 512)


def made(rows=4000, columns=6, planted=12, seed=0, *, mixed=False):
    """A pool and a reference, Arrow tables with ids; `mixed` adds labels and missing numbers."""
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(rows // 2, columns)), rng.normal(size=(rows, columns))
    at = rng.choice(rows, planted, replace=False)
    pool[np.ix_(at, [1, 3])] += 6 + rng.random((planted, 2))
    found = []
    for values in (pool, reference):
        content = {f"x{j}": values[:, j] for j in range(columns)}
        if mixed:
            gaps = rng.random(len(values)) < 0.01
            content["x0"] = np.where(gaps, np.nan, content["x0"])
            content["land"] = rng.choice(["de", "fr", "it", "es"], len(values), p=[0.5, 0.3, 0.19, 0.01])
            content["open"] = rng.random(len(values)) < 0.97
        content["id"] = [f"r{i}" for i in range(len(values))]
        content["group"] = rng.integers(0, 9, len(values)).astype(str)
        content["when"] = np.arange(len(values))
        found.append(pa.table(content))
    return found


@pytest.fixture
def tables():
    """Makes a pool and a reference."""
    return made


@pytest.fixture
def split_up(tmp_path):
    """Writes a table as a folder of Parquet files, cut at random places."""

    def write(table, name, seed):
        rng = np.random.default_rng(seed)
        folder = tmp_path / f"{name}-{seed}"
        folder.mkdir()
        cuts = np.sort(rng.choice(np.arange(1, table.num_rows), int(rng.integers(0, 6)), replace=False))
        for number, (first, last) in enumerate(zip([0, *cuts], [*cuts, table.num_rows], strict=True)):
            part = table.slice(first, last - first)
            parquet.write_table(part, folder / f"{number:03}.parquet", row_group_size=int(rng.integers(100, 2000)))
        return folder

    return write
