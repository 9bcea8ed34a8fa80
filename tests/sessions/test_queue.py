"""The live queue against a slow twin, and what must hold whatever is answered."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.options import Split, Weighing
from biselect.progress import steps_of
from biselect.sessions._question import open_tables
from biselect.sessions.queue import DIGITS, MOST_ROWS, Queue, Traits
from biselect.sessions.store import VERDICTS
from biselect.tables import Table

FINE, NOT_FINE, UNSURE = VERDICTS


def scored(rows=60, columns=5, seed=0, itself=False, ties=False):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(rows, columns))
    pool[:6, 1:3] += 4
    pool[6, 0], pool[7, 1] = 1e9, np.nan
    if ties:
        pool[20:40] = pool[19]
    reference = None if itself else rng.normal(size=(80, columns))
    question = {"split": Split(), "seed": 0, "k": 6, "m": 2, "step": steps_of(False)}
    return open_tables(Table.of(pool), reference, Weighing(), **question).scoring


@pytest.fixture(scope="module", params=["plain", "itself", "ties"])
def scoring(request):
    return scored(**({} if request.param == "plain" else {request.param: True}))


FEATURES = np.array([1, 4])


def slow_likeness(one, other, width):
    """Of two rows, each (cells, normal scores)."""
    lengths = max(np.sqrt(sum(x * x for x in one[0])), 1e-9) * max(np.sqrt(sum(x * x for x in other[0])), 1e-9)
    cosine = sum(x * y for x, y in zip(one[0], other[0], strict=True)) / lengths
    apart = sum((x - y) ** 2 for x, y in zip(one[1], other[1], strict=True))
    return 0.5 * cosine**2 + 0.5 * np.exp(-apart / (2 * width**2))


def slow_order(scoring, answers, earlier=()):
    """The policy as its page says it, row by row. `earlier` are (score, cells, normal scores, verdict)."""
    scores = scoring.pool_scores(FEATURES)
    cells = scoring.pool.weights.astype(float)
    own = scoring.pool.cells.places is not None
    normal = scoring.weigher.whole_row.normal_scores(
        scoring.weigher.scale.residuals(scoring.pool.cells.values), own=own
    )
    rows = list(zip(cells, normal, strict=True))
    high = np.argsort(-scores, kind="stable")[:200]
    to_tenth = []
    for i in high:
        distances = sorted(np.sqrt(sum((x - y) ** 2 for x, y in zip(normal[i], normal[j], strict=True))) for j in high)
        to_tenth.append(distances[min(10, len(high) - 1)])
    width = np.median(to_tenth) or 1.0
    teachers = [(row, rows[row], scores[row], verdict) for row, verdict in sorted(answers.items()) if verdict != UNSURE]
    teachers += [(None, (c, z), score, verdict) for score, c, z, verdict in earlier]
    top, usual = np.quantile(scores, [0.995, 0.25])
    gaps = [max(top - s, 0) if verdict == NOT_FINE else min(usual - s, 0) for _, _, s, verdict in teachers]
    K = np.array([[slow_likeness(a, b, width) for _, b, _, _ in teachers] for _, a, _, _ in teachers])
    if not teachers:
        return scores, np.zeros((0, len(scores)))
    np.fill_diagonal(K, 1.0)
    weights = np.linalg.solve(K + 0.3 * np.eye(len(teachers)), gaps)
    likeness = np.array([[slow_likeness(a, b, width) for b in rows] for _, a, _, _ in teachers])
    for at, (row, _, _, _) in enumerate(teachers):
        if row is not None:
            likeness[at, row] = 1.0
    return scores + weights @ likeness, weights[:, None] * likeness


answers_drawn = st.dictionaries(st.integers(0, 59), st.sampled_from(VERDICTS), max_size=12)


@settings(max_examples=12, deadline=None)
@given(answers=answers_drawn)
def test_the_order_is_the_policy_as_its_page_says_it(scoring, answers):
    queue = Queue(scoring, FEATURES)
    queue.learn(answers)
    slow, addends = slow_order(scoring, answers)
    assert np.allclose(queue.order, slow, rtol=0, atol=2e-3 * max(1.0, np.abs(addends).sum(axis=0).max(initial=0)))
    sums = queue.lessons.weights[:, None] * queue.lessons.likeness
    assert np.allclose(queue.scores + sums.sum(axis=0), queue.order, atol=1e-7)  # one addend an answer
    for row in range(60):
        assert queue.learnt(row) == pytest.approx(queue.order[row] - queue.scores[row], abs=1e-8)


@settings(max_examples=30, deadline=None)
@given(answers=answers_drawn, others=answers_drawn, left_out=st.sets(st.integers(0, 59), max_size=10))
def test_equal_answers_give_equal_orders_whatever_was_said_in_between(scoring, answers, others, left_out):
    queue, fresh = Queue(scoring, FEATURES), Queue(scoring, FEATURES)
    queue.learn(others)
    queue.learn({**others, **answers})
    queue.learn(answers)
    fresh.learn(dict(reversed(answers.items())))
    assert (queue.order == fresh.order).all()
    ranking = queue.ranking(left_out)
    unsure = sorted({row for row, verdict in answers.items() if verdict == UNSURE} - left_out)
    assert ranking == fresh.ranking(left_out) and ranking[len(ranking) - len(unsure) :] == unsure  # they come back last
    certain = {row for row, verdict in answers.items() if verdict != UNSURE}
    assert sorted(ranking) == sorted({*range(60)} - certain - left_out)
    decided = ranking[: len(ranking) - len(unsure)]
    assert decided == sorted(decided, key=lambda row: (-queue.order[row], row))


def test_without_answers_it_is_the_list_of_the_answer(scoring):
    queue = Queue(scoring, FEATURES)
    assert queue.ranking() == np.argsort(-queue.scores.round(DIGITS), kind="stable").tolist()
    queue.learn({3: UNSURE})  # teaches nothing
    assert (queue.order == queue.scores.round(DIGITS)).all() and queue.ranking()[-1] == 3


def test_likeness_is_symmetric_from_0_to_1_and_1_of_a_row_with_itself(scoring):
    some = Traits.of_pool(scoring, FEATURES, np.arange(60))
    like = some.likeness(some, 2.0)
    assert np.allclose(like, like.T, atol=1e-5) and like.min() >= 0 and like.max() <= 1 + 1e-5
    unusual = np.flatnonzero((some.cells != 0).any(axis=1))
    assert np.allclose(like[unusual, unusual], 1, atol=1e-4)


def test_fine_lowers_rows_like_it_and_not_fine_lifts_them():
    scoring = scored()
    queue = Queue(scoring, FEATURES)
    first = queue.ranking()[0]
    others = [row for row in range(6) if row != first]
    queue.learn({first: FINE})
    assert all(queue.learnt(row) < 0 for row in others)
    low = queue.ranking()[-1]
    queue.learn({low: NOT_FINE})
    assert queue.learnt(low) > 0 and queue.why(low)[0] == "like"
    queue.learn({})
    assert queue.learnt(first) == 0 and queue.why(first) == ("highest", 0, 0)


def test_what_was_answered_about_earlier_tables_teaches_the_same():
    scoring = scored()
    some = Traits.of_pool(scoring, FEATURES, np.array([0, 30]))
    queue = Queue(scoring, FEATURES, some, np.array([True, False]))
    answered = Queue(scoring, FEATURES)
    answered.learn({0: NOT_FINE, 30: FINE})
    apart = [row for row in range(60) if row not in (0, 30)]  # of which the others know that they are the same row
    assert np.allclose(queue.order[apart], answered.order[apart], atol=1e-4)
    assert queue.alike(1)[1:] == answered.alike(1)[1:] and queue.alike(1)[0] == []


def test_open_rows_that_move_with_an_answer_are_counted():
    queue = Queue(scored(), FEATURES)
    queue.learn({0: NOT_FINE, 9: UNSURE})
    like = Traits.of_pool(scored(), FEATURES, np.arange(60)).likeness(queue._held.rows(np.array([0])), queue._width)
    assert queue.open_like(0) == int((like[1:] >= 0.5).sum()) > 0 == queue.open_like(9) == queue.open_like(30)


def test_something_else_is_unlike_what_was_answered():
    queue = Queue(scored(), FEATURES)
    alien = queue.rows[queue.unlike([0])]
    assert not {*range(6)} & {*alien.tolist()} and alien.size > 20


def test_a_large_queue_holds_the_highest_rows_and_takes_answers_about_all(monkeypatch):
    monkeypatch.setattr("biselect.sessions.queue.MOST_ROWS", 10)
    scoring = scored()
    queue, whole = Queue(scoring, FEATURES), SimpleNamespace(scores=scoring.pool_scores(FEATURES))
    assert sorted(queue.ranking()) == sorted(np.argsort(-whole.scores, kind="stable")[:10].tolist())
    lowest = int(np.argmin(whole.scores))
    queue.learn({lowest: NOT_FINE})
    assert queue.learnt(lowest) == 0 and len(queue.ranking()) == 10 and MOST_ROWS > 10
