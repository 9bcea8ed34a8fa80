"""Every difference that a full run has shown is read, by a reading that says what kind of cause it names."""

import json
import runpy
from pathlib import Path

import pytest

from biselect.errors import InputError
from biselect_studies import load, study_names
from biselect_studies.ledger import read_ledger
from biselect_studies.results import Entry
from biselect_studies.rule import CAUSES, MISSING, UNEXPLAINED, Reading, read

RECORD = json.loads((Path(__file__).parent / "verdicts.json").read_text(encoding="utf-8"))
"""The verdicts of the last full runs; made by studies/scripts/record_verdicts.py."""

README = Path(__file__).parents[2] / "README.md"


def differing(row, column):
    return Entry(row, column, 0.5, 0.5, 0.5, paper=0.9, verdict="differs")


@pytest.mark.parametrize("name", study_names())
def test_every_difference_on_record_has_a_reading_or_is_counted_without_and_every_reading_a_difference(name):
    if name not in RECORD:
        pytest.skip("no full run is on record")
    study, found = load(name), RECORD[name]
    apart = [differing(row, column) for row, column, *_, verdict, _, _ in found["numbers"] if verdict == "differs"]
    apart += [
        differing(rows[0], columns[0]) for _, rows, columns, verdict, *_ in found["claims"] if verdict == "differs"
    ]
    read_as = read(apart, study.readings)
    assert [reading for reading, _ in read_as if reading is not None] == list(study.readings)
    unread = [(one.row, one.column) for reading, ones in read_as if reading is None for one in ones]
    told = [(row, column) for row, column, *_, kind in found["numbers"] if kind == UNEXPLAINED]
    told += [(rows[0], columns[0]) for _, rows, columns, *_, kind in found["claims"] if kind == UNEXPLAINED]
    assert unread == told  # none is passed over: the README counts them among those with no cause


@pytest.mark.parametrize("name", study_names())
def test_every_number_that_the_ledger_names_is_one_of_ours(name):
    if name not in RECORD:
        pytest.skip("no full run is on record")
    found = RECORD[name]
    assert {(row, column) for row, column, *_ in found["numbers"]} == set(read_ledger().of(name))
    assert not [one for one in found["numbers"] if one[5] == MISSING]
    assert not [one for one in found["claims"] if one[4] == MISSING]


def test_the_record_names_studies_only():
    assert RECORD and set(RECORD) <= set(study_names())


def test_the_readme_gives_the_counts():
    script = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "record_verdicts.py"))
    assert " ".join(script["in_words"](RECORD).split()) in " ".join(README.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("name", study_names())
def test_every_study_says_what_it_chose_and_no_note_says_it_again(name):
    study = load(name)
    assert study.choices and all(text.strip().endswith((".", ")")) for text in study.choices)
    texts = [*study.choices, *(reading.text for reading in study.readings)]
    assert len(set(texts)) == len(texts)


def test_experiments_that_readings_quote_exist(monkeypatch):
    script = Path(__file__).parents[1] / "scripts" / "why_it_differs.py"
    monkeypatch.syspath_prepend(script.parent)
    experiments = runpy.run_path(str(script))["EXPERIMENTS"]
    quoted = {shown for name in study_names() for reading in load(name).readings for shown in reading.shown_by}
    assert quoted == set(experiments)
    commands = Reading(cause="chance", text="x", tex=(1,), shown_by=("short", "family")).commands
    assert commands == [
        "python studies/scripts/why_it_differs.py short",
        "python studies/scripts/why_it_differs.py family",
    ]


def test_the_first_reading_that_covers_a_number_counts_and_the_rest_is_unexplained():
    first = Reading(cause="chance", text="One.", tex=(1,), rows=("a*",))
    second = Reading(cause="left open", text="Two.", tex=(1,), columns=("x", "y"))
    cells = [differing("b", "z"), differing("ab", "x"), differing("b", "y")]
    found = read(cells, (first, second))
    assert [(reading, [(e.row, e.column) for e in entries]) for reading, entries in found] == [
        (first, [("ab", "x")]),
        (second, [("b", "y")]),
        (None, [("b", "z")]),
    ]


def test_a_reading_names_the_lines_that_it_rests_on():
    with pytest.raises(InputError, match="lines of the paper"):
        Reading(cause="chance", text="x", tex=())
    assert all(reading.tex for name in study_names() for reading in load(name).readings)


def test_a_cause_must_be_known():
    with pytest.raises(InputError, match=next(iter(CAUSES))):
        Reading(cause="luck", text="x", tex=(1,))


def test_patterns_are_plain_names_with_stars():
    reading = Reading(cause="chance", text="x", tex=(1,), rows=("(4, 4, 2, 2), p = *",))
    assert reading.covers(differing("(4, 4, 2, 2), p = 1", "c")) and not reading.covers(differing("(5, 5, 2, 2)", "c"))
