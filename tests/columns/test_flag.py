import pyarrow as pa
import pytest

from biselect.columns.flag import label_flags
from biselect.errors import InputError


@pytest.mark.parametrize(
    ("values", "flags", "positive"),
    [
        ([0, 1], [False, True], "1"),
        ([0.0, 1.0], [False, True], "1"),
        ([True, False], [True, False], "true"),
        (["Ja", "nein"], [True, False], "Ja"),
        (["oui ", "non"], [True, False], "oui"),
        (["sí", "no"], [True, False], "sí"),
        (["fraud", "ok"], [True, False], "fraud"),
        (["legit", "chargeback"], [False, True], "chargeback"),
        ([0, 0], [False, False], ""),
    ],
)
def test_the_positive_value_is_known(values, flags, positive):
    found, taken = label_flags(pa.table({"y": values}), "y", "t")
    assert found.tolist() == flags and taken == positive


def test_a_named_value_settles_it_and_all_others_are_negative():
    table = pa.table({"y": ["a", "B", None, "c"]})
    assert label_flags(table, "y", "t", "b")[0].tolist() == [False, True, False, False]
    with pytest.raises(InputError, match="holds no 'd'; it holds 'B', 'a', 'c'"):
        label_flags(table, "y", "t", "d")
    with pytest.raises(InputError, match=r"has 1 missing values; .*=Columns\(label='y=VALUE'\)"):
        label_flags(table, "y", "t")
    with pytest.raises(InputError, match=r"but holds '0', '1', '2', '3', '4' … .9 values.; .*Columns\(label='y=8'\)"):
        label_flags(pa.table({"y": range(9)}), "y", "t")
