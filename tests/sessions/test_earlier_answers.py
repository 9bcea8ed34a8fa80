"""Answers about Monday's export count for Tuesday's: rows, categories and gaps, and records that come back."""

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.options import Columns, Kinds, Weighing
from biselect.sessions._earlier_answers import cells_of, earlier_rows
from biselect.sessions.exports import turn_to

COLUMNS = [f"c{j}" for j in range(6)]


def table(seed, first, odd=0, rows=150):
    """`odd` rows are what is looked for: a little high in two columns, and by fax; as many are far out and fine."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 6)).round(4), columns=COLUMNS)
    frame["way"] = rng.choice(["web", "shop", "fax"], rows, p=[0.5, 0.4, 0.1])
    frame.loc[: odd - 1, ["c0", "c1"]] += 2
    frame.loc[: odd - 1, "way"] = "fax"
    frame.loc[odd : 2 * odd - 1, ["c3", "c4"]] += 4
    frame.loc[5:6, "c5"] = np.nan
    frame.insert(0, "id", [f"{first}{i}" for i in range(rows)])
    return frame


@pytest.fixture
def monday(tmp_path):
    session = bs.ReviewSession(
        bs.table(table(1, "m", odd=12), id="id", columns=Columns(exclude=["id"])),
        table(0, "n", rows=300),
        folder=tmp_path,
        m=2,
        kinds=Kinds(kinds=2),
    )
    for _ in range(3):
        session.answer({queued.row: queued.row < 12 for queued in session.next_rows(12)})
    assert session.hits >= 8 and session.taught.hits.size == 0
    return session


def test_what_was_taught_finds_more_in_the_first_round(monday, tmp_path):
    tuesday, normal = table(2, "t", odd=12), table(0, "n", rows=300)
    alone = bs.ReviewSession(
        bs.table(tuesday, id="id", columns=Columns(exclude=["id"])), normal, m=2, kinds=Kinds(kinds=2)
    )
    taught = turn_to(monday, tuesday, normal)
    hits = [sum(queued.row < 12 for queued in session.next_rows(12)) for session in (alone, taught)]
    assert hits[1] >= hits[0] + 3 and any(queued.learnt > 0 for queued in taught.queue(3))
    assert "found not fine" in taught.next_row().why
    assert taught.record["taught"] == {"rows": 36, "again": 0, "changed": 0} and taught.hits == 0
    monday.answer({next(iter(monday.answers)): "unsure"})  # what is said later leaves Tuesday as it is
    again = bs.ReviewSession.open(tmp_path, tuesday, normal)
    assert again.queue(40) == taught.queue(40)


def test_records_that_come_back_unchanged_are_not_asked_for_again(monday):
    reviewed = [monday.sample_names[row] for row in monday.answers]
    grown = pd.concat([table(2, "t"), table(1, "m", odd=12)], ignore_index=True)
    grown.loc[grown["id"] == reviewed[0], "c5"] = 7.5  # one of them has changed
    session = turn_to(monday, grown, table(0, "n", rows=300))
    left = {queued.name: queued for queued in session.next_rows(1000)}
    assert {*left} == {*grown["id"]} - {*reviewed[1:]}
    assert session.record["taught"] == {"rows": 36, "again": 35, "changed": 1}
    verdict = monday.answers[monday.row_of(reviewed[0])].verdict
    assert left[reviewed[0]].why == f"it was found {verdict} on an earlier export and has changed since"


def test_other_columns_teach_nothing_and_positions_are_no_ids(monday):
    normal = table(0, "n", rows=300)
    renamed = {"c0": "height"}
    other = bs.ReviewSession(
        bs.table(table(2, "t").rename(columns=renamed), id="id", columns=Columns(exclude=["id"])),
        normal.rename(columns=renamed),
        folder=monday.file.folder,
        m=2,
        kinds=Kinds(kinds=1),
    )
    assert other.taught.hits.size == 0
    unnamed = bs.ReviewSession(
        bs.table(table(1, "m", odd=12), columns=Columns(exclude=["id"])),
        normal,
        folder=monday.file.folder,
        m=3,
        kinds=Kinds(kinds=1),
    )
    assert unnamed.taught.hits.size == 36 and len(unnamed.taught.again) == 0


def test_stored_cells_become_the_same_values_again(monday):
    rows = [0, 5, 6, 77]
    scales = monday.record["scales"]
    again = earlier_rows(monday.tables, cells_of(monday.tables, rows), scales, scales)
    weigher, whole = monday.tables.weigher, monday.tables.weigher.values(monday.tables.weighed)
    assert (weigher.values(again) == whole[rows]).all()
    assert (weigher.weights(again) == weigher.weights(monday.tables.weighed)[rows]).all()


def by_number(seed, first, moves, rows=150):
    """A day's export of numbers alone, of which some columns were moved and stretched."""
    frame = table(seed, first, odd=12, rows=rows).drop(columns="way")
    for name, (shift, stretch) in moves.items():
        frame[name] = frame[name] * stretch + shift
    return frame


@pytest.mark.parametrize("drift", ["recentre", "keep"])
@pytest.mark.parametrize("monday_moves", [{}, {"c2": (3.0, 1.0)}, {"c0": (0.0, 2.0), "c2": (-2.0, 0.5)}])
@pytest.mark.parametrize("tuesday_moves", [{}, {"c2": (5.0, 1.0)}, {"c1": (1.0, 3.0), "c5": (2.0, 1.0)}])
def test_answered_records_are_known_again_whatever_moved_on_either_day(tmp_path, drift, monday_moves, tuesday_moves):
    normal = by_number(0, "n", {}, rows=400)
    weighing, columns = Weighing(drift=drift), Columns(id="id", exclude=["id"])
    options = {"m": 2, "kinds": Kinds(kinds=1), "weighing": weighing, "folder": tmp_path}
    monday = bs.ReviewSession(bs.table(by_number(1, "m", monday_moves), columns=columns), normal, **options)
    monday.answer({row.row: row.row < 12 for row in monday.next_rows(20)})
    answered = [*monday.answers]
    new = by_number(2, "t", tuesday_moves, rows=400)
    tuesday = bs.ReviewSession(
        bs.table(pd.concat([new, by_number(1, "m", monday_moves).iloc[answered]], ignore_index=True), columns=columns),
        normal,
        **options,
    )
    assert tuesday.taught.again == {*range(400, 400 + len(answered))}
    expected = bool(monday_moves) and drift == "recentre"
    assert {name for name, scale in monday.record["scales"].items() if scale["moved"]} == (
        {*monday_moves} if expected else set()
    )
    # each day was moved back to the same reference by its own medians, so that is what is learnt from
    [told] = tuesday.taught.rows
    assert np.allclose(told.values, monday.tables.weighed.values[answered], rtol=1e-12, equal_nan=True)


def test_moved_cells_of_another_reference_teach_nothing(tmp_path):
    options, columns = {"m": 2, "kinds": Kinds(kinds=1), "folder": tmp_path}, Columns(id="id", exclude=["id"])
    monday = bs.ReviewSession(
        bs.table(by_number(1, "m", {"c2": (3.0, 1.0)}), columns=columns), by_number(0, "n", {}, rows=400), **options
    )
    monday.answer({row.row: row.row < 12 for row in monday.next_rows(20)})
    answered = [*monday.answers]
    tuesday = bs.ReviewSession(
        bs.table(by_number(2, "t", {"c4": (4.0, 1.0)}), columns=columns), by_number(5, "n", {}, rows=400), **options
    )
    raw = monday.tables.raw.values[answered]
    for j in range(6):
        told = tuesday.taught.rows[0].values[:, j]
        assert np.isnan(told).all() if j in (2, 4) else np.array_equal(told, raw[:, j], equal_nan=True)


def test_a_session_without_drift_stores_what_its_file_holds(monday):
    table_ = table(1, "m", odd=12)
    [cells] = cells_of(monday.tables, [5])
    assert cells.keys() == {*COLUMNS, "way"} and cells["c5"] is None and cells["way"] == table_["way"][5]
    assert all(cells[name] == table_[name][5] for name in COLUMNS[:5])
