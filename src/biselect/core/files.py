"""Files: each is written whole or not at all, and a folder of them is one answer, old or new, never both.

A file is written beside its place as `.writing-NAME`, synced, and renamed over it. The lock on `.writing-NAME` ends
with its process, so the next writer of the same file waits for a living one and sweeps away what a dead one left.

A folder needs more, because a system renames one file at a time, and a kill between two renames must not leave files of
two answers beside each other. All new files are written and synced apart first; then there are two ways:

- Where Linux can exchange two folders in one step, it does: new files and links to the user's other files against the
  old folder. At every moment the folder is whole, old or new.
- Elsewhere (another system, a mount point, a folder with folders in it, somebody's current directory, which an exchange
  would pull from under them) the old answer is taken away, last file first, and then the new one is moved in, last file
  last. A kill in between leaves part of one answer, never two, without the file that callers name last; a journal
  lets the next writer finish it.

The folder itself is the lock: two processes end in one whole answer after the other, or in a refusal.
"""

import errno
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from biselect.errors import BiselectError, InputError

TEMPORARY = ".biselect-temporary-"  # prefix of folders that go when their process ends
STAGING = ".writing-"  # prefix of everything that is not yet in its place
JOURNAL = "journal.json"  # of a folder's staging: from here on the new answer counts
PATIENCE = 10.0  # seconds to wait for another process that writes to the same place
OTHERS = 100  # files of the user in a folder that is exchanged; more are not worth the links
WINDOWS = sys.platform == "win32"  # an open file cannot be renamed there, nor a folder locked


@contextmanager
def private_files() -> Iterator[None]:
    """Whatever this process and those that it starts write meanwhile is its owner's alone to read."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def write_file(path: str | Path, content: str | bytes, *, once: bool = False) -> None:
    r"""Write one file.

    Args:
        path: where it goes; its folder must exist. A link stays: the file that it points to is replaced.
        content: text is written as UTF-8, with its line ends as they are; half of a surrogate pair, which no UTF-8
            has, as `\udc80`, which is also how JSON writes it.
        once: refuse a file that is there already, with a `FileExistsError`.
    """
    place = Path(os.path.realpath(path))
    with _as_input_error(path), _file_beside(place) as (staging, file):
        try:
            _write_synced(file, content)
            if WINDOWS:
                file.close()
            (os.link if once else os.replace)(staging, place)
        except BaseException:
            staging.unlink(missing_ok=True)
            raise
        if once:
            staging.unlink()
        _sync_folder(place.parent)


def write_folder(
    folder: str | Path,
    contents: Mapping[str, str | bytes],
    *,
    replaces: Iterable[str] = (),
    once: bool = False,
    shared: bool = False,
) -> list[Path]:
    """Write the files of one answer into a folder, which is made where it is missing; other files in it stay.

    Args:
        folder: where they go; may be a link.
        contents: by name; the one that makes the answer complete comes last.
        replaces: further names that an older answer may have left, to go with it.
        once: refuse a folder that has the last of the files already, with a `FileExistsError`.
        shared: the folder is not the answer's own; it is never exchanged.
    """
    folder = Path(folder)
    check_folder(folder, contents)
    with _as_input_error(folder):
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _lock_on(folder) as home, ExitStack() as locks:
                _replay_journal(home)
                if once and os.path.lexists(home / list(contents)[-1]):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
                try:
                    _switch(home, contents, replaces, shared, locks)
                    _replay_journal(home)
                except BaseException:  # an interrupt may come in the very last step: what was begun is finished
                    _replay_journal(home)
                    raise
        except BaseException:
            if is_new:
                with suppress(OSError):
                    folder.rmdir()
            raise
    return [folder / name for name in contents]


def finish_interrupted(folder: str | Path) -> None:
    """Finish or remove what killed processes left in a folder, if it is there."""
    if Path(folder).is_dir():
        with _as_input_error(folder), _lock_on(Path(folder)) as home:
            _replay_journal(home)


@contextmanager
def temporary_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """A folder for what is needed only while the program runs; it goes when the block is left, also by an error.

    What a killed process left beside it is swept away: its lock has ended with it.

    Args:
        parent: where it is made; None for the system's folder for temporary files.
    """
    home = Path(tempfile.gettempdir() if parent is None else parent)
    with _as_input_error(home):
        for stale in home.glob(f"{TEMPORARY}*"):
            if not WINDOWS:
                with suppress(OSError):
                    if time.time() - stale.stat().st_mtime < PATIENCE:
                        continue  # it may be so new that its owner has not locked it yet
                    descriptor = os.open(stale, os.O_RDONLY)
                    try:
                        _try_lock(descriptor)  # fails where a living process holds it
                        shutil.rmtree(stale)
                    finally:
                        os.close(descriptor)
        folder = Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=home))
    lock = None
    try:
        if not WINDOWS:
            lock = os.open(folder, os.O_RDONLY)
            _try_lock(lock)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def temporary_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file in a temporary folder, to write a stream to; nobody reads it before it is whole, so it is not synced.

    What goes wrong while it is written is an `OSError` of the caller's; half a file does not stay.
    """
    try:
        with open(path, "xb") as file:
            yield file
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def keep_staged(staged: Path, place: Path) -> None:
    """Let a whole file from a temporary folder of the same file system stay; `FileExistsError` where there is one."""
    with _as_input_error(place):
        with open(staged, "rb") as file:
            os.fsync(file.fileno())
        os.link(staged, place)
        _sync_folder(place.parent)


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


def _switch(
    home: Path, contents: Mapping[str, str | bytes], replaces: Iterable[str], shared: bool, locks: ExitStack
) -> None:
    """Write everything apart, and say in the journal how it comes to its place; `_replay_journal` does the rest."""
    names, replaced = list(contents), [name for name in replaces if name not in contents]
    apart, inside = _stagings(home)
    exchanging = not shared and _can_exchange(home, {*names, *replaced})
    staging = apart if exchanging else inside
    new = staging / "new"
    new.mkdir(parents=True)
    for name, content in contents.items():
        with open(new / name, "xb") as file:
            _write_synced(file, content)
    journal = {"names": names, "replaced": replaced}
    if exchanging:
        with suppress(OSError):  # a file system without it, or files that may not be linked
            _take_others(home, new, {*names, *replaced})
            locks.enter_context(_lock_on(new))  # it is about to be the folder that others lock
            _commit(staging, {**journal, "exchanged_for": os.stat(new).st_ino})
            _exchange(new, home)
            return
    (staging / "old").mkdir()
    _commit(staging, journal)


def _replay_journal(home: Path) -> None:
    """Bring what lies apart to its place where its journal says that it counts, and remove the rest.

    Whoever calls this holds the folder's lock: what is found belongs to the caller or to a dead process.
    """
    for staging in _stagings(home):
        journal = _journal(staging)
        if journal is not None:
            if "exchanged_for" not in journal:
                _move_in(staging, home, journal["names"], journal["replaced"])
            elif os.stat(home).st_ino == journal["exchanged_for"]:
                _sync_folder(home.parent)
                _give_others(staging / "new", home, {*journal["names"], *journal["replaced"]})
            os.unlink(staging / JOURNAL)
        if staging.is_dir():
            shutil.rmtree(staging)
    for stale in home.glob(f"{STAGING}*"):
        if stale.is_dir() and not stale.is_symlink():
            shutil.rmtree(stale)
        elif not WINDOWS:
            with suppress(OSError), open(stale, "rb") as file:
                _try_lock(file.fileno())  # fails where a living process holds it
                os.unlink(stale)


def _move_in(staging: Path, home: Path, names: list[str], replaced: list[str]) -> None:
    """Take the old answer away, then move the new one in; done again after a kill, it goes on where it was."""
    new, old = staging / "new", staging / "old"
    if all((new / name).exists() for name in names):  # else the old one is away already
        old_names: list[str] = []
        try:
            for name in reversed([*replaced, *names]):
                if os.path.lexists(home / name):
                    os.replace(home / name, old / name)
                    old_names.append(name)
        except OSError:  # on Windows, a file that somebody has open: leave the old answer as it was
            for name in reversed(old_names):
                os.replace(old / name, home / name)
            os.unlink(staging / JOURNAL)
            raise
        _sync_folder(home)
    for name in names:
        if (new / name).exists():
            os.replace(new / name, home / name)
    _sync_folder(home)


def _take_others(home: Path, new: Path, names: set[str]) -> None:
    """Give the folder that comes all that is not the answer's, and rights and owner of the one that goes."""
    for name in set(os.listdir(home)) - names:
        os.link(home / name, new / name, follow_symlinks=False)
    shutil.copystat(home, new)
    os.utime(new)
    os.chown(new, os.stat(home).st_uid, os.stat(home).st_gid)
    _sync_folder(new)


def _give_others(replaced: Path, home: Path, names: set[str]) -> None:
    """Bring over what somebody put into the old folder at the last moment; all else of it is in the new one or old."""
    for name in set(os.listdir(replaced)) - names if replaced.is_dir() else ():
        is_here = os.path.lexists(home / name) and os.path.samestat(os.lstat(replaced / name), os.lstat(home / name))
        if not is_here and not name.startswith(STAGING):
            os.replace(replaced / name, home / name)


def _can_exchange(home: Path, names: set[str]) -> bool:
    """Whether a folder can be exchanged as a whole, with nobody noticing but by the answer."""
    if sys.platform != "linux" or os.path.ismount(home) or not os.access(home.parent, os.W_OK | os.X_OK):
        return False
    with os.scandir(home) as entries:
        others = [entry for entry in entries if entry.name not in names]
    if len(others) > OTHERS or any(entry.is_dir(follow_symlinks=False) for entry in others):
        return False
    here = os.stat(home)
    for process in Path("/proc").glob("[0-9]*/cwd"):  # a shell in the old folder would see its files vanish
        with suppress(OSError):
            if os.path.samestat(os.stat(process), here):
                return False
    return True


def _exchange(one: Path, other: Path) -> None:
    """Each folder gets the other's name, in one step."""
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if rename is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if rename(here, os.fsencode(one), here, os.fsencode(other), exchange):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _stagings(home: Path) -> tuple[Path, Path]:
    """Where the files of a folder wait: beside it to be exchanged, inside it to be moved."""
    return home.with_name(f"{STAGING}{home.name}"), home / f"{STAGING}folder~"


def _commit(staging: Path, journal: Mapping[str, Any]) -> None:
    _sync_folder(staging / "new")
    with open(staging / JOURNAL, "wb") as file:
        _write_synced(file, json.dumps(journal))
    _sync_folder(staging)
    _sync_folder(staging.parent)


def _journal(staging: Path) -> dict[str, Any] | None:
    """What was committed; a journal that was not finished counts for nothing."""
    try:
        journal = json.loads((staging / JOURNAL).read_bytes())
    except (OSError, ValueError):
        return None
    return journal if isinstance(journal, dict) and {"names", "replaced"} <= journal.keys() else None


@contextmanager
def _file_beside(place: Path) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new, empty file beside the place, for this writer alone."""
    staging = place.with_name(f"{STAGING}{place.name}{f'-{os.getpid()}' if WINDOWS else ''}")
    while True:
        with open(staging, "ab") as file:
            if not WINDOWS:
                _wait_for(file.fileno(), place)
            status = os.fstat(file.fileno())
            with suppress(FileNotFoundError):  # whoever held it has moved it to its place
                if os.path.samestat(status, os.stat(staging)):
                    if status.st_size == 0 and status.st_nlink == 1:
                        yield staging, file
                        return
                    os.unlink(staging)  # left by a dead process, and perhaps the finished file's other name


@contextmanager
def _lock_on(folder: Path) -> Iterator[Path]:
    """The real place of a folder, which no other process writes to meanwhile."""
    while True:
        home = Path(os.path.realpath(folder))
        place = home / f"{STAGING}lock" if WINDOWS else home
        descriptor = os.open(place, os.O_RDWR | os.O_CREAT if WINDOWS else os.O_RDONLY)
        try:
            _wait_for(descriptor, folder)
            if WINDOWS or os.path.samestat(os.fstat(descriptor), os.stat(home)):  # else it was exchanged meanwhile
                yield home
                return
        finally:
            os.close(descriptor)
            if WINDOWS:
                with suppress(OSError):
                    os.unlink(place)


def _wait_for(descriptor: int, place: Path) -> None:
    """Lock a file or folder until it is closed; a file system that has no locks goes without."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return _try_lock(descriptor)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return
        if time.monotonic() >= deadline:
            raise BiselectError(f"{place}: another biselect is writing there; wait for it, or give another place")
        time.sleep(0.01)


def _try_lock(descriptor: int) -> None:
    """Lock a file until it is closed, or fail at once."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write_synced(file: IO[bytes], content: str | bytes) -> None:
    file.write(content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content)
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Let renames outlive a loss of power, where folders can be synced."""
    if WINDOWS:
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _as_input_error(place: str | Path) -> Iterator[None]:
    """An error of the file system in our words; a file that is there already stays the caller's to judge."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"{place}: cannot write there: {error.strerror or error}") from error
