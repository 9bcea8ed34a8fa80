import os

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices import compile_problem
from biselect_quantum.devices.circuit_files import NAMES, draw_patch, write_circuit
from biselect_quantum.simulate.program import steps


@pytest.fixture(scope="module")
def made():
    weights = np.random.default_rng(0).exponential(size=(6, 4))
    problem = SelectionProblem(coupling=weights, k=2, m=2)
    return compile_problem(problem, "iqm-54", [0.9, 2.4, 1.15], depth=1, compare=False)


def test_a_failed_write_leaves_what_was_there(made, tmp_path, monkeypatch):
    write_circuit(tmp_path / "out", made)
    before = {name: (tmp_path / "out" / name).read_bytes() for name in NAMES}

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(InputError, match="No space left"):
        write_circuit(tmp_path / "out", made)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(NAMES)
    assert before == {name: (tmp_path / "out" / name).read_bytes() for name in NAMES}


def test_places_that_cannot_be_written_to_are_refused(made, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write_circuit(tmp_path / "file", made)
    (tmp_path / "out" / "circuit.qpy").mkdir(parents=True)
    with pytest.raises(InputError, match="is a folder"):
        write_circuit(tmp_path / "out", made)


def test_the_picture_shows_registers_cross_edges_and_colours(made):
    figure = draw_patch(made.patch, made.target, made.bound)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    edges = made.bound.edges("xy")
    colours = dict(zip(edges, steps(edges), strict=True))
    assert set(labels) == {"samples", "features", "cross edge", *(f"mixer, colour {i + 1}" for i in colours.values())}
    for edge, step in colours.items():  # edges of one colour share no qubit
        assert not any(other != edge and set(other) & set(edge) and colours[other] == step for other in colours)
    numbers = [text.get_text() for text in figure.axes[0].texts]
    assert numbers == [str(i) for i in range(6)] + [str(j) for j in range(4)]
