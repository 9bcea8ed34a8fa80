"""Connections that a client leaves half open are cut: nobody holds the server's by sending slowly."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 3.0  # seconds that a client may owe something, counted from the next look, so at most twice as long
LEAST = 4096  # bytes of a file's content within that time


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
