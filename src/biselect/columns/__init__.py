"""What a column is: how each type of column is recognised, read, counted, weighed, compared and described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biselect.extensions import Registry

if TYPE_CHECKING:
    from biselect.columns.column_type import ColumnType

__all__ = ["register_column_type"]

COLUMN_TYPES: Registry[ColumnType] = Registry(
    "biselect.column_types",
    "column type",
    {
        "date": "biselect.columns.date:DATE",
        "duration": "biselect.columns.duration:DURATION",
        "number": "biselect.columns.number:NUMBER",
        "flag": "biselect.columns.flag:FLAG_TYPE",
        "category": "biselect.columns.category:CATEGORY",
        "text": "biselect.columns.text:TEXT",
    },
)
"""Every column type by name."""
OWN = len(COLUMN_TYPES.names())
DIRECTIONS = ("low", "high", "rare", "missing")
"""Directions of our own types, and that of a gap."""


def types() -> tuple[ColumnType, ...]:
    """All column types in the order in which they claim a column: those of others first, then ours.

    >>> [one.name for one in types()]
    ['date', 'duration', 'number', 'flag', 'category', 'text']
    """
    names = COLUMN_TYPES.names()
    return tuple(map(COLUMN_TYPES.load, [*names[OWN:], *names[:OWN]]))


def type_of(kind: Any) -> ColumnType | None:
    """Which of our types holds a narwhals data type, if nobody says otherwise; None where it fits none."""
    own = map(COLUMN_TYPES.load, COLUMN_TYPES.names()[:OWN])
    return next((one for one in own if one.holds(kind)), None)


def register_column_type(column_type: ColumnType) -> None:
    """Make a column type known for the rest of the process; a package registers its own as an entry point.

    Raises:
        InputError: another type has its name.
    """
    COLUMN_TYPES.register(column_type.name, column_type)


def directions() -> tuple[str, ...]:
    """Names of all directions, each once; the first four are those of `DIRECTIONS`.

    >>> directions()
    ('low', 'high', 'rare', 'missing')
    """
    return tuple(dict.fromkeys([*DIRECTIONS, *(name for one in types() for name in one.directions)]))
