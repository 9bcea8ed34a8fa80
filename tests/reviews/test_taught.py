"""Answers about Monday's export count for Tuesday's: rows, categories and gaps, and records that come back."""

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.reviews.new_export import turn_to
from biselect.reviews.policy import LEARNER

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
        table(1, "m", odd=12), table(0, "n", rows=300), id_column="id", exclude=["id"], folder=tmp_path, m=2, kinds=2
    )
    for _ in range(3):
        rows = session.next_rows(12)
        session.answer({row.row: row.row < 12 for row in rows})
    assert session.hits >= 8 and session.taught.hits.size == 0
    return session


def test_what_was_taught_finds_more_in_the_first_round(monday, tmp_path):
    tuesday, normal = table(2, "t", odd=12), table(0, "n", rows=300)
    alone = bs.ReviewSession(tuesday, normal, id_column="id", exclude=["id"], m=2, kinds=2)
    taught = turn_to(monday, tuesday, normal)
    hits = [sum(row.row < 12 for row in session.next_rows(12)) for session in (alone, taught)]
    assert hits[1] >= hits[0] + 4 and taught.next_rows(12)[0].source == LEARNER
    assert taught.record["taught"] == {"rows": 36, "again": 0} and taught.hits == 0
    monday.answer({monday.history[0].row: "unsure"})  # what is said later leaves Tuesday as it is
    again = bs.ReviewSession.open(tmp_path, tuesday, normal)
    assert (again.taught.values == taught.taught.values).all() and again.replay().same


def test_records_that_come_back_unchanged_are_not_asked_for_again(monday):
    reviewed = [monday.sample_names[row] for row in monday.standing.latest()]
    grown = pd.concat([table(2, "t"), table(1, "m", odd=12)], ignore_index=True)
    grown.loc[grown["id"] == reviewed[0], "c5"] = 7.5  # one of them has changed
    session = turn_to(monday, grown, table(0, "n", rows=300))
    left = {row.name for row in session.next_rows(1000)}
    assert left == {*grown["id"]} - {*reviewed[1:]} and session.record["taught"]["again"] == 35


def test_other_columns_teach_nothing_and_positions_are_no_ids(monday):
    normal = table(0, "n", rows=300)
    renamed = {"c0": "height"}
    other = bs.ReviewSession(
        table(2, "t").rename(columns=renamed),
        normal.rename(columns=renamed),
        id_column="id",
        exclude=["id"],
        folder=monday.file.folder,
        m=2,
        kinds=1,
    )
    assert other.taught.hits.size == 0
    unnamed = bs.ReviewSession(table(1, "m", odd=12), normal, exclude=["id"], folder=monday.file.folder, m=3, kinds=1)
    assert unnamed.taught.hits.size == 36 and len(unnamed.taught.again) == 0


def test_stored_cells_become_the_same_values_again(monday):
    rows = [0, 5, 6, 77]
    values = monday.tables.values_of(monday.tables.cells(rows))
    assert (values == monday.tables.pool_values[rows]).all()
