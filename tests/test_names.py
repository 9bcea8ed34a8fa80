"""What no test runs as a whole (scripts, benchmarks, examples, figures of the docs) names what there is."""

import ast
import re
import runpy
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("scripts", "benchmarks", "examples", "studies/scripts", "docs/figures", "docs/extensions")
FILES = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).glob("*.py"))
HOMES = {"biselect": "src", "biselect_quantum": "quantum/src", "biselect_studies": "studies/src"}
OURS = tuple(HOMES)
MODULE = re.compile(rf"({'|'.join(OURS)})(\.\w+)+(:\w+)?")
FOLDER = "benchmarks|docs|quantum|scripts|src|studies|tests"
PATH = re.compile(rf"(?<![\w/.<-])({FOLDER})(/(?!_build)[\w.-]+)*/[\w-]+\.(py|md|toml|html|cu)")
GROUPS = re.compile(r"biselect\.(commands|maps|pictures|solvers|quantum)")  # of entry points


def is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] in OURS


@cache
def stands(name: str) -> bool:
    """Whether `package.module.thing` can be reached: a module, or something in one."""
    module, _, rest = name.partition(":")
    parts = module.split(".")
    for stop in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:stop]))
        except ModuleNotFoundError as error:
            if not is_ours(error.name):  # an extra that is not installed here
                return find_spec(".".join(parts[:stop])) is not None
            continue
        for attribute in [*parts[stop:], *filter(None, [rest])]:
            if not hasattr(thing, attribute):
                return False
            thing = getattr(thing, attribute)
        return True
    return False


def names_of_ours(tree: ast.Module):
    """Names that a file imports from us, has in a string, or takes from what it imported and binds nowhere else."""
    imported, bound = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            names = {f"{start}{alias.name}": alias for alias in node.names if is_ours(f"{start}{alias.name}")}
            yield from names
            imported |= {alias.asname or alias.name.partition(".")[0]: (name, alias) for name, alias in names.items()}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if MODULE.fullmatch(node.value) and not GROUPS.fullmatch(node.value):
                yield node.value
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    homes = {
        own: name if alias.asname or name != alias.name else own
        for own, (name, alias) in imported.items()
        if own not in bound
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in homes:
            yield f"{homes[node.value.id]}.{node.attr}"


@pytest.mark.parametrize("file", FILES)
def test_a_file_that_no_test_runs_names_what_there_is(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert sorted({name for name in names_of_ours(tree) if not stands(name)}) == []


def test_mutants_are_made_of_modules_that_there_are():
    tested = runpy.run_path(str(ROOT / "scripts" / "mutate.py"))["TESTED"]
    assert [name for pair in tested.items() for name in pair if not (ROOT / f"{name}.py").exists()] == []


def test_texts_name_files_that_there_are():
    """Paths from the root; in the architecture also those that begin at a package, and modules by their name alone."""
    texts = [ROOT / "Makefile", *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "studies").glob("*.md")]
    texts = [path for path in texts if "_build" not in path.parts and path.name != "CHANGELOG.md"]
    named = {(path, one[0]) for path in texts for one in PATH.finditer(path.read_text(encoding="utf-8"))}
    assert sorted(f"{path.name}: {name}" for path, name in named if not (ROOT / name).exists()) == []
    places = [place for package, home in HOMES.items() for place in (ROOT / home, ROOT / home / package)]
    known = {path.name for path in package_files()}
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`([\w/]+\.py)`", text)) | set(re.findall(r"`([\w/]+/[\w/]+\.(?:toml|html))`", text))
    listed = {name for name in listed if "NAME" not in name}  # of whatever is added
    found = {name for name in listed if any((place / name).exists() for place in [ROOT, *places])}
    assert sorted(listed - found - known) == []


def package_files() -> list[Path]:
    """Every file of the three packages."""
    return [path for home in HOMES.values() for path in (ROOT / home).rglob("*.py")]
