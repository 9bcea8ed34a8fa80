"""Solvers: one file each, one registry. `solve(problem)` is the way in."""

from biselect.solvers._lagrangian import certified
from biselect.solvers.budgets import neighbours
from biselect.solvers.registry import SOLVERS, Answer, Run, Solver, keeps_limits, solve, solver_names, solver_options

__all__ = [
    "SOLVERS",
    "Answer",
    "Run",
    "Solver",
    "certified",
    "keeps_limits",
    "neighbours",
    "solve",
    "solver_names",
    "solver_options",
]
