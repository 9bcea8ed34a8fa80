import hashlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core.files import STAGING, check_folder, write_file, write_folder
from biselect.core.json_files import check_seal, content_hash, seal
from biselect.errors import InputError


def leftovers(folder):
    return [path.name for path in folder.rglob(f"{STAGING}*")]


def test_text_keeps_its_line_ends_and_bytes_are_bytes(tmp_path):
    write_file(tmp_path / "text", "a\r\nö\n")
    write_file(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == b"a\r\n\xc3\xb6\n"
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert leftovers(tmp_path) == []


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
    write_file(tmp_path / "fixed", "first", move=os.link)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "fixed", "second", move=os.link)
    assert (tmp_path / "fixed").read_text() == "first"
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


def test_places_that_cannot_take_the_files_are_refused_beforehand(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder" / "report.html").mkdir(parents=True)
    with pytest.raises(InputError, match="is a file"):
        check_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"report\.html: is a folder"):
        check_folder(tmp_path / "folder", ["report.html"])
    check_folder(tmp_path / "new" / "deep", ["report.html"])


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
