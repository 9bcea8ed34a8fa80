"""The product: from tables to an answer with its reasons, warnings and report."""

from biselect.reviews.drift_watch import monitor
from biselect.reviews.found_so_far import RoundFound
from biselect.reviews.inspection import Inspection, ReviewOptions, inspect
from biselect.reviews.kinds import Kind, Kinds, find_kinds
from biselect.reviews.policy import Reviewed
from biselect.reviews.result import Review
from biselect.reviews.reviewing import review
from biselect.reviews.session import Replay, ReviewSession
from biselect.reviews.session_file import AskedRow, GivenAnswer, Round, Standing
from biselect.reviews.warnings import Finding

__all__ = [
    "AskedRow",
    "Finding",
    "GivenAnswer",
    "Inspection",
    "Kind",
    "Kinds",
    "Replay",
    "Review",
    "ReviewOptions",
    "ReviewSession",
    "Reviewed",
    "Round",
    "RoundFound",
    "Standing",
    "find_kinds",
    "inspect",
    "monitor",
    "review",
]
