"""Which recovery conditions hold for a problem at hand, by what margin, and what that means."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import Sector, SelectionProblem
from biselect.errors import InputError
from biselect.progress import Progress
from biselect.solvers import solve
from biselect_studies.recovery._words import estimate_in_words, findings
from biselect_studies.recovery.structure import Estimate, RankOneCheck, estimate, rank_one_check
from biselect_studies.recovery.thresholds import (
    NOTHING,
    PAPER_LOOSENESS,
    Bernstein,
    Burden,
    Noise,
    SubGaussian,
    classwise_threshold,
    clipped,
    feature_first_threshold,
    joint_threshold,
    tolerated_feature_first_error,
    tolerated_joint_error,
)


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What a certificate takes for granted.

    Attributes:
        signal: μ, the mean that planted cells stand above the rest.
        sigma: σ of sub-Gaussian noise.
        half_range: background weights lie within ± this of a centre; gives the Bernstein and clipped conditions.
        error: η, the largest error of any weight that calibration leaves.
        clip_bias: ρ_τ, what clipping takes from a weight at most.
        correlation: r between the noise of two samples in one feature.
        delta: allowed probability that recovery fails.
        calibration_delta: part of `delta` kept for the event that calibration errs by more than η.
    """

    signal: float
    sigma: float
    half_range: float
    error: float = 0.0
    clip_bias: float = 0.0
    correlation: float = 0.0
    delta: float = 0.05
    calibration_delta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("signal", "sigma", "half_range"):
            if not np.isfinite(getattr(self, name)):
                raise InputError(f"{name} must be a finite number, got {getattr(self, name)}")
        if not 0 < self.delta < 1:
            raise InputError(f"delta (δ) must lie between 0 and 1, got {self.delta:g}")
        if not 0 <= self.calibration_delta < self.delta:
            raise InputError(
                f"calibration_delta must lie between 0 and delta = {self.delta:g}, got {self.calibration_delta:g}"
            )

    @property
    def noise_delta(self) -> float:
        """δ_noise = δ - δ_cal (Cor calibration-transfer)."""
        return self.delta - self.calibration_delta


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One sufficient condition, held against the signal.

    Attributes:
        selector: `joint` or `feature-first`.
        noise: model the condition rests on.
        statement: label of the paper's statement, or `class-wise`, `tight` for ours.
        needed: μ from which it holds, perturbations included.
        margin: signal - needed.
        tolerated_error: the largest η with which it would hold; None if it fails without any error.
    """

    selector: str
    noise: str
    statement: str
    needed: float
    margin: float
    tolerated_error: float | None

    @property
    def holds(self) -> bool:
        """Whether the signal suffices."""
        return self.margin >= 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Certificate:
    """All conditions, the separability of the coupling, and plain words.

    Attributes:
        assumptions: what was taken for granted.
        conditions: one per statement.
        separability: how far rows and columns could be chosen apart; None where weights are negative.
        words: what it means, one sentence each.
        estimate: what the data say about signal and noise; None where nothing was estimated.
    """

    assumptions: Assumptions
    conditions: tuple[Condition, ...]
    separability: RankOneCheck | None
    words: tuple[str, ...]
    estimate: Estimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        separability = None
        if self.separability is not None:
            kept = ("residual", "separable_share", "largest_gain")
            separability = {name: getattr(self.separability, name) for name in kept}
        return {
            "assumptions": asdict(self.assumptions),
            "conditions": [{**asdict(condition), "holds": condition.holds} for condition in self.conditions],
            "separability": separability,
            "words": list(self.words),
            "estimate": None if self.estimate is None else asdict(self.estimate),
        }


def certify(
    problem: SelectionProblem,
    assumptions: Assumptions | None = None,
    *,
    background: ArrayLike | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **known: float,
) -> Certificate:
    """Hold every condition of the paper, and the tighter ones, against the signal.

    Args:
        problem: with plain budgets.
        assumptions: what is taken for granted; None to find the best block and to estimate signal and noise from it.
        background: weights of rows known to be normal, for the estimate; without it the pool serves.
        time_limit: seconds for finding the block.
        seed: fixes the search for it.
        progress: as `solve` takes it.
        known: attributes of `Assumptions` that are not to be estimated.
    """
    if problem.sample_rules or problem.feature_rules:
        raise InputError("the recovery conditions are stated for plain budgets; this problem has rules beside them")
    if problem.sector.size == 1:
        raise InputError("k = N and m = D leave one choice only: there is nothing to recover")
    if problem.coupling_weight == 0:
        raise InputError("coupling_weight (λ) is 0: the block counts for nothing, so that there is nothing to recover")
    seen, words = None, []
    if assumptions is None:
        found = solve(problem, seed=seed, time_limit=time_limit, progress=progress)
        given = {name: known[name] for name in ("delta", "correlation") if name in known}
        seen = estimate(problem, found.samples, found.features, background=background, **given)
        estimated = {"signal": seen.signal, "sigma": seen.deviation, "half_range": seen.half_range}
        assumptions = Assumptions(**{**estimated, **known})
        words = estimate_in_words(seen, assumptions.delta, known)
    sector = problem.sector
    rules = _rules(sector, assumptions) + _full_score_rules(problem, assumptions)
    conditions = tuple(_judge(rule, sector, assumptions) for rule in rules)
    separability = None if (problem.coupling < 0).any() else rank_one_check(problem)
    return Certificate(
        assumptions=assumptions,
        conditions=conditions,
        separability=separability,
        words=(*words, *findings(problem, assumptions, conditions, separability)),
        estimate=seen,
    )


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """A condition before it is judged: `threshold` gives the μ it needs at an error η."""

    selector: str
    noise: str
    statement: str
    threshold: Callable[[float], float]


def _rules(sector: Sector, given: Assumptions) -> list[_Rule]:
    """Joint and feature-first, the paper's and the tighter ones, for each noise model."""
    gaussian = SubGaussian(sigma=given.sigma, correlation=given.correlation)
    joint_label = "prop:covariance-aware-joint-recovery" if given.correlation else "thm:joint-noise-superiority"
    rules = _pair("sub-Gaussian", gaussian, joint_label, "tight", sector, given)
    as_printed = partial(feature_first_threshold, looseness=PAPER_LOOSENESS)
    threshold = _at_error(as_printed, sector, gaussian, given)
    rules.append(
        _Rule(selector="feature-first", noise="sub-Gaussian", statement="cor:sequential-snr", threshold=threshold)
    )
    if not given.correlation and 0 < given.sigma <= given.half_range:  # both take entries to be independent
        bernstein = Bernstein.of_bounded(given.sigma, 2 * given.half_range)
        label = "prop:bernstein-tail-joint-recovery"
        rules += _pair("Bernstein", bernstein, label, label, sector, given)
        label = "cor:clipped-residual-recovery"
        rules += _pair("bounded", clipped(given.half_range), label, label, sector, given, bias=given.clip_bias)
    return rules


def _pair(
    name: str,
    noise: Noise,
    joint_label: str,
    column_label: str,
    sector: Sector,
    given: Assumptions,
    bias: float = 0.0,
) -> list[_Rule]:
    burden = Burden(error=bias)
    joint = _at_error(joint_threshold, sector, noise, given, burden)
    tighter = _at_error(classwise_threshold, sector, noise, given, burden)
    columns = _at_error(feature_first_threshold, sector, noise, given, burden)
    return [
        _Rule(selector="joint", noise=name, statement=joint_label, threshold=joint),
        _Rule(selector="joint", noise=name, statement="class-wise", threshold=tighter),
        _Rule(selector="feature-first", noise=name, statement=column_label, threshold=columns),
    ]


def _full_score_rules(problem: SelectionProblem, given: Assumptions) -> list[_Rule]:
    """The whole score, where all marginals may speak against the planted pair; none for the bare block."""
    largest = [float(np.abs(scores).max()) for scores in (problem.sample_scores, problem.feature_scores)]
    if not any(largest):
        return []
    samples, features = (bound / problem.coupling_weight for bound in largest)
    burden = Burden(sample_bound=samples, feature_bound=features)
    gaussian = SubGaussian(sigma=given.sigma, correlation=given.correlation)
    statements = {
        "cor:bounded-marginal-full-score": joint_threshold,
        "class-wise, full score": classwise_threshold,
    }
    return [
        _Rule(
            selector="joint",
            noise="sub-Gaussian",
            statement=statement,
            threshold=_at_error(rule, problem.sector, gaussian, given, burden),
        )
        for statement, rule in statements.items()
    ]


def _at_error(
    rule: Callable[..., float], sector: Sector, noise: Noise, given: Assumptions, burden: Burden = NOTHING
) -> Callable[[float], float]:
    """The threshold as a function of η, which adds to the errors that the burden holds already."""

    def threshold(error: float) -> float:
        return rule(sector, noise, delta=given.noise_delta, burden=replace(burden, error=burden.error + error))

    return threshold


def _judge(rule: _Rule, sector: Sector, given: Assumptions) -> Condition:
    needed, without_error = rule.threshold(given.error), rule.threshold(0.0)
    if rule.selector == "joint":
        tolerated = tolerated_joint_error(given.signal, without_error)
    else:
        tolerated = tolerated_feature_first_error(given.signal, without_error, sector)
    return Condition(
        selector=rule.selector,
        noise=rule.noise,
        statement=rule.statement,
        needed=needed,
        margin=given.signal - needed,
        tolerated_error=tolerated,
    )
