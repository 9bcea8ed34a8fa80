"""Recovery theory: thresholds, certificates, and deterministic facts about a coupling."""

from biselect.theory.certificate import Certificate, certify
from biselect.theory.covariance import covariance_threshold
from biselect.theory.estimate import Estimate, estimate
from biselect.theory.noise import Bernstein, SubGaussian, clipped
from biselect.theory.structure import biclique_problem, rank_one_check, sparsification_bound
from biselect.theory.thresholds import (
    Burden,
    classwise_threshold,
    feature_first_threshold,
    joint_threshold,
)

__all__ = [
    "Bernstein",
    "Burden",
    "Certificate",
    "Estimate",
    "SubGaussian",
    "biclique_problem",
    "certify",
    "classwise_threshold",
    "clipped",
    "covariance_threshold",
    "estimate",
    "feature_first_threshold",
    "joint_threshold",
    "rank_one_check",
    "sparsification_bound",
]
