"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator, marginal_scores
from biselect.calibrate.maps import map_names
from biselect.calibrate.reference_summary import ReferenceSummary
from biselect.calibrate.windows import parquet_blocks

__all__ = ["CalibrationFacts", "Calibrator", "ReferenceSummary", "map_names", "marginal_scores", "parquet_blocks"]
