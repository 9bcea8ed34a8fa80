"""Draws docs/images/map-NAME.svg for every map, and docs/images/calibration-maps.png, which compares some of them."""

import numpy as np
from canvas import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, PINK, SKY, save
from matplotlib import rc_context

from biselect.plot.style import house_style, panels
from biselect.weights import Weigher, map_names
from biselect_studies.experiments.baselines import studied_map

HIGHEST = 11.0  # shown; the cap of `reach` is further up
COMPARED = {  # colour and line, told apart without colour too
    "reach": (BLUE, "-"),
    "ecdf": (BLUE, ":"),
    "pareto": (GREEN, "-"),
    "gaussian": (ORANGE, "-"),
    "mad-z": (ORANGE, ":"),
    "density": (PINK, "--"),
}
HEAVY = np.random.default_rng(5).standard_t(3, size=2000)
MODES = np.random.default_rng(5).normal(np.repeat([-3.0, 3.0], [1400, 600]), 0.6)
COUNT = np.repeat(np.arange(6.0), [900, 50, 25, 15, 8, 2])


def weights(name, reference, values):
    """What values of one column weigh; the logistic map is told that the 40 largest distances are anomalies."""
    known = np.argsort(np.argsort(-np.abs(reference - np.median(reference)), kind="stable")) < 40
    return Weigher(studied_map(name, known)).fit(reference[:, None]).weights(values[:, None])[:, 0]


def curve(axes, name, reference, values):
    """The weight over values, `ecdf` behind it, and where the reference lies."""
    axes.plot(values, weights("ecdf", reference, values), color=GREY, linestyle=":")
    axes.plot(values, weights(name, reference, values), color=BLUE)
    axes.axvspan(reference.min(), reference.max(), color=PALE, alpha=0.6, linewidth=0)


def three_columns(name):
    """One map on a heavy tail, on two modes, and on a count that is mostly zero."""
    figure, [[heavy, modes, count]] = panels(1, 3, width=2.6, height=1.9, sharey=True)
    curve(heavy, name, HEAVY, np.linspace(-40, 40, 321))
    curve(modes, name, MODES, np.linspace(-10, 10, 321))
    counts = np.arange(7.0)
    count.bar(counts, weights(name, COUNT, counts), color=SKY, width=0.6)
    count.plot(counts, weights("ecdf", COUNT, counts), color=BLACK, marker="_", linestyle="", markersize=10)
    heavy.set(title="heavy tail", ylabel="weight", ylim=(0, HIGHEST), yticks=(0, 5, 10))
    modes.set(title="two modes")
    count.set(title="a count, 90 % zeros", xticks=counts)
    save(figure, f"map-{name}.svg", metadata={"Date": None, "Creator": None})


def compared():
    """Who tells values apart beyond the reference, and what ties weigh."""
    figure, [[tail, ties]] = panels(1, 2, width=5.0, height=3.6)
    values = np.linspace(0, 40, 401)
    for name, (colour, line) in COMPARED.items():
        tail.plot(values, weights(name, HEAVY, values), color=colour, linestyle=line, label=name)
    tail.axvspan(0, HEAVY.max(), color=PALE, alpha=0.6, linewidth=0)
    tail.text(HEAVY.max() - 0.4, 0.15, "the reference ends here", color=GREY, size=8, ha="right")
    tail.set(xlabel="value (2,000 reference rows, Student t with 3 degrees of freedom)", ylabel="weight")
    tail.set(title="A heavy tail: who still tells 20 from 40?", ylim=(0, HIGHEST))
    tail.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 0.08))
    for place, name in enumerate(["reach", "gaussian", "mad-z"]):
        found = weights(name, COUNT, np.arange(6.0))
        ties.bar(np.arange(6) + 0.27 * (place - 1), found, width=0.25, color=[BLUE, ORANGE, PINK][place], label=name)
    ties.set(xlabel="value (1,000 reference rows, 900 of them zero)", ylabel="weight")
    ties.set(title="Ties: ranks give no weight to the commonest value")
    ties.legend(loc="upper left")
    save(figure, "calibration-maps.png", dpi=120, metadata={"Software": None})


def main() -> None:
    """Draw all of them."""
    with house_style():
        compared()
        for name in map_names():
            with rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "path.simplify_threshold": 0.3}):
                three_columns(name)


if __name__ == "__main__":
    main()
