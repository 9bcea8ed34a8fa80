"""Change since the reference as a picture: drift of the weights over time, or the columns that changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect.plot.canvas import AS_IT_IS, axes_for, fitted, name_rows, room
from biselect.report.monitor import FORMAT, clearest_changes
from biselect.report.style import COLOURS, HIGHER, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CALM = "#b0b0b0"


def drift(found: Mapping[str, Any], ax: Axes | None = None, *, most_columns: int = 30) -> Axes:
    """What `biselect.reviews.monitor_drift` found.

    With budgets and several windows: how far the weights of each map drifted, in their own spread; a ring
    marks a window whose selection would change. Otherwise: how much each column changed, the alarms in colour.

    Args:
        found: the result of `monitor_drift`, or the content of `monitor.json`.
        ax: where to draw; a new figure if left out.
        most_columns: of the columns shown, the clearest changes first.
    """
    if not isinstance(found, Mapping) or found.get("format") != FORMAT:
        raise InputError("a picture of drift needs the result of monitor_drift")
    if len(found["points"]) > 1 and found["budgets"]:
        return _over_time(found, ax)
    return _columns(found, ax, most_columns)


def _over_time(found: Mapping[str, Any], ax: Axes | None) -> Axes:
    points = found["points"]
    ends = [point["end"] for point in points]
    with axes_for(ax, width=7.2, height=3.6) as axes:
        names = [one["map"] for one in points[0]["drifts"]]
        told = [names[0], *([found["steadiest_map"]] if found["steadiest_map"] != names[0] else [])]
        for name in [*(name for name in names if name not in told), *reversed(told)]:
            at = names.index(name)
            values = [point["drifts"][at]["relative_drift"] for point in points]
            if name not in told:
                others = "" if axes.lines else "other maps"  # once in the legend
                axes.plot(ends, values, color=CALM, linewidth=0.9, label=others or "_")
                continue
            place = told.index(name)
            label = f"{name}, {'in use' if place == 0 else 'the steadiest'}"
            axes.plot(ends, values, color=COLOURS[2 * place], marker=MARKERS[2 * place], linewidth=2, label=label)
            turned = [(end, value) for end, value, point in zip(ends, values, points, strict=True) if _turns(point, at)]
            if turned and place == 0:
                look: Any = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "color": HIGHER}
                axes.plot(*zip(*turned, strict=True), linestyle="", label="the selection would change", **look)
        shown = sorted({0, len(points) // 2, len(points) - 1})
        labels = [fitted(str(points[at]["when"]), 24) for at in shown]
        axes.set_xticks([ends[at] for at in shown], labels, **AS_IT_IS)
        axes.set_ylim(bottom=0)
        axes.set(xlabel="older reference up to", ylabel="drift, in spreads of the weights")
        axes.set_title("How far the weights moved since then", loc="left", fontsize=10)
        axes.legend(loc="best")
    return axes


def _turns(point: Mapping[str, Any], at: int) -> bool:
    return bool(point["drifts"][at]["changes_selection"])


def _columns(found: Mapping[str, Any], ax: Axes | None, most: int) -> Axes:
    changes = clearest_changes(found)
    shown = changes[:most]
    names = [change["column"] for change in shown]
    with axes_for(ax, width=4.4 + room(names), height=0.24 * max(len(shown), 3) + 1.1) as axes:
        colours = [HIGHER if change["alarm"] else CALM for change in shown]
        axes.barh(range(len(shown)), [change["effect"] for change in shown], color=colours, height=0.7)
        name_rows(axes, names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.grid(False, axis="y")
        axes.set_xlabel("effect, from 0 for no change to 1")
        alarms = sum(change["alarm"] for change in changes)
        told = f"{alarms or 'None'} of {len(changes)} columns changed beyond chance"
        rest = f"; {len(changes) - most} not shown" if len(changes) > most else ""
        axes.set_title(f"{told}{rest}", loc="left", fontsize=10)
    return axes
