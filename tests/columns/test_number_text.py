import pytest

from biselect.columns.number_text import NumberFormat, file_style, pattern_of, style_of, written


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
