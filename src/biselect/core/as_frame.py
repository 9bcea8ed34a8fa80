"""Answers as a frame of the library that the user works in."""

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any


def as_frame(content: Mapping[str, list[Any]], library: str | None) -> Any:
    """A frame of these columns; without a library in pandas, or in Arrow where that is not installed."""
    import narwhals as nw

    backend: Any = library or usual_library()
    return nw.from_dict(content, backend=backend).to_native()


def usual_library() -> str:
    """The frame library of those who came with none."""
    return "pandas" if find_spec("pandas") else "pyarrow"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, with stars where it is taken.

    >>> free_name("adds", ["sample", "adds"])
    'adds*'
    """
    while name in taken:
        name += "*"
    return name
