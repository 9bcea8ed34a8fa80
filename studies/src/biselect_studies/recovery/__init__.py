"""Recovery theory: thresholds, certificates, and deterministic facts about a coupling."""

from biselect_studies.recovery.certificate import Certificate, certify
from biselect_studies.recovery.covariance import covariance_threshold
from biselect_studies.recovery.estimate import Estimate, estimate
from biselect_studies.recovery.noise import Bernstein, SubGaussian, clipped
from biselect_studies.recovery.structure import biclique_problem, rank_one_check, sparsification_bound
from biselect_studies.recovery.thresholds import (
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
