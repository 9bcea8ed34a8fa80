"""From finished tasks to files: results.json, a table to read, a figure. Running and rendering are apart."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from math import isnan, nan
from pathlib import Path

from biselect.core.files import write_folder
from biselect.errors import MissingDataError, MissingDependencyError
from biselect.plot.style import house_style
from biselect.progress import progress_of
from biselect_studies.forecast import keep_times, longest_first
from biselect_studies.measured import measured
from biselect_studies.on_device import OnDevice
from biselect_studies.results import Entry, Findings, Results
from biselect_studies.rule import CANNOT_TELL, DIFFERS, UNEXPLAINED, Reading, read
from biselect_studies.runner import CELLS as CELLS
from biselect_studies.runner import Progress, collect, run
from biselect_studies.study import Study, load


def reproduce(
    name: str,
    folder: Path,
    *,
    quick: bool = False,
    on: str = "local",
    progress: Progress | bool | None = None,
    device: OnDevice | None = None,
) -> Results:
    """Run what is missing of a study, then write its files.

    Args:
        name: one of `study_names()`.
        folder: holds `cells/` and `runs/`, which studies share, and one folder per study.
        quick: the short form.
        on: where to run, see `runner.run`; a study that measures time stays on this machine.
        progress: called with the number of finished and of all tasks. None shows a bar to whoever watches, in a
            terminal or a notebook, after two seconds; False shows none.
        device: the device to measure the hardware columns on; what it still owes is in its `pending` then.
    """
    study = load(name)
    if reason := study.absent():
        raise MissingDataError(reason)
    tasks = study.tasks(quick)
    if device is not None:
        device.hand_in()  # a queue may pass while the rest is simulated
    with progress_of(None if progress in (None, True) else False, name) as told:
        shown = None if told is None else lambda done, total: told(done / max(total, 1), nan)
        count = progress if callable(progress) else shown
        spent = run(tasks, folder / CELLS, on="alone" if study.timed else on, progress=count)
    keep_times(folder, quick, spent)
    if device is not None:
        device.collect()
    results = study.results(collect(tasks, folder / CELLS), quick, measured(study, folder, quick))
    write(study, results, folder / name)
    return results


def run_together(
    studies: Iterable[Study], folder: Path, *, quick: bool = False, on: str = "local", progress: Progress | None = None
) -> None:
    """Do the tasks of many studies side by side, so that no core waits for the last task of each.

    `reproduce` then finds them done. Studies that measure time, and those that lack a table or package, are left to it.
    """
    together = [study for study in studies if not study.timed and not study.absent()]
    tasks = longest_first([task for study in together for task in study.tasks(quick)], folder, quick)
    spent = run(tasks, folder / CELLS, on=on, progress=progress, leaving=(MissingDataError, MissingDependencyError))
    keep_times(folder, quick, spent)


def skip(name: str, folder: Path, reason: str, *, quick: bool) -> Results:
    """Write that a study was skipped, and why; there is no figure then."""
    study = load(name)
    results = study.skipped(reason, quick)
    write(study, results, folder / name)
    return results


def write(study: Study, results: Results, folder: Path) -> None:
    """Write table.md, figure.png (where there are numbers) and results.json: all of them, or none."""
    contents: dict[str, str | bytes] = {"table.md": markdown(study, results)}
    if results.cells:
        picture = BytesIO()
        with house_style():
            study.draw(results).savefig(picture, metadata={"Software": None})
        contents["figure.png"] = picture.getvalue()
    write_folder(folder, {**contents, "results.json": results.to_json()}, replaces=["figure.png"])


def shown(entry: Entry) -> str:
    """One number as people read it: ours with its interval, the paper's, and a mark where they do not match."""
    if isnan(entry.ours):
        return entry.verdict
    interval = "no interval" if isnan(entry.low) else f"{digits(entry.low)}, {digits(entry.high)}"
    text = f"{digits(entry.ours)} [{interval}]"
    mark = {DIFFERS: " ≠", CANNOT_TELL: " ?"}.get(entry.verdict, "")
    return text if entry.paper is None else f"{text} · {digits(entry.paper)}{mark}"


def legend(found: Findings) -> str:
    """How to read an entry as `shown` writes it."""
    return (
        f"ours [{found.brackets}] · the paper's, where it prints one; ≠ marks a difference, ? that there is too little "
        "to tell."
    )


def digits(value: float) -> str:
    """A number of a table: three decimals below ten, one above; no minus before zero."""
    decimals = 3 if abs(value) < 10 else 1
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def markdown(study: Study, results: Results) -> str:
    """The table with the paper's figures, a reading of every difference, what was chosen, and the notes."""
    rows, columns = axes(results.cells)
    lines = [
        f"# {results.title}",
        "",
        f"{results.label}, {results.seeds} seeds{', quick form' if results.quick else ''}. "
        f"Each entry: {legend(results)}",
        "",
        "| | " + " | ".join(map(_in_table, columns)) + " |",
        "|---|" + "---|" * len(columns),
    ]
    known = {(entry.row, entry.column): _in_table(shown(entry)) for entry in results.cells}
    for row in rows:
        lines.append(f"| {_in_table(row)} | " + " | ".join(known.get((row, column), "") for column in columns) + " |")
    differences = []
    for reading, entries in read([cell for cell in results.cells if cell.verdict == DIFFERS], study.readings):
        where = "; ".join(f"{entry.row}, {entry.column}" for entry in entries)
        why = UNEXPLAINED if reading is None else f"{reading.text} ({reading.cause}{_shown_by(reading)})"
        differences.append(f"{where}: {why}")
    for heading, texts in (
        ("Where ours differs, and why", differences),
        ("What the paper left open, and what we chose", study.choices),
        ("To read it", results.notes),
    ):
        if texts:
            lines += ["", f"## {heading}", "", *(f"- {_no_markup(text)}" for text in texts)]
    return "\n".join(lines) + "\n"


def _no_markup(text: str) -> str:
    """Text in which no name of a device, row or column opens a tag."""
    return text.replace("<", "&lt;")


def _in_table(text: str) -> str:
    return _no_markup(text).replace("|", r"\|")


def _shown_by(reading: Reading) -> str:
    return "".join(f"; `{command}`" for command in reading.commands)


def axes(entries: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """Rows and columns of a table, in the order in which they first stand."""
    return list(dict.fromkeys(e.row for e in entries)), list(dict.fromkeys(e.column for e in entries))
