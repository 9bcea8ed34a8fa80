from dataclasses import replace

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit, compile_problem
from biselect_quantum.devices.circuit_files import _mask


def test_the_library_does_what_the_command_does(problem_file):
    dense = SelectionProblem.load(problem_file)
    made = compile_problem(dense, "boston", [0.9, 2.4, 1.15], depth=1, compare=False)
    again = compile_circuit(made.bound, made.target, made.patch.layout, made.path)
    assert again.gates == made.gates and not made.references
    assert made.surrogate.coupling[~made.mask].any() == np.False_


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": None}, "start must be dicke"),
        ({"start": "dicke"}, "basis state"),
        ({"angles": [1.0]}, "3 free angles"),
        ({"angles": {"β": 1.0}}, "check γ_SF,1, γ_marg"),
        ({"angles": [1e308, 1e308, 0.0]}, "beyond all numbers"),
        ({"schedule": "none"}, "schedule must be one of"),
        ({"path": "opt3-fractional", "target": "iqm-54"}, "RX and RZZ of any angle"),
    ],
)
def test_options_are_refused_before_the_work(options, message):
    problem = SelectionProblem(coupling=np.full((4, 3), 100.0), k=2, m=1)
    steps = []
    given = {"target": "boston", "angles": [0.9, 2.4, 1.15], "depth": 1, "progress": steps.append, **options}
    with pytest.raises(InputError, match=message):
        compile_problem(problem, **given)
    assert not steps


def test_starts_and_angles_are_named_by_the_original_problem():
    weights = np.arange(12.0).reshape(4, 3)  # the heaviest are placed first
    problem = SelectionProblem(coupling=weights, k=2, m=1)
    angles = {"β": 1.15, "γ_marg": 0.9, "γ_SF,1": 2.4}
    choice = replace(bs.solve(problem), samples=np.array([0, 1]), features=np.array([0]))
    for start in ("canonical", choice, ([0, 1], [0])):
        made = compile_problem(
            problem, "boston", angles, depth=1, path="complete-fractional", start=start, compare=False
        )
        shots = made.decode(np.array([made.bound.bits]))
        assert shots.bits.tolist() == [[1, 1, 0, 0, 1, 0, 0]]
        assert made.angles == angles


def test_the_mask_of_a_stored_circuit_is_the_manifests_own(problem_file):
    """Not that of the patch: a circuit may carry couplings that lie on no edge."""
    made = compile_problem(SelectionProblem.load(problem_file), "boston", [0.9, 2.4, 1.15], depth=1, compare=False)
    manifest = made.manifest()
    assert np.array_equal(_mask(manifest, made.problem), made.mask)
    assert not _mask({"mask": []}, made.problem).any()
