"""Everything that is shown is plain data, and one number is the same wherever it stands."""

import csv
import io
import json
from math import fsum

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reviews.own_tables import review_alone
from tests.weights.drawn_tables import Pair, ruled_pairs

import biselect as bs
from biselect.core import SelectionProblem
from biselect.options import Columns, Kinds, RowRules, Search, Weighing
from biselect.pages.answer_files import EXPLAINED, explanation_csv, selection_json
from biselect.pages.words import printed_parts, printed_scores, rounded_parts, told_parts
from biselect.reviews._view import MOST_ROWS, NEAR_COLUMNS, NEAR_ROWS, report_data
from biselect.reviews.caveats import Caveats
from biselect.reviews.finding import find
from biselect.reviews.kinds import only

REPRODUCE = {"command": "biselect solve", "seed": 0, "inputs": []}
QUICK = {"search": Search(neighbours=(0, 0)), "progress": False}
FORMS = st.sampled_from(
    [Weighing(), Weighing(), Weighing(preset="paper"), Weighing(missing="median"), Weighing(map="ecdf", cap=2.0)]
)


def reviewed(pair: Pair, rules: RowRules, weighing: Weighing):
    """The review of a drawn pair; with the median a column without any value is left out."""
    if weighing.missing == "median":
        empty = [name for name in pair.normal if pair.normal[name].isna().all()]
        pair = Pair(
            pool=pair.pool.fillna(dict.fromkeys(empty, 0)),
            reference=None if pair.reference is None else pair.reference.fillna(dict.fromkeys(empty, 0)),
            columns=pair.columns,
            k=pair.k,
            m=pair.m,
        )
    if pair.reference is None:
        return review_alone(pair.pool, pair.k, pair.m, rules=rules, weighing=weighing, kinds=3)
    options = {"rules": rules, "weighing": weighing, "kinds": Kinds(kinds=3), **QUICK}
    return bs.review(pair.pool, pair.reference, k=pair.k, m=pair.m, **options)


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(ruled_pairs(), FORMS)
def test_a_score_is_the_sum_of_its_parts_wherever_it_is_told(drawn, weighing):
    """Rows, kinds, explanation.csv, to_frame, parts and report.json: one number each, and one order of the rows."""
    pair, rules = drawn
    review = reviewed(pair, rules, weighing)
    summary = json.loads(json.dumps(review.summary, allow_nan=False))
    lines = list(csv.DictReader(io.StringIO(explanation_csv(review.summary))))
    assert len(review.kinds) == len(summary["kinds"]["list"])
    for kind, told in zip(review.kinds, summary["kinds"]["list"], strict=True):
        rows, own = told["rows"], [line for line in lines if line["kind"] == str(told["number"])]
        scores = kind.row_scores
        assert close(told["selection"]["score"], kind.selection.score)
        assert close(fsum(row["score"] for row in rows) + fsum(told["feature_scores"].values()), kind.selection.score)
        assert close(fsum(float(line["part"]) for line in own), kind.selection.score)
        assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
        names = list(dict.fromkeys(line["sample"] for line in own if line["sample"]))
        assert names == [row["name"] for row in rows], "in the same order"
        for row in rows:
            assert close(fsum(part["part"] for part in row["parts"]), row["score"])
            assert close(scores[row["index"]], row["score"])
            of_row = [line for line in own if line["sample"] == row["name"]]
            assert [line["feature"] for line in of_row] == [part["column"] for part in row["parts"]]
            for line, part in zip(of_row, row["parts"], strict=True):
                assert float(line["part"]) == part["part"] and line["usual"].removeprefix("'") == part["usual"]
                assert line["direction"] == part["direction"] and line["value"] == (
                    "" if part["value"] is None else str(part["value"])
                )
                assert line["reason"] == (part["text"] if part["is_reason"] else "")
            chosen = {(part["column"], part["direction"]) for part in row["parts"] if part["direction"]}
            directed = {pair for pair in zip(told["columns"], told["directions"], strict=True) if pair[1]}
            assert chosen == directed
            assert all(row["parts"][at]["is_reason"] for at in row["reasons"])
    first = summary["kinds"]["list"][0]
    frame, parts = review.to_frame(), review.parts()
    assert frame["sample"].tolist() == [row["name"] for row in first["rows"]]
    assert frame["score"].tolist() == [row["score"] for row in first["rows"]]
    shares = [name for name in frame.columns if name.startswith("+ ")]
    np.testing.assert_allclose(frame[shares].sum(axis=1), frame["score"], rtol=1e-9, atol=1e-9)
    columns = [name for name in parts.columns if name not in ("sample", "score")]
    np.testing.assert_allclose(parts[columns].sum(axis=1), parts["score"], rtol=1e-9, atol=1e-9)
    by_name = parts.set_index("sample")
    for row in first["rows"]:
        for part, name in zip(row["parts"], columns, strict=True):
            assert close(by_name.loc[row["name"], name], part["part"])
        assert close(by_name.loc[row["name"], "score"], row["score"])
    content = json.loads(selection_json(review.summary))
    assert content["score"] == first["selection"]["score"] == content["kinds"][0]["score"]
    assert (
        content["samples"] == content["kinds"][0]["samples"]
        and content["directions"] == first["selection"]["directions"]
    )


def units(text, decimals):
    return round(float(text.replace(",", "")) * 10**decimals)


@settings(max_examples=40)
@given(ruled_pairs(), FORMS)
def test_what_is_printed_adds_up_as_printed(drawn, weighing):
    pair, rules = drawn
    for kind in reviewed(pair, rules, weighing).summary["kinds"]["list"]:
        printed = printed_scores(kind)
        decimals = printed.decimals
        assert printed.total == f"{kind['selection']['score']:,.{decimals}f}"
        own = [units(text, decimals) for text in printed.rows + printed.columns]
        assert sum(own) == units(printed.total, decimals)
        for row, score in zip(kind["rows"], printed.rows, strict=True):
            assert abs(units(score, decimals) - row["score"] * 10**decimals) <= 1 + 1e-6
            for parts in (printed_parts(row, score), told_parts(row, score)):
                assert sum(units(part, decimals) for _, part in parts) == units(score, decimals)
            reasons = [row["parts"][at]["text"] for at in row["reasons"]]
            assert sorted(text for text, _ in told_parts(row, score)[: len(reasons)]) == sorted(reasons)


@given(st.lists(st.floats(-50, 1e4), min_size=1, max_size=20), st.integers(0, 3))
def test_rounded_parts_add_up_to_the_rounded_total(parts, decimals):
    total = fsum(parts)
    told = [float(text.replace(",", "")) for text in rounded_parts(parts, total, decimals)]
    unit = 10**decimals
    assert sum(round(part * unit) for part in told) == round(total * unit)
    assert all(abs(one - part) * unit <= 1 + 1e-6 for one, part in zip(told, parts, strict=True)), "by one unit at most"


def described(seed=0):
    """A pool with names, labels and something beside the rows, one of whose columns has moved."""
    rng = np.random.default_rng(seed)
    reference, pool = (pd.DataFrame(rng.normal(size=(rows, 6)), columns=[*"abcdef"]) for rows in (300, 80))
    pool["b"] += 1.5
    pool.loc[[3, 9, 20], ["c", "d"]] += 7
    pool = pool.assign(id=[f"r{i}" for i in range(80)], fraud=np.isin(np.arange(80), [3, 40]).astype(int))
    pool["sample"] = [f"said {i}" for i in range(80)]  # a name that explanation.csv has itself
    columns = Columns(id="id", label="fraud", show=["sample"])
    return bs.table(pool, columns=columns), reference


def test_the_summary_is_plain_data_and_adds_up(calibrated):
    selection, summary = calibrated
    again = json.loads(json.dumps(summary))
    assert again == {**summary, "finding": json.loads(json.dumps(summary["finding"]))} == summary
    rows = summary["kinds"]["list"][0]["rows"]
    assert fsum(row["score"] for row in rows) == pytest.approx(selection.score)
    told = {"positives": 2, "hits": 1, "chosen": 2, "attainable": 2, "rows": 30, "f1": 0.5, "by_chance": 2 * 2 / 30}
    assert summary["labels"] == told and summary["kinds"]["list"][0]["hits"] == 1
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert summary["budgets"] == {"k": 2, "m": 2, "samples": 30, "columns": 5}
    assert summary["reference"] == "reference"


def test_files_hold_all_kinds():
    review = bs.review(*described(), k=3, m=2, kinds=Kinds(kinds=3), **QUICK)
    content = json.loads(selection_json(review.summary))
    assert [kind["name"] for kind in content["kinds"]] == [kind.name for kind in review.kinds]
    assert all(kind["proven_optimal"] and len(kind["samples"]) == 3 for kind in content["kinds"])
    assert [kind["p"] for kind in content["kinds"]] == [kind.p for kind in review.kinds]
    first = content["kinds"][0]
    assert all(content[key] == first[key] for key in ("samples", "features", "directions", "score", "bound"))
    assert len(content["directions"]) == len(content["features"]) == len(content["feature_indices"]) == 2
    assert {"case", "chosen", "rows", "expected", "interval", "text"} <= {*content["finding"]}
    assert content["reference"] == "reference" and content["shown"] == {
        "sample": [f"said {i}" for i in review.selection.samples]
    }
    lines = list(csv.DictReader(io.StringIO(explanation_csv(review.summary))))
    assert list(lines[0])[: len(EXPLAINED)] == [*EXPLAINED] and lines[0]["sample (shown)"].startswith("said ")
    assert {line["kind"] for line in lines} == {"1", "2", "3"} and len(lines) == 3 * 3 * 6
    moved = [line for line in lines if line["feature"] == "b" and line["reason"]]
    assert all("in the table, moved back" in line["reason"] for line in moved)


def test_columns_of_the_papers_form_have_a_line_of_their_own():
    rng = np.random.default_rng(0)
    review = bs.review(
        rng.normal(size=(30, 4)), rng.normal(size=(90, 4)), k=3, m=2, weighing=Weighing(preset="paper"), **QUICK
    )
    lines = list(csv.DictReader(io.StringIO(explanation_csv(review.summary))))
    own = [line for line in lines if not line["sample"]]
    assert {line["feature"] for line in own} == {*review.selection.feature_names} and len(lines) == 3 * 4 + 2
    total = fsum(float(line["part"]) for line in lines)
    assert total == pytest.approx(review.selection.score)
    assert all(line["direction"] == "" for line in lines)


def test_the_block_is_drawn_among_what_nearly_made_it_in():
    review = bs.review(*described(), k=3, m=2, **QUICK)
    block, scoring, answer = review.summary["block"], review.tables.scoring, review.selection
    assert [row["chosen"] for row in block["rows"]] == [True] * 3 + [False] * NEAR_ROWS
    assert block["chosen"] == 2 and len(block["columns"]) == 6 <= 2 + NEAR_COLUMNS and block["not_drawn"] == 0
    names = [f"r{i}" for i in range(80)]
    rows = [names.index(row["name"]) for row in block["rows"]]
    scores = scoring.pool_scores(answer.features)
    for part in (rows[:3], rows[3:]):
        assert [scores[i] for i in part] == sorted((scores[i] for i in part), reverse=True)
    left_out = np.delete(scores, answer.samples)
    assert scores[rows[3]] == pytest.approx(left_out.max())
    for at, column in enumerate(block["columns"]):
        j = scoring.features.names.index(column["name"])
        weights = (
            scoring.pool.weights[:, answer.features[answer.directions.index(column["direction"])]]
            if at < 2 and answer.directions.count(column["direction"]) == 1
            else scoring.pool.cells.weights[:, j]
        )
        if at >= 2:
            assert column["direction"] == ""
            assert [row[at] for row in block["weights"]] == [weights[i] for i in rows]
        assert column["picture"]["chosen"] == [review.tables.weighed.values[i, j] for i in rows[:3]]
    assert block["highest"] == max(max(row) for row in block["weights"])
    assert np.shape(block["values"]) == np.shape(block["weights"])


def test_many_chosen_rows_leave_room_for_what_was_left_out():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 5)), k=100, m=2)
    block = report_data(only(bs.solve(problem)), [bs.solve(problem)], Caveats(), title="t", reproduce=REPRODUCE)[
        "block"
    ]
    assert [row["chosen"] for row in block["rows"]] == [True] * MOST_ROWS + [False] * NEAR_ROWS
    assert block["not_drawn"] == 60 and block["values"] is None


def test_swaps_and_neighbours_name_directions():
    review = bs.review(*described(), k=3, m=2, search=Search(neighbours=(1, 1)), progress=False)
    summary, scores = review.summary, review.kinds[0].row_scores
    near = summary["near_samples"][0]
    names = review.selection.sample_names
    left_out = np.setdiff1d(np.arange(80), review.selection.samples)
    best = left_out[np.argmax(scores[left_out])]
    assert near["enters"] == review.problem.sample_name(best) and near["leaves"] in names
    assert near["cost"] == pytest.approx(scores[review.selection.samples].min() - scores[best])
    assert near["share"] == pytest.approx(near["cost"] / review.selection.score)
    every = {
        f"{d} {c}".replace("either", "unusual")
        for c, d in zip(review.problem.feature_names, review.problem.directions, strict=True)
    }
    assert {one["enters"] for one in summary["near_features"]} <= every
    assert {(one["k"], one["m"]) for one in summary["neighbours"]} == {(k, m) for k in (2, 3, 4) for m in (1, 2, 3)} & {
        (one.problem.k, one.problem.m) for one in review.neighbours
    }
    for told, one in zip(summary["neighbours"], review.neighbours, strict=True):
        assert {*told["columns"]} <= every and told["score"] == one.score and told["proven"] == one.proven_optimal
        assert told["rows_shared"] == len({*one.samples.tolist()} & {*review.selection.samples.tolist()})


def test_a_report_without_a_table_has_parts_of_its_own():
    problem = SelectionProblem(
        coupling=[[1.0, 5.0], [0.0, 2.0]],
        sample_scores=[0.5, 0.0],
        feature_scores=[0.0, 0.25],
        k=1,
        m=1,
        coupling_weight=2,
    )
    summary = report_data(only(bs.solve(problem)), [bs.solve(problem)], Caveats(), title="t", reproduce=REPRODUCE)
    (row,) = summary["kinds"]["list"][0]["rows"]
    assert [(part["column"], part["part"]) for part in row["parts"]] == [("1", 10.0), ("on its own", 0.5)]
    assert row["score"] == 10.5 and summary["kinds"]["list"][0]["feature_scores"] == {"1": 0.25}
    assert summary["selection"]["score"] == 10.75 and summary["finding"] is None and summary["tables"] is None
    assert summary["reference"] is None and summary["calibration"] is None


def test_labels_are_counted_under_rules():
    table, reference = described()
    review = bs.review(table, reference, k=3, m=2, rules=RowRules(never=["r40"], must=["r7"]), **QUICK)
    assert review.summary["labels"]["attainable"] == 1 and review.summary["labels"]["positives"] == 2
    assert review.summary["rules"]["words"] == ["rows that must be chosen: r7", "rows that must not be chosen: r40"]


def test_a_finding_names_what_the_rows_share():
    review = bs.review(*described(), k=3, m=2, **QUICK)
    found = review.summary["finding"]
    assert found["case"] == find(review.selection, review.tables.scoring, None).case or found["p"] is not None
    assert [trait["column"] for trait in found["shared"]] == [
        name for name in review.kinds[0].column_names if name in {trait["column"] for trait in found["shared"]}
    ]
    shares = [row["shares"] for row in review.summary["kinds"]["list"][0]["rows"]]
    assert sum(shares) == found["chosen"] or not found["pool_rows"]
    assert found["text"] == f"{found['headline']} {found['text'].removeprefix(found['headline']).strip()}"
