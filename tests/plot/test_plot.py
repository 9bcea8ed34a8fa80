from dataclasses import replace

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
from biselect.plot.canvas import _width, fitted
from biselect.report.style import HIGHER, LOWER
from biselect.solvers import neighbours
from biselect_quantum.circuits import SCHEDULES, Ansatz, Schedule
from biselect_quantum.plot.training_picture import draw_training

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


@pytest.fixture(scope="module")
def trained():
    problem = bs.SelectionProblem(coupling=np.random.default_rng(0).normal(size=(5, 4)), k=2, m=2)
    ansatz = Ansatz(problem, depth=2)
    return ansatz, ansatz.train(evaluations=60)


def drawings(review, watched, trained):
    ansatz, training = trained
    over_time, once = watched
    yield from (bs.plot.block(found) for found in (review, review.selection, review.explain()))
    yield from (bs.plot.reasons(found) for found in (review, review.selection, review.explain()))
    yield from (bs.plot.budgets(review), bs.plot.drift(over_time), bs.plot.drift(once))
    yield from (
        bs.plot.schedule(training),
        bs.plot.schedule(ansatz.spec),
        bs.plot.landscape(ansatz, training, points=5),
    )


def test_nothing_is_cut_off_and_no_name_is_a_formula(review, watched, trained):
    for axes in drawings(review, watched, trained):
        axes.figure.canvas.draw()
        drawn, sheet = axes.get_tightbbox(), axes.figure.bbox
        assert drawn.x0 >= -2 and drawn.y0 >= -2 and drawn.x1 <= sheet.x1 + 2 and drawn.y1 <= sheet.y1 + 2


def test_a_picture_is_drawn_where_it_is_told_to(review, watched, trained):
    panels = iter(Figure(figsize=(30, 20)).subplots(3, 4).ravel())
    ansatz, training = trained
    for draw, found in [
        (bs.plot.block, review),
        (bs.plot.reasons, review),
        (bs.plot.budgets, review.neighbours),
        (bs.plot.drift, watched[0]),
        (bs.plot.schedule, training),
        (bs.plot.landscape, ansatz),
    ]:
        panel = next(panels)
        more = {"points": 3} if draw is bs.plot.landscape else {}
        assert draw(found, ax=panel, **more) is panel and panel.get_title("left") + panel.get_title()
    assert pyplot.get_fignums() == []  # and on no other figure


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


def test_bars_add_up_to_what_rows_add(review):
    why = review.explain()
    axes = bs.plot.reasons(review)
    ends = [sum(bar.get_width() for bars in axes.containers for bar in [bars[row]]) for row in range(4)]
    np.testing.assert_allclose(ends, np.sort(why.sample_values)[::-1])
    assert any("higher than all 300" in text.get_text() for text in axes.texts)
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
    near = neighbours(bs.solve(review.problem, "greedy"), rows=1, columns=0)
    axes = bs.plot.budgets(near)
    for one in near:
        drawn = next(line for line in axes.lines if line.get_xdata()[0] == one.problem.k and len(line.get_xdata()) == 1)
        assert drawn.get_ydata()[0] == one.score
        assert (drawn.get_markerfacecolor() == "white") == (not one.proven_optimal)


def test_angles_are_those_of_the_circuit(trained):
    ansatz, training = trained
    table = ansatz.schedule.expand(training.angles)
    for axes in (bs.plot.schedule(training), bs.plot.schedule(ansatz, training.angles)):
        np.testing.assert_array_equal([line.get_ydata() for line in axes.lines[:4]], table.T)


def test_a_schedule_of_ones_own_needs_its_circuit(trained):
    ansatz, training = trained
    own = replace(training, schedule="mine")
    with pytest.raises(InputError, match="give the circuit"):
        bs.plot.schedule(own)
    assert len(bs.plot.schedule(ansatz, own).lines) == 5  # four angles and zero


@pytest.mark.parametrize("name", SCHEDULES)
def test_tied_angles_have_one_letter(name):
    plan = Schedule.named(name, depth=3)
    axes = bs.plot.schedule(plan)
    letters = np.array([text.get_text() for text in axes.texts]).reshape(3, 4)
    assert len(set(letters.ravel())) == plan.size
    np.testing.assert_array_equal(
        letters[:, :, None, None] == letters, plan.matrix.argmax(2)[:, :, None, None] == plan.matrix.argmax(2)
    )


def test_a_landscape_goes_through_the_start_and_the_angles(trained, monkeypatch):
    ansatz, training = trained
    seen = {}
    monkeypatch.setattr(
        type(ansatz),
        "many",
        lambda self, vectors, _: seen.setdefault("energies", np.array([*map(self.expectation, vectors)])),
    )
    bs.plot.landscape(ansatz, training, points=5)  # multiples -1, 0, 1, 2, 3
    energies = seen["energies"].reshape(5, 5)
    assert energies[2, 2] == pytest.approx(training.energy)
    assert energies[1, 1] == pytest.approx(ansatz.expectation(np.zeros(ansatz.size)))


def test_a_landscape_along_two_angles_has_the_trained_point_in_its_middle(trained, monkeypatch):
    ansatz, training = trained
    seen, original = [], type(ansatz).many
    monkeypatch.setattr(
        type(ansatz), "many", lambda self, *given: seen.append((given[0], original(self, *given))) or seen[-1][1]
    )
    names, optimum = training.angle_names, float(ansatz.energies.min())
    axes = bs.plot.landscape(ansatz, training, points=3, along=(names[1], names[3]), threshold=optimum)
    vectors, hits = seen[0]
    np.testing.assert_array_equal(vectors[4], training.angles)
    assert hits[4] == pytest.approx(ansatz.optimum_mass(training.angles))
    moved = vectors != training.angles
    assert set(np.flatnonzero(moved.any(axis=0))) == {1, 3}
    assert (axes.get_xlabel(), axes.get_ylabel()) == (names[1], names[3]) and axes.get_title().startswith("Hits")
    with pytest.raises(InputError, match="along must be two of the angles"):
        bs.plot.landscape(ansatz, training, along=(names[0], "nothing"))
    with pytest.raises(InputError, match="give angles="):
        bs.plot.landscape(ansatz, along=(names[0], names[1]))


def test_angles_of_several_instances_are_drawn_by_their_median(trained):
    ansatz, training = trained
    others = [replace(training, angles=factor * training.angles) for factor in (0.5, -1.0, 3.0)]
    axes = bs.plot.schedule(others)
    table = ansatz.schedule.expand(training.angles)
    table *= np.sign(table[:, :-1].sum())  # with all signs turned the shots are the same
    np.testing.assert_allclose([bars.lines[0].get_ydata() for bars in axes.containers], table.T)
    with pytest.raises(InputError, match="one schedule and depth"):
        bs.plot.schedule([training, replace(training, depth=7)])


def test_energies_of_shots_add_up_to_all_of_them(trained):
    axes = bs.plot.energies(*trained)
    for outline in axes.patches:
        heights = outline.get_xy()[:, 1]
        assert heights[1:-1:2].sum() == pytest.approx(100)


def test_figures_over_depth_begin_at_the_start(trained):
    ansatz, training = trained
    found = ansatz.by_depth(training)
    assert [one.depth for one in found] == [0, training.depth]
    assert found[0].optimum_mass == pytest.approx(found[0].uniform_mass) and found[0].approximation == pytest.approx(0)
    assert found[-1].approximation == pytest.approx(ansatz.approximation(training.angles))
    assert found[-1].optimum_mass == pytest.approx(ansatz.optimum_mass(training.angles))
    axes = bs.plot.depths(found)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [one.approximation for one in found])


def test_a_training_is_drawn_whole_or_not_at_all(trained, tmp_path, monkeypatch):
    monkeypatch.setattr("biselect_quantum.plot.angles.WORK", 0)
    draw_training(*trained, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="cannot write there"):
        draw_training(*trained, tmp_path / "nowhere" / "a.svg")


@pytest.mark.parametrize(
    "draw", [getattr(bs.plot, name) for name in ("block", "reasons", "budgets", "drift", "schedule", "depths")]
)
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(InputError, match="needs"):
        draw([])
    assert pyplot.get_fignums() == []


@settings(max_examples=50)
@given(st.text(max_size=60), st.integers(4, 40))
def test_a_name_fits_on_one_line(name, longest):
    text = fitted(name, longest)
    assert _width(text) <= longest and text.isprintable()
