"""What a result was made from: the source of an experiment and of all of this package that it may load."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAZY = re.compile(rf"{ROOT.name}(\.\w+)+(:\w+)?")  # a module named in a string, to be loaded when it is needed


@cache
def digest(module: str) -> str:
    """Changes with any file of this package that a module can reach, however deep; other packages do not count."""
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if path is not None and name not in sources:
            sources[name] = path.read_bytes()
            waiting += _named(sources[name], path)
    lines = (f"{name} {hashlib.sha256(source).hexdigest()}" for name, source in sorted(sources.items()))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _path(name: str) -> Path | None:
    """The file of a module of this package; None for anything else, such as a class inside one."""
    top, *parts = name.split(".")
    if top != ROOT.name:
        return None
    plain = ROOT.joinpath(*parts)
    return next((path for path in (plain.with_suffix(".py"), plain / "__init__.py") if path.is_file()), None)


@cache
def _named(source: bytes, path: Path) -> tuple[str, ...]:
    """Modules that a file imports, anywhere in it, or names in a string; most files are reached from many."""
    return tuple(_found(source, path))


def _found(source: bytes, path: Path) -> Iterator[str]:
    tree = ast.parse(source)
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
    if any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body):
        package = ".".join([ROOT.name, *path.parent.relative_to(ROOT).parts])  # hands on any of its modules
        yield from (f"{package}.{other.stem}" for other in path.parent.glob("*.py"))
