"""Who gets in, and who may ask: the workbench's own pages with the token; all others are refused unread.

A browser gets in by a code that works once, and not for long: it is exchanged for the token, which the browser's tab
keeps. The token itself stands on no command line, in no address and in no cookie: a command line is everybody's to
read on one machine, and a browser sends a cookie to every port of it.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from biselect._version import __version__
from biselect.core.files import private_files, write_file
from biselect.pages.html import render_page
from biselect.pages.words import phrase

FORMAT = "biselect-workbench-1"
ENTER = "/enter"
MINUTES = 10  # that a code waits for its browser
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'self'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
HEADER = "X-Biselect-Token"
ONCE = "/once/"  # where a link leads that works once, without the token
SMALL = 1 << 20  # bytes of a request that brings no file
CODE = 1 << 10  # and of one that brings a code: everybody may send that
LONGEST = 8_000  # characters of an address
PATIENCE = 3.0  # seconds that a client may owe something, counted from the next look, so at most twice as long
LEAST = 4096  # bytes of a file's content within that time


def page(template: str, title: str, **content: Any) -> str:
    """One page; `title` is the key of its words."""
    view = {"format": FORMAT, "version": __version__, "title": phrase(title), **content}
    return render_page(f"{template}.html", view, FORMAT, package="biselect.app", address=quote)


class Codes:
    """Secrets that each stand for a text once, for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waiting: dict[str, tuple[float, str]] = {}
        self._lock = threading.Lock()

    def new(self, text: str) -> str:
        """A code for a text, in groups that can be typed."""
        code, now = "-".join(secrets.token_hex(2) for _ in range(5)), time.monotonic()
        with self._lock:
            self._waiting = {old: kept for old, kept in self._waiting.items() if kept[0] > now}
            self._waiting[code] = now + self.seconds, text
        return code

    def take(self, code: str) -> str | None:
        """The text of a code, which is void from now on; None where it was used, is too old or never was one."""
        with self._lock:
            until, text = self._waiting.pop(code, (0.0, ""))
        return text if time.monotonic() < until else None


class Entrance:
    """Lets a browser in for each code that it gives out.

    Args:
        token: what a browser gets for a code.
        home: address of the workbench, without a slash at its end.
    """

    def __init__(self, token: str, home: str) -> None:
        self.home, self._token = home, token
        self._codes = Codes(60 * MINUTES)

    def code(self) -> str:
        """A code for one browser, to be typed there."""
        return self._codes.new("")

    def file(self, folder: Path) -> Path:
        """Write a page that posts a code when it is opened; nobody but its owner can read it, and it goes when used."""
        place = folder / f"{secrets.token_hex(4)}.html"
        text = page("open", "bench.title", home=self.home, code=self._codes.new(str(place)))
        with private_files():
            write_file(place, text)
        return place

    def shell(self, *, token: str = "", refused: bool = False) -> str:
        """The empty page that everybody gets: its script fetches what the address shows, where its tab has a token."""
        return page("shell", "bench.title", token=token, refused=refused)

    def enter(self, form: dict[str, str]) -> Response:
        """Take a code; gives the token to whoever has one."""
        place = self._codes.take(form.get("code", "").strip().lower())
        if place is None:
            return HTMLResponse(self.shell(refused=True), status_code=403)
        if place:
            Path(place).unlink(missing_ok=True)
        return HTMLResponse(self.shell(token=self._token))


class TooLargeError(Exception):
    """More was sent than the bytes that are taken."""


class Guard:
    """An application behind a token, for one host and its own pages alone.

    Args:
        app: what is guarded.
        token: a secret that every request of our pages brings in a header.
        shell: the page for a browser that goes to an address, which brings no header.
        port: that the server listens at, on this machine.
        most_bytes: of a file that is brought.
    """

    def __init__(self, app: ASGIApp, *, token: str, shell: str, port: int, most_bytes: int) -> None:
        self.app, self.token, self.shell = app, token, shell
        self.most_bytes = {"/files": most_bytes, ENTER: CODE}
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with what is wrong."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_guarded)
            return
        most, taken = self.most_bytes.get(scope["path"], SMALL), 0

        async def receive_some() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise TooLargeError(most)
            return message

        await self.app(scope, receive_some, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """What to answer instead of the application; None where the request is ours."""
        headers = Headers(scope=scope)
        method, entering = scope["method"], scope["path"] == ENTER and scope["method"] == "POST"
        if headers.get("host", "") not in self.hosts:
            return _refused("This address is not served here.", 421)
        if method not in ("GET", "HEAD", "POST"):
            return _refused("There is nothing to be done that way.", 405)
        if len(scope["path"]) + len(scope.get("query_string", b"")) > LONGEST:
            return _refused("This address is too long.", 414)
        origin = headers.get("origin")
        ours = {f"http://{host}" for host in self.hosts}
        if (origin is not None or method == "POST") and origin not in ours and not (entering and origin == "null"):
            return _refused("Only the workbench's own pages may ask for this.", 403)  # a file's page has no origin
        if method == "POST" and not entering and headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return _refused("Only the workbench's own pages may ask for this.", 403)
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return _refused("A length must be a number.", 400)
        most = self.most_bytes.get(scope["path"], SMALL)
        if len(length) > 15 or int(length) > most:
            return too_large(most)
        if entering or (method == "GET" and scope["path"].startswith(ONCE)):
            return None  # the code decides
        given = headers.get(HEADER, "")
        if not given and method == "GET" and "text/html" in headers.get("accept", ""):
            return HTMLResponse(self.shell)
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self.token.encode()):
            return _refused("Only a browser that was let in by a code of biselect app may ask for this.", 403)
        return None


def _refused(why: str, code: int) -> Response:
    return PlainTextResponse(why + "\n", status_code=code)


def too_large(most: int) -> Response:
    """The answer to more than is taken."""
    return _refused(f"That is more than the {most / 2**20:,.0f} MiB that are taken here.", 413)


class PromptProtocol(H11Protocol):
    """HTTP for clients that send what they begin: a request's head at once, and its body without long rests."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Look after the connection from now on."""
        super().connection_made(transport)
        self._owed, self._received = False, 0
        self._look()

    def data_received(self, data: bytes) -> None:
        """Count what comes."""
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._owed = False
        super().on_response_complete()

    def _look(self) -> None:
        """Cut the connection if the client owed something at the last look and still does."""
        if self.transport.is_closing():
            return
        body = self.conn.their_state is h11.SEND_BODY
        owed = (body or self.conn.their_state is h11.IDLE) and not self.flow.read_paused
        wanted = body and not self.cycle.response_complete  # nobody reads on after a refusal
        if owed and self._owed and not (wanted and self._received >= LEAST):
            self.transport.abort()
            return
        self._owed, self._received = owed, 0
        self.loop.call_later(PATIENCE, self._look)
