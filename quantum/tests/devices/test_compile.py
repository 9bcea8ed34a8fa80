import numpy as np
import pytest
from qiskit.circuit import Measure, Parameter
from qiskit.circuit.library import CZGate, RXGate, RZGate, RZZGate
from qiskit.transpiler import Target

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.devices import PATHS, Layout, YFramePath, compile_circuit
from biselect_quantum.devices.patches import choose_patch
from biselect_quantum.devices.paths import factorial
from biselect_quantum.devices.resources import count_resources
from biselect_quantum.devices.targets import load_target

LINE = [(0, 1), (1, 2), (2, 3), (3, 4)]


def line_program(**options):
    """Three samples and two features on a line, one cross edge in the middle."""
    problem = SelectionProblem(coupling=[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], sample_scores=[0.1, 0.2, 0.3], k=1, m=1)
    options = {"depth": 1, "schedule": "tied", "mixer": "path", "start": ([0], [0]), "angles": [0.9, 0.4], **options}
    angles = options.pop("angles")
    return AnsatzSpec(problem, **options).program(angles)


@pytest.fixture(scope="module")
def fractional(small):
    return small.device("fractional", LINE, 5)


def test_the_shortest_circuit_is_what_it_should_be(fractional):
    """|100⟩ ⊗ |10⟩ at p = 1: no phase is seen, (0, 1) and (3, 4) are pairs of one CZ, (1, 2) takes two."""
    made = compile_circuit(line_program(), fractional, range(5), YFramePath(coloured=False))
    names = made.gates.count_ops()
    assert names["cz"] == 4 and set(names) == {"cz", "rx", "measure"}
    assert made.resources.two_qubit_gates == 4 and made.resources.two_qubit_depth == 3
    assert made.resources.depth == 7  # qubit 1: rx cz, cz rx cz, rx measure; the pair's third gate is on qubit 0
    assert made.layout == Layout.of(range(5), range(5))
    assert made.target.description == "small fractional" and made.program.bits == (1, 0, 0, 1, 0)


def test_durations_are_the_longest_path(fractional, small):
    made = compile_circuit(line_program(), fractional, range(5), YFramePath(coloured=False))
    assert made.resources.gate_duration == pytest.approx(3 * 68e-9 + 3 * 32e-9)
    assert made.resources.duration == pytest.approx(made.resources.gate_duration + 2e-6)
    (measure,) = [name for name in fractional.operation_names if name == "measure"]
    silent = small.device("fractional", LINE, 5)
    for place in list(silent[measure]):
        silent.update_instruction_properties(measure, place, None)
    unknown = count_resources(made.gates, silent)
    assert unknown.duration is None and unknown.gate_duration == made.resources.gate_duration


def test_negative_angles_need_no_echo(fractional):
    for angle in (0.9, -0.9, 4.0, -4.0):
        made = compile_circuit(line_program(angles=[angle, 0.4], depth=2), fractional, range(5))
        assert "x" not in made.gates.count_ops()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layout": None}, "does not route"),
        ({"layout": [0, 1, 2, 3]}, "each of the 5 qubits, got 4"),
        ({"layout": [0, 1, 2, 3, 3]}, "must not repeat"),
        ({"layout": [0, 1, 2, 3, 9]}, "within 0..4"),
        ({"layout": [1, 0, 2, 3, 4]}, "have no cz.*Qiskit path"),
        ({"path": PATHS["complete-cz"]}, "binding late needs"),
        ({"circuit": line_program(angles=None)}, "angles are needed for γ, β"),
        ({"circuit": line_program(start="dicke")}, "basis state"),
        ({"circuit": line_program(angles=None), "angles": [1.0]}, "2 free angles"),
    ],
)
def test_what_cannot_be_compiled_is_refused(fractional, change, message):
    arguments = {"circuit": line_program(), "target": fractional, "layout": range(5), **change}
    with pytest.raises(InputError, match=message):
        compile_circuit(**arguments)


def test_devices_that_do_not_fit_are_refused(small):
    with pytest.raises(InputError, match="has 5 qubits, 'small cz' only 3"):
        compile_circuit(line_program(), small.device("cz", LINE[:2], 3), range(3))
    with pytest.raises(InputError, match="RX and RZZ of any angle"):
        compile_circuit(line_program(), small.device("cz", LINE, 5), range(5), PATHS["opt3-fractional"])


def bare_device(bounds, singles=(RXGate, RZGate)):
    """A device of a user's own: few gates, no X."""
    target = Target(num_qubits=5, description="bare")
    for gate in singles:
        target.add_instruction(gate(Parameter("θ")), {(q,): None for q in range(5)})
    target.add_instruction(Measure(), {(q,): None for q in range(5)})
    target.add_instruction(CZGate(), dict.fromkeys(LINE))
    target.add_instruction(RZZGate(Parameter("θ")), dict.fromkeys(LINE), angle_bounds=bounds)
    return target


@pytest.mark.parametrize("bounds", [None, [(0.0, np.pi / 2)], [(0.0, 0.2)]])
@pytest.mark.parametrize("angle", [0.9, -2.2])
def test_devices_without_x_and_with_other_bounds_are_served(small, bounds, angle):
    target = bare_device(bounds)
    program = line_program(angles=[angle, 0.4], depth=2)
    for path in (YFramePath(), YFramePath(propagate=False), *(PATHS[name] for name in ("opt3-cz", "opt3-fractional"))):
        if path == PATHS["opt3-fractional"] and bounds == [(0.0, 0.2)]:
            with pytest.raises(InputError, match="RX and RZZ of any angle"):
                compile_circuit(program, target, range(5), path)
            continue
        made = compile_circuit(program, target, range(5), path)
        assert small.distance(small.ideal(made.bound), small.measured(made)) < 1e-9


def test_a_cz_path_does_without_rx_even_where_there_is_no_rzz():
    target = load_target("torino")
    made = compile_circuit(
        line_program(), target, choose_patch(target, 3, 2, registers="paths").layout, PATHS["opt3-cz"]
    )
    assert "rx" not in made.gates.count_ops()


def test_the_paths_are_the_16_conditions_and_named_ones():
    names = {path.name for path in factorial()}
    assert len(names) == 16
    named = {PATHS[name].name for name in ("opt3-cz", "opt3-fractional", "complete-cz", "complete-fractional")}
    assert named < names
    assert PATHS["strongest-qiskit"].name == "fractional-fused-coloured-early-clean"
    assert YFramePath(propagate=False).name == "y-frame-coloured-unitary"


def test_another_order_is_another_circuit():
    rng = np.random.default_rng(0)
    scores = {"sample_scores": rng.normal(size=4), "feature_scores": rng.normal(size=2)}
    problem = SelectionProblem(coupling=rng.normal(size=(4, 2)), k=2, m=1, **scores)
    orders = [[((0, 1),), ((1, 2),), ((2, 3),)], [((0, 1), (2, 3)), ((1, 2),)]]
    states = [Ansatz(problem, 1, "tied", (order, "path"), "canonical").state([0.5, 0.9]) for order in orders]
    assert np.abs(np.abs(states[0]) ** 2 - np.abs(states[1]) ** 2).max() > 1e-3
