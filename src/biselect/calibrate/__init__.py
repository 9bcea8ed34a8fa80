"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator, marginal_scores
from biselect.calibrate.drift import Drift, Question, decompose, measure
from biselect.calibrate.maps import map_names
from biselect.calibrate.reference_summary import ReferenceSummary
from biselect.calibrate.sweeps import compare, lag_sweep, shrink_sweep
from biselect.calibrate.windows import parquet_blocks

__all__ = [
    "CalibrationFacts",
    "Calibrator",
    "Drift",
    "Question",
    "ReferenceSummary",
    "compare",
    "decompose",
    "lag_sweep",
    "map_names",
    "marginal_scores",
    "measure",
    "parquet_blocks",
    "shrink_sweep",
]
