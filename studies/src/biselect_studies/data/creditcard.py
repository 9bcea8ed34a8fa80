"""The Credit Card Fraud Detection table (ULB and Worldline), as published or as Parquet, checked before it is used."""

import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError, MissingDataError
from biselect_studies.data.candidates import refuse_label_copies, refuse_unsorted

FOLDER = "BISELECT_DATA"
FEATURES = tuple(f"V{j}" for j in range(1, 29))
COLUMNS = ("Time", *FEATURES, "Amount", "Class")
CHECKSUMS = {
    "creditcard.parquet": "baa0748856872db15bafa6bf93fc16587ec44e2f37f8fca08f8ce09d817573fc",
    "creditcard.csv": "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89",
}
"""SHA-256 of the files that figures in this project were taken from; the CSV is the one published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CreditCard:
    """The table in memory, rows in the order of time.

    Attributes:
        times: seconds since the first transaction.
        features: V1..V28, one column each.
        amounts: in euros.
        labels: known frauds; for pools, for the choice on the buffer window and for evaluation.
    """

    times: NDArray[np.float64]
    features: NDArray[np.float64]
    amounts: NDArray[np.float64]
    labels: NDArray[np.bool_]


def find_credit_card() -> Path:
    """The file in the folder that BISELECT_DATA names, Parquet before CSV."""
    folder = os.environ.get(FOLDER)
    for name in CHECKSUMS:
        if folder and (path := Path(folder) / name).is_file():
            return path
    where = f"{FOLDER}={folder} holds neither" if folder else f"{FOLDER} is not set; no"
    raise MissingDataError(
        f"the Credit Card table is not at hand: {where} {' nor '.join(CHECKSUMS)}. Download creditcard.csv from Kaggle "
        f"(mlg-ulb/creditcardfraud) and set {FOLDER} to its folder"
    )


def load_credit_card(path: str | Path | None = None) -> CreditCard:
    """The table, from a path or from BISELECT_DATA; read once in a process.

    A wrong checksum, a missing column, missing or infinite entries, unsorted times, negative amounts and labels other
    than 0 and 1 are refused.
    """
    return _load(Path(path) if path is not None else find_credit_card())


@lru_cache(maxsize=1)
def _load(path: Path) -> CreditCard:
    from biselect.columns.flag import label_flags
    from biselect.tables import numeric, require_columns
    from biselect.tables.readers import read_table

    if path.is_file():
        _refuse_other(path)
    table = read_table(path)
    require_columns(table, COLUMNS, str(path))
    columns = numeric(table, COLUMNS[:-1], str(path))
    found = CreditCard(
        times=columns["Time"].to_numpy(),
        features=np.column_stack([columns[name].to_numpy() for name in FEATURES]),
        amounts=columns["Amount"].to_numpy(),
        labels=label_flags(table, "Class", str(path))[0],
    )
    for name in columns.column_names:
        if not (finite := np.isfinite(columns[name].to_numpy())).all():
            row = int(np.argmin(finite))
            raise InputError(f"{path}: column {name!r} is missing or infinite in row {row}; every entry is a number")
    refuse_unsorted(found.times)
    if (found.amounts < 0).any():
        row = int(np.argmax(found.amounts < 0))
        raise InputError(f"{path}: the amount in row {row} is negative ({found.amounts[row]:g}); amounts are 0 or more")
    refuse_label_copies(found.features, FEATURES, found.labels)
    for array in vars(found).values():
        array.flags.writeable = False
    return found


def _refuse_other(path: Path) -> None:
    """A file of the published name must be the published file: figures of any other are not comparable."""
    wanted = CHECKSUMS.get(path.name)
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if wanted is not None and found != wanted:
        raise InputError(
            f"{path}: checksum {found[:12]}…, expected {wanted[:12]}…: the file is damaged or another version. "
            "Download it again; a table of your own needs a name of its own"
        )
