"""`biselect quantum`: from a table to decoded shots of a circuit beside their nulls, and one page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli.answer import open_in_browser
from biselect.cli.console import Steps
from biselect.cli.from_options import FIRST, Only
from biselect.cli.options import Output, Reference
from biselect.errors import InputError
from biselect.options import Columns, Csv, Flag, Options, Weighing
from biselect.pages.terminal import show_line
from biselect_quantum.cli._readers import read_start
from biselect_quantum.options import DEVICES, CircuitOptions, RunOptions, TrainingOptions

EXCERPT = "600 card transactions that ship with biselect"
PROBLEMS = (".npz", ".json")


@dataclass(frozen=True, kw_only=True)
class Candidates(Options, heading=FIRST):
    """What is chosen from, and where its circuit is to run."""

    candidates: Annotated[
        str, Flag("How many rows and columns of a table to choose from: those that weigh most.", value="ROWSxCOLUMNS")
    ] = "12x8"
    k: Annotated[int, Flag("Rows of a choice.", "-k", least=1)] = 3
    m: Annotated[int, Flag("Columns of a choice.", "-m", least=1)] = 5
    device: Annotated[str, Flag("A device by name, or a snapshot (.json).", value="DEVICE", choices=DEVICES)] = "boston"
    on: Annotated[
        str | None,
        Flag("sector, wide, aer, noisy:DEVICE or ibm:DEVICE; the noise of the device if left out.", value="PLACE"),
    ] = None


def quantum(
    table: Annotated[
        Path | None,
        typer.Argument(metavar="TABLE", help="Table to choose from, or a problem (.npz or .json).", show_default=False),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Take the card transactions that ship with it.")] = False,
    reference: Reference = None,
    size: Candidates = Candidates(),
    columns: Columns = Columns(),
    csv: Csv = Csv(),
    weighing: Annotated[Weighing, Only("preset", "map", "cap", "missing", "drift")] = Weighing(),
    circuit: Annotated[
        CircuitOptions, Only("depth", "schedule", "start", "path", "registers", "keep", "seed")
    ] = CircuitOptions(),
    training: Annotated[
        TrainingOptions, Only("objective", "strategy", "share", "evaluations", "seeds", "nulls")
    ] = TrainingOptions(),
    run: Annotated[RunOptions, Only("shots", "repeats", "readout", "alone", "wait", "resubmit")] = RunOptions(),
    output: Annotated[
        Output, Only("quiet", "open", out="Folder of all stages and of the page, index.html; taken up again.")
    ] = Output(),
) -> None:
    """Run a coupling-grouped XY-QAOA circuit for TABLE from weights to decoded shots, and hold its hits against nulls.

    The heaviest rows and columns of TABLE are the candidates. Their optimum is proven, qubits are chosen, angles are
    trained, controls too; all is compiled and measured, by default under the recorded noise of the device. Above a
    million choices angles are selected from warm starts by shots, as the paper does it, or fixed (--strategy
    fixed). Killed, it goes on where it was.
    """
    from dataclasses import replace

    from biselect.tables import table as open_table
    from biselect.tables.demo import COLUMNS, demo_tables
    from biselect.tables.problem_files import read_problem
    from biselect_quantum.pipelines import pipeline, table_problem

    if (table is None) != demo:
        raise InputError("give a table or a problem to choose from, or --demo alone")
    steps, folder = Steps(output.quiet), output.out or Path("quantum-demo" if demo else "quantum")
    if table is not None and table.suffix in PROBLEMS and reference is None:
        problem, source = read_problem(table), table.name
    else:
        n, d = _sizes(size.candidates)
        pool, normal = demo_tables() if table is None else (table, reference)
        opened = open_table(pool, columns=COLUMNS if demo else columns, csv=csv)
        problem = table_problem(
            opened, normal, samples=n, features=d, k=size.k, m=size.m, weighing=weighing, progress=steps.step
        )
        whole = EXCERPT if table is None else table.name
        source = f"{whole}; its {n} heaviest rows, {d} heaviest columns of these"
    start: Any = None if circuit.start is None else read_start(circuit.start, problem)
    result = pipeline(
        problem,
        folder,
        circuit=replace(circuit, target=size.device, start=start),
        training=training,
        run=run,
        on=size.on,
        preset=weighing.preset,
        source=source,
        progress=steps.step,
        say=steps.say,
    )
    show_line(result.text)
    show_line(str(result.view["lead"]))
    steps.say(f"wrote {result.page}")
    if output.open:
        open_in_browser(result.page, steps)


def _sizes(text: str) -> tuple[int, int]:
    """`12x8`."""
    rows, _, columns = text.partition("x")
    try:
        return int(rows), int(columns)
    except ValueError:
        raise InputError(f"--candidates {text}: write rows and columns as 12x8") from None
