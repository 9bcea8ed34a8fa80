"""Maps from residuals to how unusual they are: one idea a file, and here which there are."""

from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.maps.conformal import ConformalMap
from biselect.calibrate.maps.ecdf import EcdfMap
from biselect.calibrate.maps.logistic import LogisticMap
from biselect.calibrate.maps.parametric import GaussianMap, LaplaceMap, StudentTMap
from biselect.calibrate.maps.pareto import ParetoMap
from biselect.calibrate.maps.zscore import AbsoluteZMap, MadZMap
from biselect.errors import InputError

__all__ = ["Reference", "TailMap", "map_names"]

_MAPS: dict[str, type[TailMap]] = {
    "ecdf": EcdfMap,
    "conformal": ConformalMap,
    "gaussian": GaussianMap,
    "abs-z": AbsoluteZMap,
    "mad-z": MadZMap,
    "student-t": StudentTMap,
    "laplace": LaplaceMap,
    "pareto": ParetoMap,
    "logistic": LogisticMap,
}


def map_names(*, supervised: bool = True) -> list[str]:
    """Names of the maps, with or without those that need labels.

    >>> map_names(supervised=False)
    ['ecdf', 'conformal', 'gaussian', 'abs-z', 'mad-z', 'student-t', 'laplace', 'pareto']
    """
    return [name for name, kind in _MAPS.items() if supervised or not kind.needs_labels]


def make_map(name: str) -> TailMap:
    """A fresh, unfitted map."""
    if name not in _MAPS:
        raise InputError(f"there is no calibration map {name!r}; choose one of: {', '.join([*_MAPS, 'auto'])}")
    return _MAPS[name]()
