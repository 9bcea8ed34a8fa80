"""A workbench without a network: its application, asked as a browser would ask it."""

import re
import threading
import time

import numpy as np
import pandas as pd
import pytest

TOKEN, PORT = "a-token-of-the-tests", 8123
HOME = f"http://127.0.0.1:{PORT}"


@pytest.fixture(name="write_tables")
def table_writer():
    return _write_tables


def _write_tables(folder):
    """Twelve of 200 payments are unusual in three columns; normal.csv has none of these."""
    rng = np.random.default_rng(0)
    for name, rows, letter in (("normal", 400, "n"), ("pool", 200, "p"), ("tuesday", 150, "t")):
        table = pd.DataFrame(rng.normal(size=(rows, 6)).round(4), columns=[f"c{j}" for j in range(6)])
        if name != "normal":
            table.loc[:11, ["c1", "c2", "c3"]] += 4
        if name == "tuesday":
            table["c5"] += 1
        table.insert(0, "id", [f"{letter}{i}" for i in range(rows)])
        table.to_csv(folder / f"{name}.csv", index=False)


class Browser:
    """Asks with the token and the origin of the workbench's own pages."""

    def __init__(self, client, token):
        self.client, self.token = client, {"X-Biselect-Token": token}

    def get(self, address, **more):
        headers = {**self.token, **more.pop("headers", {})}
        return self.client.get(address, headers=headers, **more)

    def fetch(self, name):
        """An exported file, by a link of its own."""
        return self.client.get(self.post("/link", {"name": name}).json()["address"])

    def look(self, table, then="/table"):
        """Find out what a page about a table shows."""
        return self.done(self.post("/look", {"table": table, "then": then}))

    def post(self, address, data=None, **more):
        headers = {"Origin": HOME, "Accept": "text/html", **self.token, **more.pop("headers", {})}
        return self.client.post(address, data=data, headers=headers, **more)

    def until_done(self, patience=60):
        """Where a job leads to."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            told = self.get("/job").json()
            if told["finished"]:
                return told
            time.sleep(0.02)
        raise AssertionError("the job does not end")

    def done(self, answer):
        assert answer.status_code == 303 and answer.headers["location"] == "/working", answer.text
        told = self.until_done()
        assert told["error"] is None, told
        return told

    def begin(self, **more):
        """Choose from pool.csv against normal.csv."""
        if 'action="/look"' in self.get("/table?name=pool.csv").text:
            self.look("pool.csv")
        form = {"table": "pool.csv", "against": "file", "which": "normal.csv", "m": 3, "who": "Ana", **more}
        return self.done(self.post("/choose", form))


@pytest.fixture
def in_this_process(monkeypatch):
    """Jobs are done by a thread of this process, which has loaded everything already."""
    pytest.importorskip("starlette", reason="needs the app extra")
    from biselect.app.jobs import Jobs
    from biselect.app.worker import Worker

    homes = {}

    def send(worker, wanted):
        jobs = homes.setdefault(worker, Jobs(worker.folder, lambda **told: worker._hear(told)))
        threading.Thread(target=jobs.do, kwargs=wanted).start()

    monkeypatch.setattr(Worker, "_send", send)


@pytest.fixture
def bench(tmp_path, in_this_process):
    """The application over a folder with tables."""
    pytest.importorskip("starlette", reason="needs the app extra")
    pytest.importorskip("httpx2", reason="needs the app extra")
    from starlette.testclient import TestClient

    from biselect.app.server import application

    _write_tables(tmp_path)
    app, behind, entrance = application(tmp_path, token=TOKEN, port=PORT, most_bytes=200_000)
    with TestClient(app, base_url=HOME, follow_redirects=False) as client:
        client.entrance = entrance
        yield client, behind
    behind.worker.stop()


@pytest.fixture
def browser(bench):
    client, _ = bench
    answer = client.post("/enter", data={"code": client.entrance.code()}, headers={"Origin": "null"})
    [token] = re.findall(r'id="token">"([^"]+)"', answer.text)
    return Browser(client, token)
