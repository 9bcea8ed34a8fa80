"""How far weights move between an older and a newer reference, and whether that can change the selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.weights.weigher import Weigher
from biselect_studies.data.marginals import MARGINALS
from biselect_studies.extensions.validity import feature_first_margin_loss, joint_margin_loss

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
        return calibrator.problem(
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
