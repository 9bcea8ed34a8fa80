"""Review: the answer, what could mislead, and the plain data that pages and files are made from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biselect.core import Selection, SelectionProblem
from biselect.core.selection import Explanation, as_frame, free_name
from biselect.pages import render_html
from biselect.pages.answer_files import write_outputs
from biselect.pages.notebook import review_html
from biselect.pages.words import strongest_reason
from biselect.reviews.caveats import Caveat
from biselect.reviews.kinds import KindList, kinds_bytes
from biselect.weights import Weigher


@dataclass(frozen=True, kw_only=True, eq=False)
class Review:
    """k rows and m columns to look at, why, and how good the choice is; made by `biselect.review`.

    Attributes:
        selection: the answer, with its proof or bound.
        warnings: what could mislead a reader: columns that look like clocks or ids, constants, filled cells.
        summary: all of it as plain data, the content of `report.json`.
        neighbours: the answers for neighbouring budgets, `selection` among them.
        kinds: kinds of unusual, each with its own block and proof; None where they were not looked for.
        calibrator: fitted on the reference; None for a problem of weights.
        calibration: what the rows of a table that is not held are weighed with, the content of `calibration.npz`; None
            where all rows are in the problem.
        index: the chosen rows in the index of a pandas pool, where that names them.
    """

    selection: Selection
    warnings: tuple[Caveat, ...]
    summary: dict[str, Any] = field(repr=False)
    neighbours: tuple[Selection, ...] = field(repr=False)
    kinds: KindList | None = field(default=None, repr=False)
    calibrator: Weigher | None = field(default=None, repr=False)
    calibration: bytes | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)

    @property
    def problem(self) -> SelectionProblem:
        """What was solved: weights, budgets and rules."""
        return self.selection.problem

    def explain(self, nearest: int = 10) -> Explanation:
        """What each chosen row, column and cell adds, and the nearest swaps; see `Selection.explain`."""
        return self.selection.explain(nearest=nearest)

    def to_frame(self) -> Any:
        """The chosen rows, strongest first: values in the chosen columns, what the row adds, its strongest reason.

        The frame is of the library that the pool came in; one of pandas has the pool's own index where that names the
        rows. Values that the pool does not have are missing here too; a problem of weights has none, so a cell holds
        what it adds. A column whose name is taken gets a star.
        """
        rows = self.summary["rows"]
        cells = [{cell["feature"]: cell for cell in row["cells"]} for row in rows]
        content = {"sample": [row["name"] for row in rows]}
        beside = {name: [row["shown"][name] for row in rows] for name in rows[0]["shown"]}
        values = {name: [_value(row[name]) for row in cells] for name in self.selection.feature_names}
        for name, column in [*beside.items(), *values.items()]:
            content[free_name(name, {*content, "adds", "reason"})] = column
        content["adds"] = [row["value"] for row in rows]
        content["reason"] = [strongest_reason(row) for row in rows]
        frame = as_frame(content, self.problem.library)
        places = {} if self.index is None else {str(label): at for at, label in enumerate(self.index)}
        if places.keys() >= set(content["sample"]):
            frame.index = self.index[[places[name] for name in content["sample"]]]
        return frame

    def __repr__(self) -> str:
        problem, selection = self.problem, self.selection
        sizes = f"{problem.k} of {problem.n_samples} rows, {problem.m} of {problem.n_features} columns"
        quality = (
            f"score={selection.score:.6g}, proven_optimal={selection.proven_optimal}, warnings={len(self.warnings)}"
        )
        return f"Review({sizes}, {quality})"

    def _repr_html_(self) -> str:
        reasons = [strongest_reason(row) for row in self.summary["rows"]]
        return review_html(self.summary, self.selection.standing, reasons)

    def show(self) -> None:
        """Show the whole page: below the cell of a notebook, elsewhere in the browser."""
        from biselect.pages.html import show_page

        show_page(self.report())

    def report(self) -> str:
        """The answer as one self-contained HTML page."""
        return render_html(self.summary)

    def save(self, folder: str | Path, *, proof: bool = False) -> list[Path]:
        """Write selection.json, explanation.csv, report.json, report.html, run.json and problem.npz into a folder.

        With `proof` also proof.json, which `biselect check` follows; an answer that is not proven has none. For a table
        that is not held also calibration.npz, with which its rows can be weighed again; for kinds also kinds.npz, with
        their proofs.
        """
        kinds = None if self.kinds is None or not proof else kinds_bytes(self.kinds)
        calibration = self.calibration
        return write_outputs(folder, self.selection, self.summary, proof=proof, calibration=calibration, kinds=kinds)


def _value(cell: dict[str, Any]) -> float | str | None:
    return None if cell.get("filled") else cell.get("value", cell["adds"])
