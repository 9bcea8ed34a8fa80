"""The layout is the architecture: three packages in layers, without cycles, and nothing loaded that is not used."""

import ast
import inspect
import re
import runpy
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"biselect": "src", "biselect_quantum": "quantum/src", "biselect_studies": "studies/src"}
LAYERS = {  # a module imports from its own layer and those before it; words and markup know plain data alone
    "biselect": (
        "_version _stopping errors extensions options progress pages.words pages.notebook core columns tables "
        "weights solvers large pages reviews sessions plot estimators app cli testing"
    ),
    "biselect_quantum": (
        "_version options conventions shots uniform simulate circuits _wide_solver solver devices plot cli"
    ),
    "biselect_studies": "_version data extensions recovery quantum",  # all else is a study, and lies above
}
ONLY = {  # what imports another package, and nobody else
    "qiskit": ("biselect_quantum.devices",),
    "starlette": ("biselect.app",),
    "uvicorn": ("biselect.app",),
}
HEAVY = {"qiskit", "matplotlib", "cupy", "numba", "sklearn", "pyarrow", "pandas", "polars"}
MOST_PARAMETERS = 12


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the three packages by its name."""
    trees = {}
    for package, folder in PACKAGES.items():
        for path in sorted((ROOT / folder / package).rglob("*.py")):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


def run_parts(node: ast.AST):
    """What of a module runs: all of it but for what only type checkers see."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from run_parts(child)


@cache
def imports(name: str) -> set[str]:
    """What a module imports, at its top or inside a function; modules of ours in full."""
    targets = set()
    for node in run_parts(modules()[name]):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                targets.add(inner if inner in modules() else node.module)
    return targets - {name}


def is_ours(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES


def layer_of(name: str) -> int:
    """The number of a module's layer; what no layer names lies above them all, and only the studies have such."""
    package, _, rest = name.partition(".")
    layers, own = LAYERS[package].split(), rest.partition(".")[0]
    if rest in layers:
        return layers.index(rest)
    own = {"": "_version", "__main__": "cli"}.get(own, own)
    assert own in layers or package == "biselect_studies", f"{own} is not a known layer of {package}"
    return layers.index(own) if own in layers else len(layers)


def test_a_module_imports_only_from_its_own_layer_and_those_before_it():
    wrong = [
        f"{name} imports {target}"
        for name in modules()
        for target in imports(name)
        if is_ours(target) and target.partition(".")[0] == name.partition(".")[0] and layer_of(target) > layer_of(name)
    ]
    assert wrong == []


def test_a_package_imports_only_those_before_it_and_nothing_private_of_them():
    order, wrong = list(PACKAGES), []
    for name in modules():
        own = name.partition(".")[0]
        for target in imports(name):
            package, *rest = target.split(".")
            if package in PACKAGES and package != own:
                if order.index(package) > order.index(own) or any(part.startswith("_") for part in rest):
                    wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_only_one_place_imports_qiskit_and_one_the_web_server():
    """The studies are above both."""
    wrong = [
        f"{name} imports {target}"
        for name in modules()
        for target in imports(name)
        for other, places in ONLY.items()
        if target.split(".")[0].startswith(other) and not name.startswith((*places, "biselect_studies"))
    ]
    assert wrong == []


def test_no_modules_import_each_other():
    """Imports inside functions count too: what needs one to break a cycle is in two places that are one."""
    edges = {
        name: {one for one in imports(name) if one in modules() and one.split(".")[0] == name.split(".")[0]}
        for name in modules()
    }
    assert [sorted(cycle) for cycle in cycles(edges)] == []


def cycles(edges: dict[str, set[str]]) -> list[set[str]]:
    """Groups of more than one node, each of which reaches all others."""
    reached = {}
    for start in edges:
        seen, waiting = set(), [start]
        while waiting:
            for target in edges[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        reached[start] = seen
    groups = {frozenset(b for b in reached[a] if a in reached[b]) for a in edges if a in reached[a]}
    return [set(group) for group in groups if len(group) > 1]


def functions(tree: ast.Module):
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_no_function_takes_more_than_twelve_parameters():
    """Compiled kernels aside, which are given arrays one by one."""
    wide = {}
    for name, tree in modules().items():
        for node in functions(tree):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            number = len(names) - (names[:1] in (["self"], ["cls"]))
            if number > MOST_PARAMETERS and not re.search(
                "njit|intrinsic", " ".join(map(ast.unparse, node.decorator_list))
            ):
                wide[f"{name}.{node.name}"] = number
    assert wide == {}


def test_no_function_takes_its_own_variables_for_a_bag_of_options():
    calls = [
        f"{name}.{node.name}"
        for name, tree in modules().items()
        for node in functions(tree)
        for part in ast.walk(node)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "locals"
    ]
    assert calls == []


def test_no_public_function_is_called_like_a_module_beside_it():
    """Importing the module would hide the function: Python sets the package's attribute to the module."""
    names = runpy.run_path(str(ROOT / "docs" / "extensions" / "public_names.py"))
    hidden = []
    for place in names["MODULES"]:
        package = import_module(place)
        beside = {name.rpartition(".")[2] for name in modules() if name.rpartition(".")[0] == place}
        for name in beside & {*names["public_names"](package), *getattr(package, "__all__", ())}:
            if f"{place}.{name}" not in _stub(package):
                hidden.append(f"{place}.{name}")
    assert hidden == []


def _stub(package) -> set[str]:
    """Modules that a package offers as such, by `from . import plot as plot` in its stub."""
    stub = Path(inspect.getfile(package)).with_suffix(".pyi")
    lines = stub.read_text(encoding="utf-8") if stub.exists() else ""
    return {f"{package.__name__}.{name}" for name in re.findall(r"^from \. import (\w+)", lines, re.MULTILINE)}


def loaded_by(code: str) -> list[str]:
    script = f"import sys\n{code}\nprint(','.join(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return output.strip().splitlines()[-1].split(",")


def libraries(names: list[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


def command(*arguments: object) -> str:
    return f"""
from biselect.cli import main
sys.argv = {["biselect", *map(str, arguments)]!r}
try:
    main()
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    "code",
    [
        "import biselect",
        "import biselect; biselect.SelectionProblem; biselect.solve; biselect.Selection",
        "import biselect; p = biselect.SelectionProblem(coupling=[[1.0, 2.0]], k=1, m=1); biselect.solve(p)",
    ],
)
def test_light_stays_light(code):
    assert not libraries(loaded_by(code)) & HEAVY


def test_pictures_load_matplotlib_only_when_drawn():
    assert "matplotlib" not in libraries(loaded_by("import biselect; biselect.plot.block"))


def test_help_loads_nothing_numeric():
    """Of all commands in one process: a module that one of them loads is seen at the end."""
    asked = [["--help"], ["--version"]]
    asked += [[name, "--help"] for name in ("demo", "select", "certify", "compile", "reproduce", "train")]
    assert not libraries(loaded_by("".join(command(*arguments) for arguments in asked))) & {*HEAVY, "numpy"}


def test_selecting_loads_neither_plots_nor_anything_quantum(tmp_path):
    names = loaded_by(command("demo", "--out", tmp_path, "--quiet", "--json"))
    assert not libraries(names) & {"qiskit", "matplotlib", "cupy"}


CALLED = """
import sys, threading
files = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & 1 and not code.co_name.endswith("comp>"):  # a function, no class or module
        files.add(code.co_filename)
threading.setprofile(note)
sys.setprofile(note)
"""
ENDED = """
sys.setprofile(None)
print("\\n".join(sorted(name for name in files if name.endswith(".py") and "biselect" in name)))
"""


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    """1,800 rows of text: an id, a time, ten numbers and a category."""
    rng = np.random.default_rng(0)
    times = np.datetime64("2024-01-01T00") + 2 * np.arange(1800)
    names = ["id", "when", *(f"x{j}" for j in range(10)), "country"]
    columns = [*rng.normal(size=(10, 1800)).round(4), rng.choice(["DE", "FR", "IT"], 1800)]
    path = tmp_path_factory.mktemp("long") / "table.csv"
    rows = zip((f"T{i:05}" for i in range(1800)), times, *columns, strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in (names, *rows)))
    return path


def test_a_selection_loads_and_runs_few_files(long_table):
    """Of 180 modules a selection from a CSV loads at most 110, and runs functions in at most 82."""
    split = ("--time-column", "when", "--reference-until", "2024-04-01", "--id-column", "id")
    selecting = command("select", long_table, "-k", 20, "-m", 5, *split, "--out", long_table.with_name("out"))
    lines = subprocess.run(
        [sys.executable, "-c", f"{CALLED}{selecting}{ENDED}print(','.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert (long_table.with_name("out") / "selection.json").exists()
    assert len([name for name in lines[-1].split(",") if is_ours(name)]) <= 110
    assert len([line for line in lines[:-1] if Path(line).is_relative_to(ROOT / "src" / "biselect")]) <= 82


def test_a_picture_of_a_training_loads_few_modules():
    drawing = loaded_by("import biselect_quantum.plot.circuit_figures")
    assert len([name for name in drawing if is_ours(name)]) <= 90
