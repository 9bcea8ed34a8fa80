"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator
from biselect.calibrate.decompose import Decomposition, decompose
from biselect.calibrate.drift import Drift, Question, measure
from biselect.calibrate.maps import map_names
from biselect.calibrate.streams import parquet_blocks
from biselect.calibrate.sweeps import compare, lag_sweep, shrink_sweep

__all__ = [
    "CalibrationFacts",
    "Calibrator",
    "Decomposition",
    "Drift",
    "Question",
    "compare",
    "decompose",
    "lag_sweep",
    "map_names",
    "measure",
    "parquet_blocks",
    "shrink_sweep",
]
