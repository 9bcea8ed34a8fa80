"""Hit rates on a terminal, each beside its nulls."""

from collections.abc import Mapping
from typing import Any

from biselect.pages.terminal import figures, show_line, show_table

SEEDS = 8  # unless somebody says otherwise
PATIENCE = 300.0  # seconds that controls may take by default


def seeds_of(seconds: float) -> int:
    """Trainings of each control by default, where one training took so long."""
    return SEEDS if 4 * SEEDS * seconds < PATIENCE else 0


def show_nulls(nulls: Mapping[str, Any]) -> None:
    """A table of what `Nulls.to_dict` gives, its factors and its sentence."""
    title = f"Hits of energy ≤ {nulls['goal']:.6g} in those of chance, {nulls['knowledge']}; {nulls['seeds']} seeds"
    better = nulls["start_energy"] is not None
    columns = ("angles", "median", "interval", f"in {nulls['shots']:,}", *(["beats start"] if better else []))
    table = figures(title, "", *columns)
    for row in nulls["rows"]:
        low, middle, high = row["over_chance"]
        improved = [] if not better else ["" if row["improved"] is None else f"{100 * row['improved']:.1f} %"]
        cells = [str(row["angles"]), f"{middle:.3g}", f"{low:.3g}, {high:.3g}", f"{row['seen']:.3f}", *improved]
        table.add_row(row["what"], *cells, style="bold" if row["row"] == "full" else None)
    show_table(table)
    factors = (f"{name} {middle:.3g} [{low:.3g}, {high:.3g}]" for name, (low, middle, high) in nulls["factors"].items())
    show_line(f"Hits over chance = transport × fields × couplings: {', '.join(factors)}")
    if better:
        start = f"{nulls['start_energy']:.6g}"
        show_line(f"The start itself has energy {start}; beats start: share of shots with a lower one")
    show_line(nulls["text"])
