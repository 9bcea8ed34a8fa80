"""Look for false proofs and invalid bounds: `python scripts/soak_proofs.py 1000000 --workers 16`.

Draws small problems of every family, solves each by enumeration and by branch and bound, and compares with an optimum
that is found here in integers, by a plain loop. Prints one line a family, and exits with 1 if anything was wrong.
"""

import argparse
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations

import numpy as np

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem
from biselect.solvers import certified, exact

CHUNK = 500


def _signs(rng, *size):
    return rng.choice([-1.0, 1.0], size=size)


def _walls(rng, n, d, depth):
    weights = 1e-15 * rng.gamma(2, size=(n, d))
    weights[rng.random((n, d)) < 0.2] = depth
    return weights


def _spread(rng, *size):
    return _signs(rng, *size) * 10.0 ** rng.uniform(-300, 300, size=size)


def _duplicates(rng, n, d):
    return rng.normal(size=(n, d))[rng.integers(0, n, size=n)][:, rng.integers(0, d, size=d)]


# each family: (rng, n, d) -> weights, sample scores, feature scores, λ
FAMILIES = {
    "normal": lambda r, n, d: (r.normal(size=(n, d)), r.normal(size=n), r.normal(size=d), 1.0),
    "normal, λ = 0.3": lambda r, n, d: (r.normal(size=(n, d)), r.normal(size=n), r.normal(size=d), 0.3),
    "float32": lambda r, n, d: (r.normal(size=(n, d)).astype(np.float32), 0, 0, 1.0),
    "half-normal": lambda r, n, d: (np.abs(r.normal(size=(n, d))), 0, 0, 1.0),
    "Cauchy": lambda r, n, d: (r.standard_cauchy(size=(n, d)), 0, 0, 1.0),
    "binary": lambda r, n, d: (r.integers(0, 2, size=(n, d)).astype(float), 0, 0, 1.0),
    "binary times 0.3": lambda r, n, d: (0.3 * r.integers(0, 2, size=(n, d)), 0, 0, 1.0),
    "whole numbers": lambda r, n, d: (r.integers(-3, 4, size=(n, d)) * 1.0, r.integers(-3, 4, size=n) * 1.0, 0, 1.0),
    "one decimal": lambda r, n, d: (np.round(r.normal(size=(n, d)), 1), np.round(r.normal(size=n), 1), 0, 1.0),
    "two decimals, λ = 0.7": lambda r, n, d: (
        np.round(r.normal(size=(n, d)), 2),
        0,
        np.round(r.normal(size=d), 2),
        0.7,
    ),
    "constant": lambda r, n, d: (np.full((n, d), 0.1), 0, 0, 1.0),
    "zeros of both signs": lambda r, n, d: (0.0 * _signs(r, n, d), 0.0 * _signs(r, n), 0, 1.0),
    "duplicated rows and columns": lambda r, n, d: (_duplicates(r, n, d), 0, 0, 1.0),
    "rank one": lambda r, n, d: (np.outer(r.normal(size=n), r.normal(size=d)), 0, 0, 1.0),
    "marginals of 1e16 that cancel": lambda r, n, d: (
        r.normal(size=(n, d)),
        1e16 * _signs(r, n),
        1e16 * _signs(r, d),
        1.0,
    ),
    "cells of 1e16 that cancel": lambda r, n, d: (r.normal(size=(n, d)) + 1e16 * _signs(r, n, d), 0, 0, 1.0),
    "cells against marginals of 1e13": lambda r, n, d: (
        r.normal(size=(n, d)) + 1e13,
        -1e13 * d + r.normal(size=n),
        0,
        1.0,
    ),
    "tiny weights beside walls of -0.5": lambda r, n, d: (_walls(r, n, d, -0.5), 0, 0, 1.0),
    "tiny weights beside walls of -1e200": lambda r, n, d: (_walls(r, n, d, -1e200), 0, 0, 1.0),
    "normal beside walls of -1e14": lambda r, n, d: (
        np.where(r.random((n, d)) < 0.2, -1e14, r.normal(size=(n, d))),
        0,
        0,
        1.0,
    ),
    "scale of 1e300": lambda r, n, d: (1e300 * r.normal(size=(n, d)), 1e298 * r.normal(size=n), 0, 1.0),
    "scale of 1e-300": lambda r, n, d: (1e-300 * r.normal(size=(n, d)), 1e-302 * r.normal(size=n), 0, 1.0),
    "denormal numbers": lambda r, n, d: (
        5e-324 * r.integers(-9, 9, size=(n, d)),
        5e-324 * r.integers(0, 9, size=n),
        0,
        1.0,
    ),
    "all scales at once": lambda r, n, d: (_spread(r, n, d), _spread(r, n), 0, 1.0),
    "one unit in the last place": lambda r, n, d: (1.0 + 2.0**-52 * r.integers(0, 4, size=(n, d)), 0, 0, 1.0),
}


def draw(family, rng):
    """A problem of a family, every third with rules."""
    n, d = (int(size) for size in rng.integers(2, 7, size=2))
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    weights, a, b, weight = FAMILIES[family](rng, n, d)
    rules = {}
    if rng.random() < 1 / 3 and k < n and m < d:
        pair = Group(members=(0, 1), at_most=1)
        rules = {"sample_rules": Rules(forced_in=[int(rng.integers(n))]), "feature_rules": Rules(groups=[pair])}
    scores = {"sample_scores": np.broadcast_to(a, n) * 1.0, "feature_scores": np.broadcast_to(b, d) * 1.0}
    return SelectionProblem(coupling=weights, k=k, m=m, coupling_weight=weight, **scores, **rules)


def optimum(problem):
    """The best score as an integer in units of 2⁻²¹⁴⁸, by a loop over all choices of features."""

    def whole(x):
        numerator, denominator = float(x).as_integer_ratio()
        return (numerator << 1074) // denominator

    n, d = problem.coupling.shape
    weight = whole(problem.coupling_weight)
    cells = [[whole(x) * weight for x in row] for row in problem.coupling.tolist()]
    a, b = ([whole(x) << 1074 for x in scores] for scores in (problem.sample_scores, problem.feature_scores))
    forced, best = set(problem.sample_rules.forced_in), None
    for features in combinations(range(d), problem.m):
        if not problem.feature_rules.allow(features):
            continue
        values = [a[i] + sum(cells[i][j] for j in features) for i in range(n)]
        free = sorted((values[i] for i in range(n) if i not in forced), reverse=True)[: problem.k - len(forced)]
        score = sum(free) + sum(values[i] for i in forced) + sum(b[j] for j in features)
        best = score if best is None or score > best else best
    return best


def wrong(problem, answer, best):
    """What is wrong with an answer; empty where nothing is."""
    score = problem.score_units(answer.samples, answer.features)
    if not problem.obeys(answer.samples, answer.features):
        return "infeasible"
    if answer.proven_optimal:
        return "" if score == best else "false proof"
    numerator, denominator = (-answer.bound).as_integer_ratio() if np.isfinite(answer.bound) else (best + 1, 1)
    return "" if np.isinf(answer.bound) or (numerator << 2148) // denominator >= best else "invalid bound"


def soak(seed, family):
    """Counts of what CHUNK problems of a family gave."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family)])
    found = Counter()
    for _ in range(CHUNK):
        try:
            problem = draw(family, rng)
        except bs.errors.BiselectError:  # rules that leave no choice
            continue
        best = optimum(problem)
        for instant in (22_000_000, -1):
            exact.INSTANT_CELLS = exact.INSTANT_LIMITED_CELLS = instant
            answer = bs.solve(problem, "exact", workers=1)
            found["solves"] += 1
            found["proven"] += answer.proven_optimal
            found[wrong(problem, answer, best)] += 1
        found["problems"] += 1
        if found["problems"] % 10:
            continue  # bounds without a search, for one problem in ten
        quick = certified(bs.solve(problem, "coordinate-ascent", starts=1), time_limit=10)
        found[wrong(problem, quick, best)] += 1
    return family, found


def main():
    """Soak every family; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", type=int)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chunks = -(-given.problems // (CHUNK * len(FAMILIES)))
    totals = {family: Counter() for family in FAMILIES}
    with ProcessPoolExecutor(given.workers) as pool:
        for family in FAMILIES:
            for _, found in pool.map(partial(soak, family=family), range(given.seed, given.seed + chunks)):
                totals[family] += found
            counts = totals[family]
            bad = {what: counts[what] for what in ("false proof", "invalid bound", "infeasible") if counts[what]}
            print(
                f"{family}: {counts['problems']} problems, {counts['proven']} of {counts['solves']} proven, {bad}",
                flush=True,
            )
    whole = sum(totals.values(), Counter())
    bad = whole["false proof"] + whole["invalid bound"] + whole["infeasible"]
    print(f"all: {whole['problems']} problems, {whole['proven']} of {whole['solves']} proven, {bad} wrong")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
