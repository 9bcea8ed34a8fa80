"""Change the code a little and see whether a test notices: `python scripts/mutate.py --count 200`, or `make mutants`.

A mutant differs from the code in one place: a comparison is turned or loses its equality, `and` becomes `or`, `+`
becomes `-`, a `not` goes, a whole number grows by one. It lives in the memory of a process that runs the tests of its
own module; no file is changed. Compiled functions are left out: their cache would bring back the original. Prints the
mutants that survive; what was made of them is in scripts/mutants.md.
"""

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = ("checks", "exact_sums", "files", "ising", "problem", "rules", "sector", "selection", "untrusted")
TESTED = {  # module: its tests
    **{f"src/biselect/core/{name}": f"tests/core/test_{name}" for name in CORE},
    **{f"src/biselect/columns/{name}": f"tests/columns/test_{name}" for name in ("category", "distribution")},
    **{f"src/biselect/weights/{name}": f"tests/weights/test_{name}" for name in ("weigher", "maps")},
    "quantum/src/biselect_quantum/shots": "quantum/tests/test_shots",
}
OTHER = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.In: ast.NotIn},
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def places(tree):
    """Every node that can be changed, outside of compiled functions, annotations and messages of errors."""
    skipped = set()
    for node in ast.walk(tree):
        jitted = isinstance(node, ast.FunctionDef) and any("njit" in ast.dump(one) for one in node.decorator_list)
        parts = [node] if jitted or isinstance(node, ast.Raise | ast.JoinedStr) else []
        parts += [node.annotation] if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation else []
        parts += [node.returns] if isinstance(node, ast.FunctionDef) and node.returns else []
        skipped |= {id(inner) for part in parts for inner in ast.walk(part)}
    return [node for node in ast.walk(tree) if id(node) not in skipped and _changeable(node)]


def _changeable(node):
    match node:
        case ast.Compare(ops=[op]) | ast.BoolOp(op=op) | ast.BinOp(op=op):
            return type(op) in OTHER
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Constant(value=value):
            return type(value) is int
    return False


def change(node):
    """Change it in place."""
    match node:
        case ast.Compare():
            node.ops = [OTHER[type(node.ops[0])]()]
        case ast.BoolOp() | ast.BinOp():
            node.op = OTHER[type(node.op)]()
        case ast.UnaryOp():
            node.op, node.operand = ast.Not(), ast.UnaryOp(op=ast.Not(), operand=node.operand)
        case ast.Constant():
            node.value += 1


def mutants():
    """Every mutant: its module, the number of its place, and line and code before and after."""
    for module in TESTED:
        tree = ast.parse((ROOT / f"{module}.py").read_text())
        for number, node in enumerate(places(tree)):
            before, line = ast.unparse(node), node.lineno
            changed = copy.deepcopy(node)
            change(changed)
            yield module, number, f"{module}.py:{line}: `{before}` → `{ast.unparse(changed)}`"


class Mutated(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    """Imports one module with one place changed."""

    def __init__(self, module, number):
        self.name, self.number = module.rpartition("src/")[2].replace("/", "."), number
        self.path = ROOT / f"{module}.py"

    def find_spec(self, name, path=None, target=None):
        """That module is ours to load."""
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def exec_module(self, module):
        """Its code, changed."""
        tree = ast.parse(self.path.read_text())
        change(places(tree)[self.number])
        exec(compile(ast.fix_missing_locations(tree), str(self.path), "exec"), module.__dict__)


def survives(module, number, patience):
    """Whether the tests of its module pass with the mutant; one that hangs does not."""
    child = os.fork()
    if child == 0:
        import pytest

        os.setpgid(0, 0)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        sys.meta_path.insert(0, Mutated(module, number))
        tests = str(ROOT / f"{TESTED[module]}.py")
        os._exit(int(pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:randomly", tests])))
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main():
    """A sample of all mutants, with the survivors by name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="modules with this in their name alone")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for the tests of one mutant")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    arguments = parser.parse_args()
    for name in ("hypothesis", "numba", "numpy", "pandas", "polars", "pyarrow", "pytest", "scipy"):
        importlib.import_module(name)  # once for all children
    every = [mutant for mutant in mutants() if arguments.only in mutant[0]]
    chosen = random.Random(arguments.seed).sample(every, min(arguments.count, len(every)))
    tried, survived = Counter(), Counter()
    end = time.monotonic() + 60 * arguments.minutes
    for module, number, told in chosen:
        if time.monotonic() > end:
            break
        tried[module] += 1
        if survives(module, number, arguments.patience):
            survived[module] += 1
            print(told, flush=True)
    print(f"{survived.total()} of {tried.total()} mutants survived (of {len(every)} in all, seed {arguments.seed})")
    for module in sorted(tried):
        print(f"  {module}: {survived[module]} of {tried[module]}")


if __name__ == "__main__":
    main()
