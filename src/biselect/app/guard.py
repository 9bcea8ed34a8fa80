"""Who may ask: the workbench's own pages with the token, and nobody else; all others are refused unread."""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from biselect.app.entrance import ENTER

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
