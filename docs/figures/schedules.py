"""Draws docs/images/schedules.svg: the angles of three layers under each schedule; equal letters are tied."""

from canvas import IMAGES
from matplotlib import rc_context

import biselect as bs
from biselect.plot.style import house_style, panels
from biselect_quantum.circuits import SCHEDULES, Schedule


def main() -> None:
    """Draw it, from the schedules' own matrices."""
    with house_style(), rc_context({"svg.hashsalt": "schedules.svg"}):
        figure, axes = panels(1, len(SCHEDULES), width=1.5, height=2.4)
        for panel, name in zip(axes[0], SCHEDULES, strict=True):
            bs.plot.schedule(Schedule.named(name, depth=3), ax=panel)
        figure.savefig(IMAGES / "schedules.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
