"""The way through the workbench, request by request."""

import csv
import errno
import io
import json
import os
import sqlite3
import threading
import time
from contextlib import closing

import biselect as bs
from biselect.app.worker import Job
from biselect.sessions.store import CONNECTED, SessionFile

HOSTILE = '"><script>alert(1)</script>'


def present(folder):
    file = SessionFile(folder)
    return file.standing(len(file.choices()) - 1)


def answer_all(browser, folder, note=None):
    choice = len(SessionFile(folder).choices()) - 1
    for asked in present(folder).rounds[-1].rows:
        verdict = "not fine" if int(asked.name[1:]) < 12 else "fine"
        form = {"row": asked.row, "choice": choice, "verdict": verdict, "who": "Ana", "when": "Monday"}
        told = browser.post("/answer", form | ({} if note is None else {"note": note}))
        assert told.status_code == 200, told.text
    return told.json()


def test_the_whole_way(browser, tmp_path):
    page = browser.get("/").text
    assert "pool.csv" in page and "Try it with real card transactions" in page
    brought = browser.post("/files?name=../../" + HOSTILE + "%20extra.csv", content=b"id,x\na,1\nb,2\n")
    assert brought.json() == {"name": "script extra.csv"} and (tmp_path / "script extra.csv").exists()
    assert browser.look("pool.csv")["then"] == "/table?name=pool.csv"
    page = browser.get("/table?name=pool.csv").text
    assert "200 rows, 7 columns." in page and page.count('value="number" selected') == 6
    form = {"table": "pool.csv", "against": "file", "which": "normal.csv", "k": "6", "m": "3"}
    told = browser.post("/preview", form).json()
    assert told["row"]["adds"] > 0 and told["column"]["kind"] == "about"
    browser.done(browser.post("/choose", {**form, "role-6": "exclude", "who": "Ana", "when": HOSTILE}))
    record = SessionFile(tmp_path).choices()[0]
    assert record["columns"] == {"exclude": ["c5"]} and record["who"] == "Ana"
    page = browser.get("/review").text
    assert "Round 1: 6 rows of pool.csv" in page and "Nothing was answered yet." in page
    told = answer_all(browser, tmp_path, note=HOSTILE)
    assert len(told["answers"]) == 6 and told["hits"] >= 3 and told["line"].endswith("6 reviewed rows were not fine.")
    page = browser.get("/review").text
    assert "<script>alert" not in page and "hit rate" in page
    last = present(tmp_path).rounds[-1].rows[-1]
    said = present(tmp_path).latest()[last.row].verdict
    told = browser.post("/undo", {"choice": "0"}).json()
    assert len(present(tmp_path).latest()) == 5
    assert told["back"] == {"row": last.row, "name": last.name, "round": 1, "withdrawn": said, "verdict": ""}
    browser.done(browser.post("/next", {"choice": "0", "seen": "1", "count": "4"}))
    assert len(present(tmp_path).rounds) == 2 and "Round 2: 4 rows" in browser.get("/review").text
    browser.done(browser.post("/next", {"choice": "0", "seen": "1", "count": "4"}))  # a window that is behind
    assert len(present(tmp_path).rounds) == 2
    browser.done(browser.post("/export"))
    page = browser.get("/exported").text
    assert all(name in page for name in ("answers.csv", "report/proof.json", "rounds.html"))
    lines = list(csv.DictReader(io.StringIO(browser.fetch("answers.csv").text)))
    assert len(lines) == 5 and {line["who"] for line in lines} == {"Ana"}
    assert "sandbox" in browser.fetch("report/report.html").headers["content-security-policy"]
    assert browser.post("/link", {"name": "nothing.csv"}).status_code == 400
    session = bs.ReviewSession.open(tmp_path)  # the library goes on where the browser ended
    assert session.replay().same and session.next_rows(4) == list(present(tmp_path).rounds[-1].rows)


def test_rounds_are_those_of_the_library(browser, tmp_path):
    browser.begin(k=5, **{"usual-m": "3"})
    alone = bs.ReviewSession(bs.table(tmp_path / "pool.csv", id="id"), tmp_path / "normal.csv")
    for number in (1, 2, 3):
        rows = alone.next_rows(5)
        assert list(present(tmp_path).rounds[-1].rows) == rows
        answer_all(browser, tmp_path)
        alone.answer({row.row: int(row.name[1:]) < 12 for row in rows})
        browser.done(browser.post("/next", {"choice": "0", "seen": str(number), "count": "5"}))


def test_a_new_export_shows_its_drift_and_offers_the_last_as_reference(browser, tmp_path):
    browser.begin()
    answer_all(browser, tmp_path)
    assert "Go on with tuesday.csv" in browser.get("/").text
    browser.look("tuesday.csv", "/new")
    page = browser.get("/new?name=tuesday.csv").text
    assert "Most clearly c5" in page and "the last export, without what was not fine" in page
    browser.done(browser.post("/turn", {"table": "tuesday.csv", "against": "last", "k": "3"}))
    record = SessionFile(tmp_path).choices()[1]
    assert record["pool"] == "tuesday.csv" and record["reference"].startswith("usual-rows-of-pool.csv-")
    page = browser.get("/review").text
    assert "Round 1: 3 rows of tuesday.csv" in page and "Earlier tables of this review" in page
    assert "What was answered about 6 rows of earlier tables counts here." in page
    page = browser.get("/").text
    assert "usual-rows-of" not in page and "Go on with pool.csv" not in page and "Go back to its review" in page
    assert browser.post("/back", {"choice": "2"}).status_code == 400
    assert browser.post("/back", {"choice": "0"}).headers["location"] == "/review"
    assert "Round 1: 6 rows of pool.csv" in browser.get("/review").text
    browser.done(browser.post("/next", {"choice": "0", "seen": "1", "count": "4"}))
    assert [round_.number for round_ in SessionFile(tmp_path).standing(0).rounds] == [1, 3]


def test_two_windows_see_each_other_s_ticks(browser, tmp_path):
    browser.begin()
    row = present(tmp_path).rounds[-1].rows[0].row
    browser.post("/answer", {"row": row, "choice": "0", "verdict": "unsure", "note": "ask Ben"})
    told = browser.get("/standing").json()
    assert told["answers"] == {str(row): ["unsure", "ask Ben"]} and (told["round"], told["of"]) == (1, 6)


def test_what_is_wrong_is_said(browser, tmp_path):
    assert browser.get("/review").headers["location"] == "/"
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n" * 50)
    for name in ("../pool.csv", "absent.csv", "review.sqlite", ""):
        assert browser.get("/table", params={"name": name}, headers={"Accept": "text/html"}).status_code == 400
    assert browser.post("/look", {"table": "bad.csv", "then": "/table"}).status_code == 303
    told = browser.until_done()
    assert "bad.csv" in told["error"] and "bad.csv" in browser.get("/working").text
    for name, content in (("x.parquet", b"PAR1 garbage PAR1"), ("y.xlsx", b"PK garbage"), ("z.csv.gz", b"\x1f\x8b0")):
        assert browser.post(f"/files?name={name}", content=content).json() == {"name": name}
        browser.post("/look", {"table": name, "then": "/table"})
        told = browser.until_done()
        assert name in told["error"] and "something went wrong" not in told["error"]
    browser.begin()
    refused = browser.post("/answer", {"row": "199", "choice": "0", "verdict": "fine"}, headers={"Accept": "*/*"})
    assert refused.status_code == 400 and "not asked for" in json.loads(refused.text)["error"]
    assert browser.post("/next", {"choice": "0", "seen": "1", "count": "0"}).status_code == 400
    assert browser.get("/nowhere").status_code == 404


def test_a_folder_of_parquet_files_split_in_time(browser, tmp_path):
    import pandas as pd

    rows = pd.concat([pd.read_csv(tmp_path / f"{name}.csv") for name in ("normal", "pool")], ignore_index=True)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        part = rows.assign(day=range(len(rows)))[number * 200 : number * 200 + 200]
        part.to_parquet(tmp_path / "parts" / f"part-{number}.parquet")
    browser.look("parts")
    page = browser.get("/table?name=parts").text
    assert "600 rows, 8 columns." in page and 'value="time" selected' in page
    form = {"table": "parts", "against": "earlier", "until": "66.7%", "k": "5", "m": "3"}
    browser.done(browser.post("/choose", form))
    record = SessionFile(tmp_path).choices()[0]
    assert (record["pool"], record["reference"], record["reference_until"]) == ("parts", None, "66.7%")
    assert {asked.name[0] for asked in present(tmp_path).rounds[0].rows} == {"p"}
    assert browser.post("/preview", {**form, "until": "nonsense"}).status_code == 400
    browser.done(browser.post("/export"))
    assert (tmp_path / "export" / "report" / "report.html").exists()


def test_a_job_under_way_can_be_found_from_every_page(browser, bench):
    job = Job(number=1, name="choose")
    bench[1].worker.job = job
    assert 'href="/working"' in browser.get("/").text
    answer = browser.post("/look", {"table": "pool.csv", "then": "/table"})
    assert answer.status_code == 409 and 'href="/working"' in answer.text
    job.finished = True
    assert 'href="/working"' not in browser.get("/").text


def test_nobody_waits_for_a_request_that_waits(browser, tmp_path):
    browser.begin()
    done = []
    writer = sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None, check_same_thread=False)
    with closing(writer):
        writer.execute("BEGIN IMMEDIATE")
        row = present(tmp_path).rounds[-1].rows[0].row
        tick = {"row": row, "choice": "0", "verdict": "fine"}
        waiting = threading.Thread(target=lambda: done.append(browser.post("/answer", tick).status_code))
        waiting.start()
        time.sleep(0.2)
        assert browser.get("/").status_code == 200 and done == []
        writer.execute("ROLLBACK")
        waiting.join()
    assert done == [200]


def test_hours_of_dates_take_part_where_they_are_asked_for(browser, tmp_path):
    import pandas as pd

    for name in ("normal", "pool"):
        table = pd.read_csv(tmp_path / f"{name}.csv")
        table["paid"] = pd.date_range("2026-03-02", periods=len(table), freq="67min").strftime("%Y-%m-%d %H:%M")
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    browser.begin(**{"part-7-hour": "on", "role-1": "exclude"})
    assert SessionFile(tmp_path).choices()[0]["columns"]["types"] == {"paid": "date:hour"}


def test_of_rows_that_repeat_an_id_one_can_be_kept(browser, tmp_path):
    lines = (tmp_path / "pool.csv").read_text().splitlines()
    (tmp_path / "pool.csv").write_text("\n".join([*lines, "p3,9,9,9,9,9,9"]) + "\n")
    browser.begin(duplicates="last")
    record = SessionFile(tmp_path).choices()[0]
    assert record["columns"] == {"id": "id", "duplicates": "last"} and record["sizes"]["pool"] == 200
    assert "keep the last of each" in browser.get("/table?name=pool.csv").text
    assert browser.post("/choose", {"table": "pool.csv", "against": "last", "duplicates": "x"}).status_code == 400


def test_a_job_is_told_of_while_the_session_s_file_holds_every_thread(browser, tmp_path, monkeypatch):
    browser.begin()
    monkeypatch.setitem(CONNECTED, "timeout", 3.0)
    with closing(sqlite3.connect(tmp_path / "review.sqlite", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        pollers = [threading.Thread(target=browser.get, args=("/standing",)) for _ in range(45)]
        for poller in pollers:
            poller.start()
        time.sleep(0.3)
        began = time.monotonic()
        assert browser.get("/job").status_code == 200 and time.monotonic() - began < 1.5
        assert pollers[0].is_alive()
        writer.execute("ROLLBACK")
        for poller in pollers:
            poller.join()


def test_a_full_disk_is_called_one_when_a_file_is_brought(browser, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/folder/of/this/machine")

    monkeypatch.setattr("biselect.app.folder.temporary_file", full)
    refused = browser.post("/files?name=x.csv", content=b"a,b\n1,2\n", headers={"Accept": "*/*"})
    assert refused.status_code == 400 and "No space left on device" in refused.text and "folder" not in refused.text
