"""Note the verdict on every printed number and claim of a full reproduction, and print how many there are of each.

    python studies/scripts/record_verdicts.py reproduction studies/tests/verdicts.json

Record every study that ran in full, whatever came out; one that looks at the clock only from a machine that is idle
otherwise. Studies of the folder that are quick, were skipped or not run keep what the record said of them before. The
tests hold the readings to the record, and the counts in the README.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biselect.core.files import write_file
from biselect_studies import study_names
from biselect_studies.page import SAID, SHOWN, summarise_reproduction
from biselect_studies.rule import DIFFERS, UNEXPLAINED, VERDICTS


def main(folder: Path, record: Path) -> None:
    """Bring the record up to the folder."""
    known = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for study in summarise_reproduction(folder)["studies"]:
        if study["state"] == "done" and not study["quick"]:
            known[study["name"]] = {
                "numbers": [
                    [one["row"], one["column"], part["part"], part["count"], *_judged(part)]
                    for one in study["numbers"]
                    for part in one["parts"]
                ],
                "claims": [[one["line"], one["rows"], one["columns"], *_judged(one)] for one in study["claims"]],
            }
    lines = (f"{json.dumps(name)}: {json.dumps(found, ensure_ascii=False)}" for name, found in sorted(known.items()))
    write_file(record, "{\n" + ",\n".join(lines) + "\n}\n")
    print(in_words(known))


def _judged(one: Mapping[str, Any]) -> list[Any]:
    """The verdict, the reason where there is none, and the kind of cause where they differ."""
    return [one["verdict"], one["why"], _kind(one)]


def _kind(one: Mapping[str, Any]) -> str:
    if one["verdict"] != DIFFERS:
        return ""
    cause = one["cause"]
    return cause if cause in ("not known", UNEXPLAINED) else SHOWN if one["shown_by"] else SAID


def in_words(record: Mapping[str, Any]) -> str:
    """The counts of a record, as the README gives them."""
    numbers: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for found in record.values():
        for *_, count, verdict, _, kind in found["numbers"]:
            numbers[verdict] += count
            kinds[kind] += count if kind else 0
    claims = Counter(verdict for found in record.values() for *_, verdict, _, _ in found["claims"])
    without = kinds["not known"] + kinds[UNEXPLAINED]
    match, differ, unsure, aside = (numbers[name] for name in VERDICTS)
    holding, failing, unclear, unjudged = (claims[name] for name in VERDICTS)
    return (
        f"Full runs of {len(record)} of {len(study_names())} studies answer {numbers.total()} printed numbers: "
        f"{match} match, {differ} differ ({kinds[SHOWN]} with a cause that an experiment shows, {kinds[SAID]} with "
        f"one that is said, {without} with none), {unsure} leave too little to "
        f"tell and {aside} cannot be judged here; of {claims.total()} claims in words {holding} hold, {failing} do "
        f"not, {unclear} cannot be told and {unjudged} are not judged."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
