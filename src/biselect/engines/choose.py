"""Which engine is meant, and how much memory it may take, as people write them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from biselect.errors import InputError
from biselect.options import Compute, spell
from biselect.partitions.any_source import MEMORY
from biselect.partitions.passes import Engine, Threads

UNITS = {"": 1, "b": 1} | {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
UNITS |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}


@contextmanager
def engine_for(on: str | None = None, memory: int | str | None = None) -> Iterator[Engine]:
    """An engine for as long as it is needed; a connection to a cluster ends with it.

    Args:
        on: `threads` of this machine, which None means too, or `dask://HOST:PORT`.
        memory: what threads of this machine may take, in bytes or as `2 GiB`; 2 GiB unless given. Workers of a cluster
            hold one block of rows at a time.
    """
    check_engine(on, memory)
    if on is None or on == "threads":
        yield Threads(bytes_of(memory))
    else:
        from biselect.engines.dask_cluster import DaskCluster, dask_client

        with dask_client(on) as client:
            yield DaskCluster(on, client)


def check_engine(on: str | None, memory: int | str | None) -> None:
    """Refuse what names no place to run, or no amount of memory."""
    if on is not None and on != "threads" and not on.startswith("dask://"):
        raise InputError(f"{spell(Compute(on=on))}: cannot run there; give threads or dask://HOST:PORT")
    bytes_of(memory)


def bytes_of(memory: int | str | None) -> int:
    """An amount of memory in bytes.

    >>> bytes_of("512 MB"), bytes_of("1.5GiB"), bytes_of(4096), bytes_of(None) == bytes_of("2 GiB")
    (512000000, 1610612736, 4096, True)
    """
    if memory is None:
        return MEMORY
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(memory).lower())
    if isinstance(memory, bool) or written is None or written[2] not in UNITS or float(written[1]) == 0:
        raise InputError(f"{spell(Compute(memory=memory))}: give a size such as '2 GiB', '512 MB' or a number of bytes")
    return int(float(written[1]) * UNITS[written[2]])
