import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search, Watch
from biselect.pages.words import strongest_reason
from biselect.plot.style import HIGHER, LOWER, _width, fitted
from biselect.solvers import neighbours

HOSTILE = [
    "$x^2",
    "_hidden",
    "two\nlines",
    "a name that is much longer than anybody would want to read " * 3,
    "Über",
    "имя",
]
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def review():
    rng = np.random.default_rng(0)
    reference, pool = (pd.DataFrame(rng.normal(size=(rows, 6)), columns=HOSTILE) for rows in (300, 30))
    pool.iloc[:4, 0], pool.iloc[:4, 2] = 8.0, -8.0
    pool.index = [f"{HOSTILE[at % 6]} {at}" for at in range(30)]
    return bs.review(pool, reference, k=4, m=2, kinds=Kinds(kinds=1), search=Search(neighbours=(1, 1)))


@pytest.fixture(scope="module")
def watched():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 3)), columns=["steady", "$moves", "_calm"])
    table["$moves"] += np.linspace(0, 4, 600)
    return bs.monitor(table, k=3, m=1, watch=Watch(window=120)), bs.monitor(table[300:], older=table[:300])


def drawings(review, watched):
    over_time, once = watched
    yield from (bs.plot.block(found) for found in (review, review.selection, review.explain()))
    yield from (bs.plot.reasons(found) for found in (review, review.selection, review.explain()))
    yield from (bs.plot.budgets(review), bs.plot.drift(over_time), bs.plot.drift(once))


def test_nothing_is_cut_off_and_no_name_is_a_formula(review, watched):
    for axes in drawings(review, watched):
        axes.figure.canvas.draw()
        drawn, sheet = axes.get_tightbbox(), axes.figure.bbox
        assert drawn.x0 >= -2 and drawn.y0 >= -2 and drawn.x1 <= sheet.x1 + 2 and drawn.y1 <= sheet.y1 + 2


def test_a_picture_is_drawn_where_it_is_told_to(review, watched):
    panels = iter(Figure(figsize=(20, 20)).subplots(2, 2).ravel())
    for draw, found in [
        (bs.plot.block, review),
        (bs.plot.reasons, review),
        (bs.plot.budgets, review.neighbours),
        (bs.plot.drift, watched[0]),
    ]:
        panel = next(panels)
        assert draw(found, ax=panel) is panel and panel.get_title("left") + panel.get_title()
    assert pyplot.get_fignums() == []  # and on no other figure


def test_bars_are_the_parts_that_the_page_tells(review):
    axes = bs.plot.reasons(review)
    rows = review.summary["kinds"]["list"][0]["rows"]
    widths = [[bar.get_width() for bar in bars] for bars in axes.containers]
    for drawn, name in zip(widths[:2], review.kinds[0].column_names, strict=True):
        parts = [part["part"] for row in rows for part in row["parts"] if part["column"] == name]
        assert sorted(drawn) == pytest.approx(sorted(parts))
    assert np.sum(widths, axis=0) == pytest.approx([row["score"] for row in rows])


def test_direction_has_two_hues(review):
    axes = bs.plot.block(review)
    image = axes.images[0].get_array()
    chosen = {label.get_text(): column for column, label in enumerate(axes.get_xticklabels())}
    assert set(chosen) == {"$x^2", "two lines"}

    def nearest(cell):
        return min(
            (LOWER, HIGHER), key=lambda hue: np.abs((1 - cell) / (1 - cell).max() - (1 - np.array(to_rgb(hue)))).sum()
        )

    for row in image:
        assert nearest(row[chosen["$x^2"]]) == HIGHER and nearest(row[chosen["two lines"]]) == LOWER


def test_a_value_that_is_called_like_a_hue_is_none():
    reference = pd.DataFrame({"fee": ["usual"] * 60 + ["takes", "adds"] * 2, "x": np.arange(64.0)})
    pool = pd.DataFrame({"fee": ["usual"] * 10 + ["takes"] * 4, "x": 30.0})
    found = bs.review(pool, reference, k=4, m=1, kinds=Kinds(kinds=1), search=Search(neighbours=(0, 0)))
    assert found.selection.directions == ["takes"]
    words = [text.get_text() for text in bs.plot.block(found).get_legend().get_texts()]
    assert words[0] == "chosen for either end, a value or a gap" and len(words) == 2


def test_bars_add_up_to_what_rows_add(review):
    why = review.explain()
    axes = bs.plot.reasons(review)
    ends = [sum(bar.get_width() for bars in axes.containers for bar in [bars[row]]) for row in range(4)]
    np.testing.assert_allclose(ends, np.sort(why.sample_values)[::-1])
    rows = review.summary["kinds"]["list"][0]["rows"]
    np.testing.assert_allclose(ends, [row["score"] for row in rows])
    assert [text.get_text() for text in axes.texts] == [fitted(strongest_reason(row), 66) for row in rows]
    assert all(text.get_text().startswith(("$x^2 8 (normal ", "two lines -8 (normal ")) for text in axes.texts)
    assert not bs.plot.reasons(review, ax=Figure(figsize=(3, 3)).subplots()).texts  # no room for words


def test_large_blocks_are_cut_and_say_so():
    problem = bs.SelectionProblem(coupling=np.random.default_rng(0).random((120, 30)), k=110, m=25)
    found = bs.solve(problem, "greedy")
    assert "strongest 100 × 20 of 110 × 25" in bs.plot.block(found, most_columns=20).get_title("left")
    axes = bs.plot.reasons(found)
    assert "strongest 50 of 110" in axes.get_title("left") and len(axes.containers) == 7  # six columns and the others


def test_weights_that_take_away_are_told_apart():
    found = bs.solve(bs.SelectionProblem(coupling=[[5.0, -1.0], [4.0, -2.0]], k=1, m=2))
    words = [text.get_text() for text in bs.plot.block(found).get_legend().get_texts()]
    assert words == ["adds", "takes away", "darkest: adds 5"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("weights", "k", "m"), [([[0.0]], 1, 1), (np.zeros((3, 2)), 2, 1), (-np.ones((4, 3)), 4, 3)])
def test_blocks_without_any_difference_are_drawn_too(weights, k, m):
    found = bs.solve(bs.SelectionProblem(coupling=weights, k=k, m=m))
    for axes in (bs.plot.block(found), bs.plot.reasons(found), bs.plot.budgets([found])):
        axes.figure.canvas.draw()
        assert axes.has_data()


def test_budgets_show_scores_and_what_is_proven(review):
    near = neighbours(bs.solve(review.problem, "coordinate-ascent"), rows=1, columns=0)
    assert not all(one.proven_optimal for one in near)
    axes = bs.plot.budgets(near)
    for one in near:
        drawn = next(line for line in axes.lines if line.get_xdata()[0] == one.problem.k and len(line.get_xdata()) == 1)
        assert drawn.get_ydata()[0] == one.score
        assert (drawn.get_markerfacecolor() == "white") == (not one.proven_optimal)


@pytest.mark.parametrize("draw", [getattr(bs.plot, name) for name in ("block", "reasons", "budgets", "drift")])
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(InputError, match="needs"):
        draw([])
    assert pyplot.get_fignums() == []


@settings(max_examples=50)
@given(st.text(max_size=60), st.integers(4, 40))
def test_a_name_fits_on_one_line(name, longest):
    text = fitted(name, longest)
    assert _width(text) <= longest and text.isprintable()
