"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator
from biselect.calibrate.maps import WeightMap, map_names
from biselect.calibrate.reference_summary import ReferenceSummary
from biselect.calibrate.windows import parquet_blocks

__all__ = ["CalibrationFacts", "Calibrator", "ReferenceSummary", "WeightMap", "map_names", "parquet_blocks"]
