import subprocess
import sys

import biselect


def test_version_and_help(run):
    assert run("--version").out.strip() == biselect.__version__
    assert "select" in run("--help").out
    module = subprocess.run([sys.executable, "-m", "biselect", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout.strip() == biselect.__version__
