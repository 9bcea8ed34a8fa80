"""Results as JSON, and the page that shows them."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path

from biselect.core.files import write_file

ROOT = Path(__file__).parent
PAGE = ROOT.parent / "docs" / "reference" / "benchmarks-solvers.md"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the page.

    Attributes:
        what: what was compared or timed.
        case: on what.
        ours: our figure, a median over seeds.
        peer: theirs.
        ratio: how many times better ours is; a lower limit where the peer was cut off.
        wanted: what was promised.
        met: whether it was reached.
        seeds: how many.
        detail: the figure of each seed.
    """

    what: str
    case: str
    ours: str
    peer: str = ""
    ratio: str = ""
    wanted: str = ""
    met: bool | None = None
    seeds: int
    detail: list[str]


def save(name: str, lines: list[Line]) -> None:
    """Write one benchmark's results."""
    content = {
        "benchmark": name,
        "machine": {
            "processors": os.cpu_count(),
            "architecture": platform.machine(),
            "python": platform.python_version(),
        },
        "lines": [asdict(line) for line in lines],
    }
    path = ROOT / "results" / f"{name}.json"
    write_file(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_page(page: Path = PAGE) -> None:
    """The page, from the kept results of every solver benchmark; results of other benchmarks have no such lines."""
    text = [
        "# Benchmarks of the solvers",
        "",
        "Written by `make bench`. Every line is a median over seeds; ours and the peer ran in one process, one after",
        "the other, so ratios mean more than seconds. ≥ stands where the peer was stopped at its time limit. The",
        "figures of each seed are in `benchmarks/results/`.",
        "",
        "| what | case (N, D, k, m) | ours | peer | ratio | promised | met | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for path in sorted((ROOT / "results").glob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for line in content.get("lines", []) if isinstance(content, dict) else []:
            met = {True: "yes", False: "no", None: ""}[line["met"]]
            cells = [line[key] for key in ("what", "case", "ours", "peer", "ratio", "wanted")]
            text.append(f"| {' | '.join(cells)} | {met} | {line['seeds']} |")
    write_file(page, "\n".join([*text, ""]))


def seconds(value: float) -> str:
    """A time in the unit that reads best."""
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
