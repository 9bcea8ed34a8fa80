"""Packed files, taken for what they really hold: nothing is allocated on the word of a header."""

import io
import json
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from biselect.core.json_files import json_of, refused_as
from biselect.errors import InputError

FREE = 1 << 28  # 256 MiB that any file may unpack to
RATIO = 100  # and beyond them so many times its own size; tables of numbers reach 5 to 50
CHUNK = 1 << 20
MOST_HEADER = 1 << 16  # bytes of the header of an array
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def most_unpacked(packed: int) -> int:
    """Bytes that a packed file of this size may hold before it is taken for a bomb."""
    return max(FREE, RATIO * packed)


def refuse_bomb(path: str | Path, unpacked: int, packed: int) -> None:
    """An error where a file has unpacked to more than it may."""
    if unpacked > (most := most_unpacked(packed)):
        raise InputError(
            f"{path}: unpacks to more than {most / 2**20:,.0f} MiB, over {RATIO} times its own size; "
            "if that is meant, unpack it first"
        )


def packed_arrays(header: Any, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The content of an `.npz` that `read_arrays` reads: plain data, or numbers of NumPy, as JSON; and arrays."""
    text = json.dumps(header, allow_nan=False, default=lambda number: number.tolist())
    stream = io.BytesIO()
    np.savez_compressed(stream, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def read_arrays(path: str | Path, what: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """The JSON of the array `header` of an `.npz`, and all other arrays, read-only and without pickle.

    Args:
        path: the file.
        what: it should hold, in words; part of every error.
    """
    with refused_as(f"{path}: not {what}"), open(path, "rb") as file, zipfile.ZipFile(file) as stored:
        check_members(path, stored)
        names = [name for name in stored.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): _array(stored, name) for name in names}
        header = arrays.pop("header")
        if header.dtype != np.uint8:
            raise ValueError("its header is no text")
        return json_of(header.tobytes(), halves=True), arrays  # names of any Python text


def check_members(path: str | Path, stored: zipfile.ZipFile) -> None:
    """Unpack every member of a zip once, keeping nothing: its directory may say what it likes."""
    with open(path, "rb") as file:
        packed, total, seen = file.seek(0, 2), 0, set[str]()
        for member in stored.infolist():
            if member.filename in seen:
                raise InputError(f"{path}: holds {member.filename!r} twice")
            seen.add(member.filename)
            size = 0
            for piece in _pieces(file, member):
                size += len(piece)
                refuse_bomb(path, total + size, packed)
            if size != member.file_size:
                raise InputError(f"{path}: {member.filename!r} is not as long as it says")
            total += size


def _pieces(file: BinaryIO, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a member really holds, a piece at a time."""
    if member.flag_bits & 1 or member.compress_type not in (STORED, DEFLATED):
        raise InputError(f"{member.filename!r} is encrypted or packed in an unusual way; pack it as a plain zip")
    file.seek(member.header_offset)
    local = file.read(30)
    if len(local) < 30 or local[:4] != b"PK\3\4":
        raise InputError(f"{member.filename!r} is not where the directory says")
    file.seek(int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little"), 1)
    unpack, left = zlib.decompressobj(-15), member.compress_size
    while left > 0 and (packed := file.read(min(CHUNK, left))):
        left -= len(packed)
        while packed:
            if member.compress_type == STORED:
                yield packed
                break
            yield unpack.decompress(packed, CHUNK)
            packed = unpack.unconsumed_tail


def _array(stored: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array; its shape and type must fit the bytes that are there before any memory is taken."""
    size = stored.getinfo(name).file_size
    with stored.open(name) as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError(f"{name} is of an unknown version of NumPy's format")
        shape, by_columns, kind = read(file, max_header_size=MOST_HEADER)
        if kind.kind not in "fiu" or kind.subdtype is not None:
            raise ValueError(f"{name} holds no plain numbers")
        begin = file.tell()
        if not all(isinstance(length, int) and length >= 0 for length in shape):
            raise ValueError(f"{name} has no shape")
        if (needed := math.prod(shape) * kind.itemsize) != size - begin:
            raise ValueError(f"{name} should hold {needed:,} bytes, but has {size - begin:,}")
        content = np.empty(math.prod(shape), dtype=kind)
        place, filled = content.view(np.uint8), 0
        while piece := file.read(CHUNK):
            place[filled : filled + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            filled += len(piece)
    content = content.astype(kind.newbyteorder("="), copy=False)
    array = content.reshape(shape, order="F" if by_columns else "C")
    array.flags.writeable = content.flags.writeable = False
    return array
