import datetime
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from biselect.reviews import result

BASE = ("--id-column", "id", "-k", "2", "-m", "2")


def command(tables, *more, pool="pool.parquet", reference="reference.parquet"):
    return ("select", tables / pool, "--reference", tables / reference, *BASE, *more)


def test_the_rows_and_columns_that_stand_out_are_chosen_and_proven(run, tables):
    outcome = run(*command(tables, "--label-column", "fraud", "--json"))
    assert outcome.code == 0
    answer = json.loads(outcome.out)
    assert answer["samples"] == ["r3", "r7"]
    assert answer["features"] == ["x", "z"]
    assert answer["proven_optimal"] and answer["proof_checked"] and answer["gap"] == 0
    assert np.nextafter(answer["energy"], -np.inf) <= answer["bound"] <= answer["energy"]
    assert answer["score"] == pytest.approx(sum(answer["components"].values()))


def test_people_get_tables_on_stdout_and_steps_on_stderr(run, tables):
    outcome = run(*command(tables, "--label-column", "fraud"))
    said = " ".join(outcome.out.split())
    assert said.startswith("So few of these 12 rows stand out that chance could have given them.")
    assert "Review these 2: low z and high x together" in said and "r3 score " in said and "z -7 (normal " in said
    score = json.loads(run(*command(tables, "--label-column", "fraud", "--json")).out)["score"]
    assert f"Proven: no other choice scores higher than {score:.1f}." in said
    assert "1 of 2 chosen are positive, F1@k 0.500" in outcome.out
    assert "Reading" in outcome.err and "Reading" not in outcome.out
    assert run(*command(tables, "--label-column", "fraud", "-q")).err == ""


def test_labels_are_never_used(run, tables):
    reference = pq.read_table(tables / "reference.parquet").append_column("fraud", pa.array([0, 1] * 30))
    pq.write_table(reference, tables / "reference.parquet")
    with_labels = run(*command(tables, "--label-column", "fraud", "--json")).out
    assert run(*command(tables, "--exclude", "fraud", "--json")).out == with_labels
    as_feature = run(*command(tables, "--column", "fraud=number", "--json")).out
    assert json.loads(run(*command(tables, "--json")).out) == json.loads(with_labels)  # it is known by name and values
    assert json.loads(as_feature)["problem_hash"] != json.loads(with_labels)["problem_hash"]


def test_the_folder_holds_everything_and_equal_runs_give_equal_bytes(run, tables):
    for name in ("first", "second"):
        assert run(*command(tables, "--label-column", "fraud", "--out", tables / name)).code == 0
    names = {path.name for path in (tables / "first").iterdir()}
    assert names == {"selection.json", "explanation.csv", "report.json", "report.html", "run.json", "problem.npz"}
    assert (tables / "first" / "selection.json").read_bytes() == (tables / "second" / "selection.json").read_bytes()
    assert "seconds" in json.loads((tables / "first" / "run.json").read_text())
    shown = run("report", tables / "first", "--out", tables / "again.html")
    assert shown.code == 0 and "Proven: no other choice scores higher" in shown.out
    assert (tables / "again.html").read_text() == (tables / "first" / "report.html").read_text()
    solved = run("solve", tables / "first" / "problem.npz", "--json")
    assert json.loads(solved.out)["samples"] == ["r3", "r7"]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_answer_is_the_same_in_another_process_with_other_threads(run, tables, threads):
    arguments = [str(part) for part in command(tables, "--label-column", "fraud", "--json", "-q")]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
        "NUMBA_NUM_THREADS": threads,
    }
    other = subprocess.run(
        [sys.executable, "-m", "biselect", *arguments], capture_output=True, env=environment, check=True
    )
    assert other.stdout.decode() == run(*arguments).out


def test_one_file_split_in_time(run, tables):
    rng = np.random.default_rng(0)
    rows = {"t": np.arange(72), "a": rng.normal(size=72), "b": rng.normal(size=72)}
    rows["a"][70] = 50.0
    pq.write_table(pa.table(rows), tables / "all.parquet")
    outcome = run(
        "select", tables / "all.parquet", "--time-column", "t", "--reference-until", "59", "-k", 1, "-m", 1, "--json"
    )
    assert json.loads(outcome.out)["samples"] == ["70"]
    assert json.loads(outcome.out)["features"] == ["a"]


def edit(tables, **columns):
    """The pool with some columns replaced, added or (None) removed."""
    table = pq.read_table(tables / "pool.parquet").to_pydict()
    for name, values in columns.items():
        if values is None:
            del table[name]
        else:
            table[name] = values
    pq.write_table(pa.table(table), tables / "pool.parquet")


def test_a_circuit_keeps_the_rules_of_the_question(run, tables):
    asked = command(
        tables,
        "--preset",
        "paper",
        "--solver",
        "qaoa",
        "--must",
        "r1",
        "--never",
        "r3",
        "--kinds",
        "1",
        "--json",
        "--quiet",
    )
    found = run(*asked)
    assert found.code == 0, found.err
    chosen = json.loads(found.out)["samples"]
    assert sorted(chosen) == ["r1", "r7"]


@pytest.mark.parametrize(
    ("change", "more", "message"),
    [
        ({}, ["-k", "0"], "k must be a whole number of at least 1, got 0"),
        ({}, ["-k", "13"], "k may be 1 to 12"),
        ({}, ["-m", "5"], "m = 5 is out of range: with 4 columns, m may be 1 to 4"),
        ({"y": ["a"] * 12}, [], "column 'y' is not numeric (row 0 holds 'a'). Leave out with --exclude y"),
        ({"y": None}, [], "the pool lacks columns of the reference: 'y'"),
        ({"y": [None] + [1.0] * 11}, ["--missing", "error"], "--missing weigh or fill them with --missing median"),
        ({"y": [float("inf")] + [1.0] * 11}, [], "an infinite value in column 'y', row 0"),
        ({"id": ["same"] * 12}, [], "id 'same' stands in row 0 and row 1"),
        ({"fraud": [3] * 12}, ["--label-column", "fraud"], "must hold 0 and 1 only"),
        ({}, ["--id-column", "nobody"], "no column 'nobody'"),
        ({}, ["--features", "x,nothing"], "no column 'nothing'"),
        ({}, ["--solver", "magic"], "no solver 'magic'"),
        ({}, ["--map", "magic"], "there is no map 'magic'"),
        ({}, ["--column", "x=magic"], "--column x=magic: a column is number, category, date"),
        ({}, ["--column", "x"], "'x' is no NAME=TYPE"),
        ({}, ["--cap", "-1"], "cap"),
        ({}, ["--time-limit", "-1"], "time_limit"),
        ({}, ["--reference-until", "3"], "either --reference"),
        ({}, ["--pool-last", "3"], "--pool-last goes with"),
    ],
)
def test_bad_input_is_one_clear_line_exit_code_2_and_no_file(run, tables, change, more, message):
    edit(tables, **change)
    outcome = run(*command(tables, "--out", tables / "out", *more))
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert not (tables / "out").exists()


@pytest.mark.parametrize("what", ["absent", "empty", "truncated", "not-a-table"])
def test_unusable_files(run, tables, what):
    path = tables / "pool.parquet"
    if what == "absent":
        path.unlink()
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "truncated":
        path.write_bytes(path.read_bytes()[:100])
    else:
        path.write_bytes(b"hello")
    outcome = run(*command(tables))
    assert (outcome.code, outcome.out) == (2, "")
    assert str(path) in outcome.err


def test_too_small_a_reference(run, tables):
    pq.write_table(pq.read_table(tables / "reference.parquet").slice(0, 4), tables / "reference.parquet")
    outcome = run(*command(tables))
    assert outcome.code == 2 and "has 4 rows; calibration needs at least 10" in outcome.err


def test_usage_errors_are_exit_code_2(run, tables):
    assert run("nonsense").code == 2
    assert run("select", tables / "pool.parquet", "-k", "two", "-m", "1").code == 2
    assert run(*command(tables, "-m", "auto")).code == 2


def test_missing_values_can_be_filled(run, tables):
    edit(tables, y=[None] + [1.0] * 11)
    assert run(*command(tables, "--missing", "median", "--label-column", "fraud")).code == 0


def test_constant_features_are_dropped_and_said(run, tables):
    reference = pq.read_table(tables / "reference.parquet").append_column("flat", pa.array([1.0] * 60))
    pq.write_table(reference, tables / "reference.parquet")
    edit(tables, flat=[1.0] * 12)
    outcome = run(*command(tables, "--label-column", "fraud"))
    assert outcome.code == 0
    assert "Left out, the same in every row of reference and pool: flat" in outcome.err


def test_whole_budgets_are_allowed_and_said(run, tables):
    outcome = run(*command(tables, "-k", "12", "-m", "4"))
    assert outcome.code == 0
    assert "every row is chosen" in outcome.err and "every column is chosen" in outcome.err


def test_hostile_names_stay_data(run, tables):
    names = ['<script>alert("x")</script>\n[bold]', *(f"r{i}" for i in range(1, 12))]
    edit(tables, id=names, **{column: [60.0] + [0.0] * 11 for column in "xyzu"})
    outcome = run(*command(tables, "--label-column", "fraud", "-k", "1", "--out", tables / "out"))
    assert outcome.code == 0
    assert '<script>alert("x")</script>' in outcome.out and "[bold]" in outcome.out
    page = (tables / "out" / "report.html").read_text()
    assert "<script" not in page and "alert(" in page and "alert(" not in page.replace("&lt;script&gt;alert", "")


def test_csv_in_csv_out(run, tables):
    for name in ("pool", "reference"):
        pa.csv.write_csv(pq.read_table(tables / f"{name}.parquet"), tables / f"{name}.csv")
    outcome = run(*command(tables, "--label-column", "fraud", "--json", pool="pool.csv", reference="reference.csv"))
    assert json.loads(outcome.out)["samples"] == ["r3", "r7"]


@pytest.mark.slow
def test_the_full_credit_card_table(credit_card, tmp_path):
    """60 % reference, the last 5,000 rows as the pool, 29 features: proven within 20 s and 2 GiB."""
    script = f"""
import resource, sys, time
start = time.perf_counter()
from biselect.cli import main
sys.argv = ["biselect", "select", {str(credit_card / "creditcard.parquet")!r}, "--time-column", "Time",
    "--reference-until", "60%", "--pool-last", "5000", "--label-column", "Class", "-k", "20", "-m", "3",
    "--out", {str(tmp_path / "out")!r}]
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, gib = map(float, done.stderr.splitlines()[-1].split())
    answer = json.loads((tmp_path / "out" / "selection.json").read_text())
    assert answer["proven_optimal"]
    assert seconds < 20 and gib < 2


def test_all_unusable_columns_are_named_at_once(run, tables):
    edit(tables, x=["a"] * 12, y=[datetime.date(2024, 1, 2)] * 12)
    outcome = run(*command(tables))
    assert outcome.code == 2
    assert "column 'x' is not numeric (row 0 holds 'a')" in outcome.err
    assert "column 'y' holds times (2024-01-02); name it with --time-column" in outcome.err
    assert "--exclude x,y" in outcome.err


def test_columns_that_look_like_an_id_or_are_not_used_are_pointed_out(run, tables):
    reference = pq.read_table(tables / "reference.parquet").append_column("n,o", pa.array(np.arange(60)))
    pq.write_table(reference, tables / "reference.parquet")
    edit(tables, **{"n,o": list(range(1000, 1012)), "extra": [1.0] * 12})
    outcome = run(*command(tables, "--label-column", "fraud"))
    assert "Column 'n,o' lies beyond the reference in 100 % of the pool" in outcome.err
    assert "Not used, absent from the reference: extra" in outcome.err
    without = run(*command(tables, "--label-column", "fraud", "--exclude", "n,o", "--exclude", "extra"))
    assert "n,o" not in without.err and "extra" not in without.err
    assert (
        "neither the reference nor the pool has a column 'when'" in run(*command(tables, "--time-column", "when")).err
    )


def test_ids_of_a_csv_stay_text(run, tables):
    for name in ("pool", "reference"):
        pa.csv.write_csv(pq.read_table(tables / f"{name}.parquet"), tables / f"{name}.csv")
    text = (tables / "pool.csv").read_text().replace('"r3"', "007").replace('"r4"', "7")
    (tables / "pool.csv").write_text(text)
    outcome = run(*command(tables, "--label-column", "fraud", "--json", pool="pool.csv", reference="reference.csv"))
    assert json.loads(outcome.out)["samples"] == ["007", "r7"]


def test_a_place_that_cannot_be_written_is_found_before_the_work(run, tables):
    (tables / "file").write_text("in the way")
    outcome = run(*command(tables, "--out", tables / "file"))
    assert outcome.code == 2 and "is a file; give a folder" in outcome.err and "Solving" not in outcome.err
    (tables / "out" / "report.html").mkdir(parents=True)
    assert run(*command(tables, "--out", tables / "out")).code == 2
    assert [path.name for path in (tables / "out").iterdir()] == ["report.html"]


def test_names_cannot_steer_the_terminal(run, tables):
    edit(tables, id=["\x1b[31mred[/]", *(f"r{i}" for i in range(1, 12))], **{c: [60.0] + [0.0] * 11 for c in "xyzu"})
    outcome = run(*command(tables, "--label-column", "fraud", "-k", "1", "--out", tables / "a[/b]"))
    assert outcome.code == 0
    assert "\x1b[31m" not in outcome.out and "red[/]" in outcome.out
    assert "a[/b]" in outcome.err.replace("\n", "")


@pytest.mark.parametrize("stdout", ["closed", "full", "ascii"])
def test_odd_outputs_give_no_traceback(tables, stdout):
    edit(tables, id=["é", *(f"r{i}" for i in range(1, 12))], **{c: [60.0] + [0.0] * 11 for c in "xyzu"})
    arguments = [str(part) for part in command(tables, "--label-column", "fraud", "-k", "1", "-q")]
    redirect = {"closed": ">&-", "full": ">/dev/full", "ascii": ""}[stdout]
    line = f"{shlex.join([sys.executable, '-m', 'biselect', *arguments])} {redirect}"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"} if stdout == "ascii" else dict(os.environ)
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=environment)
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if stdout == "full" else 0)


def test_ctrl_c_stops_with_a_word(tables):
    rng = np.random.default_rng(0)
    big = pa.table({str(j): rng.normal(size=3000) for j in range(200)})
    pq.write_table(big, tables / "big.parquet")
    line = [sys.executable, "-m", "biselect", "solve", str(tables / "big.parquet"), "-k", "30", "-m", "6"]
    running = subprocess.Popen([*line, "--solver", "exact", "--time-limit", "60"], stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130 and errors.strip().endswith("interrupted")


def test_the_report_shows_neighbouring_budgets(run, tables):
    assert run(*command(tables, "--out", tables / "near", "--neighbours", "1", "1", "-q")).code == 0
    near = json.loads((tables / "near" / "report.json").read_text())["neighbours"]
    assert [(budget["k"], budget["m"]) for budget in near] == [(k, m) for k in (1, 2, 3) for m in (1, 2, 3)]
    assert all(budget["proven"] for budget in near)
    page = (tables / "near" / "report.html").read_bytes()
    assert run("report", tables / "near").code == 0
    assert (tables / "near" / "report.html").read_bytes() == page
    assert run(*command(tables, "--out", tables / "alone", "--neighbours", "0", "0", "-q")).code == 0
    assert len(json.loads((tables / "alone" / "report.json").read_text())["neighbours"]) == 1
    first, second = ((tables / name / "selection.json").read_bytes() for name in ("near", "alone"))
    assert first == second
    refused = run(*command(tables, "--neighbours", "-1", "0"))
    assert refused.code == 2 and "--neighbours takes two numbers from 0 up" in refused.err


def test_an_interrupt_among_the_neighbours_keeps_the_answer(run, tables, monkeypatch):
    def interrupted(*_, **options):
        assert options["time_limit"] == 3
        raise KeyboardInterrupt

    monkeypatch.setattr(result, "solve_neighbours", interrupted)
    outcome = run(*command(tables, "--out", tables / "out", "--time-limit", "3"))
    assert outcome.code == 0 and "left out: interrupted" in outcome.err
    assert len(json.loads((tables / "out" / "report.json").read_text())["neighbours"]) == 1
