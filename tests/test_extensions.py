"""What other packages bring is found by name, loaded on first use, and told apart from what nobody brings."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from biselect import extensions
from biselect.errors import InputError, MissingDependencyError
from biselect.extensions import Registry, optional

ROOT = Path(__file__).parents[1]


def point(name, value, package):
    made = EntryPoint(name=name, value=value, group="biselect.solvers")
    vars(made)["dist"] = SimpleNamespace(name=package)
    return made


@pytest.fixture
def registry(monkeypatch):
    """Of solvers: one of our own, one of another package, and one that two packages bring."""
    points = [
        point("other", "math:sqrt", "one"),
        point("twice", "math:sqrt", "one"),
        point("twice", "math:cos", "two"),
        point("own", "math:cos", "two"),
    ]
    monkeypatch.setattr(extensions, "entry_points", lambda group: points)
    return Registry("biselect.solvers", "solver", {"own": "math:sin", "thing": len})


def test_names_are_ours_first_and_then_those_of_others(registry):
    assert registry.names() == ["own", "thing", "other", "twice"]
    registry.register("mine", abs)
    assert registry.names()[2] == "mine" and registry.load("mine") is abs


def test_a_thing_is_loaded_when_it_is_asked_for(registry):
    import math

    assert registry.load("other") is math.sqrt and registry.load("thing") is len


def test_a_name_that_is_taken_is_not_registered(registry):
    for name in ("own", "other"):
        with pytest.raises(InputError, match=f"a solver named '{name}' is registered already"):
            registry.register(name, abs)


@pytest.mark.parametrize(("name", "packages"), [("twice", "one, two"), ("own", "two")])
def test_a_name_that_stands_twice_is_refused_with_who_brings_it(registry, name, packages):
    with pytest.raises(InputError, match=f"the solver '{name}' stands twice, brought by {packages}: uninstall one"):
        registry.load(name)


def test_what_nobody_brings_is_refused_with_what_there_is(registry):
    with pytest.raises(InputError, match="there is no solver 'x'; choose one of: own, thing, other, twice"):
        registry.load("x")


def test_what_a_package_of_ours_would_bring_is_named_with_its_install(registry):
    with pytest.raises(
        MissingDependencyError, match=r"'qaoa' comes with biselect-quantum: pip install \./quantum in a"
    ):
        registry.load("qaoa")


def test_an_extra_is_named_where_its_package_is_missing():
    assert optional("json", "this", "none").loads("1") == 1
    with pytest.raises(MissingDependencyError, match=r"^this needs no_such_one: pip install '\.\[duckdb\]' in a clone"):
        optional("no_such_one", "this", "duckdb")


def test_what_our_packages_bring_is_what_they_declare():
    """An error that names the package to install must name the right one, for every entry point there is."""
    declared: dict[str, dict[str, str]] = {}
    for package in extensions.FOLDERS:
        folder = package.removeprefix("biselect-")
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        ours = {group: points for group, points in project["entry-points"].items() if group.startswith("biselect.")}
        for group, points in ours.items():
            declared.setdefault(group, {})[package] = " ".join(sorted(points))
    assert declared == {
        group: {package: " ".join(sorted(names.split())) for package, names in packages.items()}
        for group, packages in extensions.ELSEWHERE.items()
    }
