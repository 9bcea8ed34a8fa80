"""Options that belong together: the form that finds most, and the paper's."""

from typing import Any

from biselect.calibrate.paper import PRESET
from biselect.errors import InputError

PRESETS: dict[str, dict[str, Any]] = {
    "default": {"map": "reach", "marginals": "isolation", "kinds": 5, "drift": "recentre"},
    "paper": PRESET,
}


def with_preset(preset: str, **given: Any) -> dict[str, Any]:
    """The options given, and those of the preset where one is None.

    >>> with_preset("paper", map=None, kinds=3)
    {'map': 'ecdf-paper', 'kinds': 3}
    """
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; choose one of: {', '.join(PRESETS)}")
    return {name: PRESETS[preset][name] if value is None else value for name, value in given.items()}
