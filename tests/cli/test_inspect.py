"""Exports of spreadsheets and banks of many countries: one `inspect`, then the command that it prints."""

import json
import shlex
from datetime import datetime, timedelta

import numpy as np
import pytest

import biselect as bs
from biselect.pages import render_inspection

TEXT = "Zahlung {} für Müller & Söhne, Köln"
FAST = ("--kinds", "1", "--neighbours", "0", "0")  # neither has to do with reading
RARE = range(270, 300, 3)  # the unusual bookings, all in the latest part


def bookings(rows=300):
    """Bookings as plain data: id, time, amount, fee, merchant category, postcode, whether it is a fraud."""
    rng = np.random.default_rng(1)
    for i in range(rows):
        fraud = i in RARE
        amount = round(float(rng.lognormal(4, 1)) + 4000 * fraud, 2)
        yield {
            "id": f"B{i:05d}",
            "when": datetime(2025, 1, 2) + timedelta(hours=7 * i),
            "amount": amount if i % 40 != 7 else None,
            "fee": round(float(rng.normal(20, 3)) + 40 * fraud, 3),
            "mcc": int(rng.choice([5411, 5812, 5999, 4829, 6011, 7995])),
            "postcode": f"{1067 + 1499 * int(rng.integers(0, 60)):05d}",
            "fraud": fraud,
        }


def number(value, decimals, decimal, thousands):
    text = f"{value:,.{decimals}f}".replace(",", "\0").replace(".", decimal)
    return text.replace("\0", thousands)


def export(names, *, delimiter, decimal, thousands, dates, yes_no, missing=("",), unit="", repeat=0, text=TEXT):
    """The bookings as a country's spreadsheet writes them; names in the order of `bookings`."""
    lines = [delimiter.join(names)]
    written = list(bookings())
    for at, row in enumerate([*written, *written[len(written) - repeat :]]):
        amount = (
            missing[at // 40 % len(missing)]
            if row["amount"] is None
            else number(row["amount"], 2, decimal, thousands) + unit
        )
        cells = [
            row["id"],
            row["when"].strftime(dates),
            amount,
            number(row["fee"], 3, decimal, ""),
            str(row["mcc"]),
            row["postcode"],
            text.format(row["id"]),
            yes_no[not row["fraud"]],
        ]
        quoted = [f'"{cell}"' if delimiter in cell or "\n" in cell else cell for cell in cells]
        lines.append(delimiter.join(quoted))
    return "\r\n".join(lines) + "\r\n"


GERMAN = ["Buchungs-Nr", "Buchungstag", "Betrag", "Gebühr", "Händlerkategorie MCC", "PLZ", "Verwendungszweck", "Betrug"]
ENGLISH = ["id", "date", "amount", "fee", "mcc", "zip", "memo", "is_fraud"]
FRENCH = ["Numéro", "Date", "Montant", "Frais", "Code MCC", "Code postal", "Libellé", "Fraude"]
COUNTRIES = {
    "german": (
        export(
            GERMAN,
            delimiter=";",
            decimal=",",
            thousands=".",
            dates="%d.%m.%Y",
            yes_no=("ja", "nein"),
            missing=("n/a", "-"),
            repeat=5,
        ).encode("utf-8-sig"),
        "csv",
    ),
    "german, cp1252": (
        export(
            GERMAN,
            delimiter=";",
            decimal=",",
            thousands=".",
            dates="%d.%m.%Y %H:%M",
            yes_no=("Ja", "Nein"),
            missing=("k.A.", "#NV"),
            repeat=3,
        ).encode("cp1252"),
        "csv",
    ),
    "german, line breaks": (
        export(
            GERMAN,
            delimiter=";",
            decimal=",",
            thousands=".",
            dates="%d.%m.%y",
            yes_no=("Betrug", "ok"),
            text="Zahlung {}\nfür Müller; & Söhne",
        ).encode(),
        "csv",
    ),
    "american": (
        export(
            ENGLISH,
            delimiter=",",
            decimal=".",
            thousands=",",
            dates="%m/%d/%Y %I:%M %p",
            yes_no=("Yes", "No"),
            missing=("", "N/A"),
        )
        .replace("\r\n", "\n")
        .encode(),
        "csv",
    ),
    "french": (
        export(
            FRENCH, delimiter=";", decimal=",", thousands="\u00a0", dates="%d/%m/%Y", yes_no=("oui", "non"), unit=" €"
        ).encode("cp1252"),
        "csv",
    ),
    "swiss": (
        export(
            GERMAN,
            delimiter=";",
            decimal=".",
            thousands="'",
            dates="%d.%m.%Y",
            yes_no=("wahr", "falsch"),
            missing=("?",),
        ).encode("utf-8-sig"),
        "csv",
    ),
    "excel's unicode text": (
        export(
            ENGLISH,
            delimiter="\t",
            decimal=",",
            thousands="\u202f",
            dates="%Y/%m/%d",
            yes_no=("1", "0"),
            missing=(".",),
        ).encode("utf-16"),
        "txt",
    ),
}


@pytest.mark.parametrize("country", COUNTRIES)
def test_one_inspect_and_the_command_that_it_prints_give_a_report(run, tmp_path, monkeypatch, country):
    content, ending = COUNTRIES[country]
    path = tmp_path / f"export of {len(country)}.{ending}"
    path.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    looked = run("inspect", path, "--json", "--out", "page.html")
    assert looked.code == 0, looked.err
    found = json.loads(looked.out)
    roles = {column["name"]: column["role"] for column in found["columns"]}
    assert list(roles.values())[:4] == ["id", "time", "number", "number"]
    assert list(roles.values())[4:] == ["code", "code", "free text", "label"]
    command = shlex.split(found["command"])
    assert command[:2] == ["biselect", "select"]
    outcome = run(*command[1:], *(() if country == "german" else FAST))
    assert outcome.code == 0, outcome.err
    folder = tmp_path / f"export of {len(country)}-report"
    answer = json.loads((folder / "selection.json").read_text())
    frauds = {f"B{i:05d}" for i in RARE}
    assert len(frauds & set(answer["samples"])) >= 8 and len(answer["samples"]) == 20
    assert (folder / "report.html").exists()
    assert bs.inspect(path).guess.columns[2].type == "double"
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page and found["command"].split()[0] in page


def test_what_was_taken_is_said_and_kept(run, tmp_path, monkeypatch):
    path = tmp_path / "buchungen.csv"
    path.write_bytes(COUNTRIES["german"][0])
    monkeypatch.chdir(tmp_path)
    command = shlex.split(bs.inspect(path).to_dict()["command"])
    assert command[3:] == ["--out", "buchungen-report"]  # the rest is found out by `select` too
    outcome = run(*command[1:], *FAST)
    said = " ".join(outcome.err.split())
    for part in (
        "buchungen.csv read as: UTF-8 with a byte order mark, ';' between values, decimal comma in 'Betrag', 'Gebühr'",
        "point between thousands in 'Betrag'",
        "dates 31.12.2025 in 'Buchungstag'",
        "'n/a' and '-' missing in 'Betrag'",
        "5 rows left out: another one has the same id.",
        "'Betrug': 'ja' in it is taken for a known positive: shown, never used. Otherwise say --column Betrug=catego",
        "'Buchungs-Nr': names the rows; 5 rows repeat an earlier one in every column: the first of each is kept.",
        "whole numbers that name things: a category, no quantity. Otherwise say --column 'Händler",
        "'PLZ': digits, some of which begin with 0: kept as text, a category. Otherwise say --column PLZ=number.",
    ):
        assert part in said, part
    (entry,) = json.loads((tmp_path / "buchungen-report" / "report.json").read_text())["reproduce"]["inputs"]
    assert entry["read_as"][1] == "';' between values"


def test_every_guess_can_be_overridden(run, tmp_path, monkeypatch):
    path = tmp_path / "b.csv"
    path.write_bytes(COUNTRIES["german, cp1252"][0])
    monkeypatch.chdir(tmp_path)
    command = shlex.split(bs.inspect(path).to_dict()["command"])[1:]
    told = [
        "--time-column",
        "Buchungstag",
        "--id-column",
        "Buchungs-Nr",
        "--duplicates",
        "first",
        "--encoding",
        "cp1252",
        "--delimiter",
        ";",
        "--decimal",
        ",",
        "--thousands",
        ".",
        "--date-format",
    ]
    told += ["%d.%m.%Y %H:%M", "--na-values", "k.A.,#NV", "--label-column", "Betrug=Ja"]
    command += FAST
    guessed = run(*command, "--json")
    given = run(*command, *told, "--json")
    assert given.code == 0 and json.loads(given.out) == json.loads(guessed.out)
    for more, message in (
        (["--decimal", "."], "column 'Betrag' is not numeric (line"),
        (["--decimal", "x"], "--decimal must be ',' or '.'"),
        (["--thousands", ","], "--decimal and --thousands are both ','"),
        (["--encoding", "klingon"], "--encoding klingon is not known"),
        (["--encoding", "utf-8"], "is not utf-8 all through; say what it is with --encoding"),
        (["--date-format", "%m/%d/%Y"], "holds dates such as 31.12.2025 15:45, which is not --date-format %m/%d/%Y"),
        (
            ["--date-format", "%m/%d/%Y", "--time-column", "Buchungstag"],
            "line 2 holds '02.01.2025 00:00', which is not --date-format %m/%d/%Y",
        ),
        (["--na-values", "n/a"], "others '#NV'"),
        (
            ["--duplicates", "error", "--id-column", "Buchungs-Nr"],
            "id 'B00297' stands in line 299 and line 302; so do 2 other ids ('B00298', 'B00299')",
        ),
        (["--duplicates", "none"], "--duplicates must be first, last or error"),
        (["--label-column", "Betrug=vielleicht"], "holds no 'vielleicht'; it holds 'Ja', 'Nein'"),
    ):
        outcome = run(*command, *(["--decimal", ","] if more[0] == "--thousands" else []), *more)
        assert outcome.code == 2 and message in outcome.err, (more, outcome.err)


def test_inspect_takes_the_options_of_select_and_prints_them(run, tmp_path):
    (tmp_path / "p.csv").write_text("name,x,y\n" + "".join(f"n{i},{i % 7},{i % 3}\n" for i in range(30)))
    outcome = run("inspect", tmp_path / "p.csv", "--column", "y=category", "--na-values", "n3")
    assert outcome.code == 0 and "--column y=category --na-values n3 --out p-report" in outcome.out
    assert run("inspect", tmp_path / "p.csv", "--out", "x.txt").code == 2
    assert run("inspect", tmp_path / "p.csv", "--column", "y=colour").code == 2
    assert run("inspect", tmp_path / "p.csv", "--column", "z=category").code == 2


def test_names_cannot_break_the_page_or_the_command(run, tmp_path, monkeypatch):
    hostile = '<script>alert("x")</script>'
    names = ["id", "when", hostile, "a, b", "-k"]
    path = tmp_path / "-x y.csv"
    rows = [f"i{i},2026-01-{1 + i % 28:02d},{i % 5},{i % 7},{i % 3}" for i in range(60)]
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path.write_text("\n".join([quoted, *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    view = bs.inspect("-x y.csv").to_dict()
    assert hostile not in render_inspection(view)
    assert run(*shlex.split(view["command"])[1:]).code == 0


def test_a_file_that_does_not_show_its_decimals_is_read_as_the_other(run, tmp_path):
    rows = "".join(f"{i};{i % 9},5;{1 + i % 7}.{i:03d}\n" for i in range(100))
    (tmp_path / "reference.csv").write_text("n;fee;sum\n" + rows)
    (tmp_path / "pool.csv").write_text("n;fee;sum\n1;2;3.001\n2;3;4.002\n3;4;900.000\n")
    options = ("--reference", tmp_path / "reference.csv", "--exclude", "n", "-k", "1", "-m", "1", *FAST, "--json")
    answer = json.loads(run("select", tmp_path / "pool.csv", *options).out)
    assert answer["samples"] == ["2"] and answer["features"] == ["sum"]
    plain = run("select", tmp_path / "pool.csv", *options, "--decimal", ",")
    assert json.loads(plain.out) == answer


def test_nothing_of_a_file_steers_the_terminal(run, tmp_path):
    path = tmp_path / "t.csv"
    names = ["id", "a\x9b31m", "b\u202e"]
    rows = "".join(f"i{i},{i % 5},x\u202e{i % 3}\n" for i in range(60))
    path.write_text(",".join(names) + "\n" + rows, encoding="utf-8")
    for shown in (run("inspect", path), run("inspect", path, "--json")):
        assert shown.code == 0 and not {"\x9b", "\u202e"} & set(shown.out + shown.err)
    assert [column["name"] for column in json.loads(shown.out)["columns"]] == names
