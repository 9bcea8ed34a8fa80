"""Which tables are too large to be held; little is imported before one is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biselect.options import Columns, Compute, Split, Weighing, spell
from biselect.progress import Steps
from biselect.tables import Table, check_combination
from biselect.tables.readers.sources import Source
from biselect.weights import Weigher
from biselect.weights.maps import map_name
from biselect.weights.paper import Form

POOL_CELLS = 1 << 23  # rows times features; more are not held
REFERENCE_CELLS = 1 << 25
SMALL_FILE = 64 << 20  # bytes of a file that is read whole to see how large its table is
STREAMED = (".parquet", ".arrow", ".feather", ".ipc")  # endings of files that tell how large they are


def needs_all_rows(weigher: Weigher, form: Form, columns: Columns, weighing: Weighing) -> str | None:
    """The first option of a review for which all rows must be at hand; None where a few passes over them will do."""
    reasons = {
        spell(Weighing(map=map_name(weigher.map))): weigher.needs_rows,
        spell(Weighing(preset=weighing.preset)): form.marginals is not None,
        spell(Columns(duplicates=columns.duplicates)): columns.duplicates != "error",
    }
    return next((option for option, applies in reasons.items() if applies), None)


@contextmanager
def large_tables(
    pool: Table,
    reference: Any,
    step: Steps,
    *,
    per: str | None,
    split: Split,
    missing: str,
    seed: int,
    compute: Compute,
) -> Iterator[Any]:
    """Both tables in parts, for as long as they are needed; None where they are small enough to be held.

    Args:
        pool: rows to choose from.
        reference: normal rows; None to split the pool in time.
        step: tells a person what is done.
        per: column of the pool whose values limit the choice.
        split: where to split the pool.
        missing: what to do with missing values.
        seed: fixes samples and draws.
        compute: where passes are run.
    """
    check_combination(pool, reference, split)
    normal_source = pool.source if reference is None else reference
    if is_small(pool.source, POOL_CELLS) and is_small(normal_source, REFERENCE_CELLS):
        yield None
        return
    from biselect.large.sides import sides_in_parts

    options: Any = {"missing": missing, "seed": seed, "compute": compute, "most": (POOL_CELLS, REFERENCE_CELLS)}
    with sides_in_parts(pool, reference, per, step, split=split, **options) as tables:
        yield tables


def is_small(source: Any, most: int) -> bool:
    """Whether a table surely has no more than so many cells, or is a file that is read whole to find out."""
    if not isinstance(source, str | Path):
        shape: Any = getattr(source, "shape", None)  # of a lazy frame not a number
        has_shape = isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape)
        return has_shape and shape[0] * shape[1] <= most
    place = Source.of(source)
    if place.is_set or place.path.suffix.lower() in STREAMED:
        return False
    return not place.path.is_file() or place.path.stat().st_size <= SMALL_FILE
