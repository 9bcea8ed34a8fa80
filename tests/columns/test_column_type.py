import pytest

from biselect.columns import COLUMN_TYPES, DIRECTIONS, directions, register_column_type, type_of, types
from biselect.columns.column_type import ColumnType
from biselect.columns.number import Number
from biselect.errors import InputError


class Version(Number):
    name = "version"
    directions = ("older", "newer")


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(COLUMN_TYPES, "_things", dict(COLUMN_TYPES._things))
    register_column_type(Version())


def test_a_registered_type_claims_first_and_brings_its_directions(registered):
    assert [one.name for one in types()][:2] == ["version", "date"]
    assert directions() == (*DIRECTIONS, "older", "newer")
    with pytest.raises(InputError, match="'version' is registered already"):
        register_column_type(Version())


def test_every_type_knows_its_name_and_directions():
    assert [COLUMN_TYPES.load(one.name) for one in types()] == [*types()]
    assert {name for one in types() for name in one.directions} | {"missing"} == set(DIRECTIONS)


def test_a_registered_type_takes_no_column_by_its_storage_alone(registered):
    import narwhals as nw

    assert type_of(nw.Float64()).name == "number"


def test_what_a_type_does_not_say_it_does_not_do():
    with pytest.raises(TypeError, match="are not weighed"):
        class_without_weights = type("Opaque", (ColumnType,), {"name": "opaque", "directions": ()})
        class_without_weights().count(None)
