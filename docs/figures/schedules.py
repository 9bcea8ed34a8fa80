"""Draws docs/images/schedules.svg: the angles of three layers under each schedule; equal letters are tied."""

from canvas import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, YELLOW, box, drawing

from biselect.qaoa import SCHEDULES, Schedule

DEPTH, SIDE = 3, 0.34
TINTS = (SKY, YELLOW, GREEN, PINK, ORANGE, BLUE)
LINES = ("γ S", "γ F", "γ SF", "β")


def main() -> None:
    """Draw it, from the schedules' own matrices."""
    with drawing("schedules.svg", 7.4, 2.6) as axes:
        for row, text in enumerate(LINES):
            axes.text(0.5, 1.75 - row * SIDE, text, ha="right", va="center", size=9)
        for place, name in enumerate(SCHEDULES):
            schedule = Schedule.named(name, depth=DEPTH)
            left = 0.7 + place * 1.34
            axes.text(left + 1.5 * SIDE, 2.3, name, ha="center", size=9, weight="bold")
            for layer in range(DEPTH):
                for row in range(4):
                    free = int(schedule.matrix[layer, row].argmax())
                    x, y = left + layer * SIDE, 1.75 - (row + 0.5) * SIDE
                    tint = TINTS[free % len(TINTS)]
                    box(axes, x, y, SIDE, SIDE, chr(ord("a") + free), facecolor=tint, alpha=0.55, linewidth=1.5)
                axes.text(left + (layer + 0.5) * SIDE, 2.02, str(layer + 1), ha="center", size=8, color=GREY)
            axes.text(left + 1.5 * SIDE, 0.28, f"{schedule.size} angles", ha="center", size=9, color=BLACK)


if __name__ == "__main__":
    main()
