"""`biselect app`: the workbench in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps
from biselect.errors import MissingDependencyError


def workbench(
    folder: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Folder of the tables and the session.", show_default=False)
    ] = Path("."),
    port: Annotated[int, options.may_be(min=0, max=65535, help="Port to listen at; else any that is free.")] = 0,
    upload_limit: Annotated[int, typer.Option(min=1, help="Largest file that is taken in, in MiB.")] = 2048,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    quiet: options.Quiet = False,
) -> None:
    """Inspect, choose and review tables of FOLDER in the browser, round after round.

    It listens on this machine alone, under an address with a token; every file stays in FOLDER. Ctrl-C ends it, and
    nothing is lost: `biselect app FOLDER` or `biselect review FOLDER` goes on.
    """
    try:
        from biselect.app.server import serve
    except ImportError as error:
        raise MissingDependencyError(f"the workbench needs {error.name}; pip install 'biselect[app]'") from error
    steps = Steps(quiet)

    def ready(address: str) -> None:
        typer.echo(address)
        steps.say("Ctrl-C ends it; answers are kept at once.")
        if open_page:
            import webbrowser

            if not webbrowser.open(address):
                steps.say("found no browser; open the address above", style="bold")

    serve(folder, port=port, most_bytes=upload_limit << 20, ready=ready)
