"""`biselect doctor`: what is installed, what works, how to get the rest."""

import importlib.metadata
import json
import os
import platform
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from biselect._version import __version__
from biselect.cli._toml import FILE, as_flags, own_file, read_defaults
from biselect.cli.from_options import Only
from biselect.cli.options import Output
from biselect.errors import InputError
from biselect.pages.terminal import out, printable

CORE = tuple("numpy scipy numba scikit-learn narwhals openpyxl pyarrow typer rich jinja2 matplotlib".split())
EXTRAS = {  # what pip is given in a clone of the repository, and the packages that this brings
    "duckdb": ("'.[duckdb]'", ("duckdb",)),
    "cluster": ("'.[cluster]'", ("dask", "distributed")),
    "app": ("'.[app]'", ("starlette", "uvicorn")),
    "biselect-quantum": ("./quantum", ("biselect-quantum", "qiskit", "qiskit-aer", "qiskit-ibm-runtime")),
    "gpu": ("'./quantum[gpu]'", ("cupy-cuda12x",)),
    "biselect-studies": ("./quantum ./studies", ("biselect-studies", "polars", "pyod")),
}
COMPLETIONS = {  # where `--install-completion` writes
    "bash": "~/.bash_completions/biselect.sh",
    "zsh": "~/.zfunc/_biselect",
    "fish": "~/.config/fish/completions/biselect.fish",
}


def doctor(
    output: Annotated[Output, Only(json="Print JSON instead of text.")] = Output(),
) -> None:
    """Report versions, optional parts, and whether a small problem is solved correctly."""
    facts = examine()
    if output.json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        _show(facts)
    if not facts["ok"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Everything `doctor` looks at, as plain data."""
    core = {name: _version(name) for name in CORE}
    checks = [_tried("exact solver", _solves), _tried("numba compiles", _compiles)]
    defaults, broken = _defaults()
    if broken is not None:
        checks.append({"name": "file of defaults", "ok": False, "note": broken})
    return {
        "biselect": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "core": core,
        "extras": {
            extra: {"packages": {name: _version(name) for name in names}, "install": f"pip install {place}"}
            for extra, (place, names) in EXTRAS.items()
        },
        "defaults": defaults,
        "completion": [shell for shell, place in COMPLETIONS.items() if Path(place).expanduser().exists()],
        "checks": checks,
        "ok": all(core.values()) and all(check["ok"] for check in checks),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _defaults() -> tuple[dict[str, Any], str | None]:
    """The file of defaults that a command started here would take, what it says, and what is wrong with it."""
    from biselect.cli import app

    files = [str(file) for file in (FILE.absolute(), own_file()) if file.exists()]
    facts: dict[str, Any] = {"file": ", ".join(files) or None, "values": {}}
    commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]
    try:
        values = read_defaults(commands)
    except InputError as error:
        return facts, str(error)
    return {
        **facts,
        "values": {name: as_flags(commands[name].params, entries) for name, entries in values.items()},
    }, None


def _tried(name: str, check: Callable[[], tuple[bool, str]]) -> dict[str, Any]:
    try:
        ok, note = check()
    except Exception as error:  # whatever is broken, and a compiler breaks in many ways, the doctor must say so
        ok, note = False, f"{type(error).__name__}: {error}"
    return {"name": name, "ok": ok, "note": note}


def _solves() -> tuple[bool, str]:
    """A problem small enough to know the answer of."""
    from biselect import SelectionProblem, solve

    best = solve(SelectionProblem(coupling=[[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [2.0, 0.0, 2.0]], k=2, m=2))
    return best.proven_optimal and best.score == 8.0, ""


def _compiles() -> tuple[bool, str]:
    import numba

    return numba.njit(lambda x: 2 * x)(21) == 42, f"{numba.get_num_threads()} threads"


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
        have = ", ".join(f"{name} {version}" for name, version in part["packages"].items())
        lacks = f"not installed ({', '.join(missing)}); {escape(part['install'])} in a clone of the repository"
        console.print(f"{extra}: {lacks if missing else have}")
    defaults, shells = facts["defaults"], facts["completion"]
    console.print(escape(f"Defaults: {defaults['file'] or f'no {FILE} in this folder'}"))
    for command, words in defaults["values"].items():
        console.print(printable(f"  {command} {shlex.join(words)}"))
    console.print(f"Completion: {', '.join(shells) or 'not installed; biselect --install-completion'}")
