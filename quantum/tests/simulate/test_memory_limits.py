"""Whatever makes an array as large as a sector asks for memory first."""

import tracemalloc
from functools import partial
from itertools import product

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.core.sector import TooLargeError
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.starts import basis_state
from biselect_quantum.simulate import limits as state_memory
from biselect_quantum.simulate.layers import energy_table

STARTS = {
    "dicke": lambda problem: "dicke",
    "random": lambda problem: "random",
    "choice": lambda problem: (list(range(7)), list(range(5))),
}
BUILT = {
    **{
        f"{start}, {mixer}, {backend}": partial(
            lambda problem, start, how: Ansatz(problem, 1, start=STARTS[start](problem), **how),
            start=start,
            how={"mixer": mixer, "backend": backend},
        )
        for start, mixer, backend in product(STARTS, ("ring", "grover"), ("auto", "plain", "compiled", "continuous"))
        if not (mixer == "grover" and start in ("random", "choice"))
    },
    "energies": energy_table,
    "basis state": lambda problem: basis_state(problem, STARTS["choice"](problem)),
}
RUN = {
    "state": lambda ansatz, angles: ansatz.state(angles),
    "probabilities": lambda ansatz, angles: ansatz.probabilities(angles),
    "energies": lambda ansatz, angles: ansatz.energies,
    "gradient": lambda ansatz, angles: ansatz.value_and_gradient(angles),
    "cvar": lambda ansatz, angles: ansatz.cvar(angles),
    "sample": lambda ansatz, angles: ansatz.sample(angles, 10),
}
MIDDLE = SelectionProblem(coupling=np.ones((14, 10)), k=7, m=5)  # 864,864 choices: 6.9 MB in single precision


def refused_without_a_state(call):
    """TooLargeError, and before it nothing as large as a state is allocated."""
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match="864,864"):
            call()
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", BUILT)
def test_memory_is_asked_for_before_a_state_is_made(monkeypatch, name):
    monkeypatch.setattr(state_memory, "free_memory", lambda: 2**20)
    refused_without_a_state(partial(BUILT[name], MIDDLE))


@pytest.mark.parametrize("name", RUN)
def test_memory_is_asked_for_before_a_run_makes_another_state(monkeypatch, name):
    ansatz = Ansatz(MIDDLE, 1, schedule="tied", mixer="path", backend="compiled")
    monkeypatch.setattr(state_memory, "free_memory", lambda: 2**20)
    refused_without_a_state(partial(RUN[name], ansatz, np.zeros(2)))
