"""Who runs a pass over the parts of a table: threads of this machine, a Dask cluster or a Ray cluster."""

from biselect.engines.choose import engine_for
from biselect.engines.engine import Engine, Traffic

__all__ = ["Engine", "Traffic", "engine_for"]
