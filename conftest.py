"""What all tests share: the command line, a small table, and places that a machine may or may not have."""

import os
import shutil
import sys
from dataclasses import dataclass
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest


@dataclass
class Outcome:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command line as a user does; gives exit code, stdout and stderr."""
    from biselect.cli import main

    def run_command(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["biselect", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run_command


@pytest.fixture
def tables(tmp_path):
    """A reference of 60 normal rows and a pool of 12, in which rows r3 and r7 stand out in columns x and z."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    names = ["x", "y", "z", "u"]
    reference = {name: rng.normal(size=60) for name in names}
    pool = {"id": [f"r{i}" for i in range(12)], **{name: rng.normal(size=12) for name in names}}
    for row in (3, 7):
        pool["x"][row] = 6.0
        pool["z"][row] = -7.0
    pool["fraud"] = [int(row in (3, 8)) for row in range(12)]
    pq.write_table(pa.table(reference), tmp_path / "reference.parquet")
    pq.write_table(pa.table(pool), tmp_path / "pool.parquet")
    return tmp_path


@pytest.fixture
def credit_card():
    """The folder with the full Credit Card table."""
    folder = os.environ.get("BISELECT_DATA", "")
    if not (Path(folder) / "creditcard.parquet").exists():
        pytest.skip("needs the full Credit Card table: set BISELECT_DATA to the folder of creditcard.parquet")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium():
    """Path of a Chromium that can render pages."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs Chromium on the PATH to render pages")
    return found


@pytest.fixture
def ibm(monkeypatch):
    """IBM's service without a network; see `answering_ibm`. Gives its module and a maker of services."""
    pytest.importorskip("qiskit_ibm_runtime")
    place = Path(__file__).parent / "tests" / "answering_ibm.py"
    spec = spec_from_file_location("answering_ibm", place)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return SimpleNamespace(module=module, make=partial(module.AnsweringIbm, monkeypatch))
