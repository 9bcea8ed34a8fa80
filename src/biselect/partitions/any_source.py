"""Whatever a caller gives as a table, as parts that are read one at a time."""

from pathlib import Path
from typing import Any

import numpy as np

from biselect.data.given_tables import as_table
from biselect.data.readers.delimited import PLAIN, CsvForm
from biselect.data.readers.sources import Source
from biselect.partitions.held_rows import array_partitions, held_partitions
from biselect.partitions.parquet_rows import parquet_partitions
from biselect.partitions.parts import Partitions


def partitions_of(source: Any, form: CsvForm = PLAIN) -> Partitions:
    """The parts of a table: of a file, a folder, a glob, a frame or an array.

    Args:
        source: a path, as `read_table` takes it; an Arrow table, a frame that narwhals knows, or a NumPy array.
        form: how a CSV is written, as far as that is known.
    """
    if isinstance(source, str | Path):
        place = Source.of(source)
        if place.is_set or (place.path.suffix.lower() == ".parquet" and place.part is None):
            return parquet_partitions(place)
        return held_partitions(as_table(source, form), place.name)
    if isinstance(source, np.ndarray) and source.dtype.kind in "fiub":
        return array_partitions(source)
    return held_partitions(as_table(source, form))
