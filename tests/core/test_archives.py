"""Archives are taken for what they hold: shapes, sizes and names in them are only claims."""

import io
import json
import zipfile

import numpy as np
import pytest

from biselect import SelectionProblem
from biselect.calibrate import ReferenceSummary
from biselect.core.archives import read_arrays
from biselect.errors import InputError


@pytest.fixture
def problem():
    return SelectionProblem(coupling=np.arange(6.0).reshape(3, 2), k=1, m=1, sample_names=["a", "b", "ü"])


def rewritten(path, **members):
    """The archive with some members replaced, and checksums that fit."""
    with zipfile.ZipFile(path) as stored:
        content = {name: stored.read(name) for name in stored.namelist()}
    content |= {f"{name}.npy": data for name, data in members.items()}
    with zipfile.ZipFile(path, "w") as stored:
        for name, data in content.items():
            stored.writestr(name, data)


def npy(header, data=b""):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4"])
def test_arrays_come_back_as_numpy_wrote_them(tmp_path, order, kind):
    array = np.asarray(np.random.default_rng(0).normal(size=(4, 3)), dtype=kind, order=order)
    header = np.frombuffer(b'{"a": 1}', dtype=np.uint8)
    np.savez_compressed(tmp_path / "a.npz", x=array, header=header)
    content, arrays = read_arrays(tmp_path / "a.npz", "it")
    assert content == {"a": 1}
    np.testing.assert_array_equal(arrays["x"], array)
    assert arrays["x"].dtype.isnative
    assert not arrays["x"].flags.writeable


def test_a_problem_comes_back_without_a_copy(tmp_path, problem):
    problem.save(tmp_path / "p.npz")
    assert SelectionProblem.load(tmp_path / "p.npz").digest == problem.digest


@pytest.mark.parametrize(
    "coupling",
    [
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000, 10), }"),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 2), }", bytes(16)),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1, 2), }", bytes(16)),
        npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", bytes(24)),
        npy("{'descr': '<f8, <f8', 'fortran_order': False, 'shape': (1, 1), }", bytes(16)),
        npy("(" * 300 + ")" * 300),
        npy("[1, 2"),
        b"\x93NUMPY\x09\x09",
        b"",
    ],
)
def test_a_header_that_does_not_fit_its_bytes_is_refused(tmp_path, problem, coupling):
    problem.save(tmp_path / "p.npz")
    rewritten(tmp_path / "p.npz", coupling=coupling)
    with pytest.raises(InputError, match=r"not a problem file"):
        SelectionProblem.load(tmp_path / "p.npz")


@pytest.mark.parametrize("text", ["[" * 5000, "[]", "null", '{"k": NaN}', '{"k": 1e999}', "\xff"])
def test_a_header_that_is_no_record_is_refused(tmp_path, problem, text):
    problem.save(tmp_path / "p.npz")
    data = text.encode("latin-1")
    head = npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}", data)
    rewritten(tmp_path / "p.npz", header=head)
    with pytest.raises(InputError, match="not a problem file"):
        SelectionProblem.load(tmp_path / "p.npz")
    with pytest.raises(InputError, match="not the summary"):
        ReferenceSummary.load(tmp_path / "p.npz")


def test_a_bomb_is_refused_although_its_directory_says_little(tmp_path, problem, monkeypatch):
    monkeypatch.setattr("biselect.core.archives.FREE", 1 << 16)
    path = tmp_path / "p.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stored:
        stored.writestr("header.npy", bytes(1 << 22))
    with pytest.raises(InputError, match="unpack it first"):
        SelectionProblem.load(path)
    packed = path.read_bytes()
    lie = (100).to_bytes(4, "little")
    at = packed.index(b"PK\1\2") + 24
    path.write_bytes(packed[:at] + lie + packed[at + 4 :])
    with pytest.raises(InputError, match="unpack it first"):
        SelectionProblem.load(path)


def test_members_that_stand_twice_are_refused(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as stored, pytest.warns(UserWarning, match="Duplicate"):
        stored.writestr("header.npy", b"1")
        stored.writestr("header.npy", b"2")
    (tmp_path / "p.npz").write_bytes(out.getvalue())
    with pytest.raises(InputError, match="twice"):
        SelectionProblem.load(tmp_path / "p.npz")


def test_a_summary_with_other_counts_is_refused(tmp_path):
    path = tmp_path / "s.npz"
    ReferenceSummary().add(np.arange(40.0).reshape(20, 2)).save(path)
    with np.load(path) as stored:
        header = json.loads(stored["header"].tobytes())
    for change in ({"rows": -1}, {"rows": "x"}, {"missing": []}, {"categories": {"a": {"b": -1}}}, {"first": {}}):
        data = json.dumps(header | change).encode()
        rewritten(path, header=npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}", data))
        with pytest.raises(InputError):
            ReferenceSummary.load(path)
