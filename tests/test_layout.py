"""A newcomer finds things: one name for one idea, tests where one looks, options in the command line alone."""

import ast
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TREES = {  # packages whose tests mirror them
    "biselect": (ROOT / "src" / "biselect", ROOT / "tests"),
    "biselect_quantum": (ROOT / "quantum" / "src" / "biselect_quantum", ROOT / "quantum" / "tests"),
}
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
TESTED_IN = {  # parts that no test imports: they are tested through the whole they belong to
    "biselect": {
        "app/test_server.py": "app/jobs",
        "cli/test_main.py": "cli/options",
        "cli/test_console.py": "cli/console",
        "cli/test_select.py": "cli/answer",
        "large/test_check.py": "weights/reference",
    },
    "biselect_quantum": {
        "devices/noise/test_sampling.py": "devices/noise/recorded_errors",
        "devices/noise/test_trajectories.py": "devices/noise/probabilities",
        "pipelines/test_pipeline.py": "pipelines/page",
        "plot/test_circuit_figures.py": "plot/angles plot/circuit_figures",
        "simulate/test_wide.py": "simulate/wide/sampler",
    },
}


def modules(package: str) -> list[str]:
    """Modules of a package by their path in it, without the ending; private ones and packages left out."""
    root = TREES[package][0]
    paths = [path for path in sorted(root.rglob("*.py")) if not path.stem.startswith("_")]
    return [str(path.relative_to(root).with_suffix("")) for path in paths]


def imported(tests: Path) -> set[str]:
    """What the tests of a folder import, by its full name."""
    names = set()
    for path in tests.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
    return names


@pytest.mark.parametrize("package", TREES)
def test_a_module_name_stands_for_one_idea(package):
    """Commands are named after what they call; otherwise a name stands in one place of a package."""
    homes = defaultdict(list)
    for name in modules(package):
        folder, _, stem = name.rpartition("/")
        if folder != "cli":
            homes[stem].append(name)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


@pytest.mark.parametrize("package", TREES)
def test_every_module_has_its_tests(package):
    """`a/b.py` is tested in `tests/a/test_b.py`, by a test that imports it, or as a part of what `TESTED_IN` says."""
    (_, tests), names = TREES[package], modules(package)
    direct = imported(tests)
    parts = {name for listed in TESTED_IN[package].values() for name in listed.split()}
    unseen = {
        name
        for name in names
        if not (tests / re.sub(r"([^/]+)$", r"test_\1.py", name)).exists()
        and f"{package}.{name.replace('/', '.')}" not in direct
    }
    assert unseen - parts == set() and parts <= {*names}
    assert [file for file in TESTED_IN[package] if not (tests / file).exists()] == []


def test_only_the_command_line_knows_options():
    """Errors and texts of the library name Python's parameters; what has a flag says so in `options`."""
    told = []
    for package, (root, _) in TREES.items():
        for name in modules(package):
            if name.partition("/")[0] not in ("cli", "options"):
                nodes = ast.walk(ast.parse((root / f"{name}.py").read_text(encoding="utf-8")))
                texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
                told += [f"{package}/{name}: {text}" for text in texts if OPTION.search(text)]
    assert told == []


DATA = {".csv", ".html", ".json", ".npz", ".parquet", ".png", ".qpy", ".sqlite", ".svg", ".tsv", ".xlsx"}
DATA_FOLDERS = ("benchmarks/results/", "docs/", "quantum/", "src/", "studies/src/", "studies/tests/", "tests/")


def test_no_tracked_file_was_left_by_a_command():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("needs a git checkout")
    tracked = listed.stdout.splitlines()
    assert [name for name in tracked if Path(name).suffix in DATA and not name.startswith(DATA_FOLDERS)] == []
    known = {".gitignore", ".pre-commit-config.yaml", "CITATION.cff", "LICENSE", "Makefile", "conftest.py"}
    known |= {"constraints.txt", "pyproject.toml"}
    assert {name for name in tracked if "/" not in name and not name.endswith(".md")} == known


def test_a_run_that_leaves_a_file_in_the_tree_fails(tmp_path):
    """The conftest of this repository, in a repository with a test that writes where it stands."""
    (tmp_path / "conftest.py").write_text((ROOT / "conftest.py").read_text(encoding="utf-8"))
    (tmp_path / "test_one.py").write_text("from pathlib import Path\n\n\ndef test_one():\n    assert 1\n")
    for command in (["init", "-q"], ["add", "-A"]):
        if subprocess.run(["git", *command], cwd=tmp_path, check=False).returncode:
            pytest.skip("needs git")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"]
    (tmp_path / ".gitignore").write_text("__pycache__/\n.hypothesis/\n")
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # which take longer to load than all else here
    assert subprocess.run(pytest_, cwd=tmp_path, env=alone, check=False).returncode == 0
    with (tmp_path / "test_one.py").open("a") as test:
        test.write("    Path('left.csv').write_text('')\n")
    told = subprocess.run(pytest_, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert told.returncode == 1 and "left.csv" in told.stdout
