"""A real process beside the server: jobs, progress, a stop, and whatever else may end it."""

import io
import time
from types import SimpleNamespace

import pytest

pytest.importorskip("starlette", reason="needs the app extra")

from biselect.app.worker import BusyError, Job, Worker
from biselect.errors import BiselectError


def ended(job, patience=60):
    deadline = time.monotonic() + patience
    while not job.finished and time.monotonic() < deadline:
        time.sleep(0.02)
    assert job.finished
    return job


def test_jobs_are_done_stopped_and_begun_again(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n" + "".join(f"r{i},{i * 7 % 13}\n" for i in range(40)))
    worker = Worker(tmp_path)
    try:
        job = worker.start("inspect", {"table": "a.csv"}, then="/table", back="/")
        with pytest.raises(BusyError):
            worker.start("inspect", {"table": "a.csv"})
        assert ended(job).result["rows"] == 40 and job.step == "Reading a.csv" and job.error is None
        with pytest.raises(BiselectError, match="begin one with tables"):
            worker.result("export", {}, patience=60)
        first = worker._process
        setup = {"table": "a.csv", "reference": "a.csv", "until": "", "roles": {}, "parts": {}, "kept": ""}
        with pytest.raises(BusyError, match="longer than"):
            given = {"setup": setup, "m": 1, "who": "", "when": ""}
            worker.result("choose", given, patience=0)  # it is stopped
        assert first.wait(10) != 0 and worker._process is None
        worker.start("inspect", {"table": "a.csv"})
        worker._process.kill()
        assert "has ended" in ended(worker.job).error
        worker._process.wait(10)
        job = worker.start("inspect", {"table": "a.csv"})
        worker.stop()
        assert job.finished and job.error == "stopped"
    finally:
        worker.stop()


def test_what_lies_beside_the_tables_is_never_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where `biselect app` is started without a folder
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    for name in ("traceback", "json", "numpy", "pyarrow", "biselect", "sitecustomize", "random", "signal"):
        (tmp_path / f"{name}.py").write_text(f"open('ran', 'a').write({name!r})\nraise ImportError\n")
    (tmp_path / "a.csv").write_text("id,x\n" + "".join(f"r{i},{i}\n" for i in range(40)))
    worker = Worker(tmp_path)
    try:
        assert ended(worker.start("inspect", {"table": "a.csv"})).result["rows"] == 40
    finally:
        worker.stop()
    assert not (tmp_path / "ran").exists()


def test_half_a_line_of_a_killed_process_ends_its_job(tmp_path):
    worker = Worker(tmp_path)
    worker.job = job = Job(number=1, name="inspect")
    worker._process = SimpleNamespace(
        stdout=io.StringIO('{"step": "Reading", "done": null}\n{"numb'), stdin=io.StringIO(), wait=lambda: None
    )
    worker._listen(worker._process)
    assert job.finished and "has ended" in job.error and job.step == "Reading"
