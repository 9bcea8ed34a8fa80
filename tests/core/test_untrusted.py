"""Archives are taken for what they hold: shapes, sizes and names in them are only claims.

JSON is data, and CSV as we write it runs nowhere.
"""

import csv
import io
import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect import SelectionProblem
from biselect.core.untrusted import (
    DEEPEST,
    check_seal,
    csv_text,
    guarded,
    json_of,
    read_arrays,
    read_json,
    refused_as,
    seal,
    unguarded,
)
from biselect.errors import InfeasibleError, InputError
from biselect.weights import Reference

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)
TEXT = st.text(st.sampled_from("=+-@＝＋－＠;\t\r'\",\n 1.e") | st.characters(), max_size=8)
SIGNS = "=+-@＝＋－＠"


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
        Reference.load(tmp_path / "p.npz")


def test_a_bomb_is_refused_although_its_directory_says_little(tmp_path, problem, monkeypatch):
    monkeypatch.setattr("biselect.core.untrusted.FREE", 1 << 16)
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
    Reference().add(pa.table({"a": np.arange(20.0), "b": ["x", "y"] * 10})).save(path)
    with np.load(path) as stored:
        header = json.loads(stored["header"].tobytes())
    kind, counts = header["columns"]["b"]
    assert counts == [["x", 10], ["y", 10]]
    columns = [header["columns"] | {"b": [kind, [["x", size], ["y", 10]]]} for size in (-1, "x", None)]
    changes = [{"rows": -1}, {"rows": "x"}, {"missing": []}, {"first": {}}, *({"columns": one} for one in columns)]
    for change in changes:
        data = json.dumps(header | change).encode()
        rewritten(path, header=npy(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}", data))
        with pytest.raises(InputError):
            Reference.load(path)


@given(PLAIN)
def test_plain_data_comes_back(content):
    assert json_of(json.dumps(content)) == content
    assert json_of(json.dumps(content, ensure_ascii=False).encode()) == content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "recursion|nested"),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "nested more than"),
        ('{"a":' * 500 + "1" + "}" * 500, "nested more than"),
        ('{"a": NaN}', "NaN is no number"),
        ("[-Infinity]", "Infinity is no number"),
        ("[1e999]", "beyond float64"),
        ("[1" + "0" * 400 + "]", "beyond float64"),
        ("[1" + "0" * 400 + ".5]", "beyond float64"),
        (r'["\ud800"]', "surrogates"),
        (r'{"\uDFFF": 1}', "surrogates"),
        ("", "Expecting value"),
        ('{"a": 1,}', "Expecting|Illegal"),
    ],
)
def test_what_is_no_plain_data_is_refused_with_the_file(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message) as told:
        read_json(tmp_path / "a.json")
    assert str(told.value).startswith(f"{tmp_path / 'a.json'}: cannot be read as JSON")


def test_what_looks_odd_but_is_plain_is_taken():
    assert json_of(r'["\ud83d\ude00", "1e999", 1e-400, 1E5, 1e308]') == ["😀", "1e999", 0.0, 1e5, 1e308]
    assert json_of("[" * DEEPEST + "]" * DEEPEST)


@pytest.mark.parametrize("error", [KeyError("k"), ZeroDivisionError(), RecursionError("deep"), MemoryError()])
def test_whatever_goes_wrong_is_one_error(error):
    with pytest.raises(InputError, match="the file"), refused_as("the file"):
        raise error


def test_our_own_errors_stay_what_they_are():
    with pytest.raises(InfeasibleError), refused_as("the file"):
        raise InfeasibleError("no")


@pytest.mark.parametrize("content", [{"a": float("nan")}, {"a": 1}, {"a": 1, "hash": 3}, [1], None])
def test_a_seal_that_does_not_fit_or_cannot_be_made_is_refused(content):
    with pytest.raises(InputError):
        check_seal(content, "here")
    check_seal(seal({"a": 1}), "here")


def cells_of(text):
    """How a spreadsheet may take a text of ours apart: at any sign that separates cells somewhere, quotes or not."""
    first, *rest = re.split(r"[;\t\r\n]", text)
    return [first, *(cell.lstrip('"') for cell in rest)]


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-", "--1", "'=1", "＝1+1", "＠A1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(cell):
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize(
    ("cell", "safe"),
    [
        (";=1+1", ";'=1+1"),
        ("a;=1+1;-b", "a;'=1+1;'-b"),
        ("note\n＝1+1", "note\n'＝1+1"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        ('a;"=1+1;', "a;'\"=1+1;"),
        ("a;'=1", "a;''=1"),
    ],
)
def test_so_does_what_would_be_a_cell_of_its_own_where_semicolons_separate(cell, safe):
    assert guarded(cell) == safe and unguarded(safe) == cell


@pytest.mark.parametrize("cell", ["", "a=1", "-2", "+0.5", "-1.5e-3", "'tis", -2, -0.5, None, 7])
def test_numbers_and_plain_text_stay(cell):
    assert guarded(cell) == cell


@given(TEXT)
def test_a_guard_can_be_taken_off(cell):
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "@", "\t", "\r"))


@given(TEXT)
def test_no_cell_is_run_however_a_text_is_taken_apart(text):
    number = re.fullmatch(r"[+-](\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    assert number or [cell for cell in cells_of(guarded(text)) if cell.startswith(tuple(SIGNS))] == []


@given(st.lists(st.fixed_dictionaries({"a": TEXT, "=b": TEXT}), max_size=3))
def test_cells_come_back_from_the_text(rows):
    header, *lines = csv.reader(io.StringIO(csv_text(rows, ["a", "=b"]), newline=""))
    assert header == ["a", "'=b"]
    assert [[unguarded(cell) for cell in line] for line in lines] == [[row["a"], row["=b"]] for row in rows]
