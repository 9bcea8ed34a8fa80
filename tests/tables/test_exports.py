"""Exports of other hands: rows in, rows out and lines left out; the roles of all columns; the same in parts."""

from pathlib import Path

import pyarrow as pa
import pytest
from tests.tables.exports import EXPORTS

import biselect as bs
from biselect.large.spool import Spool, partitions_of
from biselect.tables import open_pool
from biselect.tables.readers import reading_of

FILES = [name for name in EXPORTS if "frame" not in name]


@pytest.mark.parametrize("name", EXPORTS)
def test_rows_and_roles_of_an_export(tmp_path, name):
    export = EXPORTS[name](tmp_path)
    table = bs.inspect(export.source)
    assert table.roles == export.roles
    assert (table.guess.rows, len(table.guess.reading.rejects)) == (export.rows, export.left_out)
    record, last = table.records([0, export.rows - 1])
    assert export.first.items() <= record.items() and {*last} >= {*export.roles}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_its_own_reference(tmp_path, name):
    export = EXPORTS[name](tmp_path)
    pool = open_pool(export.source)
    assert pool.is_own_reference and pool.matrices[0] is pool.matrices[1]
    assert len(pool.matrices[1]) == len(pool.sample_names) == export.rows
    rows = [export.rows - 1, 3]
    assert pool.records(rows) == bs.table(export.source).records(rows)


@pytest.mark.parametrize("name", FILES)
def test_an_export_in_parts_is_what_it_is_as_a_whole(tmp_path, name):
    source = EXPORTS[name](tmp_path).source
    whole = bs.table(source).read()
    with Spool() as spool:
        parts = partitions_of(source, spool=spool)
        rows = pa.concat_tables([block for part in parts.parts for _, block in part.blocks(parts.schema.names)])
    assert rows.schema.equals(whole.schema) and repr(rows.to_pydict()) == repr(whole.to_pydict())
    assert reading_of(parts).rejects == reading_of(whole).rejects and isinstance(source, Path)
