"""`biselect check`: whether the proof in an answer's folder proves what it says."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps
from biselect.errors import BiselectError, InputError


def check(
    folder: Annotated[Path, typer.Argument(help="A folder written with --out and --proof.")],
    table: Annotated[
        Path | None,
        options.a_table(help="Of a large table: the pool, whose rows are weighed again, part by part."),
    ] = None,
    part: Annotated[
        int | None, options.may_be(min=0, help="Weigh only this part of the table again, counted from 0.")
    ] = None,
    on: options.On = None,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
) -> None:
    """Check FOLDER/proof.json against FOLDER/problem.npz in exact arithmetic, with none of the solver's code.

    A problem from a large table holds its heaviest rows, and rows that stand for all others. With --table, every row is
    weighed again and held against them.
    """
    from biselect.solvers import check_proof

    for name in ("proof.json", "problem.npz", *(["calibration.npz"] if table is not None else [])):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: no such file; write it with --out and --proof")
    if part is not None and table is None:
        raise InputError("--part needs a --table to take it from")
    try:
        words = check_proof.check(folder / "proof.json", folder / "problem.npz")
    except check_proof.ProofError as error:
        raise BiselectError(f"refused: {error}") from error
    if table is not None:
        from biselect.reviews.large.checking import check_table

        weighed = check_table(folder, table, part=part, on=on, memory=memory, progress=Steps(quiet).step)
        words = f"{words.rpartition('; ')[0]}; {weighed}"
    typer.echo(f"Checked: no choice scores higher ({words})")
