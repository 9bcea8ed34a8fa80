"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator
from biselect.calibrate.maps import map_names
from biselect.calibrate.streams import parquet_blocks

__all__ = ["CalibrationFacts", "Calibrator", "map_names", "parquet_blocks"]
