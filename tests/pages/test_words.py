import re
from pathlib import Path

from biselect import pages as report
from biselect.pages.words import words_of

TEMPLATES = Path(report.__file__).parent / "templates"


def leaves(tree, path=""):
    for key, value in tree.items():
        if isinstance(value, dict) and set(value) != {"one", "other"}:
            yield from leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}"


def test_every_word_that_templates_and_script_ask_for_is_there():
    known = set(leaves(words_of().tree))
    asked = set()
    for template in TEMPLATES.glob("*.html"):
        asked |= set(re.findall(r'say\("([a-z_.]+)"[,)]', template.read_text()))
    asked |= {f"explore.{key}" for key in re.findall(r'say\("(\w+)"', (TEMPLATES / "explore.js").read_text())}
    assert asked and asked <= known


def test_the_report_s_templates_hold_no_words_of_their_own():
    """What a reader sees comes from the words, so that another language is one file."""
    mine = "report top rows columns kinds heat calibration how_many explore".split()
    for name in mine:
        text = (TEMPLATES / f"{name}.html").read_text()
        text = re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", "", text, flags=re.S)
        assert re.findall(r"[A-Za-z]*[aeiou][A-Za-z]+", re.sub(r"<[^>]*>", " ", text)) == [], name


def test_names_with_braces_and_tags_stay_as_they_are():
    assert words_of().say("rows.adds", adds="<b>{x}</b>") == "adds &lt;b&gt;{x}&lt;/b&gt;"
    group = {"rows": [1, 2], "reasons": [{"column": "a & {b}", "sides": ["high"]}]}
    assert words_of().how([group]) == " together, with high a & {b}"


def test_many_columns_are_counted_not_listed():
    reasons = [{"column": f"c{j}", "sides": [""]} for j in range(9)]
    assert words_of().reasons({"reasons": reasons}) == "c0, c1, c2 and 6 more columns"
    assert words_of().reasons({"reasons": reasons[:4]}) == "c0, c1, c2 and c3"


def test_columns_of_one_side_share_its_word():
    sides = {"a": ["high"], "b": ["low"], "c": ["high"], "d": ["low", "high"]}
    reasons = [{"column": name, "sides": told} for name, told in sides.items()]
    assert words_of().reasons({"reasons": reasons}) == "high a, c, low b and low or high d"
    assert words_of().reasons({"reasons": reasons[:1]}) == "high a"
