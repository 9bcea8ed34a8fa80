"""The product: from tables to an answer with its reasons, warnings and report.

`biselect.review` is this package and also the function of that name, whichever was imported first.
"""

import sys
from types import ModuleType

from biselect.review.drift_watch import monitor_drift
from biselect.review.named_rules import NamedRules
from biselect.review.result import Review
from biselect.review.reviewing import review as review
from biselect.review.reviewing import review_problem
from biselect.review.warnings import Finding

__all__ = ["Finding", "NamedRules", "Review", "monitor_drift", "review_problem"]


class _CallablePackage(ModuleType):
    __call__ = staticmethod(review)


sys.modules[__name__].__class__ = _CallablePackage
