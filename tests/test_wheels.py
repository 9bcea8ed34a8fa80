"""What a user installs: wheels, each alone in an environment that has what it declares and nothing else."""

import ast
import os
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECTS = {"biselect": ROOT, "biselect-quantum": ROOT / "quantum", "biselect-studies": ROOT / "studies"}
ELSEWHERE = {"cupy": "cupy-cuda12x"}  # what may not be installed here

SCRIPT = """
import numpy as np
import biselect as bs
from biselect.weights import Weigher
from biselect.core import Group

problem = bs.SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2, sample_names=["a", "b", "c"])
ruled = bs.SelectionProblem(
    coupling=np.ones((4, 3)), sample_scores=[1, 0, 0, 2], k=2, m=2,
    sample_rules=bs.Rules(forced_in=[3], forced_out=[0], groups=[Group(members=[1, 2])]),
)
best: bs.Selection = bs.solve(problem, time_limit=5)
score: float = problem.score([0, 2], [0, 2])
names: list[str] = best.sample_names
weights = Weigher().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]).weights([[5.0, 5.0]])
review: bs.Review = bs.review(np.zeros((3, 2)), np.ones((4, 2)), k=1, m=1)
bs.JointSelector(k=1, m=1, search=bs.options.Search(time_limit=5))
reveal_type(best.score)
"""


def declared(project: str) -> dict[str, list[Requirement]]:
    """What a package needs, and what its extras add, by the name of the extra; "" for what it always needs."""
    content = tomllib.loads((PROJECTS[project] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {"": content["dependencies"], **content["optional-dependencies"]}
    return {extra: [Requirement(one) for one in several] for extra, several in listed.items()}


def brought(projects: tuple[str, ...]) -> set[str]:
    """Packages of others that come with these, whatever they lead to included."""
    waiting, seen = [(one, "") for project in projects for one in declared(project)[""]], set[tuple[str, str]]()
    while waiting:
        one, extra = waiting.pop()
        if one.name in PROJECTS or (one.marker is not None and not one.marker.evaluate({"extra": extra})):
            continue
        for asked in {"", *one.extras} - {asked for name, asked in seen if name == one.name}:
            seen.add((one.name, asked))
            waiting += [(Requirement(text), asked) for text in distribution(one.name).requires or ()]
    return {name for name, _ in seen}


@pytest.mark.parametrize("project", PROJECTS)
def test_every_package_that_is_imported_is_declared(project):
    names = {canonicalize_name(one.name) for several in declared(project).values() for one in several}
    names |= {canonicalize_name(name) for name in PROJECTS}
    owners, absent = packages_distributions(), set()
    for path in (PROJECTS[project] / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            written = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            written += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for module in {name.partition(".")[0] for name in written} - sys.stdlib_module_names:
                candidates = {canonicalize_name(name) for name in owners.get(module, [ELSEWHERE.get(module, module)])}
                if not candidates & names:
                    absent.add(f"{path.relative_to(ROOT)}: {module}")
    assert absent == set()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The wheel of each package."""
    pytest.importorskip("hatchling", reason="needs the build backend: pip install hatchling")
    folder, built = tmp_path_factory.mktemp("wheels"), {}
    for name, project in PROJECTS.items():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder / name]
        subprocess.run(command, cwd=project, check=True)
        (built[name],) = (folder / name).glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheels, tmp_path_factory):
    """A maker of environments: some of our wheels, and links to the packages of others that they declare."""

    def make(*projects: str) -> Path:
        place = tmp_path_factory.mktemp("environment")
        venv.create(place, with_pip=False)
        (site,) = place.glob("lib/python*/site-packages")
        for name in brought(projects):
            package = distribution(name)
            for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__", "bin"}:
                if not (site / top).exists():
                    (site / top).symlink_to(package.locate_file(top))
        install = [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install", "--quiet"]
        install += ["--no-deps", "--no-index", "--disable-pip-version-check", *(wheels[name] for name in projects)]
        subprocess.run(install, check=True)
        return place

    return make


def run(environment, *command, folder):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [environment / "bin" / command[0], *command[1:]], cwd=folder, env=clean, capture_output=True, text=True
    )


@pytest.mark.parametrize("project", PROJECTS)
def test_a_wheel_has_every_file_of_its_package_and_no_other(wheels, project):
    package = project.replace("-", "_")
    files = [name for name in ZipFile(wheels[project]).namelist() if ".dist-info/" not in name]
    there = {path for path in (PROJECTS[project] / "src" / package).rglob("*") if path.is_file()}
    there = {str(path.relative_to(PROJECTS[project] / "src")) for path in there if "__pycache__" not in path.parts}
    assert wheels[project].name.startswith(f"{package}-") and set(files) == there


def test_biselect_alone_serves_the_analyst(environment, tmp_path):
    alone = environment("biselect")
    where = run(alone, "python", "-c", "import biselect; print(biselect.__file__)", folder=tmp_path).stdout
    assert str(alone) in where
    for absent in ("biselect_quantum", "biselect_studies", "qiskit", "polars"):
        assert "No module" in run(alone, "python", "-c", f"import {absent}", folder=tmp_path).stderr
    # kinds would compile all kernels anew, in the place of the wheel
    demo = run(alone, "biselect", "demo", "--kinds", "1", "--out", "answer", "--quiet", folder=tmp_path)
    assert demo.returncode == 0, demo.stderr
    assert (
        "Proven: no other choice scores higher" in " ".join(demo.stdout.split())
        and (tmp_path / "answer" / "report.html").exists()
    )
    for command, install in (("train", "./quantum"), ("reproduce", "./studies ./quantum")):
        told = run(alone, "biselect", command, "answer/problem.npz", folder=tmp_path)
        assert told.returncode == 1 and f"pip install {install} in a clone" in " ".join(told.stderr.split())
        assert "Traceback" not in told.stderr


def test_biselect_and_quantum_serve_the_researcher(environment, problem_file, tmp_path):
    both = environment("biselect", "biselect-quantum")
    trained = run(
        both, "biselect", "train", problem_file, "--depth", "1", "--out", "trained", "--json", folder=tmp_path
    )
    assert trained.returncode == 0, trained.stderr
    assert (tmp_path / "trained").exists()


@pytest.fixture(scope="module")
def everything(environment):
    return environment(*PROJECTS)


def test_the_studies_add_their_commands(everything, tmp_path):
    listed = run(everything, "biselect", "reproduce", "--list", folder=tmp_path)
    assert listed.returncode == 0, listed.stderr
    assert "theory-gaussian: " in listed.stdout
    assert run(everything, "biselect", "certify", "--help", folder=tmp_path).returncode == 0


def strict(everything, script, folder):
    (folder / "script.py").write_text(script)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", everything / "mypy"]
    command += ["--python-executable", everything / "bin" / "python", "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_a_users_script_with_lists_passes_strict_type_checks(everything, tmp_path):
    checked = strict(everything, SCRIPT, tmp_path)
    assert 'Revealed type is "' in checked and 'float"' in checked  # the types of the wheel are seen
    assert "Success" in checked, checked


@pytest.mark.slow
def test_a_script_that_misuses_the_library_does_not(everything, tmp_path):
    script = "import biselect as bs\nbs.SelectionProblem(coupling=[[1]], k='one', m=1)\n"
    assert 'Argument "k" to "SelectionProblem"' in strict(everything, script, tmp_path)
