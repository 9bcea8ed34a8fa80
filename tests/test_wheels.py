"""What a user installs: wheels in an environment of their own, run and type-checked from there."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SCRIPT = """
import numpy as np
import biselect as bs

problem = bs.SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2, sample_names=["a", "b", "c"])
ruled = bs.SelectionProblem(
    coupling=np.ones((4, 3)), sample_scores=[1, 0, 0, 2], k=2, m=2,
    sample_rules=bs.Rules(forced_in=[3], forced_out=[0], groups=[bs.Group(members=[1, 2])]),
)
best: bs.Selection = bs.solve(problem, time_limit=5)
score: float = problem.score([0, 2], [0, 2])
names: list[str] = best.sample_names
weights = bs.Calibrator().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]).weights([[5.0, 5.0]])
review: bs.Review = bs.review(np.zeros((3, 2)), np.ones((4, 2)), k=1, m=1)
bs.JointSelector(k=1, m=1)
reveal_type(best.score)
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment that has both wheels and, for their dependencies, what is installed beside these tests."""
    pytest.importorskip("hatchling", reason="needs the build backend: pip install hatchling")
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT, ROOT / "studies"):
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=project, check=True
        )
    place = folder / "environment"
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", *folder.glob("*.whl")]
    subprocess.run(install, check=True)
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    # A path listed in a .pth file is searched, but .pth files there are not read: the sources stay out of sight.
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def run(environment, *command, folder):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [environment / "bin" / command[0], *command[1:]], cwd=folder, env=clean, capture_output=True, text=True
    )


def test_the_library_runs_from_its_wheel(environment, tmp_path):
    where = run(environment, "python", "-c", "import biselect; print(biselect.__file__)", folder=tmp_path).stdout
    assert str(environment) in where
    # kinds would compile all kernels anew, in the place of the wheel
    demo = run(environment, "biselect", "demo", "--kinds", "1", "--out", "answer", "--quiet", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    assert "Proven optimal" in demo.stdout and (tmp_path / "answer" / "report.html").exists()


def test_the_studies_add_their_command(environment, tmp_path):
    listed = run(environment, "biselect", "reproduce", "--list", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "theory-gaussian: " in listed.stdout


def strict(environment, script, folder):
    (folder / "script.py").write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", environment / "mypy"]
    command += ["--python-executable", environment / "bin" / "python", "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_a_users_script_with_lists_passes_strict_type_checks(environment, tmp_path):
    checked = strict(environment, SCRIPT, tmp_path)
    assert 'Revealed type is "' in checked and 'float"' in checked  # the types of the wheel are seen
    assert "Success" in checked, checked


@pytest.mark.slow
def test_a_script_that_misuses_the_library_does_not(environment, tmp_path):
    script = "import biselect as bs\nbs.SelectionProblem(coupling=[[1]], k='one', m=1)\n"
    assert 'Argument "k" to "SelectionProblem"' in strict(environment, script, tmp_path)
