"""Keep cells that another tree made, where this one makes the same: a key names the code, so every renaming loses them.

    python studies/scripts/rekey_cells.py OLD NEW --checked 3

OLD is a folder of kept cells, one folder an experiment. Of each experiment the cells with the fewest seeds are
performed again here. Where all of their values are equal to the last bit, every cell of that experiment is written to
NEW under its key of today; where one differs, none is, and the experiment is named: run it again.
"""

import argparse
import json
from pathlib import Path

from biselect_studies.runner import keep
from biselect_studies.task import Task


def cells_of(folder: Path) -> list[tuple[Task, dict[str, list[object]]]]:
    """The kept cells of an experiment with their values, those with the fewest seeds first."""
    cells = []
    for path in sorted(folder.glob("*.json"), key=lambda path: (path.stat().st_size, path.name)):
        content = json.loads(path.read_text())
        cell = tuple(sorted((name, _hashable(value)) for name, value in content["task"]["cell"].items()))
        first, stop = content["task"]["seeds"]
        task = Task(experiment=content["task"]["experiment"], cell=cell, first=first, stop=stop)
        cells.append((task, content["values"]))
    return sorted(cells, key=lambda one: one[0].stop - one[0].first)


def _hashable(value: object) -> object:
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def rekey(old: Path, new: Path, checked: int) -> dict[str, str]:
    """Write what may be kept, and say of each experiment what became of it."""
    outcome = {}
    for folder in sorted(path for path in old.iterdir() if path.is_dir()):
        cells = cells_of(folder)
        differing = [task for task, values in cells[:checked] if json.loads(json.dumps(task.perform())) != values]
        if not differing:
            for task, values in cells:
                keep(task, values, new)
        outcome[folder.name] = f"{len(cells)} cells kept" if not differing else "differs: run it again"
    return outcome


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--checked", type=int, default=3, help="cells of each experiment that are performed again")
    given = parser.parse_args()
    for experiment, words in rekey(given.old, given.new, given.checked).items():
        print(f"{experiment}: {words}")


if __name__ == "__main__":
    main()
