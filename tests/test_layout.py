"""A newcomer finds things: one name for one idea, tests where one looks, options in the command line alone."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import biselect

ROOT = Path(biselect.__file__).parent
TESTS = Path(__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TESTED_IN = {  # parts that are tested through the whole they belong to
    "app/test_guard.py": "app/entrance",
    "app/test_server.py": "app/jobs app/pages",
    "calibrate/test_maps.py": "calibrate/steps_kernel",
    "cli/test_main.py": "cli/console cli/options",
    "cli/test_select.py": "cli/answer",
    "cli/test_terminal.py": "cli/usage",
    "cli/test_workbench.py": "app/connections",
    "cli/test_monitor.py": "report/monitor",
    "plot/test_plot.py": "plot/canvas plot/change plot/content plot/heat plot/scores",
    "data/readers/test_read_table.py": "data/readers/databases data/readers/excel "
    "data/readers/json_lines data/readers/values",
    "data/readers/test_delimited.py": "data/readers/sniffing data/readers/text_columns",
    "partitions/test_passes.py": "engines/choose",
    "reviews/large/test_asking.py": "reviews/large/blocks reviews/large/counting reviews/large/gathering "
    "reviews/large/survey",
    "reviews/large/test_collecting.py": "reviews/large/heavy_kernel",
    "reviews/test_rounds.py": "report/review_rounds",
    "reviews/test_session.py": "reviews/review_tables",
    "reviews/large/test_checking.py": "calibrate/stored_windows reviews/large/weighing",
    "partitions/test_any_source.py": "partitions/arrow_rows partitions/parquet_rows",
    "reviews/test_drift_watch.py": "reviews/summaries",
    "solvers/test_check_proof.py": "core/proof",
    "solvers/test_exact.py": "solvers/averaging solvers/branch_and_bound solvers/branch_kernel solvers/incumbent "
    "solvers/spectral solvers/thread_pool",
    "solvers/test_interop.py": "solvers/linear_text",
    "solvers/test_kernels.py": "solvers/response solvers/row_response",
    "solvers/test_solvers.py": "solvers/annealing solvers/forced solvers/registry",
}


def modules() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if not path.stem.startswith("_")]


def test_a_module_name_stands_for_one_idea():
    """Commands are named after what they call; otherwise a name stands in one package."""
    homes = defaultdict(list)
    for path in modules():
        if path.parent.name != "cli":
            homes[path.stem].append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_every_module_has_its_tests():
    """`a/b.py` is tested in `tests/a/test_b.py`, or as a part of what `TESTED_IN` says."""
    elsewhere = {module: TESTS / file for file, listed in TESTED_IN.items() for module in listed.split()}
    missing = []
    for path in modules():
        name = str(path.relative_to(ROOT).with_suffix(""))
        own = TESTS / path.relative_to(ROOT).parent / f"test_{path.stem}.py"
        assert not (own.exists() and name in elsewhere), f"{name} has a test file of its own: leave it out of TESTED_IN"
        if not own.exists() and not elsewhere.get(name, own).exists():
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_command_line_knows_options(path):
    if path.is_relative_to(ROOT / "cli"):
        pytest.skip("the command line names its own options")
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and OPTION.search(text)] == []


DATA = {".csv", ".html", ".json", ".npz", ".parquet", ".png", ".qpy", ".sqlite", ".svg", ".tsv", ".xlsx"}
DATA_FOLDERS = ("benchmarks/results/", "docs/", "src/", "studies/src/", "studies/tests/", "tests/")


def test_no_tracked_file_was_left_by_a_command():
    listed = subprocess.run(["git", "ls-files"], cwd=TESTS.parent, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    tracked = listed.stdout.splitlines()
    assert [name for name in tracked if Path(name).suffix in DATA and not name.startswith(DATA_FOLDERS)] == []
    known = {".gitignore", ".pre-commit-config.yaml", "CITATION.cff", "LICENSE", "Makefile", "conftest.py"}
    known |= {"constraints.txt", "pyproject.toml"}
    assert {name for name in tracked if "/" not in name and not name.endswith(".md")} == known


def test_a_run_that_leaves_a_file_in_the_tree_fails(tmp_path):
    """The conftest of this repository, in a repository with a test that writes where it stands."""
    (tmp_path / "conftest.py").write_text((TESTS.parent / "conftest.py").read_text(encoding="utf-8"))
    (tmp_path / "test_one.py").write_text("from pathlib import Path\n\n\ndef test_one():\n    assert 1\n")
    for command in (["init", "-q"], ["add", "-A"]):
        if subprocess.run(["git", *command], cwd=tmp_path, check=False).returncode:
            pytest.skip("needs git")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
    (tmp_path / ".gitignore").write_text("__pycache__/\n.hypothesis/\n")
    assert subprocess.run(pytest_, cwd=tmp_path, check=False).returncode == 0
    with (tmp_path / "test_one.py").open("a") as test:
        test.write("    Path('left.csv').write_text('')\n")
    told = subprocess.run(pytest_, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 1 and "left.csv" in told.stdout
