"""Solvers: one file each, one registry. `solve(problem)` is the way in."""

from biselect.solvers.neighbouring import neighbours
from biselect.solvers.registry import SOLVERS, Answer, Run, Solver, keeps_limits, solve, solver_names, solver_options
from biselect.solvers.score_bound import certified

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
