"""Frames of Dask and Ray, as parts: what they hold stays where it is computed, and is read there."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from biselect.data.given_tables import as_table
from biselect.data.readers.sources import Source, refuse_repeated
from biselect.errors import InputError
from biselect.partitions.part_rows import in_blocks, numbered, reading, refuse_absent, refuse_empty
from biselect.partitions.parts import Partitions


@dataclass(frozen=True, kw_only=True)
class DaskRows:
    """A partition of a Dask DataFrame, computed by whoever reads it.

    Attributes:
        graph: how it is computed, and nothing else; pieces that a cluster holds are in it as futures.
        key: of the partition in it.
        schema: of the whole frame.
        rows: how many it had when they were counted.
        name: for messages.
    """

    graph: Mapping[Any, Any]
    key: Any
    schema: pa.Schema
    rows: int
    name: str

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.schema, self.name)
        import dask

        with reading(self.name, "a partition of Dask"):
            frame = dask.get({key: _held(task) for key, task in self.graph.items()}, self.key)
            table = as_table(frame)
        if table.num_rows != self.rows:
            raise InputError(
                f"{self.name}: had {self.rows:,} rows, but {table.num_rows:,} when it was computed again; persist the "
                "frame, or write it to Parquet first"
            )
        return in_blocks([_cast(table.select(list(columns)), self.schema, self.name)])

    def place(self, row: int) -> str:
        """The partition and its row."""
        return f"row {row} of {self.name}"

    def __reduce__(self) -> tuple[Callable[..., "DaskRows"], tuple[Any, ...]]:
        graph = {key: _sent(task) for key, task in self.graph.items()}
        return _received, (graph, self.key, self.schema, self.rows, self.name)


def _received(graph: Mapping[Any, Any], key: Any, schema: pa.Schema, rows: int, name: str) -> DaskRows:
    return DaskRows(graph=graph, key=key, schema=schema, rows=rows, name=name)


@dataclass(frozen=True)
class Kept:
    """A future on its way to a worker, which asks the cluster for it by its key."""

    key: Any


def _sent(task: Any) -> Any:
    return Kept(task.key) if _is_future(task) else task


def _held(task: Any) -> Any:
    """What a future stands for, where a cluster holds it; else the task as it is."""
    if isinstance(task, Kept):
        from distributed import get_client

        client = get_client()
        found = client.sync(client.scheduler.gather, keys=[task.key])  # a future made here would wait for ever
        if found["status"] != "OK":
            raise ValueError("the cluster holds it no longer")
        return found["data"][task.key]
    return task.result() if _is_future(task) else task


def _is_future(task: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(task, distributed.Future)


def dask_partitions(frame: Any, name: str = "the Dask frame") -> Partitions:
    """The parts of a Dask DataFrame; their rows are counted, and columns of no clear type looked at, in one pass."""
    import dask
    from dask.optimization import cull

    names = list(map(str, frame.columns))
    refuse_repeated(names, Source.of(name))
    if not names:
        return refuse_empty(Partitions(name=name, schema=pa.schema([]), parts=()))
    unclear = [column for column, kind in frame.dtypes.items() if str(kind) == "object"]
    looked_at = frame[unclear or [min(frame.columns, key=lambda column: _width(frame.dtypes[column]))]]
    with reading(name, "a Dask frame"):
        counted = dask.compute(*(dask.delayed(_counted)(one) for one in looked_at.to_delayed()))
        known = as_table(frame._meta).schema
    schemas = {f"partition {at} of {name}": found for at, (_, found) in enumerate(counted)} if unclear else {}
    schema = pa.schema([field for field in known if field.name not in unclear] + list(_common(schemas)))
    schema = pa.schema([schema.field(column) for column in names])
    found = []
    for at, ((rows, _), delayed) in enumerate(zip(counted, frame.to_delayed(), strict=True)):
        where = f"partition {at} of {name}"
        graph, _ = cull(dict(delayed.dask), [delayed.key])
        found.append((where, rows, DaskRows(graph=graph, key=delayed.key, schema=schema, rows=rows, name=where)))
    return refuse_empty(Partitions(name=name, schema=schema, parts=numbered(found)))


def _counted(frame: Any) -> tuple[int, pa.Schema]:
    """Rows and types of one partition."""
    table = as_table(frame)
    return table.num_rows, table.schema.remove_metadata()


def _width(kind: Any) -> int:
    return getattr(kind, "itemsize", 8) or 8


@dataclass(frozen=True, kw_only=True)
class RayRows:
    """A block of a Ray Dataset, kept by Ray; whoever reads it gets it from Ray.

    Attributes:
        block: a reference to an Arrow table.
        schema: of the whole dataset.
        name: for messages.
    """

    block: Any
    schema: pa.Schema
    name: str

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.schema, self.name)
        import ray

        with reading(self.name, "a block of Ray"):
            table = ray.get(self.block)
        return in_blocks([_cast(table.select(list(columns)), self.schema, self.name)])

    def place(self, row: int) -> str:
        """The block and its row."""
        return f"row {row} of {self.name}"


def ray_partitions(dataset: Any, name: str = "the Ray dataset") -> Partitions:
    """The parts of a Ray Dataset: its blocks, in order. It is computed once; Ray keeps it, on disk where it must."""
    import ray

    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        with reading(name, "a Ray dataset"):
            blocks = dataset.materialize().to_arrow_refs()
            looked_at = ray.remote(_shape)
            counted = ray.get([looked_at.remote(block) for block in blocks])
    finally:
        options.preserve_order = before
    schemas = {f"block {at} of {name}": schema for at, (rows, schema) in enumerate(counted) if rows}
    schema = _common(schemas)
    refuse_repeated(schema.names, Source.of(name))
    found = [
        (where, rows, RayRows(block=block, schema=schema, name=where))
        for at, (block, (rows, _)) in enumerate(zip(blocks, counted, strict=True))
        for where in (f"block {at} of {name}",)
    ]
    return refuse_empty(Partitions(name=name, schema=schema, parts=numbered(found)))


def _shape(block: Any) -> tuple[int, pa.Schema]:
    """Rows and types of one block."""
    return block.num_rows, block.schema.remove_metadata()


def _common(schemas: Mapping[str, pa.Schema]) -> pa.Schema:
    """The types that all parts share; where one has only missing entries, those of the others."""
    common: dict[str, tuple[pa.Field, str]] = {}
    first: tuple[str, list[str]] | None = None
    for where, schema in schemas.items():
        first = first or (where, schema.names)
        if other := sorted(set(schema.names) ^ set(first[1])):
            raise InputError(f"{where}: its columns differ from those of {first[0]}: {other[0]!r} is in one only")
        for field in schema:
            known = common.setdefault(field.name, (field, where))
            if pa.types.is_null(known[0].type):
                common[field.name] = field, where
            elif field.type != known[0].type and not pa.types.is_null(field.type):
                unlike = f"column {field.name!r} holds {field.type}, but {known[0].type} in {known[1]}"
                raise InputError(f"{where}: {unlike}; convert either")
    return pa.schema([field for field, _ in common.values()])


def _cast(table: pa.Table, schema: pa.Schema, name: str) -> pa.Table:
    wanted = pa.schema([schema.field(column) for column in table.column_names])
    with reading(name, "rows of one type a column"):
        return table.cast(wanted)
