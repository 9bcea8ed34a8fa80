import ast
import errno
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import files
from biselect.core.files import STAGING, check_folder, finish_interrupted, write_file, write_folder
from biselect.core.untrusted import check_seal, content_hash, seal
from biselect.errors import BiselectError, InputError

OLD, NEW = ({name: f"{which} {name}" for name in ("a", "b", "manifest")} for which in ("old", "new"))
CALLS = ("replace", "rename", "link", "unlink", "rmdir", "mkdir", "fsync")  # of `os`; the exchange beside them


def leftovers(folder):
    return [path.name for path in folder.rglob(f"{STAGING}*")]


def texts(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_text_keeps_its_line_ends_and_bytes_are_bytes(tmp_path):
    write_file(tmp_path / "text", "a\r\nö\n")
    write_file(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == b"a\r\n\xc3\xb6\n"
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert leftovers(tmp_path) == []


def test_half_a_surrogate_pair_is_written_as_json_writes_it(tmp_path):
    write_file(tmp_path / "odd.json", json.dumps({"name": "\udc80x"}, ensure_ascii=False))
    assert json.loads((tmp_path / "odd.json").read_bytes()) == {"name": "\udc80x"}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    write_file(tmp_path / "answer", "old")

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(InputError, match="No space left"):
        write_file(tmp_path / "answer", "new")
    assert (tmp_path / "answer").read_text() == "old"
    assert leftovers(tmp_path) == []


def test_a_file_that_must_not_be_replaced_is_not(tmp_path):
    write_file(tmp_path / "fixed", "first", once=True)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "fixed", "second", once=True)
    assert (tmp_path / "fixed").read_text() == "first"
    assert leftovers(tmp_path) == []
    write_folder(tmp_path / "run", OLD, once=True)
    with pytest.raises(FileExistsError):
        write_folder(tmp_path / "run", NEW, once=True)
    assert texts(tmp_path / "run") == OLD


def test_what_a_dead_writer_left_is_swept_away_even_if_it_is_the_finished_file_itself(tmp_path):
    write_file(tmp_path / "fixed", "first")
    os.link(tmp_path / "fixed", tmp_path / f"{STAGING}fixed")  # killed between link and unlink
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "fixed", "second", once=True)
    assert texts(tmp_path) == {"fixed": "first"}
    (tmp_path / f"{STAGING}fixed").write_text("half")
    write_file(tmp_path / "fixed", "third")
    assert texts(tmp_path) == {"fixed": "third"}


def test_a_living_writer_is_left_alone_and_the_other_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.0)
    with files._file_beside(tmp_path / "page"):
        with pytest.raises(BiselectError, match="page: another biselect is writing there"):
            write_file(tmp_path / "page", "x")
        finish_interrupted(tmp_path)
        assert leftovers(tmp_path) == [f"{STAGING}page"]
    with files._lock_on(tmp_path), pytest.raises(BiselectError, match="another biselect is writing there"):
        write_folder(tmp_path, NEW)
    finish_interrupted(tmp_path)
    assert leftovers(tmp_path) == []


def test_no_file_of_a_folder_is_replaced_before_all_are_written(tmp_path, monkeypatch):
    write_folder(tmp_path / "out", {"a": "1", "b": "1"})
    real, seen = os.fsync, []

    def second_fails(descriptor):
        seen.append(descriptor)
        if len(seen) == 2:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", second_fails)
    with pytest.raises(InputError, match="out: cannot write there"):
        write_folder(tmp_path / "out", {"a": "2", "b": "2"})
    assert [(tmp_path / "out" / name).read_text() for name in "ab"] == ["1", "1"]
    assert leftovers(tmp_path) == []
    with pytest.raises(InputError, match="cannot write there"):
        seen.clear()
        write_folder(tmp_path / "made", NEW)
    assert not (tmp_path / "made").exists()


def test_places_that_cannot_take_the_files_are_refused_beforehand(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder" / "report.html").mkdir(parents=True)
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"report\.html: is a folder"):
        check_folder(tmp_path / "folder", ["report.html"])
    check_folder(tmp_path / "new" / "deep", ["report.html"])


@pytest.fixture(params=["exchanged", "no exchange here", "with a folder in it", "somebody is in it", "shared"])
def way(request, monkeypatch, tmp_path):
    """A folder with an older answer and files of the user, for each way in which the new answer comes; and options."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # it is counted, and slow
    home = tmp_path / "real" / "out"
    write_folder(home, {**OLD, "proof": "old proof"})
    (tmp_path / "out").symlink_to(home)
    (home / "mine.txt").write_text("mine")
    (home / "link").symlink_to("mine.txt")
    home.chmod(0o750)
    if request.param == "no exchange here":

        def refused(one, other):
            raise OSError(errno.EINVAL, "not here")

        monkeypatch.setattr(files, "_exchange", refused)
    elif request.param == "with a folder in it":
        (home / "run").mkdir()
    elif request.param == "somebody is in it":
        monkeypatch.chdir(home)
    elif request.param == "shared":
        return tmp_path / "out", {"shared": True, "replaces": ["proof"]}
    return tmp_path / "out", {"replaces": ["proof"]}


def test_an_answer_replaces_the_older_one_and_nothing_else(way):
    out, options = way
    inode = os.stat(out).st_ino
    assert write_folder(out, NEW, **options) == [out / name for name in NEW]
    assert texts(out) == {**NEW, "mine.txt": "mine", "link": "mine"}
    assert out.is_symlink() and (out / "link").is_symlink() and os.stat(out).st_mode & 0o777 == 0o750
    assert os.stat(out / "mine.txt").st_nlink == 1
    assert leftovers(out.parent) == []
    exchanged = os.stat(out).st_ino != inode
    assert exchanged == (
        sys.platform == "linux"
        and not (out / "run").exists()
        and os.getcwd() != os.path.realpath(out)
        and files._exchange.__name__ == "_exchange"
        and "shared" not in options
    )


class Killed(BaseException):
    """Stands for a kill: nothing of ours runs after it."""


def calls_until_killed(monkeypatch, when, dead=True):
    """Let the call number `when` to the file system, and all after it where dead, end the process; gives the count."""
    count = [0]

    def counted(original):
        def call(*arguments, **options):
            count[0] += 1
            if count[0] == when or (dead and when and count[0] > when):
                raise Killed
            return original(*arguments, **options)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    monkeypatch.setattr(files, "_exchange", counted(files._exchange))
    return count


def test_a_kill_at_any_call_leaves_one_answer_and_the_next_writer_finishes(way, monkeypatch):
    out, options = way
    whole = {**OLD, "proof": "old proof"}
    when, seen = 0, []
    while True:
        when += 1
        write_folder(out, whole)
        with monkeypatch.context() as patch:
            calls_until_killed(patch, when)
            try:
                write_folder(out, NEW, **options)
            except Killed:
                pass
            else:
                break
        found = texts(out)
        assert found.pop("mine.txt") == found.pop("link") == "mine"
        found = {name: text for name, text in found.items() if not name.startswith(STAGING)}
        seen.append("new" if found == NEW else "old" if found == whole else "part")
        assert found.items() <= NEW.items() or found.items() <= whole.items(), "mixed"
        assert seen[-1] != "part" or "manifest" not in found, "looks complete and is not"
        finish_interrupted(out)
        settled = {name: text for name, text in texts(out).items() if name not in ("mine.txt", "link")}
        assert settled in (NEW, whole) and (seen[-1] != "new" or settled == NEW)
        assert leftovers(out.parent) == []
    assert when > 20 and seen == sorted(seen, key=["old", "part", "new"].index)
    exchanges = "part" not in seen
    assert exchanges == (
        out.parent.joinpath("real/out/run").exists() is False
        and "shared" not in options
        and os.getcwd() != os.path.realpath(out)
        and files._exchange.__name__ == "_exchange"
    )


def test_an_interrupt_at_any_call_leaves_a_whole_answer_and_nothing_else(way, monkeypatch):
    """Other than after a kill our own code runs on, and finishes what was begun."""
    out, options = way
    whole = {**OLD, "proof": "old proof"}
    for when in range(1, 100):
        write_folder(out, whole)
        with monkeypatch.context() as patch:
            count = calls_until_killed(patch, when, dead=False)
            try:
                write_folder(out, NEW, **options)
            except Killed:
                pass
        found = {name: text for name, text in texts(out).items() if name not in ("mine.txt", "link")}
        assert found in (NEW, whole)
        assert leftovers(out.parent) == []
        if count[0] < when:
            break
    else:
        raise AssertionError("it never ends")


def test_a_file_that_cannot_be_taken_away_leaves_the_old_answer(tmp_path, monkeypatch):
    """As on Windows, where another program has it open."""
    write_folder(tmp_path, OLD)
    real = os.replace

    def held_open(source, target):
        if Path(source) == tmp_path / "a":
            raise PermissionError(errno.EACCES, "in use")
        real(source, target)

    monkeypatch.setattr(os, "replace", held_open)
    with pytest.raises(InputError, match="in use"):
        write_folder(tmp_path, NEW, shared=True)
    assert texts(tmp_path) == OLD and leftovers(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged on Linux alone")
def test_what_others_do_to_the_folder_at_the_last_moment_is_kept(tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_folder(out, OLD)
    (out / "notes").write_text("first")
    real = files._exchange

    def after_others(one, other):
        (out / "more").write_text("more")
        (out / "later").write_text("second")
        os.replace(out / "later", out / "notes")
        real(one, other)

    monkeypatch.setattr(files, "_exchange", after_others)
    write_folder(out, NEW)
    assert texts(out) == {**NEW, "notes": "second", "more": "more"}
    assert leftovers(tmp_path) == []


def test_two_processes_end_in_one_whole_answer(tmp_path):
    script = textwrap.dedent(
        """
        import sys
        from biselect.core.files import write_file, write_folder
        which, folder = sys.argv[1:]
        for turn in range(25):
            write_folder(folder, {name: f"{which} {turn}" for name in "abc"})
            write_file(f"{folder}.page", which * 1000)
        """
    )
    started = [subprocess.Popen([sys.executable, "-c", script, which, tmp_path / "out"]) for which in ("x", "y")]
    assert [process.wait() for process in started] == [0, 0]
    assert len(set(texts(tmp_path / "out").values())) == 1 and len(texts(tmp_path / "out")) == 3
    assert len(set((tmp_path / "out.page").read_text())) == 1
    assert leftovers(tmp_path) == []


PLAIN = st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers()))


@given(PLAIN)
def test_a_seal_survives_json_and_no_change(content):
    sealed = seal({**content, "n": 1})
    check_seal(json.loads(json.dumps(sealed)), "here")
    assert content_hash(sealed) == sealed["hash"]
    with pytest.raises(InputError, match="here: was changed after it was written"):
        check_seal({**sealed, "n": 2}, "here")


def test_a_known_hash():
    """As stored manifests have it: over sorted JSON in Python's own spacing."""
    assert content_hash({"b": [2], "a": 1}) == hashlib.sha256(b'{"a": 1, "b": [2]}').hexdigest()


def writes_by_itself(call):
    """Whether a call writes to the disk by its look; an open stream may be written to."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name == "savefig":
        return not isinstance(call.args[0], ast.Name) or call.args[0].id != "picture"
    if name == "open":
        modes = [
            one.value for one in (*call.args, *(word.value for word in call.keywords)) if isinstance(one, ast.Constant)
        ]
        places = [ast.unparse(one) for one in call.args[:1]]
        return any(mode in ("w", "wb", "a", "ab", "x", "xb") for mode in modes) and places != ["os.devnull"]
    to_terminal = ast.unparse(call.func) == "formatter.write_text"  # help, not a file
    return name in ("write_text", "write_bytes", "to_csv", "write_csv", "to_parquet") and not to_terminal


@pytest.mark.parametrize("package", ["biselect", "biselect_studies"])
def test_one_module_writes_files(package):
    root = Path(importlib.util.find_spec(package).origin).parent
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in root.rglob("*.py")
        if path != Path(files.__file__)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and writes_by_itself(node)
    ]
    assert found == []
