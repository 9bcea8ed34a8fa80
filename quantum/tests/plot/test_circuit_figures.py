"""Pictures of circuits, which `bs.plot` offers where biselect-quantum is installed."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import biselect as bs
from biselect.errors import InputError
from biselect_quantum.circuits import SCHEDULES, Ansatz, Schedule
from biselect_quantum.circuits.metrics import by_depth
from biselect_quantum.plot.circuit_figures import draw_training

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def trained():
    problem = bs.SelectionProblem(coupling=np.random.default_rng(0).normal(size=(5, 4)), k=2, m=2)
    ansatz = Ansatz(problem, depth=2)
    return ansatz, ansatz.train(evaluations=60)


def test_nothing_is_cut_off(trained):
    ansatz, training = trained
    landscape = bs.plot.landscape(ansatz, training, points=5)
    for axes in (bs.plot.schedule(training), bs.plot.schedule(ansatz.spec), landscape):
        axes.figure.canvas.draw()
        drawn, sheet = axes.get_tightbbox(), axes.figure.bbox
        assert drawn.x0 >= -2 and drawn.y0 >= -2 and drawn.x1 <= sheet.x1 + 2 and drawn.y1 <= sheet.y1 + 2


def test_a_picture_is_drawn_where_it_is_told_to(trained):
    panels = Figure(figsize=(20, 10)).subplots(1, 2)
    ansatz, training = trained
    assert bs.plot.schedule(training, ax=panels[0]) is panels[0]
    assert bs.plot.landscape(ansatz, ax=panels[1], points=3) is panels[1]
    assert all(panel.get_title("left") + panel.get_title() for panel in panels)
    assert pyplot.get_fignums() == []  # and on no other figure


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
    seen, original = [], type(ansatz).expectation
    monkeypatch.setattr(
        type(ansatz), "expectation", lambda self, *given: seen.append(original(self, *given)) or seen[-1]
    )
    bs.plot.landscape(ansatz, training, points=5)  # multiples -1, 0, 1, 2, 3
    energies = np.array(seen).reshape(5, 5)
    assert energies[2, 2] == pytest.approx(training.energy)
    assert energies[1, 1] == pytest.approx(ansatz.expectation(np.zeros(ansatz.size)))


def test_a_landscape_along_two_angles_has_the_trained_point_in_its_middle(trained, monkeypatch):
    ansatz, training = trained
    seen, original = [], type(ansatz).expectation
    monkeypatch.setattr(
        type(ansatz), "expectation", lambda self, *given: seen.append((given[0], original(self, *given))) or seen[-1][1]
    )
    names, optimum = training.angle_names, float(ansatz.energies.min())
    axes = bs.plot.landscape(ansatz, training, points=3, along=(names[1], names[3]), threshold=optimum)
    vectors, hits = map(np.array, zip(*seen, strict=True))
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
    found = by_depth(ansatz, training)
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


@pytest.mark.parametrize("draw", [getattr(bs.plot, name) for name in ("schedule", "depths")])
def test_what_cannot_be_drawn_is_refused(draw):
    with pytest.raises(InputError, match="needs"):
        draw([])
    assert pyplot.get_fignums() == []
