"""Change since the reference as a picture: which columns changed, and how much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect.pages.over_time import FORMAT, clearest_changes
from biselect.plot.style import HIGHER, axes_for, name_rows, room

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CALM = "#b0b0b0"


def drift(report: Mapping[str, Any], ax: Axes | None = None, *, most_columns: int = 30) -> Axes:
    """How much each column changed, as `biselect.monitor` found it, the alarms in colour.

    Args:
        report: the result of `biselect.monitor`, or the content of `monitor.json`.
        ax: where to draw; a new figure if left out.
        most_columns: of the columns shown, the clearest changes first.
    """
    if not isinstance(report, Mapping) or report.get("format") != FORMAT:
        raise InputError("a picture of drift needs the result of biselect.monitor")
    changes = clearest_changes(report)
    strongest = changes[:most_columns]
    names = [change["column"] for change in strongest]
    with axes_for(ax, width=4.4 + room(names), height=0.24 * max(len(strongest), 3) + 1.1) as axes:
        colours = [HIGHER if change["alarm"] else CALM for change in strongest]
        axes.barh(range(len(strongest)), [change["effect"] for change in strongest], color=colours, height=0.7)
        name_rows(axes, names)
        axes.set_ylim(len(strongest) - 0.4, -0.6)
        axes.grid(False, axis="y")
        axes.set_xlabel("effect, from 0 for no change to 1")
        alarms = sum(change["alarm"] for change in changes)
        heading = f"{alarms or 'None'} of {len(changes)} columns changed beyond chance"
        rest = f"; {len(changes) - most_columns} not shown" if len(changes) > most_columns else ""
        axes.set_title(f"{heading}{rest}", loc="left", fontsize=10)
    return axes
