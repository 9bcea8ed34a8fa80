"""The recovery theorems at their own thresholds: four kinds of noise, one table of points for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from typing import Any

from biselect.core import Sector
from biselect_studies.figures import GREY, Figure, look, panels
from biselect_studies.recovery import (
    Bernstein,
    Burden,
    SubGaussian,
    classwise_threshold,
    clipped,
    feature_first_threshold,
    joint_threshold,
)
from biselect_studies.results import Entry, Findings, share
from biselect_studies.runner import Records
from biselect_studies.study import Study, described
from biselect_studies.task import Grid, Task

SECTORS = [
    Sector(n_samples=n, n_features=d, k=k, m=m)
    for n, d, k, m in ((8, 6, 2, 2), (12, 8, 2, 2), (16, 8, 3, 2), (20, 6, 2, 2))
]
DELTA = 0.1
MULTIPLES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.0)

THRESHOLDS = {"joint": joint_threshold, "class-wise": classwise_threshold, "feature-first": feature_first_threshold}
LAPLACE, CAUCHY, TAU = {"residuals": "laplace"}, {"residuals": "cauchy"}, 1.5
UNBURDENED = Burden()
SHARED = 0.5  # the correlation that the curves are drawn at


@cache
def threshold(kind: str, sector: Sector, noise: Any, burden: Burden = UNBURDENED) -> float:
    """The smallest signal for which a statement promises recovery in a setting."""
    return THRESHOLDS[kind](sector, noise, delta=DELTA, burden=burden)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One column of a theory table.

    Attributes:
        column: its heading.
        at: whose threshold the signal is.
        noise: that the threshold is for, where it is not the statement's.
        burden: that the threshold allows for.
        drawn: how the experiment draws its noise, where it is not the statement's way.
        more: further parameters of the experiment.
        selector: `joint` or `columns`.
        multiple: of the threshold.
    """

    column: str
    at: str = "joint"
    noise: Any = None
    burden: Burden = UNBURDENED
    drawn: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    selector: str = "joint"
    multiple: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A theorem, proposition or corollary under one kind of noise.

    Attributes:
        noise: as the thresholds know it.
        drawn: as the experiment draws it.
        points: the columns of its table.
        notes: what a reader must know, from the statement and its numbers.
        second: what the dash-dotted line of the figure is called.
    """

    noise: Any
    drawn: dict[str, Any]
    points: tuple[Point, ...]
    notes: Callable[[Statement, Sequence[Entry]], tuple[str, ...]]
    second: str = "feature-first threshold"

    def threshold(self, kind: str, sector: Sector) -> float:
        """A threshold under the statement's noise."""
        return threshold(kind, sector, self.noise)

    def cell(self, sector: Sector, point: Point) -> dict[str, Any]:
        """A point in a setting: its signal has four decimals, rounded up so that the condition still holds."""
        mu = point.multiple * threshold(point.at, sector, point.noise or self.noise, point.burden)
        drawn = self.drawn if point.drawn is None else point.drawn
        return {**_size(sector), **drawn, **point.more, "signal": ceil(mu * 1e4 - 1e-6) / 1e4}

    def values(self, records: Records, sector: Sector, point: Point) -> Any:
        """Whether the point's selector recovered, trial by trial."""
        return records.of(self.cell(sector, point))[point.selector]

    @property
    def grids(self) -> tuple[Grid, Grid]:
        """All points of all settings, with the paper's 800 trials, then the curves, which the paper does not draw."""
        points, curves = ([self.cell(s, point) for s in SECTORS for point in each] for each in (self.points, CURVE))
        return (
            Grid(experiment="recovery", cells=lambda quick: points, quick=50, full=800, block=100),
            Grid(experiment="recovery", cells=lambda quick: curves, quick=50, full=200, block=100),
        )

    def tasks(self, quick: bool) -> list[Task]:
        """The trials of all points and curves."""
        return [task for grid in self.grids for task in grid.tasks(quick)]

    def summarise(self, records: Records, quick: bool) -> Findings:
        """Recovery at every point, and along the curves."""
        cells: list[Entry] = []
        curves: dict[str, dict[str, list[float]]] = {}
        for sector in SECTORS:
            row = _row(sector)
            for point in self.points:
                values = self.values(records, sector, point)
                cells.append(share(row, point.column, values, of=1))
            curves[row] = {"joint": [], "columns": []}
            for point in CURVE:
                curves[row][point.selector].append(float(self.values(records, sector, point).mean()))
        drawn = {"class-wise threshold": "class-wise", self.second: "feature-first"}
        places = {
            _row(s): {name: self.threshold(kind, s) / self.threshold("joint", s) for name, kind in drawn.items()}
            for s in SECTORS
        }
        return Findings(
            seeds=self.grids[0].seeds(quick),
            cells=tuple(cells),
            notes=self.notes(self, cells),
            extra={"curves": curves, "thresholds": places},
        )

    def study(self, name: str) -> Study:
        """The study of this statement."""
        return described(name, tasks=self.tasks, summarise=self.summarise, draw=draw)


CURVE = [
    Point(column="", selector=selector, multiple=multiple)
    for multiple in MULTIPLES
    for selector in ("joint", "columns")
]
"""Recovery up to the joint threshold, which only the figure shows."""


def draw(found: Findings) -> Figure:
    """One panel a setting: recovery over the signal, in units of the paper's joint threshold."""
    figure, axes = panels(1, len(SECTORS), width=2.6, height=2.7, sharey=True)
    labels = {"joint": "joint, pair recovered", "columns": "feature-first, features recovered"}
    for panel, (title, lines) in zip(axes[0], found.extra["curves"].items(), strict=True):
        for position, (selector, label) in enumerate(labels.items()):
            panel.plot(MULTIPLES, lines[selector], label=label, **look(position))
        panel.axhline(1 - DELTA, color=GREY, linewidth=0.8, linestyle=":", label="1 - δ")
        for style, (threshold, place) in zip(("--", "-."), found.extra["thresholds"][title].items(), strict=True):
            panel.axvline(place, color="black", linewidth=0.9, linestyle=style, label=threshold)
        panel.set(title=title, xlabel="signal / joint threshold")
    axes[0, 0].set_ylabel("recovered")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _size(sector: Sector) -> dict[str, int]:
    return {"N": sector.n_samples, "D": sector.n_features, "k": sector.k, "m": sector.m}


def _row(sector: Sector) -> str:
    """A setting as the paper writes it."""
    return str(tuple(_size(sector).values()))


def _range(cells: Sequence[Entry], column: str, digits: int) -> str:
    """Lowest and highest of a column over the settings."""
    found = [cell.ours for cell in cells if cell.column == column]
    return f"{min(found):.{digits}f} to {max(found):.{digits}f}"


def _correlated(r: float) -> SubGaussian:
    """Unit noise with that correlation within a feature."""
    return SubGaussian(sigma=1.0, correlation=r)


def _gaussian_notes(of: Statement, cells: Sequence[Entry]) -> tuple[str, ...]:
    ratios = [of.threshold("joint", s) / of.threshold("class-wise", s) for s in SECTORS]
    return (
        f"The class-wise union bound lowers the joint threshold by {min(ratios):.2f} to {max(ratios):.2f} times; "
        f"recovery there is {_range(cells, 'joint at the class-wise one', 3)}.",
        "The feature-first corollary is printed √2 too strict: the difference of two column sums is "
        "σ√(2N)-sub-Gaussian, not 2σ√N.",
        "All thresholds are sufficient only: recovery sets in far below them.",
    )


def _bernstein_notes(of: Statement, cells: Sequence[Entry]) -> tuple[str, ...]:
    found = {_row(s): tuple(of.threshold(kind, s) for kind in THRESHOLDS) for s in SECTORS}
    inverted = sum(joint >= columns for joint, _, columns in found.values())
    separated = sum(tighter < columns for _, tighter, columns in found.values())
    listed = "; ".join(f"{row} {', '.join(f'{mu:.1f}' for mu in each)}" for row, each in found.items())
    return (
        f"No separation: in {inverted} of {len(found)} settings the paper's joint condition asks for more signal "
        f"than the feature-first one. The class-wise bound asks for less than it in {separated}.",
        f"Thresholds (joint, class-wise, feature-first): {listed}.",
        "Feature-first recovery is of the features alone, joint recovery of the whole pair.",
    )


def _clipped_notes(of: Statement, cells: Sequence[Entry]) -> tuple[str, ...]:
    observed = _range(cells, "joint, observed weights clipped", 2)
    return (
        f"Without clipping, Cauchy noise leaves joint recovery at {_range(cells, 'joint, not clipped', 2)}.",
        "The corollary clips the noise before the signal is added. Clipping what is observed, as calibration does, "
        f"cuts the signal to the cap too: recovery at the same μ is {observed}.",
    )


def _covariance_notes(of: Statement, cells: Sequence[Entry]) -> tuple[str, ...]:
    growth = [threshold("joint", s, _correlated(0.9)) / threshold("joint", s, _correlated(0.0)) for s in SECTORS]
    return (
        f"A correlation of 0.9 within features raises the joint threshold {min(growth):.2f} to {max(growth):.2f} "
        "times: averaging over k samples helps less against noise that they share.",
        f"The curves are drawn at r = {SHARED:g}.",
    )


GAUSSIAN = Statement(
    noise=SubGaussian(sigma=1.0),
    drawn={},
    points=(
        Point(column="joint at its threshold"),
        Point(column="joint at the class-wise one", at="class-wise"),
        Point(column="joint, η = 0.5 adversarial", burden=Burden(error=0.5), more={"error": 0.5}),
        Point(
            column="joint, marginals adversarial",
            burden=Burden(sample_bound=1.0, feature_bound=1.0),
            more={"marginals": 1.0},
        ),
        Point(column="feature-first at its tight one", at="feature-first", selector="columns"),
        Point(column="feature-first at the joint one", selector="columns"),
    ),
    notes=_gaussian_notes,
    second="feature-first (tight)",
)
BERNSTEIN = Statement(
    noise=Bernstein(v=2.0, b=2.0),
    drawn=LAPLACE,
    points=(
        Point(column="joint at its threshold"),
        Point(column="joint at the class-wise one", at="class-wise"),
        Point(column="feature-first at its own", at="feature-first", selector="columns"),
        Point(column="feature-first at the joint one", selector="columns"),
    ),
    notes=_bernstein_notes,
)
CLIPPED = Statement(
    noise=clipped(TAU),
    drawn={**CAUCHY, "clip": TAU},
    points=(
        Point(column="joint, clipped noise"),
        Point(column="the same, ρ + η = 0.5 adversarial", burden=Burden(error=0.5), more={"error": 0.5}),
        Point(column="joint at the class-wise one", at="class-wise"),
        Point(column="feature-first at its own", at="feature-first", selector="columns"),
        Point(column="joint, not clipped", drawn=CAUCHY),
        Point(column="joint, observed weights clipped", drawn=CAUCHY, more={"cap": TAU}),
    ),
    notes=_clipped_notes,
)
COVARIANCE = Statement(
    noise=_correlated(SHARED),
    drawn={"correlation": SHARED},
    points=(
        *(
            Point(column=f"{at}, r = {r:g}", at=at, noise=_correlated(r), drawn={"correlation": r})
            for r in (0.0, 0.5, 0.9)
            for at in ("joint", "class-wise")
        ),
        Point(
            column="r = 0.9 at the r = 0 threshold",
            noise=_correlated(0.0),
            drawn={"correlation": 0.9},
        ),
    ),
    notes=_covariance_notes,
)


STUDIES = (
    GAUSSIAN.study("theory-gaussian"),
    BERNSTEIN.study("theory-bernstein"),
    CLIPPED.study("theory-clipped"),
    COVARIANCE.study("theory-covariance"),
)
