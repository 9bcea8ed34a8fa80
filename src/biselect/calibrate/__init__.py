"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator
from biselect.calibrate.maps import map_names

__all__ = ["CalibrationFacts", "Calibrator", "map_names"]
