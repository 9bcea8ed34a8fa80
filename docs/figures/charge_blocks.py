"""Draws docs/images/charge-blocks.svg: a line of qubits, a cut, and why a site tensor is a few small matrices."""

from canvas import BLACK, BLUE, GREY, ORANGE, PALE, SKY, box, drawing

SITES, CUT = 8, 4
SAMPLES = (1, 1, 0, 1, 0, 1, 0, 1)  # 1 where a site is a sample, 0 where it is a feature
CHARGES = ["(0, 0)", "(1, 0)", "(0, 1)", "(1, 1)", "(2, 0)", "(2, 1)"]
SIZES = [1, 2, 2, 3, 1, 2]  # states of the bond with each charge


def line(axes) -> None:
    """The qubits in a line, and what a bond must remember."""
    for site in range(SITES):
        x = 0.55 + 0.62 * site
        if site + 1 < SITES:
            axes.plot([x, x + 0.62], [3.35, 3.35], color=BLACK, linewidth=2.2, zorder=0)
        colour, name = (SKY, "s") if SAMPLES[site] else ("#f3b48f", "f")
        box(axes, x - 0.2, 3.15, 0.4, 0.4, name, facecolor=colour, linewidth=0, zorder=2)
    cut = 0.55 + 0.62 * (CUT - 0.5)
    axes.plot([cut, cut], [2.85, 3.9], color=ORANGE, linestyle="--", linewidth=1.5)
    axes.text(
        cut,
        3.98,
        "a bond: χ states, each with a charge,\n(samples, features) chosen to its left",
        ha="center",
        size=8.5,
    )
    axes.text(cut, 2.72, "no gate changes the charge of the whole line", ha="center", va="top", size=8.5, color=GREY)


def tensor(axes) -> None:
    """The matrix of a sample's site: bit 0 keeps the charge, bit 1 adds (1, 0)."""
    unit, left, top = 0.22, 6.5, 3.6
    starts = [sum(SIZES[:i]) for i in range(len(SIZES))]
    total = sum(SIZES)
    box(axes, left, top - total * unit, total * unit, total * unit, facecolor="#f7f7f7", edgecolor=GREY, linewidth=0.8)
    more = {"(0, 0)": "(1, 0)", "(1, 0)": "(2, 0)", "(0, 1)": "(1, 1)", "(1, 1)": "(2, 1)"}
    for row, charge in enumerate(CHARGES):
        for bit, after in ((0, charge), (1, more.get(charge))):
            if after is None:
                continue
            column = CHARGES.index(after)
            x, y = left + starts[column] * unit, top - (starts[row] + SIZES[row]) * unit
            colour = SKY if bit == 0 else BLUE
            ink = BLACK if bit == 0 else "white"
            box(axes, x, y, SIZES[column] * unit, SIZES[row] * unit, str(bit), facecolor=colour, ink=ink, size=8)
        middle = (starts[row] + SIZES[row] / 2) * unit
        axes.text(left - 0.08, top - middle, charge, ha="right", va="center", size=8)
        axes.text(
            left + middle, top + 0.06, charge, ha="left", va="bottom", size=8, rotation=55, rotation_mode="anchor"
        )
    axes.text(
        left - 0.75, top - total * unit / 2, "charge on the left", rotation=90, ha="center", va="center", size=8.5
    )
    axes.text(left + total * unit / 2, top + 0.62, "charge on the right", ha="center", size=8.5)
    filled = "light: bit 0, dark: bit 1\ngrey: does not exist"
    axes.text(left + total * unit / 2, top - total * unit - 0.12, filled, ha="center", va="top", size=8.5, color=GREY)


def main() -> None:
    """Draw it."""
    with drawing("charge-blocks.svg", 9.2, 4.6) as axes:
        line(axes)
        tensor(axes)
        box(axes, 0.35, 0.75, 4.75, 1.3, facecolor=PALE)
        words = (
            "A site tensor leads from the charges on its left to those on its",
            "right through one bit. Of all blocks only those exist whose charges",
            "fit, so memory and work shrink, every block is cut on its own,",
            "and no shot can miss a budget.",
        )
        axes.text(0.5, 1.4, "\n".join(words), va="center", size=8.5, linespacing=1.4)


if __name__ == "__main__":
    main()
