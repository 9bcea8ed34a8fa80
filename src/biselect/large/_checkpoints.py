"""Passes that are done, kept in a folder: a run that was killed goes on with the next."""

import hashlib
import io
import json
import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from math import nan, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from biselect._version import __version__
from biselect.core.files import tidy, write_file
from biselect.core.untrusted import check_seal, read_arrays, refused_as, seal
from biselect.errors import AlteredWarning, InputError
from biselect.large.dataset import Part
from biselect.large.passes import Arrays, Engine, Pass
from biselect.progress import Progress

FORMAT = "biselect-pass-1"
FOLDER = ".unfinished"  # within the folder of the answer
KINDS = "biufSU"  # of arrays: flags, numbers, bytes and texts of one length


@contextmanager
def resuming(engine: Engine, folder: str | Path | None, say: Callable[[str], None] | None = None) -> Iterator[Engine]:
    """The same engine, which keeps what each pass found and takes what an earlier run has kept.

    What is kept goes when all is done, and stays where this ends by an error or a kill.

    Args:
        engine: runs what was not kept.
        folder: where the answer goes; None keeps nothing.
        say: called with a line for a person where a pass is taken from an earlier run.
    """
    if folder is None:
        yield engine
        return
    home = Path(folder) / FOLDER
    tidy(home)
    yield Resuming(engine, home, say)
    for path in home.glob("*.npz"):
        path.unlink()
    with suppress(OSError):  # somebody put something else there, or nothing was kept
        home.rmdir()


class Resuming:
    """An engine that keeps what passes found; a file is used only for the same pass over the same parts."""

    def __init__(self, engine: Engine, home: Path, say: Callable[[str], None] | None = None):
        self.engine, self.home, self.say = engine, home, say
        self.name, self.traffic = engine.name, engine.traffic
        self._digests: dict[int, tuple[Sequence[Part], str]] = {}  # the parts are held, so that no other gets their id

    def run(self, asked: Pass, parts: Sequence[Part], told: Progress | None = None) -> Arrays:
        """See `Engine`."""
        key = digest(__version__, asked, self._digest_of(parts))
        path = self.home / f"{key[:32]}.npz"
        if (found := _kept(path, key)) is not None:
            if told is not None:
                told(1.0, nan)
            if self.say is not None:
                self.say(f"{asked.name}: taken from the run before, which did not come to its end")
            return found
        found = self.engine.run(asked, parts, told)
        self.home.mkdir(parents=True, exist_ok=True)
        write_file(path, _packed(asked.name, key, found))
        return found

    def _digest_of(self, parts: Sequence[Part]) -> str:
        if id(parts) not in self._digests:
            self._digests[id(parts)] = parts, digest(*parts)
        return self._digests[id(parts)][1]


def digest(*things: object) -> str:
    """SHA-256 of plain data, arrays, tables and objects made of them; a file counts by its path, size and time.

    >>> digest(1, "a", np.arange(3)) == digest(1, "a", np.arange(3)) != digest(1, "a", np.arange(4))
    True
    """
    found = hashlib.sha256()
    try:
        for thing in things:
            _feed(found, thing)
    except (_UnknownContentError, RecursionError):
        return os.urandom(32).hex()
    return found.hexdigest()


class _UnknownContentError(Exception):
    """Nobody can tell whether this is the same in another run, so it never is."""


def _feed(found: Any, thing: Any) -> None:
    kind = type(thing)
    found.update(f"<{kind.__module__}.{kind.__qualname__}>".encode())
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | Path | np.generic):
        found.update(repr(thing).encode())
    elif isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
        found.update(f"{thing.dtype.str}{thing.shape}".encode())
        found.update(np.ascontiguousarray(thing).data)
    elif isinstance(thing, pa.Table):
        with pa.ipc.new_stream(pa.PythonFile(_Hashing(found), mode="w"), thing.schema) as stream:
            stream.write_table(thing)
    elif isinstance(thing, Mapping):
        _feed(found, [entry for pair in thing.items() for entry in pair])
    elif isinstance(thing, Set):
        _feed(found, sorted(digest(entry) for entry in thing))
    elif isinstance(thing, list | tuple):
        found.update(f"{len(thing)}".encode())
        for entry in thing:
            _feed(found, entry)
    elif is_dataclass(thing):
        for field in fields(thing):
            value = getattr(thing, field.name)
            _feed(found, (field.name, value))
            if field.name == "path":
                _feed(found, _state_of(value))
    elif hasattr(thing, "__dict__") and not callable(thing):
        _feed(found, vars(thing))
    else:
        try:
            found.update(pickle.dumps(thing, protocol=5))
        except Exception:
            raise _UnknownContentError from None


class _Hashing(io.RawIOBase):
    """A file that only takes the hash of what is written to it."""

    def __init__(self, found: Any):
        self.found = found

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.found.update(content)
        return len(content)


def _state_of(path: str | Path) -> tuple[int, int] | None:
    """Size and time of a file."""
    try:
        state = Path(path).stat()
    except OSError:  # an address, or a file that is gone: whoever reads it will say so
        return None
    return state.st_size, state.st_mtime_ns


def _packed(name: str, key: str, found: Arrays) -> bytes:
    """What a pass found, as the content of a file."""
    arrays = {given: np.asarray(array) for given, array in found.items()}
    if odd := [given for given, array in arrays.items() if array.dtype.kind not in KINDS]:
        raise TypeError(f"{name}: array {odd[0]!r} holds {arrays[odd[0]].dtype}, which cannot be kept")
    content = b"".join(array.tobytes() for array in arrays.values())
    header = seal(
        {
            "format": FORMAT,
            "name": name,
            "key": key,
            "arrays": [[given, array.dtype.str, list(array.shape)] for given, array in arrays.items()],
            "content": hashlib.sha256(content).hexdigest(),
        }
    )
    stream = io.BytesIO()
    text = json.dumps(header, allow_nan=False).encode()
    np.savez(stream, header=np.frombuffer(text, dtype=np.uint8), content=np.frombuffer(content, dtype=np.uint8))
    return stream.getvalue()


def _kept(path: Path, key: str) -> Arrays | None:
    """What an earlier run found; None where there is nothing, or nothing that can be used, which is told."""
    if not path.exists():
        return None
    try:
        return _read(path, key)
    except InputError as error:
        warnings.warn(f"{error}; the pass is done again", AlteredWarning, stacklevel=3)
        return None


def _read(path: Path, key: str) -> Arrays:
    what = f"a pass that was kept ({FORMAT})"
    header, stored = read_arrays(path, what)
    with refused_as(f"{path}: not {what}"):
        check_seal(header, path)
        if (header["format"], header["key"]) != (FORMAT, key):
            raise InputError(f"{path}: is not what this pass has kept")
        content = stored["content"]
        if hashlib.sha256(content.data).hexdigest() != header["content"]:
            raise InputError(f"{path}: was changed after it was written")
        found, start = dict[str, Any](), 0
        for name, kind, shape in header["arrays"]:
            size = np.dtype(kind).itemsize * prod(shape)
            found[name] = np.frombuffer(content[start : start + size].tobytes(), dtype=kind).reshape(shape)
            start += size
        return found
