from collections import Counter

import pytest

from biselect.columns.category import CATEGORY
from biselect.columns.column_type import ColumnReference
from biselect.columns.text import TEXT
from biselect.errors import InputError


def reference(labels):
    return ColumnReference(type=TEXT, counts=Counter(labels), rows=len(labels), gaps=0)


def test_texts_that_come_back_are_categories():
    fitted = TEXT.fit(reference(["a", "b"] * 50), "plan", "weigh")
    assert fitted.type is CATEGORY and fitted.counts.rows == 100


def test_free_text_is_refused_with_the_ways_out():
    with pytest.raises(InputError, match=r"'note' holds free text or ids: 30 different ones in 30 reference rows"):
        TEXT.fit(reference([f"text {at}" for at in range(30)]), "note", "weigh")
