"""Look for false proofs and false bounds: `python scripts/soak_proofs.py --count 1000000 --workers 16`.

Every case is drawn from its seed and number alone: weights of some family, scores of its own, λ, budgets, and rules of
every kind on both sides, several at once. It is solved by enumeration, by branch and bound, and in part by bounds
alone, and compared with an optimum that is found here in integers, from the rules as they were drawn. `--size small`
lists all choices of both sides; `--size medium` lists those of one side, and answers each by a sum over groups. Neither
uses code of the package. The independent checker must follow every proof, and refuse it for a choice that scores less.

Prints how far it is, and a line for every wrong case, which `--seed S --only NUMBER` draws again. Exits with 1 if
anything was wrong.
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from biselect.core import Group, Rules, SelectionProblem
from biselect.errors import BiselectError
from biselect.solvers import _branch_and_bound, _exact, certified, solve
from biselect.solvers.registry import follow

CHUNK = 200
WRONG = ("false proof", "false bound", "refused proof", "false check", "infeasible", "wrong score", "open gap", "crash")
SIZES = {"small": (2, 6), "medium": (4, 80)}
MOST_SUBSETS = {"small": 10**6, "medium": 3_000}  # of the side that is listed
PLAIN, LOOP, DIVE = _exact.INSTANT_CELLS, _exact.LOOP_CELLS, _branch_and_bound.DIVE_CELLS


def signs(rng, size):
    """-1 and 1."""
    return rng.choice([-1.0, 1.0], size=size)


def walls(rng, size, depth, scale=1e-15):
    """Small numbers, and some that say "never"."""
    return np.where(rng.random(size) < 0.2, depth, scale * rng.gamma(2, size=size))


def ranks(rng, size):
    """-log10 of ranks among so many."""
    among = int(rng.choice([20, 100, 3000]))
    return -np.log10(rng.integers(1, among + 1, size=size) / among)


def repeated(rng, size):
    """Few rows and columns, each several times."""
    plain = rng.normal(size=size)
    for axis, length in enumerate(plain.shape):
        plain = np.take(plain, rng.integers(0, max(1, length // 2), size=length), axis=axis)
    return plain


# each family: (rng, shape) -> numbers of that shape
FAMILIES = {
    "normal": lambda r, s: r.normal(size=s),
    "half-normal": lambda r, s: np.abs(r.normal(size=s)),
    "Cauchy": lambda r, s: r.standard_cauchy(size=s),
    "binary": lambda r, s: r.integers(0, 2, size=s) * 1.0,
    "binary times 0.3": lambda r, s: 0.3 * r.integers(0, 2, size=s),
    "whole numbers": lambda r, s: r.integers(-3, 4, size=s) * 1.0,
    "one decimal": lambda r, s: np.round(r.normal(size=s), 1),
    "two decimals": lambda r, s: np.round(3 * r.random(size=s), 2),
    "-log10 of ranks": ranks,
    "constant": lambda r, s: np.full(s, 0.1),
    "zeros of both signs": lambda r, s: 0.0 * signs(r, s),
    "duplicated rows and columns": repeated,
    "1e16 that cancels": lambda r, s: 1e16 * signs(r, s),
    "multiples of 1e16 that cancel": lambda r, s: 1e16 * r.integers(-3, 4, size=s),
    "normal beside 1e16 that cancels": lambda r, s: r.normal(size=s) + 1e16 * signs(r, s) * r.integers(0, 2, size=s),
    "decimals beside 1e13 that cancels": lambda r, s: np.round(r.normal(size=s), 1) + 1e13 * r.integers(-1, 2, size=s),
    "tiny weights beside walls of -0.5": lambda r, s: walls(r, s, -0.5),
    "tiny weights beside walls of -1e200": lambda r, s: walls(r, s, -1e200),
    "normal beside walls of -1e14": lambda r, s: np.where(r.random(s) < 0.2, -1e14, r.normal(size=s)),
    "largest numbers": lambda r, s: 2e302 * (1 - 2.0**-50 * r.integers(0, 9, size=s)) * signs(r, s),
    "scale of 1e300": lambda r, s: 1e300 * r.normal(size=s),
    "scale of 1e-300": lambda r, s: 1e-300 * r.normal(size=s),
    "denormal numbers": lambda r, s: 5e-324 * r.integers(-9, 9, size=s),
    "all scales at once": lambda r, s: signs(r, s) * 10.0 ** r.uniform(-300, 300, size=s),
    "one unit in the last place": lambda r, s: 1.0 + 2.0**-52 * r.integers(0, 4, size=s),
    "thirds": lambda r, s: r.integers(-6, 7, size=s) / 3,
}
LAMBDAS = (1.0, 1.0, 1.0, 0.0, 0.3, 0.7, 2.0, 3.0, 0.1, 1e-3, 2.0**-60, 1e-290)
KINDS = ("none", "in", "out", "in and out", "at most", "exactly", "both", "in, out and at most", "in, out and exactly")
KINDS += ("directions at most", "in, out and directions at most")


@dataclass(frozen=True)
class Side:
    """One side as it was drawn: how many items there are, how many to choose, and under which rules.

    `groups` holds members, limit, and whether that many are needed, not just allowed; `overlapping` the same for limits
    that share members; `example` is a choice that obeys.
    """

    length: int
    budget: int
    forced_in: frozenset
    forced_out: frozenset
    groups: tuple
    overlapping: tuple
    example: tuple

    @property
    def rules(self):
        """The same for the package."""
        groups = [Group(members=g, **{"exactly" if needed else "at_most": t}) for g, t, needed in self.groups]
        overlapping = [Group(members=members, at_most=limit) for members, limit, _ in self.overlapping]
        return Rules(forced_in=self.forced_in, forced_out=self.forced_out, groups=groups, overlapping=overlapping)

    def allows(self, items):
        """Whether a choice obeys."""
        chosen = set(items)
        if not self.forced_in <= chosen or chosen & self.forced_out or len(chosen) != self.budget:
            return False
        limits = self.groups + self.overlapping
        numbers = [(len(chosen & set(members)), limit, needed) for members, limit, needed in limits]
        return all(number == limit if needed else number <= limit for number, limit, needed in numbers)

    def choices(self):
        """All choices that obey."""
        free = [i for i in range(self.length) if i not in self.forced_in | self.forced_out]
        for more in combinations(free, self.budget - len(self.forced_in)):
            if self.allows(items := (*self.forced_in, *more)):
                yield items

    def best(self, values):
        """The largest sum of values of a choice that obeys; the best of so many items, group by group."""
        grouped = {i for members, _, _ in self.groups for i in members}
        rest = tuple(i for i in range(self.length) if i not in grouped)
        reached = {0: 0}
        for members, limit, needed in [*self.groups, (rest, self.budget, False)]:
            always = [values[i] for i in members if i in self.forced_in]
            free = sorted((values[i] for i in members if i not in self.forced_in | self.forced_out), reverse=True)
            sums = {len(always) + t: sum(always) + sum(free[:t]) for t in range(len(free) + 1)}
            sums = {t: x for t, x in sums.items() if (t == limit if needed else t <= limit)}
            both = {}
            for t, x in reached.items():
                for u, y in sums.items():
                    both[t + u] = max(x + y, both.get(t + u, x + y))
            reached = both
        return reached[self.budget]


def draw_side(rng, length, budget, *, features):
    """Rules of some kind that at least one choice obeys; only features have overlapping limits."""
    order = rng.permutation(length).tolist()
    chosen, rest = order[:budget], order[budget:]
    kind = KINDS[rng.integers(len(KINDS))]
    forced_in, forced_out, groups, overlapping = [], [], [], []
    if "in" in kind.replace("in,", "in ").split():
        some = int(rng.integers(1, budget)) if budget > 1 and rng.random() < 0.7 else int(rng.integers(0, budget + 1))
        forced_in = chosen[:some]  # mostly not all: then one side is settled
    if "out" in kind:
        forced_out = rest[: int(rng.integers(0, len(rest) + 1))]
    if any(word in kind for word in ("most", "exactly", "both")):
        # beside "exactly", limits must add up to the budget: then every item stands in a group, and none is loose
        labels = rng.integers(0 if kind == "both" else -1, 3, size=length).tolist()
        if "directions" in kind:  # every column has up to three, one of them at most
            labels = np.zeros(length, dtype=int)
            labels[chosen], labels[rest] = range(budget), rng.integers(0, budget + 2, size=len(rest))
        for label in range(max(labels, default=0) + 1):
            members = tuple(i for i in range(length) if labels[i] == label)
            number = len(set(members) & set(chosen))
            needed = "exactly" in kind or (kind == "both" and bool(rng.integers(2)))
            tight = needed or kind == "both" or "directions" in kind
            loose = 0 if tight else int(rng.integers(0, 2)) * int(rng.integers(0, len(members) - number + 1))
            if members:
                groups.append((members, max(number, 1) if "directions" in kind else number + loose, needed))
    if features and rng.random() < 0.4:  # as for kinds: at most so many of an earlier choice, which need not be half
        for _ in range(int(rng.integers(1, 5))):
            size = budget if rng.integers(2) else int(rng.integers(0, length + 1))
            members = tuple(sorted(rng.permutation(length)[:size].tolist()))
            number = len(set(members) & set(chosen))
            overlapping.append((members, max(number, size // 2) if rng.integers(2) else number, False))
    return Side(
        length,
        budget,
        frozenset(forced_in),
        frozenset(forced_out),
        tuple(groups),
        tuple(overlapping),
        tuple(sorted(chosen)),
    )


@dataclass(frozen=True, eq=False)
class Case:
    """A problem, its family, and both sides as they were drawn."""

    family: str
    problem: SelectionProblem
    samples: Side
    features: Side


def budget(rng, length):
    """1 and all with weight."""
    some = [rng.integers(1, length + 1) for _ in range(6)]
    return int(rng.choice([1, length, *some]))


def draw(seed, number, size):
    """The case of this number; None where the package refuses what was drawn, such as sums beyond float64."""
    rng = np.random.default_rng([seed, number, len(size)])
    family = list(FAMILIES)[rng.integers(len(FAMILIES))]
    least, most = SIZES[size]
    n, d = (int(x) for x in rng.integers(least, most + 1, size=2))
    n, d = (1 if rng.integers(30) == 0 else x for x in (n, d))
    k, m = budget(rng, n), budget(rng, d)
    if size == "medium":
        d = min(d, 18)
        m = min(m, 5, d)
        if comb(d, m) > MOST_SUBSETS[size]:
            m = 2
        if rng.random() < 0.3:  # then samples are listed
            n, d, k, m = d, n, m, k
    overlap_allowed = size == "small" or comb(d, m) <= MOST_SUBSETS[size]
    numbers = FAMILIES[family]
    other = FAMILIES[list(FAMILIES)[rng.integers(len(FAMILIES))]] if rng.integers(2) else numbers
    scores = [other(rng, length) if rng.integers(2) else np.zeros(length) for length in (n, d)]
    if rng.integers(4) == 0:
        scores = [-score for score in scores]
    coupling = numbers(rng, (n, d))
    with np.errstate(over="ignore"):
        single = coupling.astype(np.float32)
    coupling = single if rng.integers(8) == 0 and np.isfinite(single).all() else coupling
    samples, features = draw_side(rng, n, k, features=False), draw_side(rng, d, m, features=overlap_allowed)
    for axis, side in ((0, features), (1, samples)):
        if rng.integers(3) == 0:  # items that are alike but for what is forced on the other side
            free = [i for i in range(side.length) if i not in side.forced_in]
            like = rng.integers(0, 2, size=coupling.shape[axis]) % coupling.shape[axis]
            cells = (slice(None), free) if axis == 0 else (free, slice(None))
            coupling[cells] = np.take(coupling, like, axis=axis)[cells]
    try:
        problem = SelectionProblem(
            coupling=np.asfortranarray(coupling) if rng.integers(2) else coupling,
            sample_scores=scores[0],
            feature_scores=scores[1],
            coupling_weight=LAMBDAS[rng.integers(len(LAMBDAS))],
            k=k,
            m=m,
            sample_rules=samples.rules,
            feature_rules=features.rules,
        )
    except BiselectError:
        return None
    return Case(family, problem, samples, features)


class Table:
    """The numbers of a problem as integers, λ multiplied in; `unit` is what 1 stands for."""

    def __init__(self, problem):
        def ratio(x):
            return float(x).as_integer_ratio()

        cells = [[ratio(x) for x in row] for row in problem.coupling.tolist()]
        scores = [[ratio(x) for x in side.tolist()] for side in (problem.sample_scores, problem.feature_scores)]
        above, below = ratio(problem.coupling_weight)
        self.unit = max([q * below for row in cells for _, q in row] + [q for side in scores for _, q in side])
        self.cells = [[p * above * (self.unit // (q * below)) for p, q in row] for row in cells]
        self.a, self.b = ([p * (self.unit // q) for p, q in side] for side in scores)

    def score(self, samples, features):
        """Of one choice."""
        inside = sum(self.cells[i][j] for i in samples for j in features)
        return inside + sum(self.a[i] for i in samples) + sum(self.b[j] for j in features)


def brute_force(case, table):
    """The best score, by a loop over all choices of both sides."""
    samples, best = list(case.samples.choices()), None
    for features in case.features.choices():
        values = [a + sum(row[j] for j in features) for a, row in zip(table.a, table.cells, strict=True)]
        score = max(sum(values[i] for i in chosen) for chosen in samples) + sum(table.b[j] for j in features)
        best = score if best is None or score > best else best
    return best


def one_sided(case, table):
    """The best score, by a loop over the choices of the side that has fewer, or whose limits overlap."""
    lines, rows, cells, own, base = case.features, case.samples, table.cells, table.b, table.a
    if comb(rows.length, rows.budget) < comb(lines.length, lines.budget) and not lines.overlapping:
        lines, rows, cells, own, base = rows, lines, list(zip(*cells, strict=True)), table.a, table.b
    best = None
    for chosen in lines.choices():
        values = [x + sum(row[j] for j in chosen) for x, row in zip(base, cells, strict=True)]
        score = rows.best(values) + sum(own[j] for j in chosen)
        best = score if best is None or score > best else best
    return best


def faults(case, table, best, answer):
    """What is wrong with an answer."""
    samples, features = answer.samples.tolist(), answer.features.tolist()
    if not case.samples.allows(samples) or not case.features.allows(features):
        yield "infeasible"
        return
    score = table.score(samples, features)
    if answer.score != score / table.unit:
        yield "wrong score"
    if answer.proven_optimal and score != best:
        yield "false proof"
    if answer.proven_optimal and answer.gap != 0:
        yield "open gap"
    if "refused_proof" in answer.info:
        yield "refused proof"
    if np.isfinite(answer.bound) and Fraction(-answer.bound) * table.unit < best:
        yield "false bound"


def answers(case, number):
    """Answers to a case in several ways; bounds without a search for some."""
    problem = case.problem
    try:
        yield solve(problem, "exact", workers=1, check_work=10**9)
        _exact.INSTANT_CELLS = _exact.LOOP_CELLS = -1
        _branch_and_bound.DIVE_CELLS = DIVE if number % 2 else 50
        yield solve(problem, "exact", workers=1, check_work=10**9)
        if number % 5 == 0:
            yield solve(problem, "exact", workers=1, search=False, check_work=10**9)
        if number % 20 == 0:
            yield solve(problem, "exact", workers=1, time_limit=1e-6, check_work=10**9)
            yield certified(solve(problem, "coordinate-ascent", starts=1, check_work=10**9), time_limit=10)
    finally:
        _exact.INSTANT_CELLS, _exact.LOOP_CELLS, _branch_and_bound.DIVE_CELLS = PLAIN, LOOP, DIVE


def attempt(seed, number, size):
    """Counts of what one case gave, and what was wrong with it."""
    counts, wrong = Counter(), []
    case = draw(seed, number, size)
    if case is None:
        return Counter({"refused": 1}), wrong
    table = Table(case.problem)
    best = brute_force(case, table) if size == "small" else one_sided(case, table)
    proof = None
    try:
        for answer in answers(case, number):
            counts["answers"] += 1
            counts["proven"] += answer.proven_optimal
            counts["checked"] += answer.proof_checked
            proof = answer.proof or proof
            wrong += faults(case, table, best, answer)
    except Exception:
        wrong.append("crash")
    worse = case.samples.example, case.features.example
    if proof is not None and table.score(*worse) < best:
        counts["worse choices"] += 1
        verdict = follow(case.problem, *(np.array(items) for items in worse), proof, 10**9)
        wrong += ["false check"] if verdict.checked else []
    counts["problems"] += 1
    counts["ruled"] += bool(case.problem.sample_rules) and bool(case.problem.feature_rules)
    counts.update(wrong)
    return counts, [f"case {number}: {case.family}, {case.problem}: {what}" for what in wrong]


def soak(numbers, seed, size):
    """Counts of what cases of these numbers gave."""
    total, wrong, begin = Counter(), [], time.process_time()
    for number in numbers:
        counts, words = attempt(seed, number, size)
        total += counts
        wrong += words
    total["CPU ms"] = round(1000 * (time.process_time() - begin))
    return total, wrong


def main():
    """Soak; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="cases to draw")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one case to draw again")
    given = parser.parse_args()
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    chunk = CHUNK if given.size == "small" else 20
    chunks = [numbers[begin : begin + chunk] for begin in range(0, len(numbers), chunk)]
    total, done, begin = Counter(), 0, time.monotonic()
    with ProcessPoolExecutor(given.workers) as pool:
        results = pool.map(partial(soak, seed=given.seed, size=given.size), chunks)
        for part, (counts, words) in zip(chunks, results, strict=True):
            total += counts
            done += len(part)
            for line in words:
                print(line, flush=True)
            if done * 20 // len(numbers) > (done - len(part)) * 20 // len(numbers):
                seconds, bad = time.monotonic() - begin, sum(total[what] for what in WRONG)
                print(
                    f"{done:,} of {len(numbers):,} cases in {seconds:.0f} s: {bad} wrong", file=sys.stderr, flush=True
                )
    print(
        f"{total['problems']:,} {given.size} problems, {total['ruled']:,} with rules on both sides, "
        f"{total['refused']:,} draws refused; {total['answers']:,} answers, {total['proven']:,} proven, "
        f"{total['checked']:,} checked; {total['worse choices']:,} worse choices held against a proof; "
        f"{total['CPU ms'] / max(1, done):.1f} ms a case"
    )
    print(", ".join(f"{what}: {total[what]}" for what in WRONG))
    return int(any(total[what] for what in WRONG))


if __name__ == "__main__":
    raise SystemExit(main())
