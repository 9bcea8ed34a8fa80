import gzip

import pyarrow as pa
import pyarrow.ipc
import pytest

from biselect.data.places import line_of_row
from biselect.data.tables import CsvForm, read_table

ROWS = {"id": ["a", "b", "c"], "x": [1.0, 2.5, -3.0], "n": [1, 2, 3], "flag": [True, False, True]}


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_place_is_the_line_of_the_file(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    text = b'a;note\n1;"two; lines\nof text"\n\n2;x\n3;y\n'
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    table = read_table(path, CsvForm(delimiter=";"))
    assert [line_of_row(table, row) for row in range(3)] == ["line 2", "line 5", "line 6"]
    assert line_of_row(table.take([2]), 0) == "line 2"  # positions are those of the file
    path.unlink()
    assert line_of_row(table, 1) == "row 1"
    assert line_of_row(pa.table(ROWS), 1) == "row 1"
