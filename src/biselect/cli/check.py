"""`biselect check`: whether the proof in an answer's folder proves what it says."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.errors import BiselectError, InputError


def check(folder: Annotated[Path, typer.Argument(help="A folder written with --out and --proof.")]) -> None:
    """Check FOLDER/proof.json against FOLDER/problem.npz in exact arithmetic, with none of the solver's code."""
    from biselect.solvers import check_proof

    for name in ("proof.json", "problem.npz"):
        if not (folder / name).is_file():
            raise InputError(f"{folder / name}: no such file; write it with --out and --proof")
    try:
        words = check_proof.check(folder / "proof.json", folder / "problem.npz")
    except check_proof.ProofError as error:
        raise BiselectError(f"refused: {error}") from error
    typer.echo(f"Checked: no choice scores higher ({words})")
