import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from biselect.columns import COLUMN_TYPES, register_column_type
from biselect.columns.column_type import Claim
from biselect.columns.distinct_texts import ParsedColumn, ReadingHints
from biselect.columns.number import Number
from biselect.columns.recognition import parse_column
from biselect.tables import guess_roles
from biselect.tables.readers import read_table

MARK = "rev"


class Revision(Number):
    """Numbers behind a mark, as in rev12."""

    name = "revision"

    def recognises(self, text):
        return re.fullmatch(rf"{MARK}\d+", text) is not None

    def parse(self, texts, hints):
        if texts.others({shape for shape in texts.shapes if self.recognises(shape)}):
            return None
        numbers, missing = texts.present()
        numbers = pc.cast(pc.utf8_slice_codeunits(numbers, len(MARK)), pa.int64())
        return ParsedColumn(values=texts.spread(numbers), missing=missing)

    def claim(self, column, name):
        return Claim(role=self.name, remark="a revision") if name == "revision" else None


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(COLUMN_TYPES, "_things", dict(COLUMN_TYPES._things))
    register_column_type(Revision())


@pytest.fixture
def path(tmp_path):
    lines = ["revision,size", *(f"rev{i % 7},{i}.5" for i in range(40)), "-,1.5"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "t.csv"


def test_a_registered_type_reads_and_claims_its_columns(registered, path):
    table = read_table(path)
    assert table["revision"].type == pa.int64() and table["revision"].null_count == 1
    assert table["revision"][:2].to_pylist() == [0, 1] and table["size"].type == pa.float64()
    roles = {column.name: (column.role, column.remark) for column in guess_roles([table]).columns}
    assert roles["revision"] == ("revision", "a revision") and roles["size"] == ("number", "")


def test_without_it_the_same_column_holds_words(path):
    assert read_table(path)["revision"].type == pa.string()


@pytest.mark.parametrize("texts", [["1:23:45", "0:59:59"], ["PT5M", "PT1H"], ["90 s", "5 s"]])
def test_lengths_of_time_in_words_are_durations(texts):
    column = pa.chunked_array([pa.array(texts * 9)])
    assert pa.types.is_duration(parse_column(column, ReadingHints()).values.type)
