"""`biselect doctor`: what is installed, what works, how to get the rest."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from pathlib import Path
from typing import Any

import typer

from biselect._version import __version__
from biselect.cli import options
from biselect.cli.console import out

CORE = ("numpy", "scipy", "numba", "scikit-learn", "narwhals", "pyarrow", "typer", "rich", "jinja2", "matplotlib")
EXTRAS = {
    "quantum": ("qiskit", "qiskit-aer", "qiskit-ibm-runtime"),
    "iqm": ("iqm-client",),
    "gpu": ("cupy-cuda12x",),
    "cluster": ("dask", "ray"),
}


def doctor(as_json: options.Json = False) -> None:
    """Report versions, optional parts, data, and whether a small problem is solved correctly."""
    facts = examine()
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        _show(facts)
    if not facts["ok"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Everything `doctor` looks at, as plain data."""
    core = {name: _version(name) for name in CORE}
    checks = [_check_solver(), _check_kernel()]
    return {
        "biselect": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "core": core,
        "extras": {
            extra: {"packages": {name: _version(name) for name in names}, "install": f"pip install 'biselect[{extra}]'"}
            for extra, names in EXTRAS.items()
        },
        "data": _data(),
        "checks": checks,
        "ok": all(core.values()) and all(check["ok"] for check in checks),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _data() -> dict[str, Any]:
    folder = os.environ.get("BISELECT_DATA")
    if not folder:
        return {"folder": None, "note": "set it to the folder that holds creditcard.parquet"}
    found = (Path(folder) / "creditcard.parquet").exists()
    return {"folder": folder, "note": "found creditcard.parquet" if found else "no Credit Card table in that folder"}


def _check_solver() -> dict[str, Any]:
    """A problem small enough to know the answer of."""
    try:
        import numpy as np

        from biselect import SelectionProblem, solve

        best = solve(SelectionProblem(coupling=np.array([[3.0, 0, 1], [0, 2, 0], [2, 0, 2]]), k=2, m=2))
        return {"name": "exact solver", "ok": best.proven_optimal and best.score == 8.0, "note": ""}
    except Exception as error:  # whatever is broken, the doctor must say so
        return {"name": "exact solver", "ok": False, "note": f"{type(error).__name__}: {error}"}


def _check_kernel() -> dict[str, Any]:
    """Whether numba compiles here."""
    try:
        import numba

        doubled = numba.njit(lambda x: 2 * x)(21)
        return {"name": "numba compiles", "ok": doubled == 42, "note": f"{numba.get_num_threads()} threads"}
    except Exception as error:  # a broken compiler shows in many ways
        return {"name": "numba compiles", "ok": False, "note": f"{type(error).__name__}: {error}"}


def _show(facts: dict[str, Any]) -> None:
    from rich.markup import escape

    console = out()
    console.print(f"biselect {facts['biselect']} on Python {facts['python']}, {facts['machine']}")
    for check in facts["checks"]:
        mark = "[green]ok[/]" if check["ok"] else "[red]broken[/]"
        console.print(f"  {mark}  {check['name']}  {escape(check['note'])}")
    for name, version in facts["core"].items():
        if version is None:
            console.print(f"  [red]missing[/]  {name}: reinstall biselect")
    console.print("Core: " + ", ".join(f"{name} {version}" for name, version in facts["core"].items() if version))
    for extra, part in facts["extras"].items():
        missing = [name for name, version in part["packages"].items() if version is None]
        if missing:
            console.print(f"Extra {extra}: not installed ({', '.join(missing)}); {escape(part['install'])}")
        else:
            console.print(f"Extra {extra}: " + ", ".join(f"{name} {v}" for name, v in part["packages"].items()))
    data = facts["data"]
    console.print(escape(f"Data: {data['folder'] or 'BISELECT_DATA is not set'}; {data['note']}"))
