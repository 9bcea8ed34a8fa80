"""Note which numbers of a full reproduction differ from the paper's; the tests hold the readings to that list.

    python studies/scripts/record_differences.py reproduction studies/tests/differences.json

Studies of the folder that are quick or were skipped keep what the list said of them before.
"""

import json
import sys
from pathlib import Path

from biselect.core.files import write_file
from biselect_studies import Results, study_names


def main(folder: Path, record: Path) -> None:
    """Bring the list up to the folder."""
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for name in study_names():
        path = folder / name / "results.json"
        if not path.exists():
            continue
        results = Results.from_json(path.read_text(encoding="utf-8"))
        if results.cells and not results.quick:
            known[name] = [[cell.row, cell.column] for cell in results.cells if cell.verdict == "differs"]
    lines = (f"{json.dumps(name)}: {json.dumps(cells, ensure_ascii=False)}" for name, cells in sorted(known.items()))
    write_file(record, "{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
