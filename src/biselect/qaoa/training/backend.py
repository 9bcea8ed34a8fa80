"""Which simulator a training wants: compiling takes seconds, NumPy takes longer for every evaluation."""

from __future__ import annotations

from biselect.core import SelectionProblem

COMPILE = 10.0  # seconds that compiling takes the first time
EACH = 2e-7  # seconds of a gradient in NumPy, for each amplitude and layer
LEAST = 7e-4  # and for each layer at least


def backend_for(problem: SelectionProblem, depth: int, evaluations: int) -> str:
    """`compiled` where compiling pays for this many evaluations, otherwise what `auto` takes."""
    seconds = evaluations * depth * max(LEAST, EACH * problem.sector.size)
    return "compiled" if seconds > COMPILE else "auto"
