"""Options that belong together: the form that finds most, and the paper's."""

from dataclasses import dataclass
from typing import Any, Self

from biselect.calibrate.paper import PRESET
from biselect.errors import InputError
from biselect.options import Kinds, Weighing

PRESETS: dict[str, dict[str, Any]] = {
    "default": {"map": "reach", "marginals": "isolation", "kinds": 5, "drift": "recentre"},
    "paper": PRESET,
}


@dataclass(frozen=True, kw_only=True)
class Form:
    """How rows are weighed, once the preset has said what was left open.

    Attributes:
        map: how extremeness becomes a weight.
        marginals: scores of rows and columns on their own: `isolation`, how far a row stands apart as a whole, or the
            paper's.
        kinds: how many kinds of unusual to look for; 1 for the best block alone.
        drift: `recentre` or `keep`.
    """

    map: Any
    marginals: Any
    kinds: int
    drift: str

    @classmethod
    def of(cls, weighing: Weighing, kinds: Kinds = Kinds()) -> Self:
        """The options, and those of the preset where one is None.

        >>> Form.of(Weighing(drift="keep"), Kinds(kinds=3))
        Form(map='reach', marginals='isolation', kinds=3, drift='keep')
        """
        if weighing.preset not in PRESETS:
            raise InputError(f"there is no preset {weighing.preset!r}; choose one of: {', '.join(PRESETS)}")
        own = {"map": weighing.map, "kinds": kinds.kinds, "drift": weighing.drift}
        return cls(**{**PRESETS[weighing.preset], **{name: one for name, one in own.items() if one is not None}})
