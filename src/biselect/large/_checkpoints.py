"""Finished passes, kept in a folder: a run that was killed goes on with the next."""

import hashlib
import io
import json
import os
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from biselect._version import __version__
from biselect.core.files import finish_interrupted, write_file
from biselect.core.untrusted import check_seal, read_arrays, refused_as, seal
from biselect.errors import AlteredWarning, InputError
from biselect.large.dataset import Part
from biselect.large.engines import Engine
from biselect.large.passes import Arrays, Pass
from biselect.progress import Progress

FORMAT = "biselect-pass-2"
FOLDER = ".unfinished"  # within the folder of the answer
KINDS = "biufSU"  # of arrays: flags, numbers, bytes and texts of one length


@contextmanager
def resuming(engine: Engine, folder: str | Path | None, say: Callable[[str], None] | None = None) -> Iterator[Engine]:
    """The same engine, which keeps the result of each pass and takes what an earlier run has kept.

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
    finish_interrupted(home)
    yield Resuming(engine, home, say)
    for path in home.glob("*.npz"):
        path.unlink()
    with suppress(OSError):  # somebody put something else there, or nothing was kept
        home.rmdir()


class Resuming:
    """An engine that keeps results of passes; a file is used only for the same pass over the same parts."""

    def __init__(self, engine: Engine, home: Path, say: Callable[[str], None] | None = None):
        self.engine, self.home, self.say, self.name = engine, home, say, engine.name
        self._digests: dict[int, tuple[Sequence[Part], str]] = {}  # the parts are held, so that no other gets their id

    def run(self, request: Pass, parts: Sequence[Part], progress: Progress | None = None) -> Arrays:
        """See `Engine`."""
        key = digest(__version__, request, self._digest_of(parts))
        path = self.home / f"{key[:32]}.npz"
        if (result := _stored(path, key)) is not None:
            if progress is not None:
                progress(1.0, nan)
            if self.say is not None:
                self.say(f"{request.name}: taken from the run before, which did not come to its end")
            return result
        result = self.engine.run(request, parts, progress)
        self.home.mkdir(parents=True, exist_ok=True)
        write_file(path, _content(request.name, key, result))
        return result

    def _digest_of(self, parts: Sequence[Part]) -> str:
        if id(parts) not in self._digests:
            self._digests[id(parts)] = parts, digest(*parts)
        return self._digests[id(parts)][1]


class _Hash(io.RawIOBase):
    """A file that only takes the hash of what is written to it."""

    def __init__(self) -> None:
        self.state = hashlib.sha256()

    def write(self, content: Any) -> int:
        self.state.update(content)
        return len(content)


def digest(*things: object) -> str:
    """SHA-256 of whatever can be pickled, the same in another run; files count by their path, size and time.

    Sets of texts are in another order in every process, so no pass holds any.

    >>> digest(1, "a", np.arange(3)) == digest(1, "a", np.arange(3)) != digest(1, "a", np.arange(4))
    True
    """
    content = _Hash()
    try:
        for thing in things:
            pickle.Pickler(content, protocol=5).dump(thing)
    except Exception:  # nobody can tell whether this is the same in another run, so it never is
        return os.urandom(32).hex()
    return content.state.hexdigest()


def _content(name: str, key: str, result: Arrays) -> bytes:
    """The result of a pass, as the content of a file."""
    arrays = {label: np.asarray(array) for label, array in result.items()}
    if odd := [label for label, array in arrays.items() if array.dtype.kind not in KINDS]:
        raise TypeError(f"{name}: array {odd[0]!r} holds {arrays[odd[0]].dtype}, which cannot be kept")
    flat = {str(at): np.frombuffer(array.tobytes(), dtype=np.uint8) for at, array in enumerate(arrays.values())}
    header = {
        "format": FORMAT,
        "name": name,
        "key": key,
        "arrays": [[label, array.dtype.str, list(array.shape)] for label, array in arrays.items()],
        "content": _hash_of(flat),
    }
    stream, text = io.BytesIO(), json.dumps(seal(header), allow_nan=False).encode()
    arrays_by_name: dict[str, Any] = {"header": np.frombuffer(text, dtype=np.uint8), **flat}
    np.savez(stream, **arrays_by_name)  # hashes of ids cannot be packed
    return stream.getvalue()


def _hash_of(flat: Arrays) -> list[str]:
    return [hashlib.sha256(array.data).hexdigest() for array in flat.values()]


def _stored(path: Path, key: str) -> Arrays | None:
    """Result of an earlier run; None where there is nothing, or nothing that can be used, which is told."""
    if not path.exists():
        return None
    what = f"a pass that was kept ({FORMAT})"
    try:
        header, flat = read_arrays(path, what)
        with refused_as(f"{path}: not {what}"):
            check_seal(header, path)
            if (header["format"], header["key"]) != (FORMAT, key):
                raise InputError(f"{path}: is not what this pass has kept")
            if _hash_of(flat) != header["content"]:
                raise InputError(f"{path}: was changed after it was written")
            return {
                name: np.frombuffer(flat[str(at)].tobytes(), dtype=kind).reshape(shape)
                for at, (name, kind, shape) in enumerate(header["arrays"])
            }
    except InputError as error:
        warnings.warn(f"{error}; the pass is done again", AlteredWarning, stacklevel=3)
        return None
