"""Nothing secret may reach a file, a log or a screen: services put tokens and addresses into their messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from biselect.errors import InputError

MASK = "***"
_SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6  # shorter values are words that occur by chance
# A password may hold '/' and '@': with a user before it, all up to the last '@' goes. Too much masked does no harm.
_IN_ADDRESS = re.compile(r"(?<=://)(?:[^\s/@:]*:\S*|[^/\s]+)@")
_QUOTED = r"""\\*"(?:\\.|[^"\\\n])*"?|\\*'(?:\\.|[^'\\\n])*'?"""
_BETWEEN = r"""[\\"']*\s*[=:]\s*|["']\s*,\s*"""
_SHAPES = (
    re.compile(rf"(authorization(?:{_BETWEEN}))(?:{_QUOTED}|[^\n]+)", re.IGNORECASE),
    re.compile(
        rf"((?:token|key|secret|password|passwd|credentials?)(?:{_BETWEEN}))"
        rf"(?:{_QUOTED}|(?:(?:bearer|basic|apikey|token)\s+)?[^\s\"'&]+)",
        re.IGNORECASE,
    ),
    re.compile(r"(bearer\s+)[^\s\"',;&]+", re.IGNORECASE),
    # after these words only what no plain word looks like: `the token expired` stays as it is
    re.compile(
        r"((?i:\b(?:token|apikey|key|basic|secret|password)\s+[\"']?))"
        r"(?=[^\s\"',;]{6})(?=[^\s\"',;]*[A-Z0-9_=+/]|[a-z]{16})[^\s\"',;]+"
    ),
)


def scrubbed(message: object, secrets: Iterable[str] = ()) -> str:
    """A message without tokens, passwords and addresses that hold one.

    Args:
        message: an error or a text.
        secrets: values known to be secret, beside those of the environment.

    >>> scrubbed("GET https://ada:pw@example.org/jobs?token=abc123 failed: 401")
    'GET https://***@example.org/jobs?token=*** failed: 401'
    """
    text = str(message)
    found = [value for name, value in os.environ.items() if _SECRET_NAMES.search(name)]
    for secret in sorted({*found, *secrets}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MASK)
    text = _IN_ADDRESS.sub(f"{MASK}@", text)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match[1]}{MASK}", text)
    return text


def plain_address(address: str) -> str:
    """An address that may be written down; refuses one that carries a credential, without repeating it."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise InputError("give the address of the service as https://…")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            f"the address of {host} must not carry a user, a password or a query; "
            "credentials come from the service's own account store or its environment variable"
        )
    return address
