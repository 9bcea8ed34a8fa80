"""`biselect demo`: the main job on real transactions that ship with the package."""

from pathlib import Path
from typing import Annotated

from biselect.cli.answer import answer, check_place
from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import Output
from biselect.options import Kinds, Search, Weighing

TITLE = "Ten card transactions to review, and the four columns that show why"


def demo(
    weighing: Annotated[Weighing, Only("preset")] = Weighing(),
    kinds: Annotated[Kinds, Only("kinds")] = Kinds(),
    search: Annotated[Search, Only("seed")] = Search(),
    output: Annotated[Output, Only("open", "json", "quiet", out="Folder for the report and the files.")] = Output(
        out=Path("demo-report")
    ),
) -> None:
    """Choose 10 of 600 real card transactions and 4 of 29 columns, prove the choice and write a report.

    The reference is 13,145 earlier transactions of the same table. The labels are shown, never used.
    """
    from biselect.reviews import review
    from biselect.tables import table
    from biselect.tables.demo import COLUMNS, demo_tables

    check_place(output)
    steps = Steps(output.quiet)
    pool, reference = demo_tables()
    best = review(
        *(table(pool, columns=COLUMNS), reference),
        k=10,
        m=4,
        weighing=weighing,
        kinds=kinds,
        search=search,
        title=TITLE,
        progress=steps.step,
    )
    answer(best, output, steps)
