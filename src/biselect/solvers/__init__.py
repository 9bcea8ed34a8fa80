"""Solvers: one file each, one registry. `solve(problem)` is the way in."""

from biselect.solvers import auto, coordinate_ascent, exact, feature_first, random_choice
from biselect.solvers.bounds import score_bound
from biselect.solvers.registry import Answer, Run, Solver, register, solve, solver_names

__all__ = ["Answer", "Run", "Solver", "register", "score_bound", "solve", "solver_names"]

register("auto", auto.auto)
register("exact", exact.exact)
register("coordinate-ascent", coordinate_ascent.coordinate_ascent)
register("feature-first", feature_first.feature_first)
register("random", random_choice.random_choice)
