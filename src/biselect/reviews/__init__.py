"""The product: from tables to an answer with its reasons, warnings and report."""

from biselect.reviews.drift_watch import monitor_drift
from biselect.reviews.inspection import Inspection, inspect
from biselect.reviews.kinds import Kind, Kinds, find_kinds
from biselect.reviews.named_rules import NamedRules
from biselect.reviews.result import Review
from biselect.reviews.reviewing import review, review_problem
from biselect.reviews.session import ReviewSession
from biselect.reviews.session_file import AskedRow
from biselect.reviews.warnings import Finding

__all__ = [
    "AskedRow",
    "Finding",
    "Inspection",
    "Kind",
    "Kinds",
    "NamedRules",
    "Review",
    "ReviewSession",
    "find_kinds",
    "inspect",
    "monitor_drift",
    "review",
    "review_problem",
]
