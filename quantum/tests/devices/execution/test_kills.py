"""Runs killed at 20 moments wherever circuits can be run: the same bytes at the end."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[4] / "scripts" / "kill_runs.py"
PLACES = ["sector", "wide", "aer", "noisy:FakeManilaV2", "StatevectorSampler"]
SERVICES = ["ibm:answering"]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES + SERVICES)
def test_a_run_that_is_killed_anywhere_ends_as_if_it_had_not_been(place):
    done = subprocess.run([sys.executable, SCRIPT, place, "--moments", "20"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'same': 20" in done.stdout and "wrong: none" in done.stdout
