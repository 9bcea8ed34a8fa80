"""What chance would give: beside the finding, for each number of columns, and among rows said to be unusual.

A row's weight is what its cells in the chosen columns add. The same is done with rows in which nothing can stand out:
draws from the reference as large as the pool, or, where there is none, the pool with every column shuffled by itself.
Each draw gets the best block of its own, so that the freedom to choose columns counts for chance too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.pages.words import phrase
from biselect.reviews.kinds import reference_draws
from biselect.solvers import solve
from biselect.tables import NamedMatrix, rows_of
from biselect.weights import Weigher
from biselect.weights.maps import GaussianMap

DRAWS = 19  # so that what exceeds them all has a chance of one in twenty
FALSE_SHARE = 0.05  # of chance rows among those that are said to stand out
CLEAR = 3.0  # spreads above the mean of all draws: their rows made the ranks, so the pool scores a little higher
STARTS = 8  # of each climb
MORE = 20  # rows left out that are looked at beside the chosen ones, at least
ALIKE = 0.5  # cosine of two rows' cells from which on they share their reasons
MOST_CELLS = 4_000_000  # of a pool that is compared with chance
SHOWN_LEFT_OUT = 10
MOST = 12  # columns compared; a person reads no more beside each other
COMPARED_DRAWS = 5  # from the reference, for every number
MORE_DRAWS = 14  # for the knee alone
USUAL = 5  # columns where nothing exceeds chance
CHEAP_CELLS = 1_000_000  # of a pool, beyond which nothing is compared unless auto asks for it
LEVEL = 0.1
HELD_OUT = 0.5  # share of the reference that scores are ranked among

Scores = Callable[[Any], NDArray[np.float64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Chance:
    """What draws in which nothing stands out give.

    Attributes:
        weights: draws × ranks, the heaviest rows of each draw's best block, heaviest first.
        scores: of the best blocks.
        shuffled: whether the draws are the pool itself with shuffled columns.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    shuffled: bool = False

    def rows_at(self, weight: float) -> float:
        """How many rows of at least this weight a draw holds, on average."""
        return float((self.weights >= weight).sum() / len(self.weights))

    def is_clear(self, score: float, weight: float) -> bool:
        """Whether a block or its heaviest row lies beyond all draws, by more than they differ among themselves."""
        return any(
            value > max(null.max(), null.mean() + CLEAR * null.std(ddof=1))
            for value, null in ((score, self.scores), (weight, self.weights[:, 0]))
        )


def null_for(
    problem: SelectionProblem, calibrator: Weigher | None, reference: NamedMatrix | None, *, seed: int
) -> Chance | None:
    """What chance gives for a problem's size, budgets and columns; None for a pool of more than MOST_CELLS."""
    if problem.coupling.size > MOST_CELLS:
        return None
    plain = replace(problem, sample_scores=np.zeros(problem.n_samples), feature_scores=np.zeros(problem.n_features))
    if calibrator is not None and reference is not None:
        draws = reference_draws(calibrator, reference, plain, draws=DRAWS, sided=False, seed=seed)
        weight, rules = problem.coupling_weight, problem.feature_rules
        return _measure((replace(draw, coupling_weight=weight, feature_rules=rules) for draw in draws), seed)
    return _measure(_shuffled(plain, seed), seed, shuffled=True)


def _shuffled(problem: SelectionProblem, seed: int) -> Iterator[SelectionProblem]:
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        yield SelectionProblem(
            coupling=rng.permuted(problem.coupling, axis=0),
            k=problem.k,
            m=problem.m,
            coupling_weight=problem.coupling_weight,
            feature_rules=problem.feature_rules,
        )


def _measure(draws: Iterable[SelectionProblem], seed: int, shuffled: bool = False) -> Chance:
    weights, scores = [], []
    for draw in draws:
        block = solve(draw, "coordinate-ascent", seed=seed, starts=STARTS)
        weights.append(_heaviest(row_weights(draw, block.features), draw.k))
        scores.append(block.score)
    return Chance(weights=np.array(weights), scores=np.array(scores), shuffled=shuffled)


def row_weights(problem: SelectionProblem, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the cells of each row add in these columns."""
    return problem.coupling_weight * problem.coupling[:, features].sum(axis=1, dtype=np.float64)


def carries(cells: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which cells are reasons for their row: those with at least half of an even share of its weight."""
    above = np.maximum(cells, 0)
    return np.asarray((above > 0) & (above >= 0.5 * above.mean(axis=1, keepdims=True)))


def _heaviest(weights: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """The k heaviest and some more, heaviest first; rounded, so that sums of the same cells are equal."""
    return np.sort(weights.round(9))[::-1][: max(2 * k, k + MORE)]


def find(
    selection: Selection,
    chance: Chance | None,
    sides: Sequence[Sequence[str]] | None = None,
    kinds: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The finding as plain data; `biselect.pages.words` says it.

    Args:
        selection: the answer.
        chance: from `null_for`; None where it was not compared.
        sides: of each chosen cell, the side of the reference it lies on; None without a reference.
        kinds: from `describe_kinds`.
    """
    problem = selection.problem
    weights = row_weights(problem, selection.features).round(9)
    top = _heaviest(weights, problem.k)
    own = weights[selection.samples]
    left_out = np.sort(np.delete(weights, selection.samples))[::-1]
    step = _step(top, chance)
    beyond = None if chance is None else _beyond(chance, top, float(own.sum()))
    if chance is not None and step is not None and (beyond is None or step[0] < beyond):
        step = None  # among what chance gives there is nothing to tell apart
    line = step[0] if step is not None else beyond
    if line is not None and own.max() < line:  # the heaviest rows were not chosen, by a rule or for what they lack
        line, step = None, None
    standing = np.flatnonzero(own >= line) if line is not None else np.empty(0, dtype=np.int64)
    lighter = [] if line is None else [weight for weight in (*own, *left_out[: top.size]) if weight < line]
    as_a_block = chance is not None and chance.is_clear(float(own.sum()), -np.inf)
    alike = standing if standing.size or not as_a_block else np.arange(problem.k)
    return {
        "chosen": problem.k,
        "of": problem.n_samples,
        "columns": [selection.feature_names[j] for j in np.argsort(-selection.explain().feature_values, kind="stable")],
        "stand_out": int(standing.size),
        "rows": selection.samples[standing].tolist(),
        "beyond_chance": 0 if beyond is None else int((own >= beyond).sum()),
        "weighs": None if line is None else [float(own[standing].min()), float(own[standing].max())],
        "next": float(max(lighter)) if lighter else None,
        "as_a_block": as_a_block,
        "all_equal": bool(problem.coupling.max() == problem.coupling.min()),
        "left_out": 0 if line is None else int((left_out >= line).sum()),
        "ties": int((left_out == own.min()).sum()),
        "step": None if step is None else {"above": step[0], "below": step[1]},
        "groups": _groups(selection, alike, sides),
        "other_kinds": _other_kinds(kinds, problem.k),
        "ladder": {"chosen": np.sort(own)[::-1].tolist(), "left_out": left_out[:SHOWN_LEFT_OUT].tolist()},
        "chance": None
        if chance is None
        else {
            "draws": len(chance.scores),
            "shuffled": chance.shuffled,
            "rows": 0.0 if line is None else chance.rows_at(line),
            "furthest": chance.weights.max(axis=0)[: problem.k].tolist(),
        },
    }


def _beyond(chance: Chance, top: NDArray[np.float64], block: float) -> float | None:
    """The least weight at which few of the rows can be chance's; None where there is none such."""
    if not chance.is_clear(block, float(top[0])):
        return None
    counts = np.searchsorted(-top, -top, side="right")  # ties count together
    candidates = [
        weight for weight, count in zip(top, counts, strict=True) if chance.rows_at(weight) <= FALSE_SHARE * count
    ]
    return float(min(candidates)) if candidates else None


def _step(top: NDArray[np.float64], chance: Chance | None) -> tuple[float, float] | None:
    """The weights on both sides of a gap that is larger than spacings of extremes are; None where there is none.

    The i-th spacing of extremes, times i, has about the same size for every i; the largest one's share of their sum is
    Fisher's statistic. It has to lie beyond that of all draws, which know about ties and heavy tails, too.
    """
    at, share = _largest_spacing(top)
    if (top.size - 1) * (1 - share) ** (top.size - 2) > FALSE_SHARE:
        return None
    if chance is not None and any(_largest_spacing(draw)[1] >= share for draw in chance.weights):
        return None
    return float(top[at]), float(top[at + 1])


def _largest_spacing(top: NDArray[np.float64]) -> tuple[int, float]:
    spacings = -np.diff(top) * np.arange(1, top.size)
    if spacings.size == 0 or spacings.sum() <= 0:
        return 0, 0.0
    at = int(np.argmax(spacings))
    return at, float(spacings[at] / spacings.sum())


def _groups(
    selection: Selection, standing: NDArray[np.int64], sides: Sequence[Sequence[str]] | None
) -> list[dict[str, Any]]:
    """Rows that share their reasons, the largest group first, each with the columns that carry it.

    Of the rows that stand out; where none does, but the block exceeds chance, of all that were chosen.
    """
    if standing.size == 0:
        return []
    cells = np.maximum(selection.explain().cells, 0)[standing]
    directions = np.array([[""] * cells.shape[1]] * standing.size if sides is None else [sides[i] for i in standing])
    kinds_of_side = np.unique(directions)
    sided = np.concatenate([np.where(directions == side, cells, 0) for side in kinds_of_side], axis=1)
    group_of = _alike(sided)
    order = sorted(np.unique(group_of), key=lambda group: (-(group_of == group).sum(), (group_of != group).argmin()))
    return [_group(selection, standing, cells, directions, group_of == group) for group in order]


def _alike(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Which group each row belongs to, by the angle between rows; a row of zeros is alike to none."""
    if len(rows) == 1:
        return np.zeros(1, dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    apart = np.clip(1 - units @ units.T, 0, 1)[np.triu_indices(len(rows), 1)]
    return np.asarray(fcluster(linkage(apart, "average"), 1 - ALIKE, "distance"))


def _group(
    selection: Selection,
    standing: NDArray[np.int64],
    cells: NDArray[np.float64],
    directions: NDArray[np.str_],
    members: NDArray[np.bool_],
) -> dict[str, Any]:
    """The rows and the columns that carry them, the heaviest first; the sides named hold nine tenths of a column."""
    rows = cells[members]
    columns = rows.sum(axis=0)
    reasons = []
    for j in np.argsort(-columns, kind="stable")[: carries(columns[None]).sum()]:
        share = float(columns[j] / columns.sum())
        by_side = {
            str(side): float(rows[directions[members, j] == side, j].sum())
            for side in np.unique(directions[members, j])
        }
        strongest = sorted(by_side, key=lambda side: -by_side[side])
        held_so_far = np.cumsum([by_side[side] for side in strongest])
        most = 1 + int(np.argmax(held_so_far >= 0.9 * held_so_far[-1]))
        reasons.append({"column": selection.feature_names[j], "sides": strongest[:most], "share": share})
    return {"rows": selection.samples[standing[members]].tolist(), "reasons": reasons}


def _other_kinds(kinds: Mapping[str, Any] | None, k: int) -> list[dict[str, Any]]:
    """Kinds beyond chance of which most rows are not in the answer."""
    blocks = [] if kinds is None else kinds["found"]
    return [
        {"number": kind["number"], "name": kind["name"]}
        for kind in blocks
        if kind["chance"] is not None and kind["chance"] <= FALSE_SHARE + 1e-9 and 2 * kind["in_answer"] < k
    ]


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
    draws = reference_draws(calibrator, reference, plain, draws=COMPARED_DRAWS + MORE_DRAWS, sided=False, seed=seed)
    ruled = (replace(draw, feature_rules=problem.feature_rules) for draw in draws)
    null = np.array([[block.score for block in _best(next(ruled), numbers, seed)] for _ in range(COMPARED_DRAWS)])
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
        return phrase("how_many.not_clear", columns=text, draws=COMPARED_DRAWS + MORE_DRAWS, otherwise=otherwise)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class FalseShare:
    """Rows that hold at an expected false share.

    Attributes:
        level: the expected share of ordinary rows among those that hold is at most this.
        p_values: one a pool row; super-uniform for a row that is exchangeable with the reference.
        holds: which rows of the pool hold.
    """

    level: float
    p_values: NDArray[np.float64]
    holds: NDArray[np.bool_]


def conformal_p_values(held_out: ArrayLike, scores: ArrayLike) -> NDArray[np.float64]:
    """P = (1 + number of held-out scores at least as high) / (held-out rows + 1); a tie counts against the row."""
    before = np.sort(np.asarray(held_out, dtype=np.float64))
    at_least = before.size - np.searchsorted(before, np.asarray(scores, dtype=np.float64), side="left")
    return np.asarray((1 + at_least) / (before.size + 1))


def benjamini_hochberg(p_values: ArrayLike, level: float = LEVEL) -> NDArray[np.bool_]:
    """Which p-values are rejected so that the expected share of false rejections is at most `level`."""
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(np.asarray(p_values), method="bh") <= level)


def sum_of_weights(reference: Any) -> Scores:
    """All gaussian weights of a row added up: a score that no look at the pool went into."""
    calibrator = Weigher(GaussianMap, cap=1e6).fit(reference)
    return lambda rows: calibrator.weights(rows).sum(axis=1)


def refuse_level(level: float) -> None:
    """An error for an expected share that is none."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}")


def false_share(
    reference: Any,
    pool: Any,
    *,
    level: float = LEVEL,
    scorer: Callable[[Any], Scores] = sum_of_weights,
    seed: int = 0,
) -> FalseShare:
    """Rank the pool's rows among reference rows that the score was not fitted on.

    The statement holds where ordinary pool rows are exchangeable with the reference. It does not hold after drift,
    with anomalies in the reference it only gets weaker, and it is about all rows that hold, not about some of them
    picked by looking. The scorer must not look at the pool as a whole.

    Args:
        reference: a table that `Weigher.fit` takes.
        pool: the same columns.
        level: expected share of ordinary rows among those that hold.
        scorer: fits on a table and gives a function that scores the rows of another, higher for more unusual.
        seed: draws which half of the reference is held out.
    """
    refuse_level(level)
    if len(reference) < 4:
        raise InputError("the reference has fewer than 4 rows: too few to hold some out")
    order = np.random.default_rng(seed).permutation(len(reference))
    cut = int(len(order) * HELD_OUT)
    score = scorer(rows_of(reference, order[cut:]))
    p_values = conformal_p_values(score(rows_of(reference, order[:cut])), score(pool))
    return FalseShare(level=level, p_values=p_values, holds=benjamini_hochberg(p_values, level))
