import csv
import io

import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Columns, Kinds
from biselect.pages.over_time import render_rounds
from biselect.sessions.exports import answers_csv, export, next_csv, read_answers, rounds_summary, take_answers

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


def rows_of(summary):
    return summary["tables"][0]["rounds"][-1]["rows"]


def test_a_round_can_be_filled_in_and_given_back(session, tmp_path):
    session.next_rows(4)
    text = next_csv(rows_of(rounds_summary(session.file)))
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 4 and all(line["answer"] == "" for line in lines)
    filled = pd.DataFrame(lines).assign(answer=["no", "not fine", "", "unsure"], note=["", "why", "", ""])
    filled.to_csv(tmp_path / "filled.csv", index=False)
    assert take_answers(session, tmp_path / "filled.csv", who="Ana", when="Monday") == 3
    assert take_answers(session, tmp_path / "filled.csv") == 0  # given twice, nothing changes
    rows = rows_of(rounds_summary(session.file))
    assert [row["verdict"] for row in rows] == ["fine", "not fine", "", "unsure"]
    assert (rows[1]["note"], rows[1]["who"], rows[1]["when"]) == ("why", "Ana", "Monday")
    (tmp_path / "bad.csv").write_text("sample,answer\n'=50,1\nnobody,1\n")
    with pytest.raises(InputError, match="no row 'nobody'"):
        take_answers(session, tmp_path / "bad.csv")
    assert len(session.standing.latest()) == 3  # refused as a whole


def test_rows_to_fill_in_come_with_what_is_known_of_them():
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(rng.normal(size=(30, 3)), columns=[*"abc"]).assign(number=[f"B{i}" for i in range(30)])
    session = bs.ReviewSession(bs.table(pool, columns=Columns(show=["number"])), pool[[*"abc"]], kinds=Kinds(kinds=1))
    [row] = session.next_rows(1)
    session.answer({row.row: "fine"})
    summary = rounds_summary(session.file)
    for text in (next_csv(rows_of(summary)), answers_csv(summary)):
        [line] = csv.DictReader(io.StringIO(text))
        assert line["shown"] == f"number: B{row.row}" and "reference rows" in line["reasons"]


def test_the_export_holds_every_answer_and_names_stay_text(session, tmp_path):
    session.answer({HOSTILE: "not fine", "=1": "unsure"}, note=HOSTILE)
    standing = session.standing
    session.file.add_round(
        0, [], count=5, after=standing.last, known=standing.rounds
    )  # as where all rows were asked for
    written = {path.name for path in export(session, tmp_path / "out", progress=False)}
    assert {"answers.csv", "rounds.html", "choices.txt", "report.html", "proof.json"} <= written
    lines = list(
        csv.DictReader((tmp_path / "out" / "answers.csv").read_text(encoding="utf-8").splitlines(keepends=True))
    )
    assert [(line["sample"], line["answer"]) for line in lines] == [(HOSTILE, "not fine"), ("'=1", "unsure")]
    page = (tmp_path / "out" / "rounds.html").read_text()
    assert "<script>" not in page and "you" not in answers_csv(rounds_summary(session.file))


def test_the_page_of_a_session_without_answers():
    rng = np.random.default_rng(0)
    session = bs.ReviewSession(rng.normal(size=(30, 3)), rng.normal(size=(60, 3)), kinds=Kinds(kinds=1))
    session.next_rows(2)
    page = render_rounds(rounds_summary(session.file))
    assert "Nothing was answered yet." in page and "no answer yet" in page
