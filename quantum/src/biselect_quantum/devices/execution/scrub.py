"""Secrets masked in what services say, for their messages may hold tokens and addresses with passwords.

Values of the account store and of the service's variables are masked wherever they occur, and so is everything else
that looks like a secret.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

MASK = "***"
VARIABLES = ("QISKIT_IBM_TOKEN", "QISKIT_IBM_INSTANCE")  # where Qiskit Runtime looks for an account
PUBLIC = {"channel", "region", "plans_preference", "tags", "url", "auth_server_url", "timestamp"}  # no secrets
_SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6  # shorter values of other variables are words that occur by chance
# A password may hold '/' and '@', so with a user before it all up to the last '@' is masked. Too much does no harm.
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
    re.compile(r"()\beyJ[\w-]+(?:\.[\w-]*)+"),  # a JSON web token
    # after these words only what is no plain word: `the token expired` stays as it is
    re.compile(
        r"((?i:\b(?:token|apikey|key|basic|secret|password)\s+[\"']?))"
        r"(?=[^\s\"',;]{6})(?=[^\s\"',;]*[A-Z0-9_=+/]|[a-z]{16})[^\s\"',;]+"
    ),
)


def scrubbed(message: object, secrets: Iterable[str] = ()) -> str:
    """A message without tokens, passwords, addresses that hold one, and the given secrets.

    >>> scrubbed("GET https://ada:pw@example.org/jobs?token=abc123 failed: 401; sesame", secrets=["sesame"])
    'GET https://***@example.org/jobs?token=*** failed: 401; ***'
    """
    known = _spellings({*secrets, *(os.environ.get(name, "") for name in VARIABLES)})
    guessed = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name) and len(value) >= _SHORTEST}
    text = _without(str(message), (secret for secret in known | guessed if len(secret) >= _SHORTEST))
    text = _IN_ADDRESS.sub(f"{MASK}@", text)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match[1]}{MASK}", text)
    return _without(text, known)  # short ones last: a part of a word like `token` would hide a shape


def account_secrets(accounts: Any) -> list[str]:
    """Everything in an account, or in a store of them, that is not public: token, instance, those of proxies."""
    found = [*_leaves(accounts)]
    return found + [password for value in found if (password := _password(value))]


def _leaves(content: Any, name: str = "") -> Iterator[str]:
    """Every text and whole number in plain data that stands under no public key."""
    if isinstance(content, str | int) and not isinstance(content, bool) and name not in PUBLIC:
        yield str(content)
    elif isinstance(content, Mapping):
        for key, value in content.items():
            yield from _leaves(value, str(key))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _leaves(value, name)


def _password(address: str) -> str | None:
    try:
        return urlsplit(address).password
    except ValueError:
        return None


def _spellings(secrets: Iterable[str]) -> set[str]:
    """Each secret as it is, as addresses spell it, and as JSON and Python do."""
    found: set[str] = set()
    for secret in {text for each in secrets for text in (each, each.strip())}:
        found |= {secret, quote(secret, safe=""), quote(secret), quote_plus(secret)}
        found |= {json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    return {each for each in found if each.strip()}


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text
