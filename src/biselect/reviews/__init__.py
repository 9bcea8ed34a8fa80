"""The product: from tables to an answer with its reasons, warnings and report."""

from biselect.reviews.drift_watch import monitor_drift
from biselect.reviews.named_rules import NamedRules
from biselect.reviews.result import Review
from biselect.reviews.reviewing import review, review_problem
from biselect.reviews.warnings import Finding

__all__ = ["Finding", "NamedRules", "Review", "monitor_drift", "review", "review_problem"]
