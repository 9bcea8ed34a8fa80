"""JSON read as data, refused by the file's name where it cannot be used; a record can carry its own SHA-256."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.errors import InputError


def read_json(path: str | Path) -> Any:
    """The content of a JSON file, or an error that names the file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of everything but the entry `hash` itself."""
    rest = {name: value for name, value in content.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same data with its `content_hash` under `hash`."""
    return {**content, "hash": content_hash(content)}


def check_seal(content: Mapping[str, Any], where: object) -> None:
    """Refuse data that is not as it was sealed."""
    if content.get("hash") != content_hash(content):
        raise InputError(f"{where}: was changed after it was written: its hash does not match, so it is not used")
