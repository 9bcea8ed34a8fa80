"""Maps from residuals to how unusual they are: one idea a file, one registry."""

from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.maps.registry import make_map, map_names

__all__ = ["Reference", "TailMap", "make_map", "map_names"]
