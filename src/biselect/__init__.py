"""Choose k samples and m features together, under exact budgets, and know how good the choice is.

Names load on first use, so that `import biselect` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from biselect._version import __version__

if TYPE_CHECKING:
    from biselect.calibrate import Calibrator
    from biselect.core import Group, Rules, Selection, SelectionProblem, groups_by
    from biselect.estimators import JointSelector, TailCalibrator
    from biselect.solvers import solve, solver_names

_HOME = {
    "Calibrator": "biselect.calibrate",
    "Group": "biselect.core",
    "JointSelector": "biselect.estimators",
    "Rules": "biselect.core",
    "Selection": "biselect.core",
    "SelectionProblem": "biselect.core",
    "TailCalibrator": "biselect.estimators",
    "groups_by": "biselect.core",
    "solve": "biselect.solvers",
    "solver_names": "biselect.solvers",
}

__all__ = [
    "Calibrator",
    "Group",
    "JointSelector",
    "Rules",
    "Selection",
    "SelectionProblem",
    "TailCalibrator",
    "__version__",
    "groups_by",
    "solve",
    "solver_names",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'biselect' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
