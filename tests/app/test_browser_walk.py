"""A morning's work in a real browser: from the demo's table to rows, ticks, the next round, a new export and files."""

import threading
from pathlib import Path

import pytest

from biselect.reviews.session_file import SessionFile

pytestmark = pytest.mark.browser

SLOW_ANSWERS = """{ const quick = window.fetch; let first = true;
    window.fetch = async (address, ...more) => {
        const wait = address === "/answer" && first ? 300 : 0;
        first = first && !wait;
        await new Promise((done) => setTimeout(done, wait));
        return quick(address, ...more); }; } 0"""
AXE = "axe.run().then((all) => all.violations.map(({impact, id, nodes}) => [impact, id, nodes[0].html]))"


@pytest.fixture
def address(tmp_path, in_this_process):
    """A workbench that listens on this machine."""
    pytest.importorskip("uvicorn", reason="needs the app extra")
    import socket

    import uvicorn

    from biselect.app.server import application

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        app, _ = application(tmp_path, token="secret", port=port)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{port}/?token=secret"
        server.should_exit = True
        thread.join()


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


FIRST_CLICK = {"pool.csv": "a[href='/table?name=pool.csv']", "the demo": "form[action='/demo'] button"}
NORMAL = {"pool.csv": "normal.csv", "the demo": "demo-normal.parquet"}


@pytest.mark.parametrize("table", ["pool.csv", pytest.param("the demo", marks=pytest.mark.slow)])
def test_a_morning_s_work(tab, address, tmp_path, write_tables, table):
    if table != "the demo":
        write_tables(tmp_path)
    home = address.partition("?")[0]
    tab.open(address)
    assert tab.run("location.search") == "" and tab.run("document.cookie") == ""
    assert barriers(tab) == [] and tab.complaints() == []
    tab.click(FIRST_CLICK[table])
    tab.wait_for("document.getElementById('setup') && document.readyState == 'complete'")
    assert tab.run("document.querySelector('[name=against]:checked').value") == "file"
    assert tab.run("document.getElementById('which').value") == NORMAL[table]
    gain = "document.getElementById('gain-k').textContent"
    assert tab.wait_for(f"{gain}.startsWith('One more row would add') && {gain}")
    assert barriers(tab) == [] and fits(tab)
    tab.run("document.querySelector('[name=who]').value = 'Ana'; 0")
    tab.run("document.getElementById('k').value = 6; 0")
    tab.click("#setup button:not([type])")  # the second: rows are chosen
    tab.wait_for("document.getElementById('round') && document.readyState == 'complete'")
    assert tab.run("document.querySelectorAll('li[data-row]').length") == 6
    assert barriers(tab) == [] and fits(tab)

    for key in "j2213":  # without a mouse
        tab.press(key)
    tab.wait_for("document.getElementById('counts').textContent == '4 of 6 answered, 2 not fine'")
    tab.press("k")
    tab.press("n")
    tab.type("ask <b>Ben</b>")
    tab.press("Enter")
    tab.press("j")
    tab.press("1")
    tab.wait_for("document.getElementById('counts').textContent.startsWith('5 of 6')")
    tab.press("u")
    tab.wait_for("document.getElementById('counts').textContent.startsWith('4 of 6')")
    assert tab.run("document.getElementById('said').textContent").endswith("is open again.")
    tab.click("section:last-of-type li:last-of-type input[value='fine']")
    tab.wait_for("document.getElementById('counts').textContent.startsWith('5 of 6')")
    before = tab.run("[...document.querySelectorAll('li[data-row]')].map((row) => row.className)")
    tab.open(f"{home}review")  # another window, or the same one after a crash
    assert tab.run("[...document.querySelectorAll('li[data-row]')].map((row) => row.className)") == before
    assert "ask <b>Ben</b>" in tab.run("[...document.querySelectorAll('.note input')].map((field) => field.value)")

    tab.run("document.querySelector('li:not([class]) .note input, li[class=\"\"] .note input').focus(); 0")
    tab.type("a note without an answer")
    tab.click("#next")
    said = "document.getElementById('said').textContent"
    assert "A note is kept with an answer" in tab.wait_for(said) and tab.run("location.pathname") == "/review"
    tab.run("window.real = window.fetch; window.fetch = () => Promise.reject(new Error()); 0")  # the server has gone
    tab.press("1")
    assert "does not answer" in tab.wait_for("!document.getElementById('lost').hidden && document.body.innerText")
    assert tab.run("document.querySelectorAll('li.fine').length") == before.count("fine")
    tab.press("k")
    tab.run("window.fetch = window.real; 0")
    tab.run(SLOW_ANSWERS)
    for key in "21":  # two answers about one row, the first of them slower, and on at once
        tab.press(key)
        tab.press("k")
    tab.click("#next")
    tab.wait_for("document.querySelector('h1').textContent.startsWith('Round 2')")
    file = SessionFile(tmp_path)
    assert [*file.standing(0).latest().values()][-1].verdict == "fine"
    assert "a note without an answer" in {answer.note for answer in file.standing(0).latest().values()}
    assert tab.run("document.querySelectorAll('table.found tbody tr').length") == 1
    at_phone_width(tab)
    assert barriers(tab) == [] and fits(tab)
    at_desk_width(tab)
    tab.click("form[action='/export'] button")
    tab.wait_for("location.pathname == '/exported' && document.readyState == 'complete'")
    assert (tmp_path / "export" / "answers.csv").exists() and barriers(tab) == []
    outside = [asked for asked in tab.requests() if not asked.startswith((home, "data:"))]
    assert outside == [] and tab.complaints() == []
    tab.open(f"{home}exported/report/report.html")
    assert tab.run("document.querySelectorAll('table.chosen tr.row').length") == 6
    assert tab.run("fetch('/standing').then(() => 'reached', () => 'refused')") == "refused"


def test_a_dropped_file_is_brought_in_and_looked_at(tab, address, tmp_path):
    tab.open(address)
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


def test_what_was_chosen_is_there_after_a_refusal_and_dates_take_part(tab, address, tmp_path):
    lines = [f"{i // 2},2026-03-{1 + i // 12:02d} {i % 24:02d}:05,{i * 37 % 101},{i * 53 % 97}" for i in range(120)]
    (tmp_path / "day.csv").write_text("id,paid at,a,b\n" + "\n".join(lines) + "\n")
    tab.open(address)
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
