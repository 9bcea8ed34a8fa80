"""A morning's work in a real browser: from a table to rows, answers, a colleague, a new export and files."""

import os
import threading
import time
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from biselect.sessions.store import SessionFile

pytestmark = pytest.mark.browser

AXE = "axe.run().then((all) => all.violations.map(({impact, id, nodes}) => [impact, id, nodes[0].html]))"


@pytest.fixture
def entrance(tmp_path, in_this_process):
    """The way into a workbench that listens on this machine."""
    pytest.importorskip("uvicorn", reason="needs the app extra")
    import socket

    import uvicorn

    from biselect.app.guard import PromptProtocol
    from biselect.app.server import application

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        app, _, entrance = application(tmp_path, token="secret", port=port)
        server = uvicorn.Server(uvicorn.Config(app, http=PromptProtocol, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield entrance
        server.should_exit = True
        thread.join()


@pytest.fixture(autouse=True)
def forget(tab):
    """Each test begins with a tab that was never let in; what it keeps, it keeps by port."""
    yield
    tab.open("about:blank")


def let_in(tab, entrance, folder):
    """Open the file that `biselect app` has the browser open."""
    tab.open(entrance.file(folder))
    tab.wait_for("document.getElementById('drop') && document.readyState == 'complete'")


def barriers(tab):
    axe = pytest.importorskip("axe_core_python.base")
    tab.run((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
    return [found for found in tab.run(AXE) if found[0] in ("critical", "serious")]


def fits(tab):
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return scroll <= shown


def at_phone_width(tab):
    tab.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    tab.media(dark=True)


def at_desk_width(tab):
    tab.call("Emulation.setDeviceMetricsOverride", width=1200, height=900, deviceScaleFactor=1, mobile=False)
    tab.media()


SHOWN = "(document.querySelector('#row:not(.going) #name')?.textContent ?? '')"
SAID = "document.getElementById('said').textContent"
FIRST_CLICK = {"pool.csv": "a[href='/table?name=pool.csv']", "the demo": "form[action='/demo'] button"}
NORMAL = {"pool.csv": "normal.csv", "the demo": "demo-normal.parquet"}


@pytest.mark.parametrize("table", ["pool.csv", pytest.param("the demo", marks=pytest.mark.slow)])
def test_a_morning_s_work(tab, entrance, tmp_path, write_tables, table):
    if table != "the demo":
        write_tables(tmp_path)
    home = f"{entrance.home}/"
    let_in(tab, entrance, tmp_path)
    assert tab.run("location.href") == home and tab.run("document.cookie") == ""
    assert not list(tmp_path.glob("*.html"))
    assert barriers(tab) == [] and tab.complaints() == []
    tab.click(FIRST_CLICK[table])
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    assert tab.run("document.querySelector('[name=against]:checked').value") == "file"
    assert tab.run("document.getElementById('which').value") == NORMAL[table]
    assert barriers(tab) == [] and fits(tab)
    tab.run("document.querySelector('[name=who]').value = 'Ana'; 0")
    tab.run("document.querySelector('[name=who]').dispatchEvent(new Event('change')); 0")
    tab.click("#setup button:not([type])")  # the second: a row is there
    first = tab.wait_for(SHOWN, 300)
    assert tab.run("document.activeElement.id") == "name" and tab.run("document.querySelectorAll('.reasons li').length")
    assert barriers(tab) == [] and fits(tab)

    file = SessionFile(tmp_path)
    names = [first]
    for number, key in enumerate("nfu1", 1):  # without a mouse
        tab.press(key)
        names.append(tab.wait_for(f"{SHOWN} != {names[-1]!r} && {SHOWN}"))
        assert len(file.standing(0).latest()) == number  # saved at once
    assert len({*names}) == 5 and tab.run("document.getElementById('saved').textContent") == "Saved"
    assert tab.run(SAID).startswith(f"{names[3]}: fine, saved.")
    assert tab.run("document.querySelectorAll('.answered li').length") == 4
    assert [one.verdict for one in file.standing(0).latest().values()] == ["not fine", "fine", "unsure", "fine"]
    assert {one.who for one in file.standing(0).latest().values()} == {"Ana"}

    tab.press("t")
    tab.type("ask <b>Ben</b>, not fun")  # keys are letters in a field
    tab.press("Escape")
    tab.press("n")
    names.append(tab.wait_for(f"{SHOWN} != {names[-1]!r} && {SHOWN}"))
    assert [*file.standing(0).latest().values()][-1].note == "ask <b>Ben</b>, not fun"
    assert (
        tab.run("document.querySelectorAll('.answered b').length") == 0
        and tab.run("document.getElementById('note').value") == ""
    )
    tab.press("z")  # undo says what, and the row is there again
    assert tab.wait_for(f"{SHOWN} == {names[4]!r} && {SAID}").startswith(f"Taken back: {names[4]} was not fine")
    assert len(file.standing(0).latest()) == 4
    tab.press("e")  # something else
    other = tab.wait_for(f"{SHOWN} != {names[4]!r} && {SHOWN}")
    tab.press("f")
    tab.wait_for(f"{SHOWN} != {other!r} && {SHOWN}")

    tab.press("/")  # the list: searched, and an answer changed
    tab.type(names[1])
    shown = "[...document.querySelectorAll('.answered li:not([hidden]) button')]"
    assert tab.wait_for(f"{shown}.length && {shown}.every((one) => one.textContent.includes({names[1]!r}))")
    tab.run(f"{shown}.find((one) => one.firstChild.textContent == {names[1]!r}).click(); 0")
    tab.wait_for(f"{SHOWN} == {names[1]!r}")
    assert "another answer replaces it" in tab.run("document.getElementById('row').innerText")
    assert barriers(tab) == [] and fits(tab)
    tab.click("[data-verdict='not fine']")
    tab.wait_for(f"{SHOWN} != {names[1]!r} && {SHOWN}")
    assert [*file.standing(0).latest().values()][1].verdict == "not fine"

    before = tab.run(SHOWN)
    tab.open(f"{home}review")  # the same tab, loaded again: the row that was looked at stays
    assert tab.wait_for(SHOWN) == before
    tab.run("window.real = window.fetch; window.fetch = () => Promise.reject(new Error()); 0")  # the server has gone
    tab.press("n")
    assert "does not answer" in tab.wait_for("!document.getElementById('lost').hidden && document.body.innerText")
    assert tab.run(SHOWN) == before and len(file.standing(0).latest()) == 5 and barriers(tab) == []
    tab.run("window.fetch = window.real; 0")
    tab.click("#again")  # nothing was lost
    tab.wait_for(f"{SHOWN} != {before!r} && {SHOWN}")
    assert len(file.standing(0).latest()) == 6

    [row], open_row = file.held(0), tab.run(SHOWN)
    file.add_answers(0, {row: ("unsure", "mine")}, who="Ben")  # a stale write is refused, and can be sent all the same
    tab.press("n")
    assert "by Ben meanwhile" in tab.wait_for("!document.getElementById('lost').hidden && document.body.innerText")
    assert file.standing(0).latest()[row].who == "Ben" and tab.run(SHOWN) == open_row
    tab.click("#again")
    tab.wait_for(f"{SHOWN} != {open_row!r} && {SHOWN}")
    assert file.standing(0).latest()[row].who == "Ana"

    at_phone_width(tab)
    assert barriers(tab) == [] and fits(tab)
    at_desk_width(tab)
    tab.click("form[action='/export'] button")
    tab.wait_for("document.querySelector('[data-file]') !== null", 60)
    assert (tmp_path / "export" / "answers.csv").exists() and barriers(tab) == []
    outside = [asked for asked in tab.requests() if not asked.startswith((home, "data:"))]
    assert outside == [] and all("409 (Conflict)" in one for one in tab.complaints())  # the stale answer
    tab.click("[data-file='report/report.html']")
    assert opened_beside(tab, home) == "/once/"
    link = "fetch('/link', {method: 'POST', body: new URLSearchParams({name: 'report/report.html'}), headers: {"
    link += "'X-Biselect-Token': sessionStorage.getItem('token')}}).then((answer) => answer.json())"
    tab.open(home[:-1] + tab.run(link)["address"])
    assert tab.run("fetch('/beside').then(() => 'reached', () => 'refused')") == "refused"
    stored = "(() => { try { return sessionStorage.length } catch (error) { return error.message } })()"
    assert "sandboxed" in tab.run(stored)


def opened_beside(tab, home):
    """How the address of a page begins that was opened in a tab of its own, which is closed."""
    for _ in range(100):
        for target in tab.call("Target.getTargets")["targetInfos"]:
            if target["url"].startswith(f"{home}once/"):
                tab.call("Target.closeTarget", targetId=target["targetId"])
                return target["url"].removeprefix(home[:-1])[:6]
        time.sleep(0.1)
    raise AssertionError("nothing was opened")


def test_a_tab_stays_in_and_another_gets_in_by_a_code_of_its_own(tab, entrance, tmp_path):
    let_in(tab, entrance, tmp_path)
    tab.call("Page.reload")
    tab.wait_for("document.getElementById('drop') !== null")
    tab.run("sessionStorage.clear(); 0")  # another browser, or a tab that was opened by hand
    tab.open(f"{entrance.home}/review")
    shown = "!document.getElementById('enter').hidden && document.body.innerText"
    assert "press Enter there for another" in tab.wait_for(shown) and barriers(tab) == []
    code = entrance.code()
    for typed, inside in (("guess", False), (code, True), (code, False)):
        tab.run("sessionStorage.clear(); 0")
        tab.open(f"{entrance.home}/")
        tab.wait_for(shown)
        tab.run("document.querySelector('[name=code]').focus(); 0")
        tab.type(typed)
        tab.click("#enter button")
        seen = "document.getElementById('drop')" if inside else "document.querySelector('#enter .verdict')"
        tab.wait_for(f"{seen} !== null && document.readyState == 'complete'")
    assert tab.run("sessionStorage.getItem('token')") is None and barriers(tab) == []


def test_another_port_of_this_machine_gets_no_token_and_starts_nothing(tab, entrance, tmp_path, write_tables):
    write_tables(tmp_path)
    let_in(tab, entrance, tmp_path)
    received = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            received.append(dict(self.headers))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            home = entrance.home
            tries = f"fetch('{home}/look', {{method: 'POST', body: new URLSearchParams({{table: 'pool.csv'}})}})"
            page = f"<img src='{home}/table?name=pool.csv'><iframe src='{home}/'></iframe><form method=post "
            page += f"action='{home}/look'></form><script>window.tried = {tries}.then(() => 'read', () => 'refused')"
            self.wfile.write(f"{page}</script>".encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        tab.open(f"http://127.0.0.1:{other.server_port}/")
        assert tab.run("window.tried") == "refused" and tab.run("sessionStorage.length") == 0
        other.shutdown()
    assert received and not any("secret" in str(headers) or "Cookie" in headers for headers in received)
    tab.open(f"{entrance.home}/")
    tab.wait_for("document.getElementById('drop') !== null")  # this tab was let in for its own port
    ask = (
        "fetch('/job', {headers: {'X-Biselect-Token': sessionStorage.getItem('token')}}).then((found) => found.json())"
    )
    assert tab.run(ask) == {"finished": True, "then": "/", "error": None}


def test_a_dropped_file_is_brought_in_and_looked_at(tab, entrance, tmp_path):
    let_in(tab, entrance, tmp_path)
    text = "id,amount,shop\\n" + "".join(f"r{i},{i * 37 % 101},{'ab'[i % 2]}\\n" for i in range(60))
    tab.run(
        f"""(() => {{ const carried = new DataTransfer();
            carried.items.add(new File(["{text}"], "pay<b>ments.csv"));
            document.getElementById("drop").dispatchEvent(new DragEvent("drop", {{dataTransfer: carried}})); }})()"""
    )
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    assert tab.run("document.querySelector('h1').textContent") == "paybments.csv"
    assert (tmp_path / "paybments.csv").read_text().startswith("id,amount,shop")
    roles = tab.run("[...document.querySelectorAll('[name^=role]')].map((role) => role.value)")
    assert roles == ["id", "number", "category"] and barriers(tab) == []


def test_what_was_chosen_is_there_after_a_refusal_and_dates_take_part(tab, entrance, tmp_path):
    lines = [f"{i // 2},2026-03-{1 + i // 12:02d} {i % 24:02d}:05,{i * 37 % 101},{i * 53 % 97}" for i in range(120)]
    (tmp_path / "day.csv").write_text("id,paid at,a,b\n" + "\n".join(lines) + "\n")
    let_in(tab, entrance, tmp_path)
    tab.click("a[href='/table?name=day.csv']")
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    choose = """{ const set = (name, value) => { const field = document.querySelector(`[name="${name}"]`);
        if (field.type === "checkbox") field.checked = value; else field.value = value;
        field.dispatchEvent(new Event("change", {bubbles: true})); };
        set("role-0", "id"); set("role-3", "category"); set("part-1-hour", true); } 0"""
    tab.run(choose)
    tab.click("#setup button:not([type])")
    assert "ids must be unique" in tab.wait_for("document.querySelector('.verdict.warn')?.textContent")
    tab.click("a.button")
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    roles = "[...document.querySelectorAll('[name^=role]')].map((role) => role.value)"
    assert tab.run(roles) == ["id", "time", "number", "category"]
    assert tab.run("document.querySelector('[name=part-1-hour]').checked") and barriers(tab) == []


def test_the_pictures_of_the_tutorial(tab, entrance, tmp_path):
    """Drawn into docs/images by `BISELECT_PICTURES=docs/images pytest tests/app/test_browser_walk.py -k pictures`."""
    place = Path(os.environ.get("BISELECT_PICTURES", tmp_path))

    def draw(name):
        (place / f"workbench-{name}.png").write_bytes(b64decode(tab.call("Page.captureScreenshot")["data"]))

    frauds = read_table(files("biselect.tables") / "excerpt" / "pool.parquet")
    frauds = {row["transaction"] for row in frauds.to_pylist() if row["Class"]}
    at_desk_width(tab)
    let_in(tab, entrance, tmp_path)
    draw("start")
    tab.click(FIRST_CLICK["the demo"])
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    draw("table")
    tab.run("document.querySelector('[name=who]').value = 'Ana'; 0")
    tab.run("document.querySelector('[name=who]').dispatchEvent(new Event('change')); 0")
    tab.click("#setup button:not([type])")
    name = tab.wait_for(SHOWN, 300)
    for _ in range(12):
        tab.press("n" if name in frauds else "f")
        name = tab.wait_for(f"{SHOWN} != {name!r} && {SHOWN}")
    draw("round")
    assert len(SessionFile(tmp_path).standing(0).latest()) == 12
    assert all((place / f"workbench-{one}.png").stat().st_size > 20_000 for one in ("start", "table", "round"))
