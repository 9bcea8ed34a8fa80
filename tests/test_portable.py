"""The package can be imported on Windows: no module needs one that only POSIX systems have."""

import ast
from pathlib import Path

import pytest

import biselect

ROOT = Path(biselect.__file__).parent
POSIX_ONLY = {"fcntl", "grp", "pwd", "resource", "termios"}


def imported_at_once(node):
    """Modules that importing a file imports: all but those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield (child.module or "").partition(".")[0]
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from imported_at_once(child)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_needs_posix_to_be_imported(path):
    assert not POSIX_ONLY & set(imported_at_once(ast.parse(path.read_text(encoding="utf-8"))))


def test_the_search_looks_into_conditions_and_classes_but_not_into_functions():
    code = "if 1:\n    import fcntl\nclass A:\n    from pwd import x\ntry:\n    import os.path\nexcept E: pass\n"
    code += "def f():\n    import grp\n"
    assert set(imported_at_once(ast.parse(code))) == {"fcntl", "pwd", "os"}
