"""Errors of the library name Python parameters, written `exclude=['a', 'b']`; here they become the command's flags."""

import ast
import re
import shlex
from collections.abc import Mapping
from typing import Any

ADVISED = {  # what a warning may advise
    name: "--" + name.replace("_", "-")
    for name in (
        "categories",
        "numbers",
        "dates",
        "date_format",
        "decimal",
        "thousands",
        "label_column",
        "id_column",
        "duplicates",
    )
}
_VALUE = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\]]*\]|-?\d+(?:\.\d+)?"


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """The message with each `parameter=value` as its flag.

    >>> in_flags("leave out with exclude=['a', 'b c'], or give date_format=", {"exclude": "--exclude"})
    "leave out with --exclude 'a,b c', or give date_format="
    """

    def as_flag(found: re.Match[str]) -> str:
        name, written = found.groups()
        if not written:
            return flags[name]
        try:
            value = ast.literal_eval(written)
        except (MemoryError, RecursionError, SyntaxError, TypeError, ValueError):  # not Python after all
            return f"{flags[name]} {written}"
        return f"{flags[name]} {shlex.quote(','.join(map(str, value)) if isinstance(value, list) else str(value))}"

    names = "|".join(map(re.escape, flags))
    return re.sub(rf"\b({names})=({_VALUE})?", as_flag, message) if names else message


def flags_of(command: Any) -> dict[str, str]:
    """Parameter names of a click command, each with its longest flag."""
    return {
        parameter.name: max(parameter.opts, key=len)
        for parameter in getattr(command, "params", ())
        if parameter.param_type_name == "option"
    }
