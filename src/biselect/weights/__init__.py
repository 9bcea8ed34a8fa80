"""From a reference table to bounded weights: how unusual is each cell of the pool?"""

from biselect.weights.maps import WeightMap, map_names
from biselect.weights.reference import Reference
from biselect.weights.weigher import Weigher, WeighingFacts

__all__ = ["Reference", "Weigher", "WeighingFacts", "WeightMap", "map_names"]
