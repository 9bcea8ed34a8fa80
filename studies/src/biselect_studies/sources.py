"""What a result was made from: the code of an experiment and all of biselect and its studies that it may load."""

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from itertools import accumulate
from pathlib import Path

import biselect
import biselect_quantum
import biselect_studies

ROOTS = {
    Path(package.__path__[0]).name: Path(package.__path__[0])
    for package in (biselect, biselect_quantum, biselect_studies)
}
APART = {  # they name, run, keep and judge results and make none
    f"biselect_studies.{name}" for name in ("sources", "task", "runner", "forecast", "ledger", "rule", "readings")
}
LAZY = re.compile(rf"({'|'.join(ROOTS)})(\.\w+)+(:\w+)?")  # a module named in a string, to be loaded when it is needed
REGISTERED = ("biselect.maps", "biselect.solvers")  # groups of entry points whose things a result may be made by
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def digest(module: str) -> str:
    """Changes with all of biselect and its studies that a module can reach, however deep; other packages do not count.

    Comments, docstrings and layout do not count either. Data and kernels beside a module that reads such files do. Of
    packages that are only passed through their own `__init__` counts, not what it imports for others.
    """
    found: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if path is not None and name not in found and name not in APART:
            found[name], names, files = _parts(path.read_bytes(), path)
            found |= {str(file.relative_to(ROOTS[name.split(".")[0]].parent)): file.read_bytes() for file in files}
            waiting += names
    for name in [name for name in found if _path(name)]:
        for parent in accumulate(name.split(".")[:-1], "{}.{}".format):
            if parent not in found and (path := _path(parent)) is not None:
                found[parent] = _parts(path.read_bytes(), path)[0]
    lines = (f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in sorted(found.items()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def _parts(source: bytes, path: Path) -> tuple[bytes, list[str], list[Path]]:
    """A module as far as it does something, the modules that it names, and the files that it may read."""
    tree = ast.parse(source)
    names, files = list(_named(tree, path)), _files(tree, path)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return hashlib.sha256(_written_out(tree).encode()).digest(), names, files


def _written_out(node: object) -> str:
    """A tree as text that is the same in every Python: without empty parts, of which later versions have more.

    Python 3.12 gave functions and classes a list of type parameters, for one.
    """
    if isinstance(node, ast.AST):
        parts = (f"{name}={_written_out(part)}" for name, part in ast.iter_fields(node) if part not in (None, []))
        return f"{type(node).__name__}({', '.join(parts)})"
    return f"[{', '.join(map(_written_out, node))}]" if isinstance(node, list) else repr(node)


def _files(tree: ast.Module, path: Path) -> list[Path]:
    """All that is no code in the folder of a module that reads files of the package."""
    if not any(isinstance(node, ast.ImportFrom) and node.module == "importlib.resources" for node in ast.walk(tree)):
        return []
    files = (file for file in path.parent.rglob("*") if file.is_file() and file.suffix != ".py")
    return [file for file in files if "__pycache__" not in file.parts]  # compiled code comes and goes


def _path(name: str) -> Path | None:
    """The file of a module of the two packages; None for anything else, such as a class inside one."""
    top, *parts = name.split(".")
    if top not in ROOTS:
        return None
    plain = ROOTS[top].joinpath(*parts)
    return next((path for path in (plain.with_suffix(".py"), plain / "__init__.py") if path.is_file()), None)


def _named(tree: ast.Module, path: Path) -> Iterator[str]:
    """Modules that a file imports, anywhere in it, names in a string, or loads by entry point from a registry."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inner if _path(name)]
            yield from modules
            if len(modules) < len(inner):  # something that the module itself defines or hands on
                yield node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and LAZY.fullmatch(node.value):
            yield node.value.partition(":")[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Registry":
            groups = [part.value for part in node.args if isinstance(part, ast.Constant) and part.value in REGISTERED]
            yield from (point.module for group in groups for point in entry_points(group=group))
    if path.with_suffix(".pyi").exists():  # its names load on first use
        root = next(root for root in ROOTS.values() if path.is_relative_to(root))
        package = ".".join(path.parent.relative_to(root.parent).parts)  # hands on any of its modules
        yield from (f"{package}.{other.stem}" for other in path.parent.glob("*.py"))
