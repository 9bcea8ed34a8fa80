"""`doctor` says what is there, what is broken, and how to get the rest."""

import json
import re
import tomllib
from pathlib import Path

from biselect.cli import doctor

ROOT = Path(__file__).parents[2]


def test_doctor_finds_everything_in_order(run):
    facts = json.loads(run("doctor", "--json").out)
    assert facts["ok"] and all(facts["core"].values())
    shown = run("doctor")
    assert shown.code == 0 and "exact solver" in shown.out


def test_doctor_names_a_command_for_what_is_missing(run, monkeypatch):
    """Nothing is on an index: each is installed from the folder whose pyproject.toml declares it."""
    monkeypatch.setattr(doctor, "_version", lambda package: None if package in absent else "1")
    absent = {"duckdb", "biselect-quantum", "polars"}
    shown = " ".join(run("doctor").out.split())
    for extra in ("duckdb", "biselect-quantum", "biselect-studies"):
        install = doctor.EXTRAS[extra][0]
        assert re.search(rf"{extra}: not installed \([a-z-]+\); pip install {re.escape(install)} in a clone", shown)
    assert "app: starlette 1, uvicorn 1" in shown


def test_doctor_knows_what_the_packages_declare():
    for place, names in doctor.EXTRAS.values():
        folder, _, extra = place.strip("'").split()[-1].rstrip("]").partition("[")
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        declared = project["optional-dependencies"][extra] if extra else [*project["dependencies"], project["name"]]
        declared = {name for one in declared for name in re.findall(r"[a-z][a-z0-9-]+", one)}
        assert set(names) <= declared


def test_doctor_says_what_is_broken(run, monkeypatch):
    import numba

    def broken(*_):
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(numba, "njit", broken)
    outcome = run("doctor")
    assert outcome.code == 1
    assert "no compiler here" in outcome.out
