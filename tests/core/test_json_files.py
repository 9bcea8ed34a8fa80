import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core.json_files import DEEPEST, check_seal, json_of, read_json, refused_as, seal
from biselect.errors import InfeasibleError, InputError

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


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
