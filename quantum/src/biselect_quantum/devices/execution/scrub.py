"""Secrets masked in what services say, for their messages may hold tokens and addresses with passwords.

Values of the account store, of the services' variables and of IQM's file of tokens are masked wherever they occur, and
so is everything else that looks like a secret.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

from biselect.errors import InputError

MASK = "***"
VARIABLES = (  # where services look for an account
    *("QISKIT_IBM_TOKEN", "QISKIT_IBM_INSTANCE", "IQM_TOKEN"),
    *("IONQ_API_KEY", "IONQ_API_TOKEN", "QISKIT_IONQ_API_TOKEN"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
)
TOKENS_FILE = "IQM_TOKENS_FILE"
PUBLIC = {"channel", "region", "plans_preference", "tags", "url", "auth_server_url", "timestamp"}  # no secrets
_SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6  # shorter values of other variables are words that occur by chance
_ADDRESS = re.compile(r"[A-Za-z0-9._~:/%\[\]-]+")
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
    re.compile(r"()\beyJ[\w-]+(?:\.[\w-]*)+"),  # a JSON web token, which IQM's are
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
    known = _spellings({*secrets, *_held()})
    guessed = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name) and len(value) >= _SHORTEST}
    text = _without(str(message), (secret for secret in known | guessed if len(secret) >= _SHORTEST))
    text = _IN_ADDRESS.sub(f"{MASK}@", text)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match[1]}{MASK}", text)
    return _without(text, known)  # short ones last: a part of a word like `token` would hide a shape


def _held() -> set[str]:
    """Values of the services' own variables and of their file of tokens."""
    found = {os.environ.get(name, "") for name in VARIABLES}
    if path := os.environ.get(TOKENS_FILE):
        try:
            found |= _tokens(Path(path).read_text(encoding="utf-8-sig", errors="replace"))
        except OSError:  # a client that cannot read it either cannot show what it holds
            pass
    return found


def _tokens(text: str) -> set[str]:
    """Values in a file of tokens, short ones only under a secret's name; all its lines if it is not JSON."""
    try:
        found = set(_leaves(json.loads(text)))
    except (ValueError, RecursionError):
        return {text, *text.splitlines()}
    return {value for names, value in found if len(value) >= _SHORTEST or any(map(_SECRET_NAMES.search, names))}


def account_secrets(accounts: Any) -> list[str]:
    """Everything in an account, or in a store of them, that is not public: token, instance, those of proxies."""
    found = [value for _, value in _leaves(accounts)]
    return found + [password for value in found if (password := _password(value))]


def _leaves(content: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every text and whole number in plain data that is not public, with the keys on the way to it."""
    if isinstance(content, str | int) and not isinstance(content, bool) and not PUBLIC.intersection(names[-1:]):
        yield names, str(content)
    elif isinstance(content, Mapping):
        for name, value in content.items():
            yield from _leaves(value, (*names, str(name)))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _leaves(value, names)


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
    if not _ADDRESS.fullmatch(address):
        raise InputError("the address of a service has letters, digits and the marks . _ ~ : / % - [ ] alone")
    return address
