"""The report page at three sizes: bytes, sheets of paper, and seconds until Chromium can be used.

    python benchmarks/bench_page.py

500 rows and 50 columns must stay within 1.5 MB and one second, 100 and 20 within six sheets of paper. The time runs
from asking for the page, which lies on disk, until its script has run; the best of five.
"""

import importlib.util
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import biselect as bs
from biselect.options import Search

SIZES = ((10, 4), (100, 20), (500, 50))
BROWSER = Path(__file__).parents[1] / "tests" / "report" / "conftest.py"
READY = """new Promise((done) => { const wait = () => document.querySelector('#rows tbody tr')
    ? done(performance.now()) : requestAnimationFrame(wait); wait(); })"""


def page(folder: Path, k: int, m: int) -> Path:
    """The report of a pool in which 60 % of the chosen rows are unusual in a third of the columns."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(4000, m + 10)), rng.normal(size=(4 * k, m + 10))
    pool[: 6 * k // 10, : (m + 10) // 3] += 4
    bs.review(pool, reference, k=k, m=m, search=Search(solver="coordinate-ascent", time_limit=5)).save(folder)
    return folder / "report.html"


def main() -> None:
    """Make the pages, open them, print."""
    spec = importlib.util.spec_from_file_location("browser", BROWSER)
    browser = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(browser)
    with tempfile.TemporaryDirectory() as folder:
        with browser.opened(Path(folder) / "profile") as tab:
            for k, m in SIZES:
                path = page(Path(folder) / f"{k}x{m}", k, m)
                seconds = min(tab.open(path, width=1440).run(READY) / 1000 for _ in range(5))
                figures = SimpleNamespace(megabytes=path.stat().st_size / 1e6, sheets=browser.sheets(tab, path))
                missed = figures.megabytes > 1.5 or seconds > 1 or (k <= 100 and figures.sheets > 6)
                print(
                    f"{k} × {m}: {figures.megabytes:.2f} MB, {seconds:.2f} s, {figures.sheets} sheets"
                    + (" MISSED" if missed else ""),
                    flush=True,
                )


if __name__ == "__main__":
    main()
