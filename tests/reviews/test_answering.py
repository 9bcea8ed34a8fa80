"""Whatever stands beside an answer may fail: the answer comes all the same, with a line that says what is missing."""

import ast
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import biselect
import biselect as bs
from biselect.errors import BiselectError, InfeasibleError, InputError
from biselect.large import opening
from biselect.options import Columns, Kinds, Search, Weighing
from biselect.pages.answer_files import selection_json
from biselect.pages.words import phrase, words_of
from biselect.reviews.result import review_problem

HERE = "biselect.reviews"
KINDS = ("_review.find_kinds", "_large_review.find_kinds", "kinds.KindList.tested")
FALSE_SHARE = "how many rows stand out at an expected false share"
DIAGNOSTICS = {
    "what was guessed about the files": [f"{HERE}.caveats.reading_caveats"],
    "columns and rules without a part": [f"{HERE}.caveats.unused_caveats"],
    "columns that moved": [f"{HERE}.caveats.drift_caveats"],
    "columns that could mislead": [f"{HERE}._review.table_caveats", f"{HERE}._large_review.table_caveats"],
    "how many chosen cells are missing": [f"{HERE}._review.filled_caveats"],
    "neighbouring budgets": [f"{HERE}.result.solve_neighbours"],
    "kinds of unusual": [f"{HERE}.{place}" for place in KINDS],
    "what chance alone would give": [f"{HERE}.result.Null.of"],
    "how many of the rows stand out": [f"{HERE}.result.find"],
    FALSE_SHARE: [f"{HERE}.result.holding_rows"],
    "which rows of the reference are like them": [f"{HERE}._view._places"],
    "the picture of the block": [f"{HERE}._view._block"],
    "facts about the calibration": [f"{HERE}._view._calibration"],
    "known positives": [f"{HERE}._view._labels"],
}
"""What may be missing from a report, in the words that say so, and what computes it: in memory, and in parts."""
NOT_IN_PARTS = ("how many chosen cells are missing",)
DESCRIBED = Columns(id="id", label="fraud", show=["clerk"])
ERRORS = [
    InputError("column 'a' is odd"),
    InfeasibleError("no room"),
    ZeroDivisionError("by zero"),
    MemoryError(),
    Warning("x"),
]


def frames():
    rng = np.random.default_rng(0)
    made = []
    for rows in (400, 60):
        frame = pd.DataFrame(rng.normal(size=(rows, 4)), columns=list("abcd"))
        frame["land"] = rng.choice(["de", "fr", "it"], rows)
        frame["id"] = [f"r{i}" for i in range(rows)]
        frame["clerk"] = rng.choice(["Jo", "An"], rows)
        made.append(frame)
    reference, pool = made
    pool.loc[[3, 9, 20], "b"] = [8.0, np.nan, 9.0]
    pool.loc[[3, 9, 20], "c"] = -7.0
    pool["fraud"] = np.isin(np.arange(60), [3, 11]).astype(int)
    return pool, reference


def answer(pool, reference, **options):
    options = {"k": 3, "m": 2, "weighing": Weighing(missing="median"), **options}
    return bs.review(bs.table(pool, columns=DESCRIBED), reference, **options, progress=False)


@cache
def untouched(in_parts):
    """The answer in which nothing fails, asked for before anything is made to."""
    return answer(*frames())


@pytest.fixture(params=["in memory", "in parts"])
def in_parts(request, monkeypatch):
    if request.param == "in parts":
        monkeypatch.setattr(opening, "POOL_CELLS", 10)
    return request.param == "in parts"


def shared(summary):
    """The bytes of selection.json but for what it says of kinds and of the finding, which are diagnostics."""
    content = json.loads(selection_json(summary))
    return json.dumps({key: value for key, value in content.items() if key not in ("kinds", "finding")})


def failing(error):
    def fail(*arguments, **options):
        raise error

    return fail


def lines(review, what):
    return [warning.text for warning in review.warnings if warning.text.startswith(f"Left out, {what}: ")]


@pytest.mark.parametrize("what", DIAGNOSTICS)
def test_a_diagnostic_that_fails_costs_one_line(what, in_parts, diagnostics_may_fail, monkeypatch, tmp_path):
    expected = untouched(in_parts)
    assert not [warning for warning in expected.warnings if warning.kind == "left-out"]
    error = ERRORS[sorted(DIAGNOSTICS).index(what) % len(ERRORS)]
    for place in DIAGNOSTICS[what]:
        monkeypatch.setattr(place, failing(error))
    found = answer(*frames())
    if in_parts and what in NOT_IN_PARTS:
        assert not lines(found, what)  # not computed
        return
    said = lines(found, what)
    assert len(said) == 1 and (str(error) if isinstance(error, BiselectError) else type(error).__name__) in said[0]
    if what not in ("kinds of unusual", "what chance alone would give", "how many of the rows stand out"):
        assert selection_json(found.summary) == selection_json(expected.summary)
    assert shared(found.summary) == shared(expected.summary)
    found.save(tmp_path / "answer", proof=True)  # every file, the page included
    assert (tmp_path / "answer" / "selection.json").read_text() == selection_json(found.summary)
    assert said[0] in [one["text"] for one in json.loads((tmp_path / "answer" / "report.json").read_text())["warnings"]]
    page = (tmp_path / "answer" / "report.html").read_text()
    assert f"Left out, {what}: " in page
    assert f"Left out, {what}: " in found._repr_html_() and len(found.to_frame()) == 3
    kept = [warning for warning in expected.warnings if warning in found.warnings]
    assert kept == [*expected.warnings] or what in {
        "what was guessed about the files",
        "columns and rules without a part",
        "columns that moved",
        "columns that could mislead",
        "how many chosen cells are missing",
    }


@pytest.mark.parametrize("what", DIAGNOSTICS)
def test_the_terminal_says_what_is_missing(what, diagnostics_may_fail, monkeypatch, run, tmp_path):
    for name, frame in zip(("pool", "normal"), frames(), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    for place in DIAGNOSTICS[what]:
        monkeypatch.setattr(place, failing(ValueError("of ours")))
    options = ["-k", 3, "-m", 2, "--id-column", "id", "--label-column", "fraud", "--show", "clerk"]
    done = run("select", "pool.csv", "--reference", "normal.csv", *options, "--missing", "median", "--out", "answer")
    assert done.code == 0 and "Review these 3" in done.out
    assert f"Left out, {what}: ValueError: of ours." in " ".join(done.err.split())


@pytest.mark.parametrize(
    "what", ["neighbouring budgets", "the picture of the block", "facts about the calibration", "known positives"]
)
def test_so_it_is_for_a_problem_without_a_table(what, diagnostics_may_fail, monkeypatch):
    problem = bs.SelectionProblem(coupling=np.random.default_rng(0).random((9, 4)), k=2, m=2)
    expected = review_problem(problem, progress=False)
    for place in DIAGNOSTICS[what]:
        monkeypatch.setattr(place, failing(KeyError("of ours")))
    found = review_problem(problem, progress=False)
    assert len(lines(found, what)) == 1 and selection_json(found.summary) == selection_json(expected.summary)
    assert "Left out" in found.report()


def test_all_of_them_may_fail_at_once(in_parts, diagnostics_may_fail, monkeypatch, tmp_path):
    expected = untouched(in_parts)
    for places in DIAGNOSTICS.values():
        for place in places:
            monkeypatch.setattr(place, failing(OSError("of the disk")))
    found = answer(*frames())
    assert shared(found.summary) == shared(expected.summary)
    found.save(tmp_path / "answer")
    assert found._repr_html_()


def test_kinds_that_cannot_be_tested_are_told_without_their_p_values(in_parts, diagnostics_may_fail, monkeypatch):
    monkeypatch.setattr(f"{HERE}.{KINDS[-1]}", failing(InputError("no p")))
    found, expected = answer(*frames()), untouched(in_parts)
    assert len(lines(found, "kinds of unusual")) == 1 and {kind.p for kind in found.kinds} == {None}
    assert [kind.name for kind in found.kinds] == [kind.name for kind in expected.kinds] and len(found.kinds) > 1


def test_the_list_above_has_every_diagnostic():
    """Each call of `attempt` names, by its key in the words file, what it may leave out: a new one has to be listed."""
    named = set()
    for path in (Path(biselect.__file__).parent / "reviews").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            function = node.func if isinstance(node, ast.Call) else None
            if {getattr(function, "attr", ""), getattr(function, "id", "")} & {"attempt", "collect"} and node.args:
                if ast.unparse(node.args[0]) != "part":  # in `collect` itself
                    assert isinstance(node.args[0], ast.Constant), f"{path.name}, line {node.lineno}"
                    named.add(phrase(f"parts.{node.args[0].value}"))
    assert named == set(DIAGNOSTICS) and len(words_of().tree["parts"]) == len(DIAGNOSTICS)


def test_every_part_of_a_report_is_the_answer_or_can_be_left_out(diagnostics_may_fail, monkeypatch):
    """A new key of the report belongs to the answer, and is named here, or it must be missing where all else fails."""
    whole = answer(*frames()).summary
    of_the_answer = {"format", "title", "version", "noun", "reference", "selection", "budgets", "columns", "rules"}
    of_the_answer |= {"kinds", "neighbours", "near_samples", "near_features", "tables", "searched", "reproduce"}
    for places in DIAGNOSTICS.values():
        for place in places:
            monkeypatch.setattr(place, failing(ValueError("of ours")))
    bare = answer(*frames()).summary
    assert {key for key in whole if key not in of_the_answer | {"warnings"}} == {
        key for key in whole if whole[key] is not None and bare[key] is None
    }


@pytest.mark.parametrize("place", ["result.find", "result.holding_rows", "_view._block"])
def test_who_interrupts_ends_the_work(place, monkeypatch):
    monkeypatch.setattr(f"{HERE}.{place}", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        answer(*frames())


@pytest.mark.parametrize(
    "option",
    [
        {"kinds": Kinds(kinds=0)},
        {"search": Search(neighbours=(-1, 0))},
        {"m": "some"},
    ],
)
def test_an_option_that_is_wrong_is_refused_not_left_out(option, diagnostics_may_fail):
    with pytest.raises(InputError):
        answer(*frames(), **option)


def test_a_column_is_taken_for_the_same_in_every_part_of_the_reference():
    """Found by a reader: the whole reference takes the column, half of it has too many values that stand once."""
    rng = np.random.default_rng(1)
    pool, reference = (
        pd.DataFrame({"amount": rng.lognormal(3, 1, rows), "email": [f"u{i}@x" for i in rng.integers(0, 2600, rows)]})
        for rows in (1600, 2400)
    )
    found = bs.review(pool, reference, k=5, m=2, progress=False, kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0)))
    assert len(found.selection.samples) == 5 and lines(found, FALSE_SHARE) == []
