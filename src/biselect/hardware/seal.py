"""Plain data with its own hash: whoever changes it can be seen to have done so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from biselect.errors import InputError


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """The same data with the SHA-256 of all of it under `hash`."""
    return {**content, "hash": _digest(content)}


def check_seal(content: Mapping[str, Any], where: object) -> None:
    """Refuse data that is not as it was sealed."""
    if content.get("hash") != _digest(content):
        raise InputError(f"{where}: was changed after it was written: its hash does not match, so it is not used")


def _digest(content: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in content.items() if name != "hash"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode()).hexdigest()
