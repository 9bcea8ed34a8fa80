"""Recovery theory: thresholds, certificates, and deterministic facts about a coupling."""

from biselect.theory.certificate import Assumptions, Certificate, Condition, certify
from biselect.theory.covariance import covariance_threshold
from biselect.theory.estimate import Estimate, estimate
from biselect.theory.noise import Bernstein, Noise, SubGaussian, clipped
from biselect.theory.structure import (
    additive_shift,
    rank_one_check,
    rank_one_shift,
    sparsification_bound,
)
from biselect.theory.thresholds import (
    PAPER_LOOSENESS,
    Burden,
    classwise_threshold,
    feature_first_threshold,
    joint_threshold,
)

__all__ = [
    "PAPER_LOOSENESS",
    "Assumptions",
    "Bernstein",
    "Burden",
    "Certificate",
    "Condition",
    "Estimate",
    "Noise",
    "SubGaussian",
    "additive_shift",
    "certify",
    "classwise_threshold",
    "clipped",
    "covariance_threshold",
    "estimate",
    "feature_first_threshold",
    "joint_threshold",
    "rank_one_check",
    "rank_one_shift",
    "sparsification_bound",
]
