import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from biselect.columns.date import DATE
from biselect.columns.distinct_texts import ReadingHints
from biselect.columns.duration import DURATION
from biselect.columns.number_text import NumberFormat, file_style, pattern_of, style_of, written
from biselect.columns.recognition import parse_column


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "either"),
    [
        ("1.234,56", ",", ".", ""),
        ("1,234.56", ".", ",", ""),
        ("1 234,5", ",", " ", ""),
        ("1\u202f234\u202f567", "", " ", ""),
        ("1'234.50", ".", "'", ""),
        ("1.234.567", "", ".", ""),
        ("1.234", "", "", "."),
        ("0.234", ".", "", ""),
        ("1234,567", ",", "", ""),
        (",5", ",", "", ""),
        ("12", "", "", ""),
        ("$1,234", "", "", ","),
        ("12,5 %", ",", "", ""),
    ],
)
def test_marks_of_numbers(text, decimal, thousands, either):
    for way in (written(text), pattern_of(text)):
        assert (way.decimal, way.thousands, way.either) == (decimal, thousands, either)


@pytest.mark.parametrize(
    "text", ["", "-", "1.2.3", "1,23,45", "12 34", "1'23", "(5", "5)", "--5", "€5€", "1e", "abc", "1 2e3"]
)
def test_what_is_no_number(text):
    assert written(text) is None


def test_one_column_may_leave_a_choice_that_others_decide():
    def ways(*texts):
        return [written(text) for text in texts]

    assert style_of(ways("1.234"), None) == (NumberFormat(decimal="."), False)
    assert style_of(ways("1.234"), NumberFormat(decimal=",")) == (NumberFormat(decimal=",", thousands="."), False)
    assert style_of(ways("1,234"), None, comma_splits=True) == (NumberFormat(decimal=".", thousands=","), True)
    assert style_of(ways("1,234"), None) == (NumberFormat(decimal=","), True)
    assert style_of(ways("1,234", "1.5"), None) == (NumberFormat(decimal=".", thousands=","), False)
    assert style_of(ways("1,234", "1'000"), None) == (NumberFormat(decimal=",", thousands="'"), False)
    assert file_style([ways("1,5"), ways("2.000"), ways("7")]) == NumberFormat(decimal=",")
    assert file_style([ways("2.000"), ways("7")]) is None


LETTERS = "abcdghklmnopqrstuvwxyzÀéñüßøłžđµΩжяе年名ºCdLkgmol"
WORDS = st.text(LETTERS, min_size=2, max_size=8) | st.sampled_from(
    ["mEq/L", "mmHg", "años", "x10³/µL", "mg/dL", "ºC", "Jahre", "U/l", "mmol/L", "m2", "x10^3/µL", "Stk.", "°F", "шт."]
)
UNITS = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)


def read(entries):
    return parse_column(pa.chunked_array([entries], pa.string()), ReadingHints())


@settings(max_examples=200, deadline=None)
@given(unit=UNITS, numbers=st.lists(st.integers(-9999, 9999), min_size=2), comma=st.booleans(), space=st.booleans())
def test_one_word_behind_every_number_is_its_unit_in_any_language(unit, numbers, comma, space):
    assume(space or not any(sign.isdecimal() for sign in unit))  # digits that touch a number belong to a key
    assume(unit[:1] not in "eE" and not any(one.recognises(f"5 {unit}") for one in (DURATION, DATE)))
    written_so = [f"{number / 100:.2f}".replace(".", "," if comma else ".") + " " * space + unit for number in numbers]
    column = read(written_so)
    assert column.values.to_pylist() == [number / 100 for number in numbers] and column.unit == unit


@settings(max_examples=200, deadline=None)
@given(units=st.lists(WORDS, min_size=2, max_size=2, unique=True), numbers=st.lists(st.integers(1, 99), min_size=1))
def test_two_units_in_a_column_cannot_be_compared(units, numbers):
    assume(not any(one.startswith(other) for one, other in (units, units[::-1])))
    assume(not any(DURATION.recognises(f"5 {unit}") for unit in units))
    entries = [f"{number} {unit}" for number in numbers for unit in units]
    assert read(entries).values.to_pylist() == entries


@pytest.mark.parametrize(
    ("entries", "values", "unit"),
    [
        (["1 Jahr", "38 Jahre"], [1, 38], "Jahre"),
        (["1 año", "2 años"], [1, 2], "años"),
        (["<0,5 mg/L", "4,2 mg/L", ""], [0.5, 4.2, None], "mg/L"),
        ([">100", "ca. 458", "≤-5", "3.5"], [100, 458, -5, 3.5], ""),
        (["5 cal", "ca. 3 cal"], [5, 3], "cal"),
        (["12 €", "13"], [12, 13], "€"),
    ],
)
def test_plurals_limits_and_signs_that_are_left_out(entries, values, unit):
    column = read(entries)
    assert column.values.to_pylist() == values and column.unit == unit
    assert column.about == any(entry.startswith(("<", ">", "ca.", "≤")) for entry in entries)


@pytest.mark.parametrize(
    "entries",
    [
        ["5 x10^3/µL", "7 x10^6/µL"],  # digits count
        ["1,2 Mio", "900"],  # a number without the word may be of another unit
        ["7", "9a", "12a"],
        ["12 High St", "5 Main Rd"],
        ["2½", "3½"],
        ["<18", "≥18"],  # groups
        ["Zone 3", "Zone 4"],
        ["SKU80", "SKU12"],
    ],
)
def test_words_that_are_no_units(entries):
    assert read(entries).values.to_pylist() == entries
