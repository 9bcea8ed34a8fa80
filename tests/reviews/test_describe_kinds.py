"""Kinds as plain data: in the summary, selection.json, explanation.csv, the page and the Review."""

import csv
import io
import json

import numpy as np
import pytest

import biselect as bs
from biselect.options import Kinds, Search
from biselect.pages.answer_files import explanation_csv, selection_json


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(120, 8))
    pool[:6, :3] -= 5
    pool[10:16, 4:7] += 5
    return bs.review(
        pool, rng.normal(size=(400, 8)), k=5, m=3, kinds=Kinds(kinds=2, null_draws=4), search=Search(neighbours=(0, 0))
    )


def test_the_review_and_its_summary_hold_the_same_kinds(found):
    told = found.summary["kinds"]["found"]
    assert [kind["name"] for kind in told] == [kind.name for kind in found.kinds]
    for kind, data in zip(found.kinds, told, strict=True):
        assert {row["index"] for row in data["rows"]} == set(kind.selection.samples.tolist())
        assert data["columns"] == [cell["feature"] for cell in data["rows"][0]["cells"]]
        total = sum(cell["adds"] for row in data["rows"] for cell in row["cells"])
        assert total == pytest.approx(kind.selection.score)
        sides = dict(zip(data["columns"], data["sides"], strict=True))
        assert all(
            cell["direction"] == sides[cell["feature"]] for row in data["rows"] for cell in row["cells"] if cell["adds"]
        )
        assert data["chance"] == pytest.approx(0.2)
    assert found.summary["kinds"]["words"] == found.kinds.words


def test_files_hold_all_kinds(found):
    content = json.loads(selection_json(found.summary))
    assert [kind["name"] for kind in content["kinds"]] == [kind.name for kind in found.kinds]
    assert all(kind["proven_optimal"] and len(kind["samples"]) == 5 for kind in content["kinds"])
    lines = list(csv.DictReader(io.StringIO(explanation_csv(found.summary))))
    assert {line["kind"] for line in lines} == {"", "1", "2"}
    assert sum(line["kind"] == "2" for line in lines) == 15


def test_the_page_shows_every_kind(found):
    page = found.report()
    assert "Kinds of unusual" in page
    assert all(kind.name in page for kind in found.kinds)
    assert "of what is unusual about the chosen rows" in page


def test_one_kind_is_the_answer_alone(found):
    rng = np.random.default_rng(0)
    alone = bs.review(
        rng.normal(size=(30, 4)),
        rng.normal(size=(60, 4)),
        k=2,
        m=2,
        kinds=Kinds(kinds=1),
        search=Search(neighbours=(0, 0)),
    )
    assert alone.kinds is None and alone.summary["kinds"] is None
    assert "kinds" not in json.loads(selection_json(alone.summary))
    assert "Kinds of unusual" not in alone.report()
