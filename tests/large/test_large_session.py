"""A session on a table that no memory holds: the rows that stand out most are reviewed, and it says so."""

import pytest
from pyarrow import parquet
from tests.large.conftest import made

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns, Kinds
from biselect.sessions.exports import usual_rows

OPTIONS = {"k": 8, "m": 2, "kinds": Kinds(kinds=1), "progress": False}


@pytest.fixture
def tables(tmp_path):
    pool, reference, *_ = made(mixed=True)
    for name, table in (("pool", pool), ("normal", reference)):
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    columns = Columns(id="id", exclude=["group", "when"])
    return bs.table(tmp_path / "pool.parquet", columns=columns), tmp_path / "normal.parquet"


def test_the_rows_that_stand_out_are_reviewed_as_in_memory(tables, tmp_path, monkeypatch, tiny_memory):
    session = bs.ReviewSession(*tables, folder=tmp_path / "large", **OPTIONS)
    sizes = session.record["sizes"]
    assert sizes["held"] < sizes["pool"] == 4000
    first = session.next_row()
    assert first.record["id"] == first.name and len(first.parts) == sizes["columns"]
    for _ in range(10):
        queued = session.next_row()
        session.answer(queued, queued.plain_rank <= 6)
    with pytest.raises(InputError, match="name a file of normal rows"):
        usual_rows(session)  # of heavy rows alone
    again = bs.ReviewSession.open(tmp_path / "large")
    assert again.queue(5) == session.queue(5) and again.found.hits == session.hits
    grown = bs.ReviewSession(*tables, folder=tmp_path / "large", **{**OPTIONS, "m": 3})  # another choice, the same rows
    answered = {session.sample_names[row] for row in session.answers}
    assert grown.record["taught"]["rows"] == 10 and not answered & {one.name for one in grown.queue(20)}


def test_the_order_is_that_of_the_whole_table(tables, monkeypatch, tiny_memory):
    large = bs.ReviewSession(*tables, **OPTIONS)
    monkeypatch.undo()
    whole = bs.ReviewSession(*tables, **OPTIONS)
    names = [one.name for one in whole.queue(8)]
    assert len({*names} & {one.name for one in large.queue(8)}) >= 6
