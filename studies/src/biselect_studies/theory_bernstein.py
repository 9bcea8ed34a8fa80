"""Proposition bernstein-tail-joint-recovery under Laplace noise (v = b = 2), at its own thresholds."""

from __future__ import annotations

from functools import cache

from biselect.core import Sector
from biselect.theory import Bernstein, classwise_threshold, feature_first_threshold, joint_threshold
from biselect_studies import recovery_curves as shared
from biselect_studies.recovery_curves import DELTA, Point, signal
from biselect_studies.results import Findings
from biselect_studies.runner import Records
from biselect_studies.study import Study
from biselect_studies.task import Task

NOISE = Bernstein(v=2.0, b=2.0)
LAPLACE = {"residuals": "laplace"}


@cache
def thresholds() -> dict[Sector, tuple[float, float, float]]:
    """Joint, class-wise and feature-first, by setting."""
    return {
        s: (
            joint_threshold(s, NOISE, delta=DELTA),
            classwise_threshold(s, NOISE, delta=DELTA),
            feature_first_threshold(s, NOISE, delta=DELTA),
        )
        for s in shared.sectors()
    }


@cache
def points() -> dict[Sector, list[Point]]:
    """Every statement at the smallest signal for which it promises recovery."""
    return {
        sector: [
            Point(column="joint at its threshold", cell={**LAPLACE, "signal": signal(joint)}),
            Point(column="joint at the class-wise one", cell={**LAPLACE, "signal": signal(tighter)}, promise="ours"),
            Point(
                column="feature-first at its own",
                cell={**LAPLACE, "signal": signal(columns)},
                selector="columns",
            ),
            Point(
                column="feature-first at the joint one",
                cell={**LAPLACE, "signal": signal(joint)},
                selector="columns",
                promise="nobody",
            ),
        ]
        for sector, (joint, tighter, columns) in thresholds().items()
    }


@cache
def curves() -> dict[Sector, list[Point]]:
    """Recovery up to the paper's joint threshold."""
    return {sector: shared.curve(LAPLACE, joint) for sector, (joint, _, _) in thresholds().items()}


def tasks(quick: bool) -> list[Task]:
    """Points and curves."""
    return shared.tasks(points(), quick) + shared.tasks(curves(), quick)


def summarise(records: Records, quick: bool) -> Findings:
    """Recovery at every threshold, and whether the conditions separate at all."""
    found = thresholds().values()
    inverted = sum(joint >= columns for joint, _, columns in found)
    separated = sum(tighter < columns for _, tighter, columns in found)
    listed = "; ".join(
        f"{shared.name(s)} {joint:.1f}, {tighter:.1f}, {columns:.1f}"
        for s, (joint, tighter, columns) in thresholds().items()
    )
    return Findings(
        seeds=shared.trials(quick),
        cells=shared.entries(points(), records),
        notes=(
            f"No separation: in {inverted} of {len(found)} settings the paper's joint condition asks for more signal "
            f"than the feature-first one. The class-wise bound asks for less than it in {separated}.",
            f"Thresholds (joint, class-wise, feature-first): {listed}.",
            "Feature-first recovery is of the features alone, joint recovery of the whole pair.",
        ),
        extra={
            "curves": shared.curves(curves(), records),
            "thresholds": {
                shared.name(s): {"class-wise threshold": tighter / joint, "feature-first threshold": columns / joint}
                for s, (joint, tighter, columns) in thresholds().items()
            },
        },
    )


STUDY = Study(
    name="theory-bernstein",
    title="Recovery at the thresholds, Laplace noise",
    label="prop:bernstein-tail-joint-recovery",
    tasks=tasks,
    summarise=summarise,
    draw=shared.draw,
    choices=(shared.CHOICE,),
)
