"""Which four compounds and which three targets belong on the follow-up plate?

    python examples/drugs_and_targets.py

The affinities are made up, as a screen would give them: pKd values of 40 compounds at 12 targets, of which a family of
six compounds binds three related targets well, and six others bind nearly everything. A pair's weight is the affinity
above 1 µM; a target's own score is what it is worth to the project.

What the objective says: strong binding within the chosen block, and a price or worth of each compound and target.
What it cannot say: selectivity. Binding to targets outside the block is free, so compounds that stick to everything
win. A compound's own score can carry it: here minus its affinity to the targets that must be spared.
"""

import numpy as np

from biselect import SelectionProblem, solve

COMPOUNDS, TARGETS, K, M = 40, 12, 4, 3
SPARED = [10, 11]  # positions of the targets that must not be hit
FAMILY, STICKY = range(0, 6), range(6, 12)


def affinities() -> np.ndarray:
    """PKd values: 4 to 6 is nothing much, 7 is good, 9 is superb."""
    rng = np.random.default_rng(7)
    values = rng.normal(4.8, 0.6, size=(COMPOUNDS, TARGETS))
    values[np.ix_(FAMILY, [2, 3, 4])] += rng.normal(3.0, 0.4, size=(len(FAMILY), 3))
    values[list(STICKY)] += rng.normal(3.2, 0.5, size=(len(STICKY), TARGETS))
    return values.clip(4.0, 10.0)


def problem(price_of_harm: float = 0.0) -> SelectionProblem:
    """The plate; affinity to spared targets costs so much per unit above 1 µM."""
    above = affinities() - 6.0
    worth = np.zeros(TARGETS)
    worth[[2, 3]] = 0.5
    worth[SPARED] = -100.0  # never on the plate
    return SelectionProblem(
        coupling=above.clip(min=0.0),
        sample_scores=-price_of_harm * above[:, SPARED].clip(min=0.0).sum(axis=1),
        feature_scores=worth,
        k=K,
        m=M,
        sample_names=tuple(f"C{i:02d}" for i in range(COMPOUNDS)),
        feature_names=tuple(f"T{j:02d}" for j in range(TARGETS)),
    )


if __name__ == "__main__":
    for price in (0.0, 3.0):
        best = solve(problem(price))
        harm = affinities()[np.ix_(best.samples, SPARED)].max()
        print(f"price of harm {price:g}: {', '.join(best.sample_names)} at {', '.join(best.feature_names)}")
        print(f"  score {best.score:.2f}, proven optimal: {best.proven_optimal}; worst pKd at one to spare {harm:.1f}")
