"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.calibrate.calibrator import CalibrationFacts, Calibrator
from biselect.calibrate.choose import MapChoice, choose_map
from biselect.calibrate.decompose import Decomposition, decompose
from biselect.calibrate.drift import Drift, Question, measure
from biselect.calibrate.maps import map_names
from biselect.calibrate.perturb import perturb
from biselect.calibrate.streams import parquet_blocks
from biselect.calibrate.sweeps import compare, draw_pool, lag_sweep, shrink_sweep

__all__ = [
    "CalibrationFacts",
    "Calibrator",
    "Decomposition",
    "Drift",
    "MapChoice",
    "Question",
    "choose_map",
    "compare",
    "decompose",
    "draw_pool",
    "lag_sweep",
    "map_names",
    "measure",
    "parquet_blocks",
    "perturb",
    "shrink_sweep",
]
