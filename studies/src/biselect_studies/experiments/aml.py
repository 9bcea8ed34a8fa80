"""AML transactions as the studies see them: where they come from, and what is made of them once a process."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import MissingDataError
from biselect.weights import Weigher
from biselect_studies.data.aml_features import MEANINGS, causal_features
from biselect_studies.data.aml_generator import Market
from biselect_studies.data.aml_schema import (
    PUBLISHED,
    find_transactions,
    is_published,
    laundering_groups,
    load_transactions,
)
from biselect_studies.data.candidates import SLICES, TimeSplit, refuse_label_copies, split_rows
from biselect_studies.experiments.baselines import (
    DETECTORS,
    LABEL_FREE,
    LogisticTrigger,
    Scorer,
    fitted,
    risk,
    robust_z,
    studied_map,
    windows,
)
from biselect_studies.results import Entry, Findings

GENERATED = "generated"
VARIANT = "HI-Small"
FULL, QUICK = (
    1_000_000,
    500_000,
)  # generated transactions, 10 and 5 test windows; no number of the paper is of them
FEW_SLICES = 50
SPLIT = (60, 20, 20)
WEEK = 10_080
NORMALS = 20_000  # that the supervised stage-2 scorer is fit on, beside all earlier positives
DETECTOR_ROWS = 5_000  # that detectors are fit on; ECOD and COPOD go through all of them again for every pool
REFERENCE = 100_000  # latest rows of the reference window, which label-free weights are fit on
RISK_ROWS = 500
M = 4  # features that stage 2 chooses


def source() -> str:
    """The published file where it is at hand, else the generator."""
    try:
        find_transactions(VARIANT)
    except MissingDataError:
        return GENERATED
    return VARIANT


def origin(quick: bool) -> dict[str, Any]:
    """Which transactions a cell reads."""
    name = source()
    if name == GENERATED:
        return {"source": name, "transactions": QUICK if quick else FULL}
    return {"source": name, "transactions": 0, "file": _fingerprint(find_transactions(VARIANT))}


def slices() -> int:
    """Slices or pools of the full form: fewer of generated transactions, on which nothing is judged."""
    return FEW_SLICES if source() == GENERATED else SLICES


def published() -> bool:
    """Whether the transactions are those of the published file, not merely of its name."""
    return source() != GENERATED and _published(find_transactions(VARIANT))


@lru_cache(maxsize=1)
def _published(path: Path) -> bool:
    return is_published(path, VARIANT)


def _fingerprint(path: Path) -> str:
    """Tells one file from another of the same name, so that no result of the one is taken for the other's."""
    facts = path.stat()
    return _hashed(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(maxsize=1)
def _hashed(path: Path, changed: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


PLACES = ("of another file than the published one", "generated transactions")


def beside(one: Entry) -> Entry:
    """An entry whose printed figure is judged on the published file only."""
    return (
        one if published() else replace(one, aside=f"HI-Small is not here: these are {PLACES[source() == GENERATED]}.")
    )


def place(found: Findings) -> str:
    """What a figure says about where its data come from."""
    if found.notes[0].startswith("GENERATED"):
        return "generated data"
    return "HI-Small" if found.notes[0].startswith("Computed") else "another file than the published HI-Small"


def where_from(quick: bool) -> str:
    """The first note of every AML study."""
    if source() == GENERATED:
        return (
            f"GENERATED DATA: {origin(quick)['transactions']:,} AML-like transactions made by this package, as "
            "HI-Small_Trans.csv is not at hand. The paper's figures stand beside ours for orientation only; nothing "
            "here confirms or refutes them."
        )
    if not published():
        rows, positives = PUBLISHED[VARIANT]
        return (
            f"NOT THE PUBLISHED FILE: {find_transactions(VARIANT).name} does not hold the {rows:,} transactions with "
            f"{positives:,} of laundering that were published. The paper's figures are for orientation only."
        )
    return "Computed from HI-Small_Trans.csv, itself the output of a simulator (Altman et al. 2023)."


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Everything the AML studies read.

    Attributes:
        X: the 38 features, float32.
        labels: laundering.
        minutes: since the first transaction.
        groups: which laundering group a row belongs to, -1 for none; the units that are resampled.
        split: reference, buffer and test rows.
    """

    X: NDArray[np.float32]
    labels: NDArray[np.bool_]
    minutes: NDArray[np.int64]
    groups: NDArray[np.int64]
    split: TimeSplit

    @cached_property
    def trigger(self) -> LogisticTrigger:
        """Fit on the reference window, then held."""
        rows = self.split.reference
        return LogisticTrigger.fit(self.X[rows], self.labels[rows], seed=0)

    @cached_property
    def budgeted(self) -> LogisticTrigger:
        """The budget-aware trigger: as many features as stage 2 may choose."""
        rows = self.split.reference
        return LogisticTrigger.fit(self.X[rows], self.labels[rows], seed=0, m=M)

    def scorer(self, map_name: str) -> Weigher:
        """A stage-2 scorer, fit on the reference window and then held, on the buffer as on the test window.

        The supervised one sees all positives there and as many others as it needs; the others see no labels and the
        latest rows.
        """
        return _scorer(self, map_name)

    def detector(self, name: str) -> Scorer:
        """A label-free detector, fit on some of the rows that label-free scorers see; it scores a pool at a time."""
        return _detector(self, name)

    def score(self, method: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of a pool's rows by `trigger`, `budgeted` or `detector:NAME`."""
        if method in ("trigger", "budgeted"):
            return getattr(self, method).scores(rows)
        return self.detector(method.removeprefix("detector:"))(rows)

    @property
    def latest(self) -> slice:
        """The end of the reference window, which label-free scorers and detectors are fit on."""
        end = self.split.reference.stop
        return slice(max(0, end - REFERENCE), end)

    def windows(self, name: str) -> list[slice]:
        """Stage-1 windows inside reference, buffer or test."""
        return windows(self.split.window(name))

    def risks(self, found: list[slice]) -> list[float]:
        """Risk of each window by the trigger."""
        return [risk(self.trigger.scores(self.X[rows]), RISK_ROWS) for rows in found]

    def robust(self, rows: slice) -> NDArray[np.float64]:
        """The label-free trigger, against the seven days before the window (a part of them, for speed)."""
        begin = int(np.searchsorted(self.minutes, self.minutes[rows.start] - WEEK))
        step = max(1, (rows.start - begin) // 50_000)
        return robust_z(self.X[rows].astype(np.float64), self.X[begin : rows.start : step].astype(np.float64))


@lru_cache(maxsize=1)
def scene(name: str, transactions: int) -> Scene:
    """The published file, or so many generated transactions."""
    if name == GENERATED:
        found = Market(transactions=transactions, strangers=True).generate(seed=0)  # what all figures were made on
    else:
        found = load_transactions(find_transactions(name))
    X = causal_features(found).to_numpy()
    labels, minutes = found.frame["label"].to_numpy(), found.frame["minute"].to_numpy()
    refuse_label_copies(X, list(MEANINGS), labels)
    split = split_rows(minutes, SPLIT)
    return Scene(X=X, labels=labels, minutes=minutes, groups=laundering_groups(found), split=split)


@lru_cache(maxsize=len(DETECTORS))
def _detector(one: Scene, name: str) -> Scorer:
    rows = one.X[one.latest]
    chosen = np.random.default_rng(0).permutation(len(rows))[:DETECTOR_ROWS]
    return fitted(name, rows[np.sort(chosen)].astype(np.float64))


@lru_cache(maxsize=2)
def _scorer(one: Scene, map_name: str) -> Weigher:
    if map_name not in LABEL_FREE:
        rows = np.arange(one.split.reference.stop)
        others = np.random.default_rng(0).permutation(rows[~one.labels[rows]])[:NORMALS]
        chosen = np.sort(np.concatenate([rows[one.labels[rows]], others]))
        return Weigher(studied_map(map_name, one.labels[chosen])).fit(one.X[chosen].astype(np.float64))
    return Weigher(map_name).fit(one.X[one.latest].astype(np.float64))
