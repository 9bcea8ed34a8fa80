"""`biselect select --reviewed`: the rows to review next, given the answers so far."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.cli.console import Steps, out, printable

OF_SESSION = (
    *("pool", "reference", "k", "m", "kinds", "map", "missing", "drift", "seed", "time_limit", "reference_until"),
    *("id_column", "label_column", "time_column", "time_format", "features", "exclude", "show", "per"),
)


def review_on(path: Path, given: Mapping[str, Any], *, folder: Path | None, as_json: bool, steps: Steps) -> None:
    """Print the k rows to review next, and write next.csv and session.json into the folder.

    Args:
        path: the table of answers.
        given: what `select` was given.
        folder: for the files; None to print alone.
        as_json: print JSON instead of a table.
        steps: progress.
    """
    from biselect.reviews.rounds import next_round

    found = next_round(path, count=given["k"], progress=steps.step, **{name: given[name] for name in OF_SESSION})
    for place in [] if folder is None else found.save(folder):
        steps.say(f"wrote {place}")
    told = found.to_dict()
    if as_json:
        sys.stdout.write(json.dumps(told) + "\n")
        return
    console = out()
    console.print(f"{told['hits']} of {told['reviewed']} reviewed rows were hits. Review next:")
    for row in told["next"]:
        console.print(printable(f"  {row['sample']}  ({row['list']})"))
