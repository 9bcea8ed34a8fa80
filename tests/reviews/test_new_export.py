import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.data.readers import read_table
from biselect.errors import InputError
from biselect.reviews.new_export import drift_from_reference, turn_to, usual_rows


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
        export(tmp_path, "monday", 1), normal, id_column="id", exclude=["id"], folder=tmp_path, k=4, m=2, kinds=1
    )


def test_drift_is_told_before_anything_is_chosen(monday, tmp_path):
    calm = drift_from_reference(monday, export(tmp_path, "calm", 2))
    moved = drift_from_reference(monday, export(tmp_path, "tuesday", 3, shift=2.0))
    assert not calm["crossed"] and moved["crossed"] and moved["changed_columns"] == ["d"]


def test_yesterday_without_what_was_not_fine_becomes_the_reference(monday, tmp_path):
    rows = monday.next_rows(3)
    monday.answer(dict(zip([row.row for row in rows], ["not fine", "unsure", "fine"], strict=True)))
    place = usual_rows(monday)
    assert place == tmp_path / "usual-rows-of-monday.csv.parquet" and read_table(place).num_rows == 78
    tuesday = turn_to(monday, export(tmp_path, "tuesday", 3), place)
    assert tuesday.choice == 1 and tuesday.record["reference"] == place.name
    assert tuesday.record["roles"] == monday.record["roles"] and tuesday.next_rows(2)[0].name.startswith("tuesday")
    assert [record["pool"] for record in tuesday.file.choices()] == ["monday.csv", "tuesday.csv"]
    again = bs.ReviewSession.open(tmp_path)
    assert again.choice == 1 and again.next_rows(2) == tuesday.next_rows(2)
    assert len(monday.history) == 2  # the earlier answers stay


def test_the_same_reference_stays_unless_another_is_given(monday, tmp_path):
    assert turn_to(monday, export(tmp_path, "tuesday", 3)).record["reference"] == "normal.csv"


def test_a_split_in_time_is_made_again(tmp_path):
    for seed, name in enumerate(("monday", "tuesday")):
        path = export(tmp_path, name, seed)
        pd.read_csv(path).assign(day=range(80)).to_csv(path, index=False)
    roles = {"id_column": "id", "time_column": "day", "reference_until": "60%"}
    first = bs.ReviewSession(tmp_path / "monday.csv", folder=tmp_path, k=3, m=2, kinds=1, **roles)
    second = turn_to(first, tmp_path / "tuesday.csv")
    assert second.record["sizes"] == first.record["sizes"] and second.record["reference"] is None


def test_a_session_in_memory_has_no_place_for_a_reference():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="folder="):
        usual_rows(bs.ReviewSession(rng.normal(size=(30, 3)), rng.normal(size=(60, 3)), kinds=1))
