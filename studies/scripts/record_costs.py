"""Note what a task of each experiment takes, in seconds of processor time, from the times of a reproduction.

    python studies/scripts/record_costs.py reproduction studies/src/biselect_studies/costs.toml

Forms and experiments that the folder has no times of keep what the file said before.
"""

import sys
import tomllib
from pathlib import Path

from biselect.core.files import write_file
from biselect_studies.forecast import read_times

HEADING = "# Processor seconds of one task, by form and experiment; made by studies/scripts/record_costs.py.\n"


def main(folder: Path, record: Path) -> None:
    """Bring the record up to the folder."""
    known = tomllib.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for form, times in read_times(folder).items():
        known.setdefault(form, {}).update({name: round(total / count, 3) for name, (count, total) in times.items()})
    tables = (
        f"\n[{form}]\n" + "".join(f"{name} = {seconds}\n" for name, seconds in sorted(known[form].items()))
        for form in sorted(known)
    )
    write_file(record, HEADING + "".join(tables))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
