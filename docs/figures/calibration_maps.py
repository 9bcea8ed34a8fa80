"""Draws docs/images/calibration-maps.png: what the maps make of a heavy tail, and of a feature full of ties."""

from pathlib import Path

import numpy as np

from biselect.calibrate import Calibrator, map_names

IMAGE = Path(__file__).parents[1] / "images" / "calibration-maps.png"
STYLES = {  # colour and line, told apart without colour too
    "ecdf": ("#0b6fa4", "-"),
    "pareto": ("#0b6fa4", "--"),
    "conformal": ("#1b7f4b", "-"),
    "student-t": ("#9a5b00", "-"),
    "gaussian": ("#b0303c", "-"),
    "abs-z": ("#b0303c", ":"),
    "mad-z": ("#6b4fa0", ":"),
    "laplace": ("#6b4fa0", "-"),
}


def heavy_tail(axes) -> None:
    """Weights over values, far beyond the largest value of the reference."""
    reference = np.random.default_rng(5).standard_t(3, size=(2000, 1))
    values = np.linspace(0, 30, 600)[:, None]
    for name in map_names(supervised=False):
        weights = Calibrator(name).fit(reference).weights(values)[:, 0]
        colour, line = STYLES[name]
        axes.plot(values[:, 0], weights, color=colour, linestyle=line, label=name, linewidth=1.8)
    reach = reference.max()
    axes.axvline(reach, color="0.5", linewidth=1)
    axes.text(reach + 0.3, -0.1, "largest value\nof the reference", color="0.35", fontsize=8)
    axes.set(xlabel="value (2,000 reference rows, Student t with 3 degrees of freedom)", ylabel="weight")
    axes.set_title("A heavy tail: who still tells 15 from 30?", loc="left", fontsize=11)
    axes.legend(fontsize=8, ncols=2, loc=(0.63, 0.13), frameon=False)


def ties(axes) -> None:
    """Weights of the values of a count, nine tenths of which are zero."""
    counts = np.repeat(np.arange(6.0), [900, 50, 25, 15, 8, 2])[:, None]
    names = ["ecdf", "conformal", "gaussian", "mad-z"]
    for place, name in enumerate(names):
        weights = Calibrator(name).fit(counts).weights(np.arange(6.0)[:, None])[:, 0]
        axes.bar(np.arange(6) + 0.2 * (place - 1.5), weights, width=0.19, color=STYLES[name][0], label=name)
    axes.set(xlabel="value (1,000 reference rows, 900 of them zero)", ylabel="weight")
    axes.set_title("Ties: ranks give no weight to the commonest value", loc="left", fontsize=11)
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def main() -> None:
    """Draw both."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    heavy_tail(left)
    ties(right)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGE, dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    main()
