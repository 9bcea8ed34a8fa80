"""The answer from the rows kept is that of the whole table, however it is divided."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import biselect as bs
from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.large import _survey as survey
from biselect.large import opening
from biselect.large._collecting import moved_back
from biselect.large._weighing import Weighing as StoredWeighing
from biselect.large.check import FILE
from biselect.options import Columns, Compute, Kinds, RowRules, Search, Split, Weighing
from biselect.pages.answer_files import explanation_csv
from biselect.reviews.kinds import following_question
from biselect.solvers.representatives import NAME
from biselect.weights.directed import DirectedColumns
from biselect.weights.maps import EcdfMap


class Rowwise(EcdfMap):
    """A map that must see the reference row by row."""

    needs_rows = True


COLUMNS = Columns(id="id", exclude=["group", "when"])
ASKED = {"k": 8, "m": 2, "kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}


def described(source, **columns):
    return bs.table(source, columns=replace(COLUMNS, **columns))


def whole_problem(found, pool, folder):
    """All rows in the directed columns of an answer, weighed as its own were."""
    (folder / FILE).write_bytes(found.calibration)
    weighing, kept = StoredWeighing.load(folder / FILE), found.problem
    matrix = moved_back(weighing.features.matrix(pool, np.arange(len(pool))), weighing.shifts)
    features = DirectedColumns(names=kept.column_names, columns=kept.column_of, directions=kept.directions)
    place = {name: i for i, name in enumerate(pool["id"].to_pylist())}
    scores = np.zeros(len(pool))
    for i in range(kept.n_samples):
        name = kept.sample_name(i)
        if not name.startswith(NAME):
            scores[place[name]] = kept.sample_scores[i]
    weigher = weighing.weigher
    return SelectionProblem(
        coupling=features.weights(weigher, weigher.cells(matrix)),
        sample_scores=scores,
        k=kept.k,
        m=kept.m,
        sample_names=pool["id"].to_pylist(),
        feature_names=kept.feature_names,
        directions=kept.directions,
        feature_rules=kept.feature_rules,
    )


@pytest.mark.parametrize("planted", [12, 0])
@pytest.mark.parametrize("mixed", [False, True])
def test_the_answer_is_the_optimum_of_the_whole_table(tables, tiny_memory, tmp_path, planted, mixed):
    pool, reference = tables(planted=planted, mixed=mixed)
    found = bs.review(described(pool), reference, **ASKED)
    assert found.problem.n_samples < pool.num_rows / 2 and found.summary["budgets"]["samples"] == pool.num_rows
    whole = whole_problem(found, pool, tmp_path)
    best = bs.solve(whole, "exact")
    assert found.selection.score <= best.score <= -found.selection.bound + 1e-9
    if found.selection.proven_optimal:
        assert found.selection.score == pytest.approx(best.score, rel=1e-12)
        assert not any(name.startswith(NAME) for name in found.selection.sample_names)
        assert found.selection.directions == best.directions or found.selection.score == pytest.approx(best.score)
    assert found.selection.proven_optimal or not planted
    features = found.selection.features
    rows = [whole.sample_names.index(name) for name in found.selection.sample_names]
    assert whole.score(rows, features) == pytest.approx(found.selection.score, rel=1e-12), "each row weighs the same"


def test_kinds_are_those_of_the_whole_table(tables, tiny_memory, tmp_path):
    """The same question again: each further kind is the optimum over all rows, given those before it."""
    pool, reference = tables(mixed=True)
    found = bs.review(described(pool), reference, **{**ASKED, "kinds": Kinds(kinds=3)})
    whole = whole_problem(found, pool, tmp_path)
    place = {name: i for i, name in enumerate(whole.sample_names)}
    earlier = []
    for kind in found.kinds:
        question = following_question(whole, earlier) if earlier else whole
        rows = np.array([place[name] for name in kind.selection.sample_names])
        assert question.obeys(rows, kind.selection.features)
        score = question.score(rows, kind.selection.features)
        assert score == pytest.approx(kind.selection.score, rel=1e-12)
        if kind.selection.proven_optimal:
            assert bs.solve(question, "exact").score == pytest.approx(score, rel=1e-12)
        earlier.append(
            Selection(
                problem=whole,
                samples=rows,
                features=kind.selection.features,
                energy=-score,
                bound=-score,
                proven_optimal=True,
                solver="exact",
                seconds=0.0,
            )
        )
    assert len(found.kinds) == 3 and found.kinds[0].selection.proven_optimal


@pytest.mark.parametrize("planted", [25, 12, 0])
def test_a_large_table_is_held_against_its_reference_as_a_small_one_is(tables, tiny_memory, monkeypatch, planted):
    """No silent size changes what is said."""
    monkeypatch.setattr(survey, "SAMPLE", 10_000)  # all of the reference is scored
    pool, reference = tables(planted=planted)
    asked = {**ASKED, "k": 20, "kinds": Kinds(kinds=3)}
    in_parts = bs.review(described(pool), reference, **asked)
    monkeypatch.setattr(opening, "POOL_CELLS", 10**9)
    at_once = bs.review(described(pool), reference, **asked)
    assert in_parts.problem.n_samples < 1000 < at_once.problem.n_samples
    for found in (in_parts, at_once):
        assert found.finding.case == ("more" if planted else "nothing") and found.finding.sample == 2000
        assert (found.kinds[0].p <= 0.05) == (planted > 0) and (found.kinds[1].p is None) == (not planted)
    ours, theirs = (one.finding for one in (in_parts, at_once))
    assert ours.chosen == theirs.chosen and abs(ours.rows - theirs.rows) <= 2
    assert in_parts.summary["false_share"] == at_once.summary["false_share"]


def test_a_sample_of_the_reference_says_what_it_can(tables, tiny_memory):
    """592 reference rows cannot tell 12 of 4,000 rows from chance, but that they stand apart."""
    pool, reference = tables()
    found = bs.review(described(pool), reference, **{**ASKED, "k": 12})
    assert found.finding.case == "as-reference" and found.finding.chosen == 12 and found.finding.p > 0.05
    assert found.finding.sample < 600 and found.summary["finding"]["case"] == "as-reference"
    assert "compared with itself" not in found.summary["finding"]["text"]


def test_any_division_gives_the_same_bytes(tables, tiny_memory, split_up):
    pool, reference = tables(mixed=True)
    asked = {**ASKED, "kinds": Kinds(kinds=2)}
    answers = set()
    for seed in range(4):
        given = (pool, reference) if seed == 0 else (split_up(pool, "pool", seed), split_up(reference, "ref", seed))
        found = bs.review(described(given[0]), given[1], **asked)
        answers.add(
            (
                json.dumps(found.summary["selection"]),
                found.selection.proof_json(),
                json.dumps(found.summary["kinds"]),
                json.dumps(found.summary["finding"]),
                explanation_csv(found.summary),
            )
        )
    assert len(answers) == 1


def test_a_table_that_fits_is_held_whole(tables):
    pool, reference = tables(rows=400)
    found = bs.review(described(pool), reference, **ASKED)
    assert found.problem.n_samples == 400 and found.summary["searched"] is None


def test_rules_hold_by_name(tables, tiny_memory, split_up):
    pool, reference = tables()
    rules = RowRules(must=["r7"], never=["r9", "r11"], at_most=1, per="group")
    found = bs.review(described(split_up(pool, "pool", 3)), reference, **ASKED, rules=rules)
    names = found.selection.sample_names
    groups = dict(zip(pool["id"].to_pylist(), pool["group"].to_pylist(), strict=True))
    assert "r7" in names and not {"r9", "r11"} & set(names)
    assert len({groups[name] for name in names}) == len(names)


def test_one_table_split_in_time_is_as_two(tables, tiny_memory, split_up):
    pool, reference = tables()
    late = pool.set_column(pool.column_names.index("when"), "when", pa.array(np.arange(4000) + 2000))
    both = pa.concat_tables([reference, late])
    both = both.set_column(both.column_names.index("id"), "id", pa.array([f"r{i}" for i in range(6000)]))
    columns = {"exclude": ["group"], "time": "when"}
    split = bs.review(described(split_up(both, "both", 1), **columns), **ASKED, split=Split(until=1999))
    apart = bs.review(described(late, **columns), reference, **ASKED)
    moved = [f"r{int(name[1:]) + 2000}" for name in apart.selection.sample_names]
    assert split.selection.sample_names == moved and split.selection.score == apart.selection.score
    assert split.summary["tables"]["pool"] == {"rows": 4000, "times": ["2000", "5999"]}
    unnamed = bs.review(described(both.drop(["id"]), **columns, id=None), **ASKED, split=Split(until=1999))
    assert unnamed.selection.sample_names == [name[1:] for name in moved]


def test_known_positives_are_counted_over_the_whole_table(tables, tiny_memory):
    pool, reference = tables()
    fraud = pa.array(np.arange(4000) % 50 == 0)
    found = bs.review(described(pool.append_column("fraud", fraud), label="fraud"), reference, **ASKED)
    told = found.summary["labels"]
    assert told["positives"] == 80 and told["rows"] == 4000 and told["by_chance"] == pytest.approx(8 * 80 / 4000)


def test_an_infinite_number_is_found_with_its_file(tables, tiny_memory, split_up):
    pool, reference = tables()
    values = pool["x2"].to_numpy().copy()
    values[1234] = np.inf
    broken = pool.set_column(pool.column_names.index("x2"), "x2", pa.array(values))
    with pytest.raises(InputError, match=r"\.parquet.*infinite value in column 'x2', row 1,234"):
        bs.review(described(split_up(broken, "pool", 2)), reference, **ASKED)


def test_ids_that_stand_twice_are_refused(tables, tiny_memory, split_up):
    pool, reference = tables()
    names = pool["id"].to_pylist()
    names[3999] = names[5]
    twice = pool.set_column(pool.column_names.index("id"), "id", pa.array(names))
    with pytest.raises(InputError, match=r"'r5' stands in .*parquet.* and .*parquet"):
        bs.review(described(split_up(twice, "pool", 2)), reference, **ASKED)


def test_many_rows_that_weigh_alike_do_not_fill_the_memory(tables, tiny_memory):
    rng = np.random.default_rng(0)
    flags = [pa.table({f"f{j}": rng.random(n) < share for j in range(4)}) for n, share in ((5000, 0.2), (5000, 0.01))]
    found = bs.review(*flags, k=8, m=2, progress=False, kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0)))
    assert found.problem.n_samples < 1000 and found.selection.proven_optimal


def test_the_page_says_how_much_was_searched(tables, tiny_memory):
    pool, reference = tables()
    page = bs.review(described(pool), reference, **ASKED).report()
    assert "the heaviest of all 4,000" in page


def test_rules_that_the_heaviest_rows_leave_no_room_for_get_more_rows(tables, tiny_memory):
    pool, reference = tables(planted=150)
    ids, groups = pool["id"].to_pylist(), np.array(["one"] * 4000, dtype=object)
    light = bs.review(described(pool), reference, **ASKED)
    kept = {light.problem.sample_name(i) for i in range(light.problem.n_samples)}
    groups[[i for i, name in enumerate(ids) if name not in kept]] = [
        str(i) for i in range(sum(n not in kept for n in ids))
    ]
    grouped = pool.set_column(pool.column_names.index("group"), "group", pa.array(groups))
    rules = RowRules(at_most=1, per="group")
    found = bs.review(described(grouped, exclude=["when"]), reference.drop(["group"]), **ASKED, rules=rules)
    assert len(set(found.selection.sample_names) & kept) == 1 and len(found.selection.samples) == 8


def test_names_may_stand_together_and_rows_without_ids_go_by_position(tables, tiny_memory):
    pool, reference = tables()
    found = bs.review(described(pool), reference, **ASKED, rules=RowRules(must=["r1,r2"]))
    assert {"r1", "r2"} <= set(found.selection.sample_names)
    both = pa.concat_tables([reference, pool]).drop(["id"])
    both = both.set_column(both.column_names.index("when"), "when", pa.array(np.arange(6000)))
    table = described(both, id=None, exclude=["group"], time="when")
    found = bs.review(table, **ASKED, split=Split(until=1999), rules=RowRules(must=["3000"]))
    assert "3000" in found.selection.sample_names


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "k must be a whole number of at least 1"),
        ({"k": 4001}, "k = 4001 is out of range: with 4000 samples"),
        ({"m": 0}, "m must be a whole number of at least 1"),
        ({"compute": Compute(on="spark")}, "cannot run there"),
        ({"m": "auto"}, "m must be a whole number of at least 1"),
        (
            {"compute": Compute(on="threads"), "weighing": Weighing(map=Rowwise())},
            "reads tables in parts, but .* needs all rows at hand",
        ),
        ({"compute": Compute(memory="2 parsecs")}, "give a size"),
        ({"split": Split(last=5)}, r"split=Split\(last=...\) goes with split=Split\(until=...\)"),
        ({"label": "id"}, "more than 1,000 different values"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_read(tables, tiny_memory, options, words):
    pool, reference = tables()
    pool = pool.append_column("name", pool["id"])
    label = options.pop("label", None)
    with pytest.raises(InputError, match=words):
        table = described(pool, id="name", exclude=["group", "when", "id"], label=label)
        bs.review(table, reference, **{**ASKED, **options})


def test_every_row_may_be_chosen(tables, tiny_memory):
    pool, reference = tables(rows=1000)
    found = bs.review(described(pool), reference, **{**ASKED, "k": 1000})
    assert found.selection.samples.size == 1000 and found.selection.proven_optimal


def test_an_index_of_pandas_names_the_rows(tables, tiny_memory):
    pool, reference = (table.to_pandas() for table in tables())
    pool.index = [f"row {i}" for i in range(len(pool))]
    reference = reference.drop(columns="id")
    found = bs.review(described(pool.drop(columns="id"), id=None), reference, **ASKED)
    assert set(found.to_frame().index) == set(found.selection.sample_names) <= set(pool.index)


def test_a_large_table_alone_is_described_not_tested(tables, tiny_memory):
    """Its own rows are no other rows that chance could be read from."""
    pool, _ = tables(planted=12)
    review = bs.review(described(pool), **{**ASKED, "k": 20})
    assert review.finding.case == "described" and review.summary["reference"] == "self"
    assert review.finding.p is None and review.summary["false_share"] is None
