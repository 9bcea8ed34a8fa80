"""The paper's Qiskit beside today's: experiments that compile, done by a second Python that has Qiskit 2.1.2.

The tex names the version twice (lines 1319 and 4500). `make paper-env` builds that Python in `.venv-paper` from
`paper-constraints.txt`; BISELECT_PAPER_PYTHON names one that lies elsewhere. It gets the same code, cells and recorded
devices as ours and hands back plain numbers, so that a difference between two columns is the compiler's alone.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from biselect.errors import BiselectError

VERSION, TODAY = "2.1.2", "today"
PYTHON = "BISELECT_PAPER_PYTHON"
FOLDER = ".venv-paper"
CHILD = "biselect_studies.experiments._paper_python"
HOW = f"make paper-env adds the columns of the paper's Qiskit {VERSION}; there is no such environment here"


def python() -> Path | None:
    """The paper's Python; None where nobody built one."""
    named = os.environ.get(PYTHON)
    homes = [Path.cwd(), *Path(__file__).resolve().parents]
    places = [Path(named)] if named else [home / FOLDER / "bin" / "python" for home in homes]
    return next((place for place in places if place.exists()), None)


def qiskits() -> list[str]:
    """Today's Qiskit, and the paper's where it is at hand."""
    return [TODAY, *[VERSION] * (python() is not None)]


def column_of(name: str, qiskit: str) -> str:
    """A column as either Qiskit fills it."""
    return name if qiskit == TODAY else f"{name}, Qiskit {qiskit}"


def lacking() -> str:
    """Why the paper's version fills no column here; empty where it does."""
    return whose_qiskit() if python() is None else ""


def whose_qiskit() -> str:
    """What a reader must know of the columns of the two."""
    if python() is None:
        return f"{HOW}. The paper's numbers are of that version (lines 1319 and 4500), so they are not judged here."
    return (
        f"Columns that say so are compiled by Qiskit {VERSION}, the paper's (lines 1319 and 4500), in an environment "
        "of its own, from the same circuits and targets; the others by today's. What differs between them is the "
        "compiler's version alone."
    )


def perform(experiment: str, cell: Mapping[str, Any], seeds: Iterable[int]) -> dict[str, list[Any]]:
    """An experiment of `compile_case`, done by the paper's Python."""
    asked = {"experiment": experiment, "cell": dict(cell), "seeds": list(seeds)}
    answer = ""
    with suppress(BrokenPipeError):
        child = _child()
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps(asked) + "\n")
        child.stdin.flush()
        answer = child.stdout.readline()
    if not answer:
        raise BiselectError(f"the Python of Qiskit {VERSION} has ended; its own words are above. Try make paper-env")
    found: dict[str, list[Any]] = json.loads(answer)
    return found


@cache
def _child() -> subprocess.Popen[str]:
    """One for each process that asks; it ends with it."""
    place = python()
    if place is None:
        raise BiselectError(HOW)
    import biselect
    import biselect_quantum
    import biselect_studies

    roots = [str(Path(package.__path__[0]).parent) for package in (biselect, biselect_quantum, biselect_studies)]
    paths = os.pathsep.join([*roots, *filter(None, [os.environ.get("PYTHONPATH")])])  # nothing would mean here
    child = subprocess.Popen(
        [str(place), "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"},
    )
    atexit.register(_end, child)
    _introduce(child)
    return child


def _introduce(child: subprocess.Popen[str]) -> None:
    """Hand over the recorded devices: those of today's qiskit-ibm-runtime."""
    from biselect_quantum.devices.targets import HERON_R3, load_target, snapshot

    assert child.stdin is not None
    child.stdin.write(json.dumps({name: snapshot(load_target(name)) for name in HERON_R3}) + "\n")


def _end(child: subprocess.Popen[str]) -> None:
    with suppress(BrokenPipeError):  # it has ended already
        if child.stdin is not None:
            child.stdin.close()
    child.wait()
