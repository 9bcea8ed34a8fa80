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
from uuid import NAMESPACE_URL, uuid5

import biselect as bs
from biselect.app.worker import Job
from biselect.sessions.store import CONNECTED, SessionFile

HOSTILE = '"><script>alert(1)</script>'


def latest(folder, choice=0):
    return SessionFile(folder).standing(choice).latest()


def next_row(browser, window="one", **more):
    told = browser.post("/next", {"window": str(uuid5(NAMESPACE_URL, window)), **more})
    assert told.status_code == 200, told.text
    return told.json()


def answer_rows(browser, count, choice=0, window="one", **more):
    """Answer the rows that come; gives what was said of the last one."""
    for _ in range(count):
        row = next_row(browser, window)
        verdict = "not fine" if int(row["name"][1:]) < 12 else "fine"
        form = {"row": row["row"], "choice": choice, "after": row["last"], "verdict": verdict, "who": "Ana", **more}
        told = browser.post("/answer", form)
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
    assert "until" not in page.replace('name="until"', "")  # no parameter of the library
    form = {"table": "pool.csv", "against": "file", "which": "normal.csv", "m": "3"}
    browser.done(browser.post("/choose", {**form, "role-6": "exclude", "who": "Ana", "when": HOSTILE}))
    record = SessionFile(tmp_path).choices()[0]
    assert record["columns"] == {"exclude": ["c5"]} and record["who"] == "Ana"
    page = browser.get("/review").text
    assert "pool.csv" in page and "Nothing was answered yet." in page
    told = answer_rows(browser, 6, note=HOSTILE, when="Monday")
    assert "6 of 6 reviewed rows" in told["beside"] and "<script>" not in told["beside"]
    page = browser.get("/review").text
    assert "<script>alert" not in page and "6 answered rows" in page
    told = browser.post("/undo", {"choice": "0"}).json()
    assert len(latest(tmp_path)) == 5 and told["back"]["withdrawn"] == "not fine" and told["back"]["verdict"] == ""
    again = next_row(browser, row=told["back"]["row"])  # the row that was taken back is looked at
    assert again["name"] == told["back"]["name"] and next_row(browser)["row"] == again["row"]
    browser.done(browser.post("/export"))
    page = browser.get("/exported").text
    assert all(name in page for name in ("answers.csv", "report/proof.json", "answers.html"))
    lines = list(csv.DictReader(io.StringIO(browser.fetch("answers.csv").text)))
    assert len(lines) == 5 and {line["who"] for line in lines} == {"Ana"}
    assert "sandbox" in browser.fetch("report/report.html").headers["content-security-policy"]
    assert browser.post("/link", {"name": "nothing.csv"}).status_code == 400
    session = bs.ReviewSession.open(tmp_path)  # the library goes on where the browser ended
    assert session.next_row(str(uuid5(NAMESPACE_URL, "one"))).row == again["row"] and len(session.answers) == 5


def test_rows_are_those_of_the_library(browser, tmp_path):
    browser.begin()
    alone = bs.ReviewSession(bs.table(tmp_path / "pool.csv", id="id"), tmp_path / "normal.csv", m=3)
    for _ in range(15):
        row, queued = next_row(browser), alone.next_row()
        assert row["row"] == queued.row and str(queued.why) in row["html"]
        alone.answer(queued, queued.row < 12)
        answer_rows(browser, 1)


def test_a_row_is_shown_with_its_sum_its_record_and_what_is_like_it(browser, tmp_path):
    browser.begin()
    answer_rows(browser, 3)
    row = next_row(browser)
    page, queued = row["html"], bs.ReviewSession.open(tmp_path).look_at(row["row"], str(uuid5(NAMESPACE_URL, "one")))
    assert "like 3 found not fine" in page and f">{queued.record['c1']}<" in page and page.count("normal 1") == 1
    assert all(part.column in page and part.against.split(" (")[0] in page for part in queued.reasons)
    assert page.count('class="spread"') == len(queued.reasons) and '<span class="answer-not-fine">' in page
    assert next_row(browser, unlike="yes")["row"] != row["row"]


def test_a_new_export_shows_its_drift_and_offers_the_last_as_reference(browser, tmp_path):
    browser.begin()
    answer_rows(browser, 6)
    assert "Go on with tuesday.csv" in browser.get("/").text
    browser.look("tuesday.csv", "/new")
    page = browser.get("/new?name=tuesday.csv").text
    assert "Most clearly c5" in page and "the last export, without what was not fine (6 rows leave it)" in page
    browser.done(browser.post("/turn", {"table": "tuesday.csv", "against": "last"}))
    record = SessionFile(tmp_path).choices()[1]
    assert record["pool"] == "tuesday.csv" and record["reference"].startswith("usual-rows-of-pool.csv-")
    page = browser.get("/review").text
    assert "tuesday.csv" in page and "What was answered about 6 rows of earlier tables counts here." in page
    assert next_row(browser)["name"][0] == "t" and "found not fine" in next_row(browser)["html"]
    page = browser.get("/").text
    assert "usual-rows-of" not in page and "Go on with pool.csv" not in page and "Go back to its review" in page
    assert browser.post("/back", {"choice": "2"}).status_code == 400
    assert browser.post("/back", {"choice": "0"}).headers["location"] == "/review"
    assert next_row(browser)["name"][0] == "p" and len(latest(tmp_path)) == 6


def test_two_windows_get_different_rows_and_see_each_other_s_answers(browser, tmp_path):
    browser.begin()
    one, two = next_row(browser, "one"), next_row(browser, "two")
    assert one["row"] != two["row"] and next_row(browser, "one")["row"] == one["row"]
    form = {
        "row": two["row"],
        "choice": "0",
        "after": two["last"],
        "verdict": "unsure",
        "note": "ask Ben",
        "who": "Ben",
    }
    last = browser.post("/answer", form).json()["last"]
    told = browser.get("/beside?choice=0&last=0").json()
    assert "ask Ben" in told["beside"] and told["last"] == last
    assert browser.get(f"/beside?choice=0&last={last}").json() == {"choice": 0, "last": last}
    opened = browser.post("/open", {"row": two["row"]}).json()  # to change it
    assert "answered unsure, by Ben" in opened["html"] and opened["last"] == last
    assert browser.post("/open", {"row": "199"}).status_code == 400


def test_a_stale_answer_is_refused_and_can_be_sent_again(browser, tmp_path):
    browser.begin()
    row = next_row(browser)
    form = {"row": row["row"], "choice": "0", "after": row["last"], "verdict": "fine", "who": "Ben"}
    assert browser.post("/answer", form).status_code == 200
    refused = browser.post("/answer", {**form, "verdict": "not fine", "who": "Ana", "note": "mine"})
    assert refused.status_code == 409 and "was answered 'fine' by Ben meanwhile" in refused.json()["error"]
    assert latest(tmp_path)[row["row"]].verdict == "fine"
    again = {**form, "verdict": "not fine", "who": "Ana", "note": "mine", "after": refused.json()["after"]}
    assert browser.post("/answer", again).status_code == 200
    assert latest(tmp_path)[row["row"]].note == "mine" and len(SessionFile(tmp_path).standing(0).answers) == 2


def test_ten_windows_ask_at_once_and_none_gets_the_row_of_another(browser, tmp_path):
    browser.begin()
    rows = []
    threads = [
        threading.Thread(target=lambda n=n: rows.append(next_row(browser, f"window {n}")["row"])) for n in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*rows}) == 10


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
    form = {"row": "199", "choice": "0", "after": "0", "verdict": "fine"}
    refused = browser.post("/answer", form, headers={"Accept": "*/*"})
    assert refused.status_code == 400 and "never shown" in json.loads(refused.text)["error"]
    window = str(uuid5(NAMESPACE_URL, "one"))
    for wrong in ({}, {"window": "x"}, {"window": window, "row": "x"}, {"window": window, "row": "999"}):
        assert browser.post("/next", wrong).status_code == 400
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
    form = {"table": "parts", "against": "earlier", "until": "66.7%", "m": "3"}
    browser.done(browser.post("/choose", form))
    record = SessionFile(tmp_path).choices()[0]
    assert (record["pool"], record["reference"], record["reference_until"]) == ("parts", None, "66.7%")
    assert next_row(browser)["name"][0] == "p"
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
    row = next_row(browser)["row"]
    with closing(writer):
        writer.execute("BEGIN IMMEDIATE")
        tick = {"row": row, "choice": "0", "after": "0", "verdict": "fine"}
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
        pollers = [threading.Thread(target=browser.get, args=("/beside",)) for _ in range(45)]
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
