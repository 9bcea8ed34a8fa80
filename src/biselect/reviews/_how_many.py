"""How many columns? What each number of them shows beyond chance, and the number after which more stop paying."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.pages.words import phrase
from biselect.reviews.kinds import reference_draws
from biselect.solvers import solve
from biselect.tables import NamedMatrix
from biselect.weights import Weigher

MOST = 12  # columns compared; a person reads no more beside each other
DRAWS = 5  # from the reference, for every number
MORE_DRAWS = 14  # for the knee alone
CLEAR = 3.0  # spreads above the mean of all draws; their rows made the ranks, so the pool's score a little higher
STARTS = 8  # of each climb
USUAL = 5  # columns where nothing exceeds chance
CHEAP_CELLS = 1_000_000  # of a pool, beyond which nothing is compared unless auto asks for it


def how_many(
    problem: SelectionProblem, calibrator: Weigher, reference: NamedMatrix, *, columns: int | None, seed: int
) -> dict[str, Any]:
    """The number of columns, why, and what each number shows, as plain data.

    For each number, `score` is what the best block of the pool weighs, rows and columns on their own left out;
    `chance` the same for the mean of a few equally large draws from the reference; `excess` the difference; `share`
    the part of all that is unusual about the block's rows that its columns show. Blocks come from a climb. The draws
    obey the rules about columns; those about rows bind the pool alone, so that `excess` is rather too small.

    Args:
        problem: the pool's weights, k and rules.
        calibrator: fitted on the reference.
        reference: normal rows.
        columns: how many columns somebody asked for; None to take the knee.
        seed: fixes the draws and the climbs.
    """
    view: dict[str, Any] = {"m": columns, "auto": columns is None, "knee": None, "by_m": []}
    if columns is not None and problem.coupling.size > CHEAP_CELLS:
        why = phrase("how_many.too_large", cells=CHEAP_CELLS)
        words = phrase("how_many.not_compared", columns=phrase("how_many.columns", n=columns), why=why)
        return view | {"words": words}
    fewest = max(1, len(problem.feature_rules.forced_in))
    numbers = range(fewest, min(problem.feature_rules.room(problem.n_features), max(MOST, fewest)) + 1)
    plain = SelectionProblem(
        coupling=problem.coupling,
        k=problem.k,
        m=problem.m,
        sample_rules=problem.sample_rules,
        feature_rules=problem.feature_rules,
    )
    blocks = _best(plain, numbers, seed)
    scores = np.array([block.score for block in blocks])
    draws = reference_draws(calibrator, reference, plain, draws=DRAWS + MORE_DRAWS, sided=False, seed=seed)
    ruled = (replace(draw, feature_rules=problem.feature_rules) for draw in draws)
    null = np.array([[block.score for block in _best(next(ruled), numbers, seed)] for _ in range(DRAWS)])
    excess = scores - (chance := null.mean(axis=0))
    at = _bend(excess, numbers)
    by_chance = [*null[:, at], *(_best(draw, [numbers[at]], seed)[0].score for draw in ruled)]
    clear = np.mean(by_chance) + CLEAR * np.std(by_chance, ddof=1)
    knee = numbers[at] if scores[at] > max(clear, *by_chance) else None
    m = columns or knee or min(max(USUAL, fewest), numbers[-1])
    shares = [0.0 if (part := coverage(block)) is None else part["share"] for block in blocks]
    rest = zip(numbers, scores.tolist(), chance.tolist(), excess.tolist(), shares, strict=True)
    return view | {
        "m": m,
        "knee": knee,
        "words": _words(m, numbers, excess, knee, columns),
        "by_m": [dict(zip(("m", "score", "chance", "excess", "share"), one, strict=True)) for one in rest],
    }


def _best(problem: SelectionProblem, numbers: Sequence[int], seed: int) -> list[Selection]:
    return [solve(replace(problem, m=m), "coordinate-ascent", seed=seed, starts=STARTS) for m in numbers]


def _bend(excess: NDArray[np.float64], numbers: Sequence[int]) -> int:
    """Where the excess lies furthest above the straight line from nothing to the largest number."""
    return int(np.argmax(excess - excess[-1] * np.array(numbers) / numbers[-1]))


def _words(m: int, numbers: Sequence[int], excess: NDArray[np.float64], knee: int | None, request: int | None) -> str:
    columns = phrase("how_many.columns", n=m)
    text = phrase("how_many.asked", columns=columns) if request else columns
    if knee is None:
        otherwise = "" if request else phrase("how_many.otherwise", usual=USUAL)
        return phrase("how_many.not_clear", columns=text, draws=DRAWS + MORE_DRAWS, otherwise=otherwise)
    at, best, most = m - numbers[0], int(np.argmax(excess)), float(excess.max())
    if m in numbers:
        share = phrase("how_many.part", share=100 * max(0.0, excess[at]) / most, best=numbers[best])
        text += phrase("how_many.holds", n=m, share=phrase("how_many.all") if at == best else share)
        if m < numbers[-1]:
            adds = 100 * (excess[at + 1] - excess[at]) / most
            text += phrase("how_many.one_more" if adds >= 0.5 else "how_many.no_more", adds=adds)
    return text if m == knee else text + phrase("how_many.auto", knee=knee)


def row_shares(selection: Selection) -> NDArray[np.float64]:
    """For each chosen row the share of its weights, all columns together, that lies in the chosen ones."""
    weights = np.maximum(selection.problem.coupling[selection.samples].astype(np.float64), 0)
    whole = weights.sum(axis=1)
    return np.divide(weights[:, selection.features].sum(axis=1), whole, out=np.zeros(len(whole)), where=whole > 0)


def coverage(selection: Selection) -> dict[str, Any] | None:
    """The same over all chosen rows, and the column left out that would show most of the rest.

    None where the chosen rows hold no weight at all.
    """
    problem = selection.problem
    columns = np.maximum(problem.coupling[selection.samples].astype(np.float64), 0).sum(axis=0)
    whole = columns.sum()
    if whole == 0:
        return None
    others = np.setdiff1d(np.arange(columns.size), [*selection.features, *problem.feature_rules.forced_out])
    best = others[np.argmax(columns[others])] if others.size else None
    return {
        "share": float(columns[selection.features].sum() / whole),
        "next": None
        if best is None
        else {"name": problem.feature_name(int(best)), "share": float(columns[best] / whole)},
    }
