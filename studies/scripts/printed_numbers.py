"""Every number that a tex file prints, line by line: what the ledger of the paper is held against.

    python studies/scripts/printed_numbers.py TEX     # those that the ledger lacks, as entries to be filled in

Macros are expanded where they are used. A few rules then take out what is no figure of its own; `RULES` states them, in
the order in which they are applied. Whatever is left is printed, and must be in the ledger.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from biselect_studies.ledger import Ledger, read_ledger

BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"
NUMBER = re.compile(r"(?<![\w.])(?:(?<![\w)\]}])[+-])?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
RULES = {
    "outside": "before the document begins, in a comment, or in the steps of an algorithm",
    "layout": "in commands that lay out, number, label, refer or cite; in short captions, which repeat the long",
    "formula": "in a formula with letters: a symbol's value, an exponent, an index, a step of a proof",
    "size": "a size (N, D, k, m)",
    "name": "part of a name, such as F1, 2Q, Heron R3, Opt-3, level 3, stage-2, band-1, best-of-4096, Qiskit 2.1.2",
    "counted": "a width, shots or days before the word that they count: 36-qubit, 32–64 qubits, 4096-shot, 7-day",
    "level": "the level of an interval or of a tail: 95% bootstrap, 95th percentile, the lowest 5%",
}
"""Numbers that the ledger leaves out, and why; every other one is in it."""

OUTSIDE = [
    re.compile(pattern, re.DOTALL)
    for pattern in (r"^.*?\\begin\{document\}", r"\\begin\{algorithmic\}.*?\\end\{algorithmic\}")
]
COMMENT = re.compile(r"(?<!\\)%[^\n]*")
FORMULA = re.compile(
    r"\\begin\{(?P<name>equation|align)\*?\}.*?\\end\{(?P=name)\*?\}"
    r"|(?<!\\)\\\[.*?(?<!\\)\\\]|(?<!\\)\\\(.*?(?<!\\)\\\)|(?<!\\)\$.*?(?<!\\)\$",
    re.DOTALL,
)
NO_LETTER = re.compile(r"\\(?:times|pm|mathbf|[()%,!;: ])")
LAYOUT = [
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"\\caption\[(?:[^\[\]]|\[[^\]]*\])*\](?=\{)",
        rf"\\(?:label|ref\*?|eqref|mainref|pageref\*?|needspace|input|bibliography|bibliographystyle|orcidlink){BRACES}",
        rf"\\(?:cite|hyperref|includegraphics)(?:\[[^\]]*\])?{BRACES}",
        rf"\\(?:setlength|setcounter|renewcommand)(?:\{{\\?\w+\}}|\\\w+){BRACES}",
        rf"\\resizebox{BRACES}{BRACES}",
        rf"\\begin\{{tabularx\}}{BRACES}{BRACES}",
        rf"\\begin\{{(?:tabular|longtable)\}}{BRACES}",
        r"\\(?:begin|end)\{[\w*]+\}(?:\[[^\]]*\])?",
        r"\\cmidrule(?:\([lr]+\))?\{[\d-]+\}",
        r"\\multicolumn\{\d+\}\{[^{}]*\}",
        r"\\addlinespace(?:\[[^\]]*\])?",
        r"\\\\\[[^\]]*\]",
    )
]
SIZE = re.compile(r"\(\d+,\d+,\d+,\d+\)")
NAMES = re.compile(
    r"(?i)\b(?:opt|stage|band|level|best|best-of|approximate)[- ]\d+|Qiskit \d+(?:\.\d+)+|\b[a-z]+\d+\w*|\b\d+[a-z]\w*"
)
LIST = r"\d[\d,]*(?:(?:-?,\s+|-?\s+and\s+|-?,\s+and\s+|–)\d[\d,]*)*"
COUNTED = re.compile(rf"{LIST}[-\s]\s*(?:decision\s+)?(?:qubits?|shots?|transaction|day)\b")
LEVEL = re.compile(
    r"\b95(?:%|th)\s+(?:percentile|bootstrap|confidence|CI)|\b(?:lowest-energy\s+)5%|95% CI|displayed 95%"
)


class Printed(NamedTuple):
    """A number as it is printed: the line of the tex file, and its text without braces."""

    line: int
    text: str


def printed_numbers(tex: str) -> list[Printed]:
    """Every number that the rules leave, in its order."""
    found = []
    for line, text in enumerate(_plain(tex).split("\n"), start=1):
        found += [Printed(line, match.group()) for match in NUMBER.finditer(text)]
    return found


def lacking(tex: str, ledger: Ledger) -> tuple[list[Printed], list[str]]:
    """Numbers that the tex file prints and the ledger has not at that line, and those it has and no line prints."""
    left: dict[int, list[str]] = {}
    for line, text in printed_numbers(tex):
        left.setdefault(line, []).append(_bare(text))
    invented = []
    told = [(one.line, one.to or one.line, one.text) for one in ledger.numbers]
    told += [(line, line, text) for line, text in ledger.settings.items()]
    for first, last, text in told:
        for number in NUMBER.findall(text):
            lines = [line for line in range(first, last + 1) if _bare(number) in left.get(line, ())]
            if lines:
                left[lines[0]].remove(_bare(number))
            else:
                invented.append(f"line {first}: {number} of {text!r}")
    return [Printed(line, text) for line, texts in left.items() for text in texts], invented


def _bare(number: str) -> str:
    return number.removeprefix("+").replace(",", "")


def undefined_macros(tex: str) -> dict[str, int]:
    """Macros that the body uses and nothing defines, with their first line: the tex prints nothing there."""
    text = _blank(tex, COMMENT)
    known = _macros(text)
    found: dict[str, int] = {}
    for match in re.finditer(r"\\csname (\w+)\\endcsname", text):
        if match[1] not in known:
            found.setdefault(match[1], text.count("\n", 0, match.start()) + 1)
    return found


def _plain(tex: str) -> str:
    """The tex with as many lines, macros expanded, and blanks for all that the rules take out."""
    text = _blank(tex, COMMENT)
    macros = _macros(text)
    for pattern in OUTSIDE:
        text = _blank(text, pattern)
    for _ in range(2):  # a macro may stand for another
        text = re.sub(r"\\csname (\w+)\\endcsname", lambda match: macros.get(match[1], ""), text)
        text = re.sub(r"\\([A-Za-z]+)(?:\{\})?", lambda match: macros.get(match[1], match[0]), text)
    text = text.replace("{,}", ",").replace("~", " ")
    text = FORMULA.sub(lambda match: match[0] if _is_number(match[0]) else _blanked(match[0]), text)
    for pattern in LAYOUT:
        text = _blank(text, pattern)
    text = re.sub(r"\\([%$])", r"\1", re.sub(r"\\[,!;]", " ", text)).replace("--", "–")
    text = re.sub(r"\\[A-Za-z]+\*?|[${}]|\\[()]", " ", text)
    for pattern in (SIZE, NAMES, COUNTED, LEVEL):
        text = _blank(text, pattern)
    return text


def _macros(text: str) -> dict[str, str]:
    """Macros that stand for a figure, or for another macro that does, by name."""
    plain = re.findall(rf"\\newcommand\{{\\(\w+)\}}{BRACES}", text)
    named = re.findall(rf"\\expandafter\\newcommand\\csname (\w+)\\endcsname{BRACES}", text)
    return {name: value for name, value in [*plain, *named] if re.match(r"[+-]?\d|\\csname", value)}


def _is_number(formula: str) -> bool:
    """Whether a formula holds nothing but numbers, with their signs and brackets."""
    return not re.search(r"[A-Za-z\\^_]", NO_LETTER.sub(" ", formula))


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: _blanked(match[0]), text)


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


if __name__ == "__main__":
    missing, invented = lacking(Path(sys.argv[1]).read_text(encoding="utf-8"), read_ledger())
    for line, number in missing:
        print(f'    {{ line = {line}, printed = "{number}", row = "", column = "" }},')
    print("\n".join(invented))
    print(f"{len(missing)} numbers are not in the ledger, {len(invented)} of the ledger are not printed")
