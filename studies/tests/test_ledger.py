"""The ledger holds every number that the paper prints, and none that it does not."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from biselect.errors import InputError
from biselect_studies import load, study_names
from biselect_studies.ledger import NUMBER, Claim, Printed, ledger_in, read_ledger

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))
from printed_numbers import lacking, printed_numbers, undefined_macros

TEX = Path(__file__).parents[3] / "shared" / "paper" / "cg-xy-qaoa.tex"
paper = pytest.mark.skipif(not TEX.is_file(), reason=f"the paper's source is not at hand: no {TEX}")

SMALL = r"""
\newcommand{\Range}{1.4\%--3.6\%}
\expandafter\newcommand\csname Gain50\endcsname{+0.209}
\newcommand{\Rows}{\rowcolors{1}{white}{black!5}}
\begin{document}
At 20 decision qubits and \(p=5\) we see \Range{} and \csname Gain50\endcsname{}. % 99 problems
Nothing defines \csname Gone7\endcsname{}, see Table~\ref{tab:x7} and~\cite{someone2020}.
\begin{equation} x = 3y^2 \end{equation} In 3 of 264 cases, $(20,12,3,4)$, Opt-3, F1 and 2Q depth.
\begin{table}\Rows \caption[Short 12]{Means over 200 seeds with 95\% bootstrap intervals.}
\begin{tabular}{@{}l r@{\hspace{1.1em}}r}
A & $0.800 \pm 0.067$ & 1{,}875$\times$ & \(-1.2\) \\[2pt]
B & 47.4\% [47.2\%, 47.5\%] & $<0.05\%$ & \(\alpha\ge0.9\) \\
\end{tabular}\end{table}
\end{document}
"""


def test_what_a_tex_file_prints_is_found_and_nothing_else():
    found = [(one.line, one.text) for one in printed_numbers(SMALL)]
    assert found == [
        (6, "1.4"),
        (6, "3.6"),
        (6, "+0.209"),
        (8, "3"),
        (8, "264"),
        (9, "200"),
        (11, "0.800"),
        (11, "0.067"),
        (11, "1,875"),
        (11, "-1.2"),
        (12, "47.4"),
        (12, "47.2"),
        (12, "47.5"),
        (12, "0.05"),
    ]
    assert undefined_macros(SMALL) == {"Gone7": 7}


def small_ledger(tmp_path, numbers, settings="", unprinted="7 = 'Gone7'"):
    path = tmp_path / "ledger.toml"
    body = "\n".join(f"    {{ {one} }}," for one in numbers)
    path.write_text(
        f"[reasons]\n[places.x]\nsection = 'S'\nnumbers = [\n{body}\n]\n"
        f"[settings]\n{settings}\n[unprinted]\n{unprinted}\n"
    )
    return ledger_in(path)


WHOLE = [
    "line = 6, printed = '1.4%–3.6%'",
    "line = 6, printed = '+0.209'",
    "line = 8, printed = '3 of 264'",
    "line = 11, printed = '0.800 ± 0.067'",
    "line = 11, printed = '1,875×'",
    "line = 11, printed = '-1.2'",
    "line = 12, printed = '47.4% [47.2%, 47.5%]', brackets = 'range'",
    "line = 12, printed = '<0.05%'",
]


def test_a_ledger_that_is_whole_lacks_nothing(tmp_path):
    assert lacking(SMALL, small_ledger(tmp_path, WHOLE, "9 = '200'")) == ([], [])


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_a_number_that_is_left_out_or_changed_is_told(tmp_path, place):
    missing = lacking(SMALL, small_ledger(tmp_path, WHOLE[:place] + WHOLE[place + 1 :], "9 = '200'"))
    assert missing[0] and not missing[1]
    changed = [*WHOLE]
    changed[place] = re.sub(r"(\d)(?=\D*$)", lambda match: str((int(match[1]) + 1) % 10), changed[place])
    missing, invented = lacking(SMALL, small_ledger(tmp_path, changed, "9 = '200'"))
    assert missing and invented


@paper
def test_every_number_of_the_paper_is_in_the_ledger_and_no_other():
    tex = TEX.read_text(encoding="utf-8")
    assert lacking(tex, read_ledger()) == ([], [])
    assert len(printed_numbers(tex)) > 850


@paper
def test_figures_that_the_paper_does_not_print_are_listed():
    found = undefined_macros(TEX.read_text(encoding="utf-8"))
    listed = {name: line for line, names in read_ledger().unprinted.items() for name in names.split()}
    assert listed == found and len(found) == 35


@paper
def test_claims_stand_in_the_paper_word_for_word():
    lines = TEX.read_text(encoding="utf-8").split("\n")
    for claim in read_ledger().claims:
        text = plain(" ".join(lines[claim.line - 1 : claim.line + 9]))
        assert plain(claim.words) in text, (claim.line, claim.words)
        assert plain(claim.words)[:12] in plain(" ".join(lines[claim.line - 1 : claim.line + 1])), claim.line


@paper
def test_readings_rest_on_lines_of_the_paper():
    count = TEX.read_text(encoding="utf-8").count("\n")
    for name in study_names():
        for reading in load(name).readings:
            assert reading.tex and all(0 < line <= count for line in reading.tex)


def plain(text):
    """Words and digits alone, as a reader sees them."""
    text = re.sub(r"\\(?:ref|label|cite)\{[^}]*\}|\\[A-Za-z]+|\\.", " ", text)
    return " ".join(re.findall(r"[A-Za-z0-9]+", text.replace("{", "").replace("}", "")))


def test_every_number_is_answered_or_says_why_not():
    ledger = read_ledger()
    for one in ledger.numbers:
        assert one.study in study_names() and one.section, one
        assert one.row and one.column, one
        assert NUMBER.findall(one.text) and len(one.parts) in (1, 2), one
        assert one.line > 0 and (not one.to or one.to > one.line), one
    judged = Counter((one.study, one.row, one.column) for one in ledger.numbers if not one.again)
    assert max(judged.values()) == 1  # one verdict a number


def test_what_is_printed_again_is_the_same_number():
    ledger = read_ledger()
    for one in (one for one in ledger.numbers if one.again):
        first = [other for (_, column), other in ledger.of(one.study).items() if column == one.column]
        known = [number for other in first for number in (*other.numbers, other.value)]
        for value in one.numbers:
            assert any(abs(value - other) <= 0.5 for other in known), one


def test_claims_say_what_they_say_of_a_study():
    for claim in read_ledger().claims:
        assert claim.study in study_names() and bool(claim.says) != bool(claim.why), claim
    with pytest.raises(InputError, match="line 7"):
        Claim(place="x", section="S", line=7, words="w", says="is nice")


@pytest.mark.parametrize(
    ("text", "numbers", "parts"),
    [
        ("0.833", (0.833,), ["value"]),
        ("0.800 ± 0.067", (0.8, 0.067), ["value", "half-width"]),
        ("+0.62 [+0.15, +1.15]", (0.62, 0.15, 1.15), ["value", "interval"]),
        ("35.1%–54.8%", (35.1, 54.8), ["range"]),
        ("5/8", (5.0, 8.0), ["value"]),
        ("53 of 54", (53.0, 54.0), ["value"]),
        ("5,238×", (5238.0,), ["value"]),
    ],
)
def test_what_is_printed_is_taken_apart(text, numbers, parts):
    one = Printed(place="x", section="S", line=1, text=text)
    assert one.numbers == numbers and [name for name, *_ in one.parts] == parts
    assert sum(count for _, count, _ in one.parts) == len(numbers)


def test_rounding_is_half_of_the_last_digit():
    assert Printed(place="x", section="S", line=1, text="0.833").rounding == pytest.approx(0.0005)
    assert Printed(place="x", section="S", line=1, text="26%", scale=0.01).rounding == pytest.approx(0.005)
    assert Printed(place="x", section="S", line=1, text="5/8").rounding == 0
    assert Printed(place="x", section="S", line=1, text="5/8").value == 62.5


def test_an_unknown_reason_is_refused(tmp_path):
    with pytest.raises(InputError, match="luck"):
        small_ledger(tmp_path, ["line = 6, printed = '1.0', why = 'luck'"])
