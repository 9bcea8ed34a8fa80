"""Files: each is written whole or not at all, and so is a folder of them."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from biselect.errors import InputError

STAGING = ".writing-"  # prefix of everything that is not yet in its place


def write_file(path: str | Path, content: str | bytes, *, move: Callable[[Path, Path], None] | None = None) -> None:
    """Write one file.

    Args:
        path: where it goes; its folder must exist.
        content: text is written as UTF-8, with its line ends as they are.
        move: puts the finished file in its place; `os.replace` unless given, `os.link` to refuse a file that is there.
    """
    path = Path(path)
    with _told(path):
        staging = path.with_name(f"{STAGING}{path.name}-{os.getpid()}")
        try:
            _write_synced(staging, content)
            (move or os.replace)(staging, path)
        finally:
            staging.unlink(missing_ok=True)


def write_folder(folder: str | Path, contents: Mapping[str, str | bytes]) -> list[Path]:
    """Write several files into a folder, which is made where it is missing; none is replaced before all are written."""
    folder = Path(folder)
    check_folder(folder, contents)
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=STAGING) as staging:
            for name, content in contents.items():
                _write_synced(Path(staging) / name, content)
            for name in contents:
                os.replace(Path(staging) / name, folder / name)
    return [folder / name for name in contents]


def check_folder(folder: Path, names: Iterable[str] = ()) -> None:
    """Refuse a place where the files could not all be written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder to write to")
    for name in names:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder; move it away or give another place to write to")
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: cannot write there: {parent} takes no new files")


def _write_synced(path: Path, content: str | bytes) -> None:
    with open(path, "wb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _told(place: Path) -> Iterator[None]:
    """An error of the file system in our words; a file that is there already stays the caller's to judge."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"{place}: cannot write there: {error.strerror or error}") from error
