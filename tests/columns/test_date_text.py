import pyarrow as pa
import pytest

from biselect.columns.date_text import forms_of, from_form, to_dates


def read(*texts):
    array = pa.array(texts)
    shapes = {"".join("9" if one.isdigit() else one for one in text) for text in texts if text}
    return to_dates(array, shapes, lambda values: pa.chunked_array([values]))


@pytest.mark.parametrize(
    ("texts", "form", "doubtful"),
    [
        (["31.12.2025", "1.2.2025"], "%d.%m.%Y", False),
        (["03.04.2025", "02.05.2025"], "%d.%m.%Y", False),
        (["12.31.2025", "01.02.2025"], "%m.%d.%Y", False),
        (["31/12/25", "01/02/25"], "%d/%m/%y", False),
        (["01/02/2025", "12/31/2025"], "%m/%d/%Y", False),
        (["05/06/2025", "06/05/2025", "05/06/2025"], "%d/%m/%Y", True),
        (["2025-12-31T10:00Z", "2025-12-31T10:00Z"], "ISO", False),
        (["2025/12/31", None], "%Y/%m/%d", False),
        (["31-Dec-2025", "1-jan-2024"], "%d-%b-%Y", False),
        (["Dec 31, 2025"], "%b %d, %Y", False),
        (["31.12.2025 10:00:30.250"], "%d.%m.%Y %H:%M:%S", False),
        (["12/31/2025 3:45 PM"], "%m/%d/%Y %I:%M %p", False),
    ],
)
def test_forms_of_dates(texts, form, doubtful):
    found = read(*texts)
    assert (found.form, found.doubtful) == (form, doubtful) and found.values.null_count == texts.count(None)


@pytest.mark.parametrize(
    "texts", [["31.02.2025"], ["31/12/2025", "12/31/2025"], ["2025-01-01", "01.01.2025"], ["1.2.10"]]
)
def test_what_cannot_be_read_as_one_kind_of_dates(texts):
    assert read(*texts) is None


def test_a_given_form_may_hold_what_arrow_does_not_know():
    moments = from_form(pa.array(["1.3.2026 12:30 +0100", "x"]), "%d.%m.%Y %H:%M %z")
    assert str(moments[0]) == "2026-03-01 11:30:00+00:00" and moments.null_count == 1
    assert forms_of("99:99") == ()
