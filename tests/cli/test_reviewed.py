"""`biselect select --reviewed`: answers in, the next rows out."""

import csv
import json

import numpy as np


def write(path, matrix, first_id):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *(f"c{j}" for j in range(matrix.shape[1]))])
        writer.writerows([f"{first_id}{i}", *row] for i, row in enumerate(matrix.tolist()))


def command(tmp_path, *more):
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(100, 6))
    pool[:8, 1:4] += 4
    write(tmp_path / "pool.csv", pool, "p")
    write(tmp_path / "normal.csv", rng.normal(size=(200, 6)), "n")
    options = ["-k", "6", "-m", "2", "--id-column", "id", "--kinds", "2", "-q", *more]
    return ["select", str(tmp_path / "pool.csv"), "--reference", str(tmp_path / "normal.csv"), *options]


def test_answers_lead_to_the_next_rows_and_never_to_reviewed_ones(run, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("id,answer\np0,1\np50,0\np51,\n")
    options = ["--reviewed", str(answers), "--out", str(tmp_path / "out"), "--json"]
    outcome = run(*command(tmp_path, *options))
    assert outcome.code == 0
    told = json.loads(outcome.out)
    assert (told["reviewed"], told["hits"], len(told["next"])) == (2, 1, 6)
    assert not {"p0", "p50"} & {row["sample"] for row in told["next"]}
    with (tmp_path / "out" / "next.csv").open() as file:
        assert [line["sample"] for line in csv.DictReader(file)] == [row["sample"] for row in told["next"]]
    assert len(json.loads((tmp_path / "out" / "session.json").read_text())["answers"]) == 2


def test_a_table_without_answers_is_refused(run, tmp_path):
    answers = tmp_path / "answers.csv"
    answers.write_text("id,label\np0,1\n")
    outcome = run(*command(tmp_path, "--reviewed", str(answers)))
    assert outcome.code == 2
    assert "lacks the column 'answer'" in outcome.err
