"""Drift of weights over time and over the size of the reference, and the choice of the map that drifts least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import Selection, SelectionProblem, ising
from biselect.errors import InputError
from biselect.tables import rows_of, windows_in_time
from biselect.weights.maps import map_names
from biselect.weights.weigher import Weigher
from biselect_quantum import conventions
from biselect_studies.data.synthetic import MARGINALS

__all__ = ["angle_bound", "coupling_bound", "ecdf_band", "tail_band"]


def ecdf_band(n: int, delta: float) -> float:
    """ε + 1/(n+1): with probability 1 - δ no smoothed, clipped rank estimate F̂(z) is further from F(z).

    ε = √(log(2/δ) / 2n) is the Dvoretzky-Kiefer-Wolfowitz band in Massart's form; the rest is what smoothing and
    clipping can add (Prop. pit-validity). It holds for references drawn independently of the score map: rank
    among rows that nothing else was fit on to be entitled to it.

    >>> round(ecdf_band(1000, delta=0.05), 4)
    0.0439
    """
    if n < 1:
        raise InputError(f"the band needs at least one reference row, got {n}")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, got {delta!r}")
    return float(np.sqrt(np.log(2 / delta) / (2 * n)) + 1 / (n + 1))


def tail_band(n: int, delta: float) -> float:
    """How far a two-sided tail probability 2·min(F̂, 1 - F̂) can be from its ideal value: twice the band of F̂."""
    return 2 * ecdf_band(n, delta)


def coupling_bound(cap: float, coupling_weight: float = 1.0) -> float:
    """The largest `|J_ij|` that weights up to `cap` can give: λ w_max / 4 (Lemma bounded-weights)."""
    return abs(ising.COUPLING_OF_PRODUCT) * coupling_weight * cap


def angle_bound(gamma: ArrayLike, cap: float, coupling_weight: float = 1.0) -> NDArray[np.float64]:
    """The largest R_ZZ angle of a cost layer: `|γ| λ w_max / 2` (Lemma bounded-weights)."""
    return conventions.rzz_angle(np.abs(gamma), coupling_bound(cap, coupling_weight))


def joint_margin_loss(eta: float) -> float:
    """2η: what entrywise error up to η can take from the joint margin (Prop. calibration-perturbation)."""
    return 2 * eta


def feature_first_margin_loss(eta: float, n_samples: int) -> float:
    """2Nη: what it can take from the margin of column sums (Cor. sequential-calibration-sensitivity)."""
    return 2 * n_samples * eta


def _centred(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries that sum to zero, none beyond ±1."""
    u = u - u.mean()
    return u / max(1.0, np.abs(u).max())


MODES: dict[str, Callable[[np.random.Generator, int, int], NDArray[np.float64]]] = {
    # every cell on its own
    "entrywise": lambda rng, n, d: rng.uniform(-1, 1, size=(n, d)),
    # one error per sample: it cancels from column sums' order
    "row": lambda rng, n, d: np.repeat(rng.uniform(-1, 1, size=(n, 1)), d, axis=1),
    # one error per feature: column sums carry it N times
    "feature": lambda rng, n, d: np.repeat(rng.uniform(-1, 1, size=(1, d)), n, axis=0),
    # u_i v_j with Σ u_i = 0: it cancels from column sums
    "centred-rank-one": lambda rng, n, d: np.outer(_centred(rng.uniform(-1, 1, size=n)), rng.uniform(-1, 1, size=d)),
    # u_i v_j with u_i ≥ 0: it acts on column sums like an error per feature
    "shifted-rank-one": lambda rng, n, d: np.outer(rng.uniform(0, 1, size=n), rng.uniform(-1, 1, size=d)),
}
"""The five modes of the robustness study; no error is beyond ±1."""


def perturb(
    W: NDArray[np.float64], mode: str, eta: float, *, cap: float, seed: int | np.random.Generator | None
) -> NDArray[np.float64]:
    """`clip(W + Δ, 0, w_max)` with one of `MODES` and `|Δ_ij| ≤ η`; clipping never takes a cell further than η.

    >>> perturb(np.array([[1.0, 2.0]]), "feature", 0.5, cap=10.0, seed=0).round(2).tolist()
    [[1.14, 1.77]]
    """
    if mode not in MODES:
        raise InputError(f"there is no perturbation mode {mode!r}; choose one of: {', '.join(MODES)}")
    if not eta >= 0:
        raise InputError(f"eta must not be negative, got {eta!r}")
    delta = eta * MODES[mode](np.random.default_rng(seed), *W.shape)
    return np.clip(W + delta, 0.0, cap)


SMALLEST_SPREAD = 1e-12  # weights without any spread make every drift a large one


@dataclass(frozen=True, kw_only=True, eq=False)
class Decomposition:
    """Δ_ij = mean + row_i + feature_j + residual_ij; the four parts are orthogonal.

    Attributes:
        mean: Δ̄, common to all cells.
        row: δ^row, one per sample, summing to zero.
        feature: δ^feat, one per feature, summing to zero: what feature-first selection amplifies.
        residual: what is left, N × D.
    """

    mean: float
    row: NDArray[np.float64]
    feature: NDArray[np.float64]
    residual: NDArray[np.float64]

    @property
    def shares(self) -> dict[str, float]:
        """Squared Frobenius norm of each part over that of Δ; all zero where Δ is."""
        n, d = self.residual.shape
        squares = {
            "global": n * d * self.mean**2,
            "row": d * float(self.row @ self.row),
            "feature": n * float(self.feature @ self.feature),
            "residual": float((self.residual**2).sum()),
        }
        total = sum(squares.values())
        return {name: square / total if total else 0.0 for name, square in squares.items()}

    @property
    def largest(self) -> dict[str, float]:
        """Sup-norm of each part."""
        parts = (("global", self.mean), ("row", self.row), ("feature", self.feature), ("residual", self.residual))
        return {name: float(np.max(np.abs(part))) for name, part in parts}


def decompose(delta: NDArray[np.float64]) -> Decomposition:
    """The parts of a weight difference (paper, Section S4).

    >>> parts = decompose(np.array([[1.0, 3.0], [1.0, 3.0]]))
    >>> parts.mean, parts.feature.tolist(), parts.shares["residual"]
    (2.0, [-1.0, 1.0], 0.0)
    """
    mean = float(delta.mean())
    rows, features = delta.mean(axis=1) - mean, delta.mean(axis=0) - mean
    return Decomposition(
        mean=mean, row=rows, feature=features, residual=delta - mean - rows[:, None] - features[None, :]
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """What is held fixed while the calibration changes.

    Attributes:
        pool: the rows to choose from.
        k: how many samples.
        m: how many features.
        select: the solver, such as `biselect.solve`.
        coupling_weight: λ.
        marginals: one of `data.marginals.MARGINALS`.
    """

    pool: Any
    k: int
    m: int
    select: Callable[[SelectionProblem], Selection]
    coupling_weight: float = 1.0
    marginals: str = "bounded"

    def problem(self, calibrator: Weigher, features: Sequence[str]) -> SelectionProblem:
        """The selection problem under one calibration, on these features."""
        return calibrator.plain_problem(
            self.pool,
            self.k,
            self.m,
            marginals=MARGINALS[self.marginals],
            coupling_weight=self.coupling_weight,
            features=features,
        )


@dataclass(frozen=True, kw_only=True)
class Margin:
    """A lead of the last feature chosen over the first left out, and what drift can take from it."""

    lead: float
    loss: float

    @property
    def eaten(self) -> float:
        """Share of the lead that drift can take; from 1 on the choice of features can change. 0 without drift."""
        if self.loss == 0:
            return 0.0
        return self.loss / self.lead if self.lead > 0 else np.inf

    def to_dict(self) -> dict[str, float | None]:
        """Plain data for JSON; null stands for a number without bound."""
        return {"lead": _finite(self.lead), "loss": self.loss, "eaten": _finite(self.eaten)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Drift:
    """Older weights minus newer weights of one pool, under one map.

    Attributes:
        map: the map that both references were calibrated with.
        features: names, in the order of `parts.feature`; only those that vary in both references.
        parts: the difference in global, row, feature and residual parts.
        spread: standard deviation of the newer weights, the unit of `relative`.
        tilt: largest `|column mean - grand mean|` of the older weights on the pool: a stale reference shows here
            without any newer one at hand.
        feature_first: lead in column sums over the whole pool, and the 2Nη that feature drift η can take.
        joint: lead per chosen sample at the joint choice, the features' own scores included, and the 2η that
            feature drift η can take.
        older: the selection under the older reference, on all its features.
        newer: the selection under the newer reference, on all its features.
        lost: features that vary in the older reference only: they went constant, and are watched no more.
        gained: features that vary in the newer reference only.
    """

    map: str
    features: tuple[str, ...]
    parts: Decomposition = field(repr=False)
    spread: float
    tilt: float
    feature_first: Margin
    joint: Margin
    older: Selection = field(repr=False)
    newer: Selection = field(repr=False)
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()

    @property
    def feature_drift(self) -> float:
        """η: the largest feature-aligned drift."""
        return self.parts.largest["feature"]

    @property
    def relative(self) -> float:
        """Feature-aligned drift in units of the spread of the weights, which makes maps comparable."""
        return self.feature_drift / max(self.spread, SMALLEST_SPREAD)

    @property
    def replaced_samples(self) -> int:
        """How many of the k samples differ between the two selections."""
        return self.newer.samples.size - int(np.isin(self.older.samples, self.newer.samples).sum())

    @property
    def replaced_features(self) -> int:
        """How many of the m features differ between the two selections."""
        return len(set(self.newer.feature_names) - set(self.older.feature_names))

    @property
    def changes_selection(self) -> bool:
        """Whether the older reference selects anything else than the newer one."""
        return self.replaced_samples + self.replaced_features > 0

    def per_feature(self) -> list[dict[str, Any]]:
        """Each feature's drift, its share of the feature-aligned part, and what it alone can take of the leads."""
        squares = self.parts.feature**2
        shares = squares / squares.sum() if squares.any() else squares

        def entry(name: str, drift: float, share: float) -> dict[str, Any]:
            feature_first = replace(self.feature_first, loss=feature_first_margin_loss(abs(drift), self.parts.row.size))
            joint = replace(self.joint, loss=joint_margin_loss(abs(drift)))
            eaten = {"feature_first_eaten": _finite(feature_first.eaten), "joint_eaten": _finite(joint.eaten)}
            return {"feature": name, "drift": drift, "share": share, **eaten}

        return [*map(entry, self.features, self.parts.feature.tolist(), shares.tolist())]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; null stands for a share without bound."""
        return {
            "map": self.map,
            "feature_drift": self.feature_drift,
            "relative_drift": self.relative,
            "lost_features": list(self.lost),
            "gained_features": list(self.gained),
            "spread": self.spread,
            "tilt": self.tilt,
            "shares": self.parts.shares,
            "largest": self.parts.largest,
            "feature_first": self.feature_first.to_dict(),
            "joint": self.joint.to_dict(),
            "changes_selection": self.changes_selection,
            "replaced_samples": self.replaced_samples,
            "replaced_features": self.replaced_features,
            "older_features": self.older.feature_names,
            "newer_features": self.newer.feature_names,
            "features": self.per_feature(),
        }


def measure(older: Weigher, newer: Weigher, question: Question) -> Drift:
    """The drift between two fitted calibrators of one map."""
    if older.facts.map != newer.facts.map:
        raise InputError(f"drift compares references, not maps: {older.facts.map!r} against {newer.facts.map!r}")
    features = [name for name in newer.varying if name in older.varying]
    if len(features) < question.m:
        raise InputError(f"only {len(features)} features vary in both references, {question.m} are to be chosen")
    before, after = (question.problem(calibrator, features) for calibrator in (older, newer))
    parts = decompose(before.coupling - after.coupling)
    was, now = (question.select(question.problem(c, c.varying)) for c in (older, newer))
    eta = parts.largest["feature"]
    columns = before.coupling.mean(axis=0)
    return Drift(
        map=newer.facts.map,
        features=tuple(features),
        parts=parts,
        spread=float(after.coupling.std()),
        tilt=float(np.abs(columns - columns.mean()).max()),
        feature_first=Margin(
            lead=_lead(after.coupling.sum(axis=0), question.m),
            loss=feature_first_margin_loss(eta, before.n_samples),
        ),
        joint=Margin(lead=_joint_lead(now), loss=joint_margin_loss(eta)),
        older=was,
        newer=now,
        lost=tuple(name for name in older.varying if name not in features),
        gained=tuple(name for name in newer.varying if name not in features),
    )


def _lead(values: NDArray[np.float64], chosen: int) -> float:
    """How far the last of the best `chosen` values is above the next; without a next, out of reach."""
    if chosen == values.size:
        return np.inf
    ranked = np.sort(values)[::-1]
    return float(ranked[chosen - 1] - ranked[chosen])


def _joint_lead(selection: Selection) -> float:
    """The same for a joint choice: what a feature adds per chosen sample, in units of W."""
    problem = selection.problem
    if problem.coupling_weight == 0 or problem.m == problem.n_features:
        return np.inf
    alone = problem.feature_scores / (problem.coupling_weight * problem.k)
    values = problem.coupling[selection.samples].mean(axis=0) + alone
    return float(values[selection.features].min() - np.delete(values, selection.features).max())


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


FRACTIONS = (0.5, 0.25, 0.1, 0.05)  # of the reference, as in the paper's reference-window sweep
REPEATS = 5
PARTS = 5  # of the reference that chooses a map: older windows, the newest one, and last the rows that are weighed
POOL_ROWS = 1000  # at most, weighed to choose a map
FEWEST_ROWS_TO_CHOOSE = 40 * PARTS  # conformal splits a window in halves; with fewer rows the comparison is noise

# what a map is chosen from: those that the paper compares
CANDIDATES = ("ecdf", "conformal", "gaussian", "abs-z", "mad-z", "student-t", "laplace", "pareto")

MakeCalibrator = Callable[[str], Weigher]


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """The drift of every map at one place of a sweep.

    Attributes:
        start: first row of the older window.
        end: one past its last row.
        drifts: one per map.
    """

    start: int
    end: int
    drifts: tuple[Drift, ...]


def compare(
    older: Any,
    newer: Any,
    question: Question,
    *,
    maps: Sequence[str] | None = None,
    calibrator: MakeCalibrator = Weigher,
) -> tuple[Drift, ...]:
    """Drift between two references, tables or summaries, one per map; every map without labels where none are named."""
    return _drifts(older, _fitted(newer, maps, calibrator), question, calibrator)


def lag_sweep(
    reference: Any,
    question: Question,
    *,
    window: int,
    step: int | None = None,
    maps: Sequence[str] | None = None,
    calibrator: MakeCalibrator = Weigher,
) -> list[Point]:
    """Drift of ever older windows against the newest one, oldest first.

    Args:
        reference: rows in the order of time.
        question: pool, budgets and solver.
        window: rows per window; the newest window ends with the last row.
        step: rows between the ends of neighbouring windows; the window itself where None.
        maps: every map without labels where None.
        calibrator: makes an unfitted calibrator of a map's name.
    """
    *older, last = windows_in_time(len(reference), window, step)
    newest = _fitted(rows_of(reference, last), maps, calibrator)
    return [
        Point(
            start=span.start,
            end=span.stop,
            drifts=_drifts(rows_of(reference, span), newest, question, calibrator),
        )
        for span in older
    ]


def shrink_sweep(
    reference: Any,
    question: Question,
    *,
    fractions: Iterable[float] = FRACTIONS,
    repeats: int = REPEATS,
    maps: Sequence[str] | None = None,
    seed: int = 0,
) -> Iterator[tuple[float, tuple[Drift, ...]]]:
    """Drift of random parts of the reference against all of it: (fraction, drifts), `repeats` times a fraction."""
    rng = np.random.default_rng(seed)
    total = len(reference)
    whole = _fitted(reference, maps, Weigher)
    for fraction in fractions:
        for _ in range(repeats):
            rows = np.sort(rng.choice(total, size=round(fraction * total), replace=False))
            yield fraction, _drifts(rows_of(reference, rows), whole, question, Weigher)


def label_free_maps() -> list[str]:
    """Names of all maps but the supervised one."""
    return [name for name in map_names() if name != "logistic"]


def _fitted(reference: Any, maps: Sequence[str] | None, calibrator: MakeCalibrator) -> list[Weigher]:
    return [calibrator(name).fit(reference) for name in maps or label_free_maps()]


def _drifts(older: Any, newer: list[Weigher], question: Question, calibrator: MakeCalibrator) -> tuple[Drift, ...]:
    return tuple(measure(calibrator(one.facts.map).fit(older), one, question) for one in newer)


class MapChoice(NamedTuple):
    """Which map drifts least, why in a sentence, and each map's feature-aligned drift in spreads of its weights."""

    map: str
    why: str
    relative_drift: dict[str, float]


def choose_map(reference: Any, *, calibrator: MakeCalibrator = Weigher, seed: int = 0) -> MapChoice:
    """Compare the maps that need no labels; the rows of the reference must be in the order of time (paper, Discussion).

    The last fifth is weighed against the fifth before it and, in turn, against each older fifth. Drift is taken
    relative to the spread of a map's weights: in absolute terms a map with small weights would always win.
    """
    total = len(reference)
    if total < FEWEST_ROWS_TO_CHOOSE:
        raise InputError(
            f"the choice of a map compares windows of the reference and needs {FEWEST_ROWS_TO_CHOOSE} rows, not {total}"
        )
    edges = np.linspace(0, total, PARTS + 1).astype(int).tolist()
    *older, newest, weighed = [rows_of(reference, slice(start, end)) for start, end in pairwise(edges)]
    pool = rows_of(weighed, np.sort(np.random.default_rng(seed).permutation(len(weighed))[:POOL_ROWS]))
    drift = {}
    for name in CANDIDATES:
        newer = calibrator(name).fit(newest)
        drift[name] = float(np.mean([_relative_drift(calibrator(name).fit(window), newer, pool) for window in older]))
    ranked = sorted(drift, key=drift.__getitem__)
    best = ranked[0]
    why = (
        f"over {len(older)} older windows of the reference its feature-aligned drift is {drift[best]:.2f} of the "
        f"spread of its weights, the least of {len(drift)} maps (next: {ranked[1]} with {drift[ranked[1]]:.2f}); "
        "that takes the rows as ordered in time"
    )
    return MapChoice(map=best, relative_drift=drift, why=why)


def _relative_drift(older: Weigher, newer: Weigher, pool: Any) -> float:
    shared = [name for name in newer.varying if name in older.varying]
    if not shared:
        return np.inf
    before, after = (
        calibrator.weights(pool)[:, [calibrator.feature_names.index(name) for name in shared]]
        for calibrator in (older, newer)
    )
    spread = after.std()
    return decompose(before - after).largest["feature"] / spread if spread > 0 else np.inf
