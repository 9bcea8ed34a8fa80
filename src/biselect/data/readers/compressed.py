"""Packed files: what they unpack to is counted before anybody keeps it."""

import io
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from biselect.core.archives import CHUNK, refuse_bomb

PACKED = {".gz": "gzip", ".zst": "zstd"}
ENDINGS = tuple(PACKED)


def opened(path: Path) -> BinaryIO:
    """A file to read bytes and lines from, unpacked where its name says so."""
    packed = PACKED.get(path.suffix.lower())
    if packed is None:
        return path.open("rb")
    stream = pa.input_stream(str(path), compression=packed)
    return cast(BinaryIO, io.BufferedReader(stream, CHUNK))


def check_unpacked(path: Path) -> None:
    """Refuse a packed file that is damaged, or that unpacks to far more than it is."""
    packed, unpacked = path.stat().st_size, 0
    with opened(path) as stream:
        while piece := stream.read(CHUNK):
            unpacked += len(piece)
            refuse_bomb(path, unpacked, packed)
