import numpy as np
import pytest

from biselect import SelectionProblem
from biselect.hardware import compile_problem, load_target, place_circuit
from biselect.hardware.likeliest import ON_A_CHIP, ON_ALL_PAIRS
from biselect.hardware.noise.model import cut_noise


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(4)
    return SelectionProblem(coupling=rng.normal(size=(4, 3)), k=2, m=1)


def test_a_quiet_trap_begins_with_all_choices_at_once_and_a_loud_one_does_not(problem):
    """Which way is taken follows from the errors of the gates."""
    device = load_target("quantinuum-h2")
    quiet = compile_problem(problem, device, depth=1, compare=False)
    loud = load_target("quantinuum-h2")
    for places in loud["rzz"]:
        loud.update_instruction_properties("rzz", places, type(loud["rzz"][places])(error=0.2))
    noisy = compile_problem(problem, loud, depth=1, compare=False)
    assert quiet.compiled.program.bits is None
    assert noisy.compiled.program.bits is not None
    assert noisy.compiled.resources.two_qubit_gates < quiet.compiled.resources.two_qubit_gates


@pytest.mark.parametrize(("device", "ways"), [("quantinuum-h2", ON_ALL_PAIRS), ("boston", ON_A_CHIP)])
def test_the_way_taken_is_expected_to_hit_no_less_than_each_of_the_others(problem, device, ways):
    def expected(made):
        return made.training.hit_rate * cut_noise(made.compiled, made.target).plain.flawless

    taken = expected(compile_problem(problem, device, depth=1, compare=False))
    others = []
    for way in ways:
        placed = place_circuit(problem, device, depth=1, **way)
        others.append(expected(placed.compile(placed.train(), compare=False)))
    assert taken == pytest.approx(max(others))


def test_what_is_named_is_kept(problem):
    made = compile_problem(problem, "quantinuum-h2", depth=1, start="canonical", compare=False)
    assert made.compiled.program.bits is not None
