"""`biselect review`: a session in a folder, answered through files or by hand."""

import csv
import json
import os
import sys

import numpy as np
import pytest


def write(path, matrix, first_id):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(f"c{j}" for j in range(matrix.shape[1]))])
        writer.writerows([f"{first_id}{i}", *row] for i, row in enumerate(matrix.tolist()))


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(100, 6))
    pool[:8, 1:4] += 4
    write(tmp_path / "pool.csv", pool, "p")
    write(tmp_path / "normal.csv", rng.normal(size=(200, 6)), "n")
    return tmp_path


def begin(folder, *more):
    tables = [folder / "session", folder / "pool.csv", "--reference", folder / "normal.csv", "--id-column", "id"]
    return ["review", *tables, "-k", "6", "-m", "2", "--kinds", "2", "-q", *more]


def present(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["tables"][-1]


def test_rows_are_filled_in_and_given_back(run, folder):
    first = json.loads(run(*begin(folder, "--json")).out)["queue"]
    assert len(first) == 6
    with (folder / "session" / "next.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["sample"] for line in lines] == [row["name"] for row in first]
    answers = folder / "answers.csv"
    with answers.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*lines[0]])
        writer.writeheader()
        for line in lines:
            hit = int(line["sample"][1:]) < 8
            writer.writerow({**line, "answer": "not fine" if hit else "no", "note": "=seen" if hit else ""})
    options = ["--answers", answers, "--who", "Ana", "--out", folder / "out", "--json", "-q"]
    outcome = run("review", folder / "session", "-k", "6", *options)
    second = present(outcome)
    assert len(second["rows"]) == 6 and second["found"]["hits"] >= 4
    rows = {row["name"]: row for row in second["rows"]}
    assert rows["p0"]["verdict"] == "not fine" and (rows["p0"]["note"], rows["p0"]["who"]) == ("=seen", "Ana")
    assert not {*rows} & {row["name"] for row in json.loads(outcome.out)["queue"]}
    exported = {path.name for path in (folder / "out").iterdir()}
    assert exported == {"answers.csv", "answers.html", "report"}
    assert {"proof.json", "report.html"} <= {path.name for path in (folder / "out" / "report").iterdir()}
    with (folder / "out" / "answers.csv").open() as file:
        assert "'=seen" in {line["note"] for line in csv.DictReader(file)}
    shown = " ".join(run("review", folder / "session", "-q").out.split())
    assert "Next rows" in shown and "of 6 reviewed rows were not fine." in shown and "found not fine" in shown


def test_a_new_export_shows_its_drift_and_takes_the_last_one_as_reference(run, folder):
    run(*begin(folder))
    rng = np.random.default_rng(1)
    write(folder / "tomorrow.csv", rng.normal(np.array([0, 0, 0, 0, 0, 2]), size=(80, 6)), "t")
    again = ["review", folder / "session", folder / "tomorrow.csv", "-k", "4"]
    outcome = run(*again, "--from-last", "--json")
    table = present(outcome)
    assert "have changed. Most clearly c5" in " ".join(outcome.err.split())
    assert table["pool"] == "tomorrow.csv" and table["reference"].startswith("usual-rows-of-pool.csv-")
    assert table["record"]["options"]["m"] == 2  # as it was asked for when the session was begun
    assert {row["name"][0] for row in json.loads(outcome.out)["queue"]} == {"t"}
    assert len(json.loads(outcome.out)["tables"]) == 2
    refused = run(*again, "--from-last", "--id-column", "id")
    assert refused.code == 2 and "leave out what is said about columns" in refused.err


def test_answers_by_hand_are_kept_at_once(run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    keys = iter(["2 a note of mine", "u", "nonsense", "1", "3", "e", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(keys))
    outcome = run(*begin(folder))
    assert outcome.code == 0 and "was not fine; it is open again" in " ".join(outcome.out.split())
    monkeypatch.undo()
    rows = present(run("review", folder / "session", "--json", "-q"))["rows"]
    assert [row["verdict"] for row in rows] == ["fine", "unsure"]  # what is taken back is asked again
    assert rows[0]["note"] == ""


def test_as_many_rows_are_asked_for_as_were_wanted(run, folder, monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: "2")
    outcome = run(*begin(folder))
    assert "6 of 6 reviewed rows were not fine" in " ".join(outcome.out.split())


def test_what_cannot_be_used_is_refused(run, folder):
    assert "holds no review session" in run("review", folder / "nothing").err
    run(*begin(folder))
    (folder / "answers.csv").write_text("id,label\np0,1\n")
    refused = run("review", folder / "session", "--answers", folder / "answers.csv")
    assert refused.code == 2 and "lacks the column 'answer'" in refused.err
    assert "go with the table" in run("review", folder / "session", "--id-column", "id").err
    (folder / "session" / "review.sqlite").write_bytes(b"no database at all" * 90)
    assert run("review", folder / "session").code == 2


@pytest.mark.skipif(sys.platform == "win32", reason="looks at rights")
def test_whatever_it_writes_is_its_owner_s_alone(run, folder):
    (folder / "session").mkdir()
    before = os.umask(0)  # a user who shares everything
    try:
        assert run(*begin(folder, "--out", folder / "out")).code == 0
        assert os.umask(0) == 0  # as it was
    finally:
        os.umask(before)
    written = [path for path in [*folder.rglob("*")] if path.name not in ("pool.csv", "normal.csv", "session")]
    assert {"review.sqlite", "next.csv", "out", "report", "proof.json"} <= {path.name for path in written}
    assert {path.name: path.stat().st_mode & 0o077 for path in written} == {path.name: 0 for path in written}
