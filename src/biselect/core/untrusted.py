"""Files and texts of others, read as data and written so that nobody runs them.

Packed files are taken for what they really hold: nothing is allocated on the word of a header. JSON is read as data,
and refused by the file's name where it cannot be used; a record can carry its own SHA-256.

In CSV as we write it, text that a spreadsheet would run as a formula is kept a text by an apostrophe before it. A
spreadsheet may take a semicolon, a tab or the end of a line within our text for the end of a cell, whatever quotes
stand around it, and what follows for the next cell; and some take full-width signs for plain ones. Text that has an
apostrophe there already gets one more, so that a guard can be taken off again.
"""

import hashlib
import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from biselect.errors import BiselectError, InputError

FREE = 1 << 28  # 256 MiB that any file may unpack to
RATIO = 100  # and beyond them so many times its own size; tables of numbers reach 5 to 50
CHUNK = 1 << 20
MOST_HEADER = 1 << 16  # bytes of the header of an array
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
DEEPEST = 100  # levels of lists and objects; ours have ten
HUGE = re.compile(r"[eE]\+?0*[1-9]\d\d|\d{300}")  # how a number beyond float64 must look
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # how half of a surrogate pair does
SIGNS = r"=+\-@＝＋－＠"
FORMULA = re.compile(rf"\A(?='*[{SIGNS}\t\r])|(?<=[;\t\r\n])(?=['\"]*[{SIGNS}])")  # where an apostrophe goes
GUARD = re.compile(f"(?:{FORMULA.pattern})'")  # where one was put
SPECIAL = re.compile(r'[",\r\n]')
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


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
    with refused_as(f"{path}: not {what}"), open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        check_members(path, archive)
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): _array(archive, name) for name in names}
        header = arrays.pop("header")
        if header.dtype != np.uint8:
            raise ValueError("its header is no text")
        return json_of(header.tobytes(), halves=True), arrays  # names of any Python text


def check_members(path: str | Path, archive: zipfile.ZipFile) -> None:
    """Unpack every member of a zip once, keeping nothing: its directory may say what it likes."""
    with open(path, "rb") as file:
        packed, total, names = file.seek(0, 2), 0, set[str]()
        for member in archive.infolist():
            if member.filename in names:
                raise InputError(f"{path}: holds {member.filename!r} twice")
            names.add(member.filename)
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
    unpack, unread = zlib.decompressobj(-15), member.compress_size
    while unread > 0 and (packed := file.read(min(CHUNK, unread))):
        unread -= len(packed)
        while packed:
            if member.compress_type == STORED:
                yield packed
                break
            yield unpack.decompress(packed, CHUNK)
            packed = unpack.unconsumed_tail


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array; its shape and type must fit the bytes that are there before any memory is taken."""
    size = archive.getinfo(name).file_size
    with archive.open(name) as file:
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


@contextmanager
def refused_as(what: str) -> Iterator[None]:
    """Whatever goes wrong while a file's content is taken apart is the fault of the content: one InputError."""
    try:
        yield
    except BiselectError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{error.filename}: no such file") from None
    except KeyError as error:
        raise InputError(f"{what}: it lacks {shortened(error.args[0] if error.args else '')}") from error
    except Exception as error:  # ours and those of every library that takes part
        raise InputError(f"{what}: {str(error)[:300] or type(error).__name__}") from error


def shortened(value: object) -> str:
    """What a file holds, short enough for a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def read_json(path: str | Path) -> Any:
    """The content of a JSON file, or an error that names the file."""
    with refused_as(f"{path}: cannot be read as JSON"):
        return json_of(Path(path).read_bytes())


def json_of(text: str | bytes, *, halves: bool = False) -> Any:
    """Plain data from JSON text: no NaN, no number beyond float64, not nested without end.

    Half of a surrogate pair, which no encoding has, is refused too unless `halves` are welcome.

    >>> json_of('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    text = text if isinstance(text, str) else text.decode("utf-8")
    exact: dict[str, Any] = {"parse_float": _finite, "parse_int": _whole} if HUGE.search(text) else {}
    content = json.loads(text, parse_constant=_refuse_constant, **exact)
    level, depth = [content], 0
    while level := [value for value in chain.from_iterable(map(_held, level)) if type(value) in (list, dict)]:
        depth += 1
        if depth >= DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    if not halves and HALF.search(text):
        json.dumps(content, ensure_ascii=False).encode()  # a pair is a character, half of one is none
    return content


def _held(value: Any) -> Any:
    return value.values() if type(value) is dict else value if type(value) is list else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    if abs(number := float(text)) == float("inf"):
        raise ValueError(f"{text[:40]} is beyond float64")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the entry `hash` itself."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same data with its `content_hash` under `hash`."""
    return {**content, "hash": content_hash(content)}


def check_seal(content: Mapping[str, Any], where: object) -> None:
    """Refuse data that is not as it was sealed."""
    with refused_as(f"{where}: cannot be checked"):
        if content.get("hash") != content_hash(content):
            raise InputError(f"{where}: was changed after it was written: its hash does not match, so it is not used")


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A header and a line for each row.

    >>> print(csv_text([{"name": "=1+1", "adds": -2.5}], ["name", "adds"]), end="")
    name,adds
    '=1+1,-2.5
    """
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(cell: Any) -> str:
    text = "" if cell is None else str(guarded(cell))
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet runs: an apostrophe before whatever begins like a formula, unless it is a number."""
    return FORMULA.sub("'", cell) if isinstance(cell, str) and not NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """The text that `guarded` was given."""
    return GUARD.sub("", cell)
