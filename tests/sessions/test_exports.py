import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns, Kinds, Rounds, Split
from biselect.sessions.exports import drift_from_reference, go_on, turn_to, usual_rows
from biselect.tables.readers import read_table


def export(folder, name, seed, shift=0.0, rows=80):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(rows, 4)), columns=[*"abcd"]).assign(
        id=[f"{name}{i}" for i in range(rows)], kind=rng.choice(["x", "y"], rows)
    )
    table["d"] += shift
    table.to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


@pytest.fixture
def monday(tmp_path):
    normal = export(tmp_path, "normal", 0, rows=300)
    return bs.ReviewSession(
        bs.table(export(tmp_path, "monday", 1), id="id", columns=Columns(exclude=["id"])),
        normal,
        folder=tmp_path,
        k=4,
        m=2,
        kinds=Kinds(kinds=1),
    )


def test_drift_is_told_before_anything_is_chosen(monday, tmp_path):
    calm = drift_from_reference(monday, export(tmp_path, "calm", 2))
    moved = drift_from_reference(monday, export(tmp_path, "tuesday", 3, shift=2.0))
    assert not calm["crossed"] and moved["crossed"] and moved["changed_columns"] == ["d"]


def test_yesterday_without_what_was_not_fine_becomes_the_reference(monday, tmp_path):
    rows = monday.next_rows(3)
    monday.answer(dict(zip([row.row for row in rows], ["not fine", "unsure", "fine"], strict=True)))
    place = usual_rows(monday)
    assert place.parent == tmp_path and place.name.startswith("usual-rows-of-monday.csv-")
    assert read_table(place).num_rows == 78 and usual_rows(monday) == place
    tuesday = turn_to(monday, export(tmp_path, "tuesday", 3), place)
    assert tuesday.choice == 1 and tuesday.record["reference"] == place.name
    assert tuesday.record["columns"] == monday.record["columns"] and tuesday.next_rows(2)[0].name.startswith("tuesday")
    assert [record["pool"] for record in tuesday.file.choices()] == ["monday.csv", "tuesday.csv"]
    again = bs.ReviewSession.open(tmp_path)
    assert again.choice == 1 and again.next_rows(2) == tuesday.next_rows(2)
    assert len(monday.history) == 2  # the earlier answers stay
    monday.answer({rows[2].row: "unsure"})
    assert usual_rows(monday) != place and bs.ReviewSession.open(tmp_path).choice == 1  # and so does their reference


def test_the_same_reference_stays_unless_another_is_given(monday, tmp_path):
    assert turn_to(monday, export(tmp_path, "tuesday", 3)).record["reference"] == "normal.csv"


def test_the_budgets_asked_for_stay_unless_others_are_given(monday, tmp_path):
    assert turn_to(monday, tmp_path / "monday.csv").choice == 0  # the same table and options: nothing new
    tuesday = turn_to(monday, export(tmp_path, "tuesday", 3), rounds=Rounds(m=3, seed=5))
    assert {name: tuesday.record["options"][name] for name in ("k", "m", "seed")} == {"k": 4, "m": 3, "seed": 5}
    with pytest.raises(InputError, match="both name the reference"):
        turn_to(monday, tmp_path / "tuesday.csv", tmp_path / "normal.csv", from_last=True)


def test_a_folder_is_begun_gone_on_with_and_turned_to_a_new_export(tmp_path):
    normal, first, second = (export(tmp_path, name, seed) for seed, name in enumerate(("normal", "one", "two")))
    told = []
    named = bs.table(first, id="id")
    begun = go_on(tmp_path, named, normal, rounds=Rounds(m=2, kinds=1), tell_drift=told.append)
    assert go_on(tmp_path).choice == begun.choice == 0 and told == []
    turned = go_on(tmp_path, second, from_last=True, tell_drift=told.append)
    assert turned.record["reference"].startswith("usual-rows-of-one.csv-")
    assert ["verdict" in drift for drift in told] == [True]
    for wrong in (
        {"reference": normal},
        {"pool": bs.table(None, id="id")},
        {"from_last": True},
        {"rounds": Rounds(m=2)},
    ):
        with pytest.raises(InputError, match="go with the table"):
            go_on(tmp_path, **wrong)
    with pytest.raises(InputError, match="leave out what is said about columns"):
        go_on(tmp_path, bs.table(second, id="id"), from_last=True)


def test_a_table_that_was_written_over_is_named(monday, tmp_path):
    export(tmp_path, "monday", 9)
    with pytest.raises(InputError, match=r"monday.csv or normal.csv is not as when rows were chosen"):
        bs.ReviewSession.open(tmp_path)


def test_a_split_in_time_is_made_again(tmp_path):
    for seed, name in enumerate(("monday", "tuesday")):
        path = export(tmp_path, name, seed)
        pd.read_csv(path).assign(day=range(80)).to_csv(path, index=False)
    table, options = bs.table(tmp_path / "monday.csv", id="id", time="day"), {"k": 3, "m": 2, "kinds": Kinds(kinds=1)}
    first = bs.ReviewSession(table, folder=tmp_path, split=Split(until="60%"), **options)
    second = turn_to(first, tmp_path / "tuesday.csv")
    assert second.record["sizes"] == first.record["sizes"] and second.record["reference"] is None


def test_a_session_in_memory_has_no_place_for_a_reference():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="folder="):
        usual_rows(bs.ReviewSession(rng.normal(size=(30, 3)), rng.normal(size=(60, 3)), kinds=Kinds(kinds=1)))
