"""How a browser gets in: a code that works once, and not for long, is exchanged for the token, which its tab keeps.

The token itself stands on no command line, in no address and in no cookie: a command line is everybody's to read on one
machine, and a browser sends a cookie to every port of it.
"""

from __future__ import annotations

import secrets
import threading
import time
from pathlib import Path

from starlette.responses import HTMLResponse, Response

from biselect.app.pages import page
from biselect.core.files import private_files, write_file

ENTER = "/enter"
MINUTES = 10  # that a code waits for its browser


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
