import re
from math import fsum
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.pages.four_cases import CASES

from biselect import pages as report
from biselect.pages.words import HEADLINE, rounded_parts, words_of

TEMPLATES = Path(report.__file__).parent / "templates"


def leaves(tree, path=""):
    for key, value in tree.items():
        if isinstance(value, dict) and set(value) != {"one", "other"}:
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}"


def test_every_word_that_templates_ask_for_is_there():
    known = {*leaves(words_of().tree)}
    requests = set()
    for template in TEMPLATES.glob("*.html"):
        requests |= set(re.findall(r'(?:say|fold)\("([a-z_.]+)"[,)]', template.read_text()))
    assert len(requests) > 90 and requests <= known
    for section in ("case", "sign", "chance", "next"):  # which are put together
        assert {*CASES} <= {*words_of().tree["page"][section]}


def test_no_word_is_left_over():
    """A sentence that nobody shows any more goes: its key, or what it is put together from, stands in the source."""
    source = Path(report.__file__).parents[1]
    text = "".join(path.read_text() for path in source.rglob("*") if path.suffix in (".py", ".html", ".js"))
    ends = {key.rpartition(".")[2].rstrip("_").removesuffix("_few") for key in leaves(words_of().tree)}
    parts = {end if re.search(rf"\b{end}\b", text) else end.partition("_")[2] for end in ends}
    assert [part for part in parts if not re.search(rf"\b{part}\b", text)] == []


def test_the_report_s_templates_hold_no_words_of_their_own():
    """What a reader sees comes from the words, so that another language is one file."""
    for name in ("report", "inspection", "answers_parts"):
        text = (TEMPLATES / f"{name}.html").read_text()
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<style>.*?</style>", "", text, flags=re.S)
        text = re.sub(r"[^{}]*\{[^{}]*\}\n", "", text) if name == "inspection" else text  # its style
        assert re.findall(r"[A-Za-z]*[aeiou][A-Za-z]+", re.sub(r"<[^>]*>", " ", text)) == [], name


def test_names_with_braces_and_tags_stay_as_they_are():
    assert words_of().say("labels.names", names="<b>{x}</b>") == "Known positives among them: &lt;b&gt;{x}&lt;/b&gt;."
    assert words_of().directed("a & {b}", "high") == "high a & {b}"
    traits = [{"text": "{0} <b>", "rows": 1}]
    assert words_of().shared("finding", traits, 1, row="r", rows="rs") == "1 r stands out, with {0} <b>."


def test_a_headline_fits_two_lines_and_counts_what_it_leaves_out():
    traits = [{"text": f"long column {j} from 1 to 2", "rows": 5} for j in range(9)]
    headline = words_of().shared("finding", traits, 5, row="row", rows="rows")
    assert len(headline) <= HEADLINE and headline.endswith("and 7 more columns.") and "column 1 from" in headline
    assert words_of().shared("finding", traits[:1], 5, row="row", rows="rows").endswith("column 0 from 1 to 2.")
    assert "nearly all of" in words_of().shared("finding", traits, 6, row="row", rows="rows")
    assert words_of().shared("finding", traits[:1], 6, row="row", rows="rows").startswith("5 rows"), "those that do"
    assert "not all in the same way" in words_of().shared("finding", [], 6, row="row", rows="rows")


def test_columns_of_one_direction_share_its_word():
    directions = {"a": "high", "b": "low", "c": "high", "d": "either", "e": "voucher", "f": "missing"}
    name = words_of().kind([*directions], [*directions.values()])
    assert name == "high a, c, low b, unusual d, e = voucher and missing f together"
    assert words_of().kind(["a"], ["high"]) == "high a" and words_of().kind(["a"], [""]) == "a"


@given(st.lists(st.floats(-50, 1e7), min_size=1, max_size=20), st.integers(0, 3))
def test_rounded_parts_add_up_to_the_rounded_total(parts, decimals):
    total, unit = fsum(parts), 10**decimals
    printed = [float(text.replace(",", "")) for text in rounded_parts(parts, total, decimals)]
    assert sum(round(part * unit) for part in printed) == round(float(f"{total:.{decimals}f}") * unit)
    assert all(abs(one - part) * unit <= 1 + 1e-6 for one, part in zip(printed, parts, strict=True))
