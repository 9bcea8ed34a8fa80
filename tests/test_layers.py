"""The layout is the architecture: a module imports only from layers above its own."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import biselect

ROOT = Path(biselect.__file__).parent
LAYERS = [
    "_version",
    "_stopping",
    "errors",
    "options",
    "extensions",
    "progress",
    "core",
    "calibrate",
    "solvers",
    "theory",
    "data",
    "partitions",
    "engines",
    "simulate",
    "qaoa",
    "hardware",
    "report",
    "reviews",
    "plot",
    "estimators",
    "app",
    "cli",
    "testing",
]
HEAVY = ["qiskit", "matplotlib", "cupy", "numba", "sklearn", "pyarrow", "pandas", "polars"]


def layer_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "biselect" else set()
    return found


def modules() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_layers_above_its_own(path):
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if own == "__main__":
        own = "cli"
    assert own in LAYERS, f"{own} is not a known layer"
    for name in imports(path):
        other = layer_of(name) if name.startswith("biselect.") else None
        if other in LAYERS:
            assert LAYERS.index(other) <= LAYERS.index(own), f"{own} must not import {name}"
        if name.split(".")[0] in ("starlette", "uvicorn"):
            assert own == "app", f"only the workbench may import {name}, not {own}"
        if name.split(".")[0].startswith("qiskit"):
            assert own == "hardware", f"only hardware may import Qiskit, not {own}"


def loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(','.join(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return {name.split(".")[0] for name in output.strip().splitlines()[-1].split(",")}


@pytest.mark.parametrize(
    "code",
    [
        "import biselect",
        "import biselect; biselect.SelectionProblem; biselect.solve; biselect.Calibrator",
        "import biselect; p = biselect.SelectionProblem(coupling=[[1.0, 2.0]], k=1, m=1); biselect.solve(p)",
    ],
)
def test_light_stays_light(code):
    assert not loaded_by(code) & set(HEAVY)


def test_pictures_load_matplotlib_only_when_drawn():
    assert "matplotlib" not in loaded_by("import biselect; biselect.plot.block")


@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["--version"],
        ["demo", "--help"],
        ["select", "--help"],
        ["certify", "--help"],
        ["compile", "--help"],
        ["reproduce", "--help"],
        ["train", "--help"],
    ],
)
def test_help_loads_nothing_numeric(command):
    code = f"""
from biselect.cli import main
sys.argv = ["biselect", *{command!r}]
try:
    main()
except SystemExit:
    pass
"""
    assert not loaded_by(code) & {*HEAVY, "numpy"}


@pytest.mark.parametrize(("kinds", "heavy"), [("1", {"numba"}), ("5", set())])  # proofs of kinds need compiled kernels
def test_selecting_loads_neither_plots_nor_anything_quantum(tmp_path, kinds, heavy):
    code = f"""
from biselect.cli import main
sys.argv = ["biselect", "demo", "--out", {str(tmp_path)!r}, "--kinds", {kinds!r}, "--quiet", "--json"]
try:
    main()
except SystemExit:
    pass
"""
    assert not loaded_by(code) & {"qiskit", "matplotlib", "cupy", *heavy}
