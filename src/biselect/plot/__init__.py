"""Pictures as functions: matplotlib axes in, axes out, from the objects at hand.

Each function draws on `ax`, or on a new figure where none is given, and gives the axes back to be changed or saved:
`bs.plot.block(review).figure.savefig("block.svg")`. Pictures and matplotlib load when something is drawn; other
packages add theirs by the entry-point group `biselect.pictures`.
"""

from typing import Any

from biselect.errors import InputError
from biselect.extensions import Registry

PICTURES: Registry[Any] = Registry(
    "biselect.pictures",
    "picture",
    {
        "block": "biselect.plot._block:block",
        "budgets": "biselect.plot._scores:budgets",
        "drift": "biselect.plot._change:drift",
        "reasons": "biselect.plot._scores:reasons",
    },
)


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return PICTURES.load(name)
    except InputError as error:
        raise AttributeError(str(error)) from None


def __dir__() -> list[str]:
    return sorted(PICTURES.names())
