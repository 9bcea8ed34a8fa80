"""Solvers: one file each, one registry. `solve(problem)` is the way in."""

from biselect.solvers import (
    annealing,
    auto,
    coordinate_ascent,
    exact,
    feature_first,
    greedy,
    kawasaki,
    milp,
    random_choice,
    swap_sa,
    tabu,
)
from biselect.solvers.neighbouring import neighbours
from biselect.solvers.registry import Answer, Solver, register, solve, solver_names, solver_options
from biselect.solvers.score_bound import certified

__all__ = [
    "Answer",
    "Solver",
    "certified",
    "neighbours",
    "register",
    "solve",
    "solver_names",
    "solver_options",
]

register("auto", auto.auto, keeps_limits="all")
register("exact", exact.exact, keeps_limits="all")
register("milp", milp.milp, keeps_limits="all")
register("annealing", annealing.annealing, keeps_limits="all")
register("swap-sa", swap_sa.swap_sa)
register("coordinate-ascent", coordinate_ascent.coordinate_ascent, keeps_limits="all")
register("tabu", tabu.tabu)
register("greedy", greedy.greedy)
register("kawasaki", kawasaki.kawasaki)
register("feature-first", feature_first.feature_first)
register("random", random_choice.random_choice)
register("qaoa", "biselect.qaoa.solver:qaoa", keeps_limits="exact")
