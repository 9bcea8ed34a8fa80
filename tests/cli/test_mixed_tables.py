"""Tables with categories, gaps, dates and flags, as they come: what `select` makes of them, and what it says."""

import csv
import json
from datetime import datetime, timedelta

import numpy as np
import pytest

COLUMNS = ["id", "paid", "country", "shop", "amount", "vip", "blocked", "x", "channel"]
UNUSUAL = ("p7", "p20", "p33")


def payments(number, seed, letter):
    """By day only, in three countries (NA is Namibia); an amount is missing in about one of a hundred."""
    rng = np.random.default_rng(seed)
    for i in range(number):
        paid = datetime(2024, 3, 4 + i % 5, 8 + i % 10, int(rng.integers(60)))
        amount = "" if rng.random() < 0.01 else round(rng.lognormal(3, 1), 2)
        country, shop = rng.choice(["DE", "FR", "NA"]), rng.choice([5411, 5812, 5999, 7995, 4829, 6011])
        channel = rng.choice(["web", "app", ""], p=[0.6, 0.38, 0.02])
        flag = str(rng.random() < 0.05).lower()
        yield [f"{letter}{i}", paid, country, shop, amount, flag, "false", round(rng.normal(), 3), channel]


@pytest.fixture
def mixed(tmp_path):
    """400 usual payments, and 40 of which three are blocked ones from Bhutan at night, without an amount."""
    pool = list(payments(40, 1, "p"))
    for line in pool:
        if line[0] in UNUSUAL:
            line[1:3], line[4], line[6] = [line[1].replace(hour=3), "BT"], "", "true"
    for name, lines in (("reference", payments(400, 0, "r")), ("pool", pool)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *lines])
    return tmp_path


def command(folder, *more):
    options = ("--id-column", "id", "-k", "3", "-m", "3", *more)
    return ("select", folder / "pool.csv", "--reference", folder / "reference.csv", *options)


def test_a_table_as_it_comes_goes_through_and_is_explained_in_words(run, mixed):
    outcome = run(*command(mixed, "--out", mixed / "out"))
    assert outcome.code == 0
    said = " ".join(outcome.err.split())
    assert "Left out, dates: paid. To use parts of one say" in said and "--column paid=date:hour,weekday,gap" in said
    assert "'shop': looks like a code, 6 whole numbers far apart" in said and "--column shop=category" in said
    assert "blocked: constant (false) in the reference, differs in 3 pool rows" in said
    answer = json.loads((mixed / "out" / "selection.json").read_text())
    assert answer["samples"] == list(UNUSUAL) and set(answer["features"]) == {"country", "amount", "blocked"}
    with (mixed / "out" / "explanation.csv").open() as file:
        cells = {
            line["feature"]: line for line in csv.DictReader(file) if line["sample"] == "p7" and line["kind"] == "1"
        }
    assert cells["country"]["value"] == cells["country"]["direction"] == "BT"
    assert (
        cells["country"]["usual"] == "DE, NA or FR" and cells["country"]["reason"] == "country BT (normal DE, NA or FR)"
    )
    assert cells["amount"]["value"] == "" and cells["amount"]["direction"] == "missing"
    assert cells["amount"]["reason"].startswith("amount missing (normal ")
    printed = " ".join(outcome.out.split())
    assert "3 rows stand out and share: country = BT, blocked = true and no amount." in printed
    assert "blocked true (normal false)" in printed
    page = (mixed / "out" / "report.html").read_text()
    assert "<b>country BT</b> (normal DE, NA or FR)" in page and "Weighed by how rare a value is" in page
    assert answer["kinds"][0]["name"] == "country = BT, blocked = true and missing amount together"


def test_a_gap_can_be_the_strongest_reason(run, mixed):
    answer = json.loads(run(*command(mixed, "--features", "amount,x", "-m", "1", "--json")).out)
    assert ("missing amount", list(UNUSUAL)) in [(kind["name"], kind["samples"]) for kind in answer["kinds"]]


def test_parts_of_dates_and_codes_are_used_where_asked_for(run, mixed):
    more = (
        "--column",
        "paid=date:hour,weekday,gap",
        "--column",
        "shop=category",
        "--features",
        "paid,shop,x",
        "-m",
        "1",
    )
    answer = json.loads(run(*command(mixed, *more, "--json")).out)
    assert answer["samples"] == list(UNUSUAL) and answer["features"] == ["paid hour"]
    outcome = run(*command(mixed, *more))
    assert "paid hour 03:00 (normal " in " ".join(outcome.out.split())
    assert "looks like a code" not in outcome.err and "Left out" not in outcome.err


def test_the_time_column_can_give_its_hour_in_its_own_format(run, tmp_path):
    start = datetime(2024, 3, 4, 8)
    times = [start + timedelta(days=i // 8, hours=i % 8) for i in range(80)]
    times[70] = times[70].replace(hour=23)
    lines = [f"{time:%d/%m/%Y %H:%M},{i % 7}" for i, time in enumerate(times)]
    (tmp_path / "t.csv").write_text("\n".join(["when,x", *lines]) + "\n")
    split = ("--time-column", "when", "--date-format", "%d/%m/%Y %H:%M", "--reference-until", "75%")
    outcome = run("select", tmp_path / "t.csv", *split, "--column", "when=date", "-k", "1", "-m", "1", "--json")
    answer = json.loads(outcome.out)
    assert answer["samples"] == ["70"] and answer["features"] == ["when hour"]


def test_a_few_words_among_numbers_are_missing_unless_somebody_says_which_are(run, mixed):
    text = (mixed / "reference.csv").read_text()
    (mixed / "reference.csv").write_text(text.rsplit(",", 2)[0] + ",unknown,web\n")
    outcome = run(*command(mixed))
    assert outcome.code == 0
    said = "'x': mostly numbers; 'unknown' is taken for missing. Otherwise say --column x=category."
    assert said in " ".join(outcome.err.split())
    outcome = run(*command(mixed), "--na-values", "off")
    assert outcome.code == 2
    for part in ("column 'x' is not numeric (line 401 holds 'unknown'", "--na-values unknown", "--column x=category)"):
        assert part in outcome.err


def test_codes_that_only_one_file_could_take_for_numbers_are_compared_as_text(run, tmp_path):
    (tmp_path / "reference.csv").write_text("zip,x\n" + "".join(f"{'N4' if i % 3 else '007'},{i}\n" for i in range(50)))
    (tmp_path / "pool.csv").write_text("zip,x\n007,20\n008,20\n007,21\n")
    options = ("--reference", tmp_path / "reference.csv", "-k", "1", "-m", "1", "--json")
    answer = json.loads(run("select", tmp_path / "pool.csv", *options).out)
    assert answer["samples"] == ["1"] and answer["features"] == ["zip"]


def test_free_text_is_shown_and_refused_as_a_feature(run, tmp_path):
    for name in ("reference", "pool"):
        (tmp_path / f"{name}.csv").write_text("note,x\n" + "".join(f"note {i},{i}\n" for i in range(50)))
    options = ("--reference", tmp_path / "reference.csv", "-k", "1", "-m", "1")
    assert list(json.loads(run("select", tmp_path / "pool.csv", *options, "--json").out)["shown"]) == ["note"]
    outcome = run("select", tmp_path / "pool.csv", *options, "--features", "note,x")
    assert outcome.code == 2 and "column 'note' holds free text or ids" in outcome.err
    assert "--exclude note, only show it with --show note, make it --id-column note" in " ".join(outcome.err.split())
    assert run("select", tmp_path / "pool.csv", *options, "--column", "note=category").code == 0


def test_mixed_tables_can_be_reviewed(run, mixed):
    (mixed / "answers.csv").write_text("id,answer\np7,1\np1,0\n")
    tables = (mixed / "session", mixed / "pool.csv", "--reference", mixed / "reference.csv", "--id-column", "id")
    options = ("-k", "3", "-m", "3", "--column", "paid=date:hour", "--answers", mixed / "answers.csv", "--json")
    [table] = json.loads(run("review", *tables, *options).out)["tables"]
    rows = table["rows"]
    assert [(row["name"], row["verdict"]) for row in rows] == [("p7", "not fine"), ("p1", "fine")]
    parts = {part["column"]: part for part in rows[0]["parts"]}
    assert parts["country"]["value"] == "BT" and parts["country"]["is_reason"]
    assert abs(sum(part["part"] for part in rows[0]["parts"]) - rows[0]["score"]) < 1e-9
