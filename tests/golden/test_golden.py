"""Answers stay byte-equal: 14 cases whose files are compared with hashes that were recorded before.

Each case writes its tables, runs the command line and hashes what it wrote: selection.json, explanation.csv, the arrays
of problem.npz and every section of report.json. Versions, clocks, the recorded command line and the names of temporary
folders are left out. A failure names the case and the file.

Record anew only if an answer is meant to change, and say in the commit which answer and why:

    python tests/golden/test_golden.py --record

Hashes hold for the packages in `recorded_with` of hashes.json: others may round the last bit differently.
"""

import csv
import hashlib
import json
import os
import platform
import sqlite3
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime, timedelta
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biselect.options import Columns, Kinds

# Every argument list stands here and nowhere else: whoever respells an option edits this table.
ROLES = ["--id-column", "id", "--label-column", "fraud"]
BUDGETS = ["-k", "6", "-m", "3"]
REFERENCE = ["--reference", "{folder}/reference{ending}"]
OTHER_COLUMNS = ["--column", "when=date:hour,weekday", "--show", "note", "--column", "plan=category"]
SELECT = ["select", "{folder}/pool{ending}", *REFERENCE, *ROLES, *BUDGETS, *OTHER_COLUMNS, "--out", "{out}"]
ARGUMENTS = {
    "demo": ["demo", "--out", "{out}"],
    "csv comma": SELECT,
    "csv semicolon and decimal comma": SELECT,
    "csv tab in cp1252": [*SELECT, "--encoding", "cp1252"],
    "csv thousands, currency and percent": [*SELECT, "--kinds", "2"],
    "csv quoted under a preamble": SELECT,
    "csv day-first dates and own marks of missing cells": [
        *[*SELECT, "--na-values", "k.A.,(none)", "--date-format", "%d/%m/%Y %H:%M", "--missing", "median"],
    ],
    "excel": [*SELECT, "--kinds", "1"],
    "sqlite": [
        *["select", "{folder}/shop.db::pool", "--reference", "{folder}/shop.db::select * from reference"],
        *[*ROLES, *BUDGETS, *OTHER_COLUMNS, "--out", "{out}"],
    ],
    "parquet folder": [*SELECT, "--time-limit", "60"],
    "cut in time": [
        *["select", "{folder}/pool.csv", "--time-column", "when", "--reference-until", "75%"],
        *[*ROLES, "-k", "5", "-m", "2", "--show", "note", "--column", "plan=category", "--json", "--out", "{out}"],
    ],
    "rules": [
        *[*SELECT, "--at-most", "2", "--per", "region", "--must", "B-0011", "--never", "B-0007,B-0023"],
        *["--must-column", "vip"],
    ],
    "compile": ["compile", "{folder}/problem.json", "--angles", "0.9,2.4,2.4,1.15", "--depth", "2", "--out", "{out}"],
    "run": ["run", "{out}", "--on", "sector", "--shots", "200", "--repeats", "2", "--out", "{folder}/run", "--json"],
}
SESSION = {"k": 6, "m": 3, "kinds": Kinds(kinds=3)}
SESSION_COLUMNS = Columns(id="id", label="fraud", show=["note", "when"], types={"plan": "category"})

HASHES = Path(__file__).with_name("hashes.json")
RECORD = "BISELECT_RECORD_GOLDEN"  # set by --record
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "qiskit")
PACKED = (".xlsx", ".db::pool", ".db::select * from reference", ".parquet")  # their bytes depend on who packs them
HOSTILE = 'Höhe "cm", <b>&=1+1</b>; größer'
UNUSUAL = (7, 11, 23, 38, 52)


Row = dict[str, Any]


def make_rows(count: int, seed: int, letter: str, start: datetime, unusual: Iterable[int] = ()) -> list[Row]:
    """Rows of a table with numbers, categories, flags, dates, missing cells, ids, free text and a hostile name."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        amount, share, height = rng.lognormal(7, 0.8), rng.beta(2, 8), rng.normal(170, 9)
        region = ("Süd", "Nord", "Übersee", "=West")[int(rng.integers(4))]
        plan, vip, gap, hour = (int(rng.integers(limit)) for limit in (3, 9, 25, 10))
        if number in unusual:
            amount, share, vip, hour = amount * 40, 0.93 + number / 1000, 0, 19 + number % 5
        rows.append(
            {
                "id": f"{letter}-{number:04d}",
                "when": start + timedelta(days=number // 3, hours=hour, minutes=int(rng.integers(60))),
                "amount": None if gap == 0 else round(float(amount), 2),
                "share": round(float(share), 3),
                HOSTILE: None if gap == 1 else round(float(height), 1),
                "region": None if gap == 2 else region,
                "plan": (4711, 815, 1337)[plan],
                "vip": "yes" if vip == 0 else "no",
                "flat": 7,
                "temperature": round(float(rng.normal()), 4),
                "note": f"order {number}; 'as agreed', see line\t{number % 7}" if gap > 3 else "",
                "fraud": int(number in unusual),
            }
        )
    return rows


def make_tables() -> dict[str, list[Row]]:
    """The two tables of most cases."""
    return {
        "reference": make_rows(240, 1, "A", datetime(2024, 1, 1)),
        "pool": make_rows(60, 2, "B", datetime(2024, 3, 21), UNUSUAL),
    }


def write_csv(
    path: Path,
    rows: list[Row],
    spell: Callable[[str, Any], str],
    encoding: str = "utf-8",
    preamble: str = "",
    **form: Any,
) -> None:
    with path.open("w", encoding=encoding, newline="") as file:
        file.write(preamble)
        lines = csv.writer(file, lineterminator="\n", **form)
        lines.writerow(rows[0])
        lines.writerows([spell(name, cell) for name, cell in row.items()] for row in rows)


def spell_cell(cell: Any, *, decimal: str = ".", date: str = "%Y-%m-%d %H:%M:%S", missing: str = "") -> str:
    if cell is None:
        return missing
    if isinstance(cell, datetime):
        return cell.strftime(date)
    return str(cell).replace(".", decimal) if isinstance(cell, float) else str(cell)


def spell_with_units(name: str, cell: Any) -> str:
    if cell is not None and name == "amount":
        return f"€ {cell:,.2f}"
    return f"{100 * cell:.1f} %" if name == "share" else spell_cell(cell, missing="n/a")


SPELLINGS: dict[str, dict[str, Any]] = {
    "csv comma": {"spell": lambda name, cell: spell_cell(cell)},
    "csv semicolon and decimal comma": {
        "spell": lambda name, cell: spell_cell(cell, decimal=",", date="%d.%m.%Y %H:%M", missing="NA"),
        "delimiter": ";",
    },
    "csv tab in cp1252": {
        "spell": lambda name, cell: spell_cell(cell, date="%Y-%m-%dT%H:%M:%S", missing="NULL"),
        "encoding": "cp1252",
        "delimiter": "\t",
    },
    "csv thousands, currency and percent": {"spell": spell_with_units},
    "csv quoted under a preamble": {
        "spell": lambda name, cell: spell_cell(cell, missing="-"),
        "preamble": "Orders of the shop\nMade for: someone\n\n",
        "quoting": csv.QUOTE_ALL,
    },
    "csv day-first dates and own marks of missing cells": {
        "spell": lambda name, cell: spell_cell(
            cell, date="%d/%m/%Y %H:%M", missing="k.A." if name in ("amount", "region") else "(none)"
        ),
    },
}


def write_excel(folder: Path) -> None:
    from openpyxl import Workbook

    for name, rows in make_tables().items():
        book = Workbook()
        for line in [list(rows[0]), *(list(row.values()) for row in rows)]:
            # the text of a cell that begins with '=' is no formula
            book.active.append([f" {cell}" if str(cell).startswith("=") else cell for cell in line])
        book.save(folder / f"{name}.xlsx")


def write_sqlite(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "shop.db")) as database, database:
        for name, rows in make_tables().items():
            columns = ", ".join('"{}"'.format(column.replace('"', '""')) for column in rows[0])
            database.execute(f"create table {name} ({columns})")
            cells = (
                [spell_cell(cell) if isinstance(cell, datetime) else cell for cell in row.values()] for row in rows
            )
            database.executemany(f"insert into {name} values ({', '.join('?' * len(rows[0]))})", cells)


def write_parquet(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, rows in make_tables().items():
        (folder / name).mkdir()
        for part, first in enumerate(range(0, len(rows), 50)):
            pq.write_table(pa.Table.from_pylist(rows[first : first + 50]), folder / name / f"part-{part}.parquet")


def write_one_table(folder: Path) -> None:
    rows = make_rows(280, 3, "B", datetime(2024, 1, 1), (220, 231, 244, 260, 277))
    write_csv(folder / "pool.csv", rows, **SPELLINGS["csv comma"])


def write_tables(case: str, folder: Path) -> str:
    """Write what a case reads; returns how its files end."""
    if case in ("excel", "sqlite", "parquet folder", "cut in time"):
        writers = {"excel": write_excel, "sqlite": write_sqlite, "parquet folder": write_parquet}
        writers.get(case, write_one_table)(folder)
        return ".xlsx" if case == "excel" else ""
    for name, rows in make_tables().items():
        write_csv(folder / f"{name}.csv", rows, **SPELLINGS.get(case, SPELLINGS["csv comma"]))
    return ".csv"


def hash_bytes(content: bytes | str) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def hash_json(content: Any) -> str:
    return hash_bytes(json.dumps(content, indent=1, ensure_ascii=False))


def hash_arrays(path: Path) -> str:
    """A hash of the names, types, shapes and bytes of all arrays, whatever way they are packed."""
    digest = hashlib.sha256()
    with np.load(path, allow_pickle=False) as arrays:
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return digest.hexdigest()


def hash_answer(out: Path, folder: Path) -> dict[str, str]:
    """The hashes of an answer's files; those of report.json are by section."""
    selection, report = (
        json.loads((out / name).read_text(encoding="utf-8").replace(str(folder), "FOLDER"))
        for name in ("selection.json", "report.json")
    )
    for content in (selection, report, report["selection"]):
        content.pop("version", None)
    del report["reproduce"]["command"]
    for table in report["reproduce"]["inputs"]:
        if table["name"].endswith(PACKED):
            del table["sha256"]
    return {
        "selection.json": hash_json(selection),
        "explanation.csv": hash_bytes((out / "explanation.csv").read_bytes()),
        "problem.npz": hash_arrays(out / "problem.npz"),
        **{f"report.json: {section}": hash_json(content) for section, content in report.items()},
    }


def describe_packages() -> dict[str, str]:
    packages = {name: version(name) for name in PACKAGES if find_spec(name.replace("scikit-learn", "sklearn"))}
    return {"python": platform.python_version(), "machine": platform.machine(), **packages}


def compare_hashes(case: str, hashes: dict[str, str]) -> None:
    """Compare with the record, or write it if that was asked for."""
    record = json.loads(HASHES.read_text(encoding="utf-8")) if HASHES.exists() else {"recorded_with": {}, "cases": {}}
    if os.environ.get(RECORD):
        record["recorded_with"] = describe_packages()
        record["cases"] = dict(sorted({**record["cases"], case: hashes}.items()))
        HASHES.write_text(json.dumps(record, indent=1) + "\n")
        return
    assert case in record["cases"], f"golden case '{case}' has no hashes yet; see the docstring of this file"
    expected = record["cases"][case]
    differences = [name for name in {**expected, **hashes} if expected.get(name) != hashes.get(name)]
    packages = {
        name: value for name, value in describe_packages().items() if record["recorded_with"].get(name) != value
    }
    advice = f" (recorded with other packages than these: {packages})" if packages else ""
    assert not differences, f"golden case '{case}' gives other bytes in: {'; '.join(differences)}{advice}"


def fill_in(arguments: list[str], **places: object) -> list[str]:
    return [argument.format(**places) for argument in arguments]


@pytest.mark.parametrize("case", [case for case in ARGUMENTS if case not in ("compile", "run")])
def test_an_answer_has_the_bytes_of_the_record(run, tmp_path, case):
    folder, out = tmp_path, tmp_path / "out"
    ending = write_tables(case, folder)
    outcome = run(*fill_in(ARGUMENTS[case], folder=folder, out=out, ending=ending))
    assert outcome.code == 0, outcome.err
    compare_hashes(case, hash_answer(out, folder))


def describe_rows(rows: Iterable[Any]) -> list[list[Any]]:
    return [[row.row, row.name, row.plain_rank, round(row.score, 6), round(row.learnt, 6), row.why] for row in rows]


def test_a_session_asks_for_the_rows_of_the_record(tmp_path):
    """Twelve answers by label, of which one is taken back and given again; and what comes then."""
    from biselect import ReviewSession, table

    ending = write_tables("session", tmp_path)
    pool, reference = (tmp_path / f"{name}{ending}" for name in ("pool", "reference"))
    session = ReviewSession(table(pool, columns=SESSION_COLUMNS), reference, folder=tmp_path / "session", **SESSION)
    hashes = {"first rows": hash_json(describe_rows(session.next_rows(4)))}
    for number in range(12):
        queued = session.next_row()
        session.answer(queued, queued.row in UNUSUAL)
        if number == 7:
            withdrawal = session.undo()
            hashes["undo"] = hash_json([withdrawal.row, withdrawal.name, withdrawal.withdrawn, withdrawal.verdict])
            session.answer(withdrawal.name, "unsure")
    session = ReviewSession.open(tmp_path / "session")
    answers = [[row, answer.verdict] for row, answer in session.answers.items()]
    hashes |= {"answers": hash_json(answers), "next rows": hash_json(describe_rows(session.queue(5)))}
    compare_hashes("session", hashes)


def test_a_circuit_and_its_shots_are_those_of_the_record(run, tmp_path):
    pytest.importorskip("qiskit")
    weights = np.minimum(np.random.default_rng(3).exponential(size=(5, 4)), 4).round(6)
    scores = {"sample_scores": weights.mean(axis=1).tolist(), "feature_scores": weights.mean(axis=0).tolist()}
    (tmp_path / "problem.json").write_text(json.dumps({"coupling": weights.tolist(), "k": 2, "m": 2, **scores}))
    out = tmp_path / "circuit"
    for command in ("compile", "run"):
        outcome = run(*fill_in(ARGUMENTS[command], folder=tmp_path, out=out))
        assert outcome.code == 0, outcome.err
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    for name in ("versions", "files", "hash"):  # the hash is over versions, too
        del manifest[name]
    figures = json.loads(outcome.out)
    del figures["manifest_hash"]
    with closing(sqlite3.connect(tmp_path / "run" / "results.sqlite")) as database:
        records = [json.loads(text) for (text,) in database.execute("select record from measurements order by number")]
    hashes = {
        "circuit.qasm": hash_bytes((out / "circuit.qasm").read_bytes()),
        "problem.npz": hash_arrays(out / "problem.npz"),
        **{f"manifest.json: {name}": hash_json(content) for name, content in manifest.items()},
        **{f"figures: {name}": hash_json(content) for name, content in figures.items()},
        "counts": hash_json([[record["bits"], record["counts"]] for record in records]),
    }
    compare_hashes("compile and run", hashes)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--record"]:
        sys.exit(__doc__)
    os.environ[RECORD] = "1"
    HASHES.unlink(missing_ok=True)
    sys.exit(pytest.main([__file__]))
