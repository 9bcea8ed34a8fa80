"""JSON read as data, refused by the file's name where it cannot be used; a record can carry its own SHA-256."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from biselect.errors import BiselectError, InputError

DEEPEST = 100  # levels of lists and objects; ours have ten
HUGE = re.compile(r"[eE]\+?0*[1-9]\d\d|\d{300}")  # how a number beyond float64 must look
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # how half of a surrogate pair does


@contextmanager
def refused_as(what: str) -> Iterator[None]:
    """Whatever goes wrong while a file's content is taken apart is the fault of the content: one InputError."""
    try:
        yield
    except BiselectError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{error.filename}: no such file") from None
    except KeyError as error:
        raise InputError(f"{what}: it lacks {shortened(error.args[0] if error.args else '')}") from error
    except Exception as error:  # ours and those of every library that takes part
        raise InputError(f"{what}: {str(error)[:300] or type(error).__name__}") from error


def shortened(value: object, most: int = 80) -> str:
    """What a file holds, short enough for a message."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def read_json(path: str | Path) -> Any:
    """The content of a JSON file, or an error that names the file."""
    with refused_as(f"{path}: cannot be read as JSON"):
        return json_of(Path(path).read_bytes())


def json_of(text: str | bytes, *, halves: bool = False) -> Any:
    """Plain data from JSON text: no NaN, no number beyond float64, not nested without end.

    Half of a surrogate pair, which no encoding has, is refused too unless `halves` are welcome.

    >>> json_of('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    text = text if isinstance(text, str) else text.decode("utf-8")
    exact: dict[str, Any] = {"parse_float": _finite, "parse_int": _whole} if HUGE.search(text) else {}
    content = json.loads(text, parse_constant=_refuse_constant, **exact)
    level, depth = [content], 0
    while level := [value for value in chain.from_iterable(map(_held, level)) if type(value) in (list, dict)]:
        depth += 1
        if depth >= DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    if not halves and HALF.search(text):
        json.dumps(content, ensure_ascii=False).encode()  # a pair is a character, half of one is none
    return content


def _held(value: Any) -> Any:
    return value.values() if type(value) is dict else value if type(value) is list else ()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    if abs(number := float(text)) == float("inf"):
        raise ValueError(f"{text[:40]} is beyond float64")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the entry `hash` itself."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same data with its `content_hash` under `hash`."""
    return {**content, "hash": content_hash(content)}


def check_seal(content: Mapping[str, Any], where: object) -> None:
    """Refuse data that is not as it was sealed."""
    with refused_as(f"{where}: cannot be checked"):
        if content.get("hash") != content_hash(content):
            raise InputError(f"{where}: was changed after it was written: its hash does not match, so it is not used")
