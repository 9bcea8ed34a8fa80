"""Plain data that carries its own SHA-256, so that a later change is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from biselect.errors import InputError


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
