"""`biselect app`: the workbench in the browser."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import Output, may_be
from biselect.extensions import optional
from biselect.pages.words import phrase

if TYPE_CHECKING:
    from biselect.app.guard import Entrance


def app(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Folder of the tables and the session.", show_default=False)
    ] = Path("."),
    port: Annotated[int, may_be(min=0, max=65535, help="Port to listen at; else any that is free.")] = 0,
    upload_limit: Annotated[
        int, may_be(min=1, show_default=True, help="Largest file that is taken in, in MiB.")
    ] = 2048,
    open_page: Annotated[bool, may_be("--open/--no-open", show_default=True, help="Open the browser.")] = True,
    output: Annotated[Output, Only("quiet")] = Output(),
) -> None:
    """Inspect, choose and review tables of FOLDER in the browser, round after round.

    It listens on this machine alone; every file stays in FOLDER. The code that is printed lets one more browser in,
    once; Enter prints another and opens the browser again. Ctrl-C ends it, and nothing is lost: `biselect app FOLDER`
    or `biselect review FOLDER` goes on.
    """
    server = optional("biselect.app.server", "the workbench", "app")
    steps = Steps(output.quiet)

    def invite(entrance: Entrance, apart: Path) -> None:
        import webbrowser

        with suppress(OSError):  # nobody is there to press Enter
            while True:
                typer.echo(f"{entrance.home}/\n{phrase('terminal.code', code=entrance.code())}")
                if open_page and not webbrowser.open(entrance.file(apart).as_uri()):
                    steps.say(phrase("terminal.no_browser_code"), style="bold")
                steps.say(phrase("terminal.invite"))
                if not os.read(0, 4096):
                    break

    if hasattr(signal, "SIGTTIN"):  # a shell stops what reads from the terminal in the background
        signal.signal(signal.SIGTTIN, signal.SIG_IGN)
    server.serve(folder, port=port, most_bytes=upload_limit << 20, ready=invite)
