import csv
import io

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns, Kinds, Reviewing, Split
from biselect.pages.over_time import render_answers
from biselect.sessions.exports import (
    answers_csv,
    drift_from_reference,
    go_on,
    next_csv,
    read_answers,
    summarise,
    take_answers,
    turn_to,
    usual_rows,
)
from biselect.sessions.exports import (
    export as export_files,
)
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
    assert len(monday.answers) == 3  # the earlier answers stay
    monday.answer({rows[2].row: "unsure"})
    assert usual_rows(monday) != place and bs.ReviewSession.open(tmp_path).choice == 1  # and so does their reference


def test_the_same_reference_stays_unless_another_is_given(monday, tmp_path):
    assert turn_to(monday, export(tmp_path, "tuesday", 3)).record["reference"] == "normal.csv"


def test_the_budgets_asked_for_stay_unless_others_are_given(monday, tmp_path):
    assert turn_to(monday, tmp_path / "monday.csv").choice == 0  # the same table and options: nothing new
    tuesday = turn_to(monday, export(tmp_path, "tuesday", 3), reviewing=Reviewing(m=3, seed=5))
    assert {name: tuesday.record["options"][name] for name in ("k", "m", "seed")} == {"k": 4, "m": 3, "seed": 5}
    with pytest.raises(InputError, match="both name the reference"):
        turn_to(monday, tmp_path / "tuesday.csv", tmp_path / "normal.csv", from_last=True)


def test_a_folder_is_begun_gone_on_with_and_turned_to_a_new_export(tmp_path):
    normal, first, second = (export(tmp_path, name, seed) for seed, name in enumerate(("normal", "one", "two")))
    told = []
    named = bs.table(first, id="id")
    begun = go_on(tmp_path, named, normal, reviewing=Reviewing(m=2, kinds=1), tell_drift=told.append)
    assert go_on(tmp_path).choice == begun.choice == 0 and told == []
    turned = go_on(tmp_path, second, from_last=True, tell_drift=told.append)
    assert turned.record["reference"].startswith("usual-rows-of-one.csv-")
    assert ["verdict" in drift for drift in told] == [True]
    for wrong in (
        {"reference": normal},
        {"pool": bs.table(None, id="id")},
        {"from_last": True},
        {"reviewing": Reviewing(m=2)},
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


HOSTILE = '"><script>alert(1)</script>'


def test_answers_as_people_write_them():
    given = read_answers([*"abcdef"], ["yes", 0, None, "TRUE", "Unsure", "not fine"])
    assert given == {"a": "not fine", "b": "fine", "d": "not fine", "e": "unsure", "f": "not fine"}
    with pytest.raises(InputError, match="'x'"):
        read_answers(["x"], ["perhaps"])


@pytest.fixture
def session(tmp_path):
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(200, 6)), rng.normal(size=(60, 6))
    pool[:6, 1:4] += 4
    frame = pd.DataFrame(pool, columns=[*"abcdef"]).assign(id=[f"={i}" if i else HOSTILE for i in range(60)])
    normal = pd.DataFrame(reference, columns=[*"abcdef"])
    return bs.ReviewSession(bs.table(frame, id="id"), normal, folder=tmp_path / "s", k=4, m=2, kinds=Kinds(kinds=1))


def rows_of(session):
    return summarise(session.file)["tables"][0]["rows"]


def test_rows_can_be_filled_in_and_given_back(session, tmp_path):
    lines = list(csv.DictReader(io.StringIO(next_csv(session.next_rows(4)))))
    assert len(lines) == 4 and all(line["answer"] == "" for line in lines)
    filled = pd.DataFrame(lines).assign(answer=["no", "not fine", "", "unsure"], note=["", "why", "", ""])
    filled.to_csv(tmp_path / "filled.csv", index=False)
    assert take_answers(session, tmp_path / "filled.csv", who="Ana", when="Monday") == 3
    assert take_answers(session, tmp_path / "filled.csv") == 0  # given twice, nothing changes
    rows = rows_of(session)
    assert [row["verdict"] for row in rows] == ["fine", "not fine", "unsure"]
    assert (rows[1]["note"], rows[1]["who"], rows[1]["when"]) == ("why", "Ana", "Monday")
    (tmp_path / "bad.csv").write_text("sample,answer\n'=50,1\nnobody,1\n")
    with pytest.raises(InputError, match="no row 'nobody'"):
        take_answers(session, tmp_path / "bad.csv")
    assert len(session.answers) == 3  # refused as a whole


def test_rows_to_fill_in_come_with_what_is_known_of_them():
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(rng.normal(size=(30, 3)), columns=[*"abc"]).assign(number=[f"B{i}" for i in range(30)])
    pool.loc[4, "b"] = 99.0
    session = bs.ReviewSession(bs.table(pool, columns=Columns(show=["number"])), pool[[*"abc"]], kinds=Kinds(kinds=1))
    [queued] = session.next_rows(1)
    session.answer(queued, "fine")
    for text in (next_csv([queued]), answers_csv(summarise(session.file))):
        [line] = csv.DictReader(io.StringIO(text))
        assert queued.row == 4 and f"number: B{queued.row}" in line["shown"] and "b 99 (normal" in line["reasons"]


def test_the_export_holds_every_answer_and_names_stay_text(session, tmp_path):
    session.answer({HOSTILE: "not fine", "=1": "unsure"}, note=HOSTILE)
    written = {path.name for path in export_files(session, tmp_path / "out", progress=False)}
    assert {"answers.csv", "answers.html", "report.html", "proof.json"} <= written
    text = (tmp_path / "out" / "answers.csv").read_text(encoding="utf-8")
    lines = list(csv.DictReader(text.splitlines(keepends=True)))
    assert [(line["sample"], line["answer"]) for line in lines] == [(HOSTILE, "not fine"), ("'=1", "unsure")]
    page = (tmp_path / "out" / "answers.html").read_text()
    assert "<script>" not in page and "1 of 2 reviewed rows" in page


def test_the_page_of_a_session_without_answers(session):
    assert "Nothing was answered yet." in render_answers(summarise(session.file))
    session.answer({row: row < 6 for row in range(12)})
    page = render_answers(summarise(session.file))
    assert "expected to hold" in page and "6 of 12" in page
