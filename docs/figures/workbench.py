"""Draws docs/images/workbench-*.png: a morning with the demo's table in the workbench, in the browser of the tests."""

import base64
import subprocess
import sys
import tempfile
import time
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pyarrow.parquet as pq

from biselect.core.files import write_file

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
WIDTH, HEIGHT = 1200, 760


def photograph(tab, name: str) -> None:
    """A picture of what is in sight."""
    time.sleep(0.5)
    write_file(IMAGES / f"workbench-{name}.png", base64.b64decode(tab.call("Page.captureScreenshot")["data"]))


def review(tab, frauds: set[str]) -> None:
    """Answer the present round by the labels, with the keyboard."""
    names = tab.run("[...document.querySelectorAll('li[data-row] .who')].map((who) => who.firstChild.textContent)")
    tab.press("j")
    for name in names:
        tab.press("2" if name in frauds else "1")
        time.sleep(0.1)
    tab.wait_for(f"document.getElementById('counts').textContent.startsWith('{len(names)} of {len(names)}')")


def walk(tab, address: str, frauds: set[str]) -> None:
    """From the first page to what was found in three rounds."""
    tab.open(address, width=WIDTH, height=HEIGHT)
    photograph(tab, "start")
    tab.click("form[action='/demo'] button")
    tab.wait_for("document.getElementById('gain-k')?.textContent.startsWith('One more')", 120)
    photograph(tab, "table")
    tab.click("#setup button")
    tab.wait_for("document.getElementById('round') && document.readyState == 'complete'", 240)
    for number in (1, 2, 3):
        tab.wait_for(f"document.querySelector('h1').textContent.startsWith('Round {number}')")
        review(tab, frauds)
        if number == 1:
            tab.run("scrollTo(0, 0)")
            photograph(tab, "round")
        tab.click("#next")
    tab.wait_for("document.querySelector('h1').textContent.startsWith('Round 4')")
    tab.run("document.getElementById('found').scrollIntoView()")
    photograph(tab, "found")


def main() -> None:
    """Serve a new folder, and go through it."""
    spec = spec_from_file_location("browser", ROOT / "tests" / "conftest.py")
    assert spec is not None and spec.loader is not None
    browser = module_from_spec(spec)
    spec.loader.exec_module(browser)
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "biselect", "app", Path(place) / "morning", "--no-open", "-q"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout is not None
            address = running.stdout.readline().strip()
            with tempfile.TemporaryDirectory() as profile, browser.opened(Path(profile)) as tab:
                walk(tab, address, demo_frauds())
        finally:
            running.terminate()
            running.wait()


def demo_frauds() -> set[str]:
    """The ids of the demo's frauds."""
    table = pq.read_table(str(files("biselect.tables") / "excerpt" / "pool.parquet"))
    pairs = zip(table["transaction"].to_pylist(), table["Class"].to_pylist(), strict=True)
    return {str(name) for name, label in pairs if label}


if __name__ == "__main__":
    main()
