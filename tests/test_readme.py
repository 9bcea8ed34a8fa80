"""What the README states as measured is what the benchmarks wrote down, and every command in it exists."""

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def results(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))


def line(benchmark, what, case):
    """The printed ratio of one line of the solver benchmarks."""
    (found,) = (row for row in results(benchmark)["lines"] if row["what"].startswith(what) and row["case"] == case)
    return found["ratio"]


def sector(case, key):
    return f"{results('sector')[case][key]:,.0f}×"


def cut(claim):
    """The median cut with its range, from random starts on trees, p = 2 and 3."""
    points = "trees, random start, p = 2 and 3"
    (found,) = (row for row in results("compile") if row["points"] == points and row["claim"] == claim)
    return f"{found['median']:.0f} % less [{found['low']:.0f}, {found['high']:.0f}]"


def gains(ours, paper):
    """Points of mass over the paper's path, by the figures of both that are held against each other."""
    points = results("noise-random-readout")["points"]
    found = [_figure(point["ours"][ours]) - _figure(point["paper"][paper]) for point in points]
    return f"+{np.median(found):.1f} points [{min(found):.1f}, {max(found):.1f}]"


def _figure(value):
    return value[0] if isinstance(value, list) else value  # an estimate comes with its interval


RATIOS = {
    "`python -m benchmarks exact-vs-peers`": lambda: [
        line("exact-vs-peers", "exact against HiGHS", "(50, 38, 5, 4) noise"),
        line("exact-vs-peers", "exact against 25 lines of numba", "(50, 38, 5, 4) noise"),
        line("exact-vs-peers", "exact against 25 lines of numba", "(300, 40, 20, 5) noise"),
        line("exact-vs-peers", "exact against HiGHS", "(2000, 60, 20, 6) twice-wide"),
    ],
    "`python -m benchmarks heuristics`": lambda: [
        line("heuristics", "annealing against dwave", "(500, 38, 50, 4) noise")
    ],
    "`python benchmarks/bench_calibration.py weights`": lambda: [f"{results('calibration')['ratio']:.1f}×"],
    "`python benchmarks/bench_sector.py`": lambda: [
        sector("(12, 12, 3, 4, 3)", "ffsim over ours"),
        sector("(12, 8, 3, 5, 5)", "Aer statevector over ours"),
        sector("(12, 8, 3, 5, 5)", "lightning adjoint over ours, p = 3"),
    ],
    "`python benchmarks/bench_wide.py quimb`": lambda: [
        f"{results('wide')['quimb']['ratio of processor seconds']:.0f}×"
    ],
    "`python benchmarks/bench_compile.py`": lambda: [
        cut("depth vs Opt-3 CZ, both coloured"),
        cut("pulse depth vs strongest plain Qiskit"),
        cut("pulse depth vs strongest plain Qiskit given our propagated program"),
        cut("duration chosen order and start vs strongest plain Qiskit, coloured"),
    ],
    "`python benchmarks/bench_noise.py --start random --mitigate readout`": lambda: [
        gains("corrected", "as read"),
        gains("limit", "limit"),
    ],
}


@pytest.mark.parametrize("command", RATIOS)
def test_the_table_of_ratios_is_what_the_benchmarks_wrote(command):
    """Each figure in a row of that command, and no row of the table without a command that is checked here."""
    rows = [row for row in README.splitlines() if row.startswith("|") and command in row]
    stated = " ".join(row.split("|")[3] for row in rows)
    assert rows
    for figure in RATIOS[command]():
        assert figure in stated


def test_every_row_of_the_table_is_checked():
    table = README.partition("## Measured")[2].partition("## ")[0]
    commands = [row.split("|")[4].strip() for row in table.splitlines() if row.startswith("| ") and "---" not in row][
        1:
    ]
    assert set(commands) == set(RATIOS)
    for command in commands:
        script = re.search(r"benchmarks/\w+\.py", command)
        assert (ROOT / (script.group() if script else "benchmarks/__main__.py")).exists()


def test_make_says_what_it_is_doing_and_where_the_site_lies():
    if shutil.which("make") is None:
        pytest.skip("needs make")
    make = ["make", "-n", "--no-print-directory", "VENV=absent"]
    said = [
        subprocess.run([*make, target], cwd=ROOT, capture_output=True, text=True).stdout for target in ("demo", "docs")
    ]
    assert said[0].index("setting up absent") < said[0].index("-m venv absent") < said[0].index("biselect demo")
    assert said[1].rstrip().endswith('echo "open docs/_build/html/index.html"')


def test_a_missing_peer_is_named_before_the_work_begins():
    need = runpy.run_path(str(ROOT / "benchmarks" / "needs.py"))["need"]
    need("json", "numpy")
    with pytest.raises(SystemExit, match=r"against no_such_peer, .*\.venv-bench/bin/python"):
        need("json", "no_such_peer")
    for script in ("bench_wide.py", "bench_sector.py", "__main__.py"):
        assert re.search(r"^    need\(", (ROOT / "benchmarks" / script).read_text(encoding="utf-8"), re.MULTILINE)
