"""Proposition covariance-aware-joint-recovery: noise that is equicorrelated within features."""

from __future__ import annotations

from functools import cache

from biselect.core import Sector
from biselect.theory import SubGaussian, classwise_threshold, feature_first_threshold, joint_threshold
from biselect_studies import recovery_curves as shared
from biselect_studies.recovery_curves import DELTA, Point, signal
from biselect_studies.results import Findings
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task

CORRELATIONS = (0.0, 0.5, 0.9)
DRAWN = 0.5  # correlation of the curves


def noise(correlation: float) -> SubGaussian:
    """Unit noise with that correlation within a feature."""
    return SubGaussian(sigma=1.0, correlation=correlation)


@cache
def points() -> dict[Sector, list[Point]]:
    """The proposition and the class-wise bound at each correlation; the independent threshold where it is wrong."""
    found = {}
    for sector in shared.sectors():
        independent = signal(joint_threshold(sector, noise(0.0), delta=DELTA))
        of_sector = []
        for r in CORRELATIONS:
            joint = signal(joint_threshold(sector, noise(r), delta=DELTA))
            tighter = signal(classwise_threshold(sector, noise(r), delta=DELTA))
            of_sector.append(Point(column=f"joint, r = {r:g}", cell={"correlation": r, "signal": joint}))
            of_sector.append(
                Point(column=f"class-wise, r = {r:g}", cell={"correlation": r, "signal": tighter}, promise="ours")
            )
        worst = {"correlation": CORRELATIONS[-1], "signal": independent}
        of_sector.append(Point(column="r = 0.9 at the r = 0 threshold", cell=worst, promise="nobody"))
        found[sector] = of_sector
    return found


@cache
def curves() -> dict[Sector, list[Point]]:
    """Recovery up to the threshold at r = 0.5."""
    threshold = {s: joint_threshold(s, noise(DRAWN), delta=DELTA) for s in shared.sectors()}
    return {s: shared.curve({"correlation": DRAWN}, mu) for s, mu in threshold.items()}


def tasks(quick: bool) -> list[Task]:
    """Points and curves."""
    return shared.tasks(points(), quick) + shared.tasks(curves(), quick)


def summarise(records: Records, quick: bool) -> Findings:
    """Recovery at every threshold."""
    thresholds = {}
    growth = []
    for s in shared.sectors():
        joint = joint_threshold(s, noise(DRAWN), delta=DELTA)
        growth.append(joint_threshold(s, noise(0.9), delta=DELTA) / joint_threshold(s, noise(0.0), delta=DELTA))
        thresholds[shared.name(s)] = {
            "class-wise threshold": classwise_threshold(s, noise(DRAWN), delta=DELTA) / joint,
            "feature-first threshold": feature_first_threshold(s, noise(DRAWN), delta=DELTA) / joint,
        }
    return Findings(
        seeds=shared.trials(quick),
        cells=shared.entries(points(), records),
        notes=(
            f"A correlation of 0.9 within features raises the joint threshold {min(growth):.2f} to {max(growth):.2f} "
            "times: averaging over k samples helps less against noise that they share.",
            f"The curves are drawn at r = {DRAWN:g}.",
        ),
        extra={"curves": shared.curves(curves(), records), "thresholds": thresholds},
    )


STUDY = Study(
    name="theory-covariance",
    title="Recovery at the thresholds, noise correlated within features",
    label="prop:covariance-aware-joint-recovery",
    tasks=tasks,
    summarise=summarise,
    draw=shared.draw,
    choices=(shared.CHOICE,),
)
