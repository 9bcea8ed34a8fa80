"""Draws docs/images/sector-size.svg: amplitudes inside the budgets against all of 2^(N+D)."""

import numpy as np
from canvas import BLUE, GREY, ORANGE, save
from matplotlib import rc_context
from matplotlib.figure import Figure

from biselect.core import Sector
from biselect.plot.style import house_style

SIZES = {  # and where the label stands
    (8, 6, 3, 2): (7, -3),
    (12, 8, 3, 5): (7, -9),
    (14, 10, 3, 3): (7, 1),
    (20, 16, 6, 5): (7, -5),
    (24, 16, 8, 6): (7, -12),
    (24, 18, 8, 6): (8, 12),
    (38, 26, 10, 10): (-46, -14),
}
BYTES = 8  # complex64
MEMORY = {"a laptop, 16 GiB": (2**34, 0.6, "top"), "a GPU, 140 GiB": (140 * 2**30, 1.5, "bottom")}


def main() -> None:
    """Draw it."""
    with house_style(), rc_context({"svg.hashsalt": "sector"}):
        figure = Figure(figsize=(6.6, 3.6), layout="constrained")
        axes = figure.subplots()
        qubits = np.arange(10, 68)
        axes.plot(qubits, 2.0**qubits, color=GREY, linestyle="--", label="all bit strings, 2^(N+D)")
        widths = [n + d for n, d, _, _ in SIZES]
        sizes = [Sector(n_samples=n, n_features=d, k=k, m=m).size for n, d, k, m in SIZES]
        axes.plot(widths, sizes, color=BLUE, marker="o", linestyle="", label="inside the budgets, C(N, k)·C(D, m)")
        for width, size, (case, offset) in zip(widths, sizes, SIZES.items(), strict=True):
            axes.annotate(str(case), (width, size), xytext=offset, textcoords="offset points", size=8)
        for name, (space, height, side) in MEMORY.items():
            axes.axhline(space / BYTES, color=ORANGE, linewidth=1)
            axes.text(67, space / BYTES * height, name, ha="right", va=side, size=8, color=ORANGE)
        axes.set(yscale="log", xlabel="qubits, N + D", ylabel="amplitudes", xlim=(10, 68), ylim=(100, 1e21))
        axes.legend(loc="upper left")
        save(figure, "sector-size.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
