"""Whatever is compiled, for whatever device, by whatever path, measures what the program's definition says.

Programs are simulated here from the definitions of their operations, compiled circuits from those of their gates; no
code of the package and no second run of a compiler takes part. Angles are exact multiples of π/4 half of the time, for
there compilers take short cuts.
"""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from biselect import Rules, SelectionProblem
from biselect.core import Group
from biselect.errors import InfeasibleError, InputError
from biselect_quantum.circuits import SCHEDULES, AnsatzSpec
from biselect_quantum.devices import YFramePath, compile_circuit, compile_problem
from biselect_quantum.devices._circuit_checks import SIMULATED, check_meaning, distance
from biselect_quantum.devices.paths import STRONGEST_QISKIT, NetworkPath, QiskitPath, factorial
from biselect_quantum.devices.targets import load_target
from biselect_quantum.simulate.program import Op

OURS, QISKITS = 1e-9, 1e-4  # of total variation: level 3 writes two-qubit blocks anew to a fidelity of 1 - 1e-9 each
NAMED = ("boston", "pittsburgh", "aachen", "iqm-54", "torino")
ROUTED = (*NAMED, "sherbrooke", "manila")  # ECR alone, and CX alone on five qubits
JOINED = ("fractional", "cz", "prx", "rzz", "rxx", "cx", "ecr")
Y_FRAMES = [YFramePath(coloured=c, propagate=p, quiet=q) for c, p, q in product((True, False), repeat=3)]
NETWORKS = [NetworkPath(coloured=c, quiet=q) for c, q in product((True, False), repeat=2)]
QISKIT = [*factorial(), STRONGEST_QISKIT]
NO_WAY = ("is made of CZ", "needs RX and RZZ of any angle", "no neighbours on the line")  # what a device leaves no way
X, Y, Z = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
PAULIS = {"x": X, "y": Y, "z": Z}
FIXED = {  # the first qubit is the higher bit of a row
    **PAULIS,
    "id": np.eye(2),
    "h": (X + Z) / np.sqrt(2),
    "sx": np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]) / 2,
    "cz": np.diag([1, 1, 1, -1]),
    "cx": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]),
    "swap": np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
    "ecr": (np.kron(X, np.eye(2)) - np.kron(Y, X)) / np.sqrt(2),
}


def rotation(generator, angle):
    """exp(-iθG/2) of a G whose square is the identity."""
    return np.cos(angle / 2) * np.eye(len(generator)) - 1j * np.sin(angle / 2) * generator


def matrix_of(name, angles):
    """A gate from its definition, up to a global phase."""
    if name in FIXED:
        return FIXED[name]
    if name == "r":
        return rotation(np.cos(angles[1]) * X + np.sin(angles[1]) * Y, angles[0])
    axis = PAULIS[name[1]]
    return rotation(axis if len(name) == 2 else np.kron(axis, axis), angles[0])


def applied(state, matrix, qubits):
    """A gate on the axes of a state with one axis a qubit."""
    gate = np.asarray(matrix).reshape((2,) * (2 * len(qubits)))
    moved = np.tensordot(gate, state, axes=(range(len(qubits), 2 * len(qubits)), qubits))
    return np.moveaxis(moved, range(len(qubits)), qubits)


def starts_of(program):
    """The basis states that are superposed when a program starts."""
    if program.bits is not None:
        return [program.bits]
    n = program.n_samples
    blocks = program.blocks or ((range(n), program.k), (range(n, program.qubits), program.m))
    free = {qubit for qubits, _ in blocks for qubit in qubits}
    every = product(*((0, 1) if qubit in free else (0,) for qubit in range(program.qubits)))
    return [bits for bits in every if all(sum(bits[qubit] for qubit in qubits) == ones for qubits, ones in blocks)]


def program_chances(program):
    """Probabilities of a program by its definition, axis q logical qubit q."""
    state = np.zeros((2,) * program.qubits, dtype=complex)
    for bits in starts_of(program):
        state[bits] = 1
    state /= np.linalg.norm(state)
    for op in program.ops:
        for name in {"rz": ("rz",), "rzz": ("rzz",), "xy": ("rxx", "ryy")}[op.kind]:  # XX and YY commute
            state = applied(state, matrix_of(name, [op.angle]), op.qubits)
    return np.abs(state) ** 2


def circuit_chances(compiled):
    """Probabilities of a compiled circuit, axis q logical qubit q."""
    circuit = compiled.gates
    steps = [step for step in circuit.data if step.operation.name not in ("barrier", "delay")]
    used = sorted({circuit.find_bit(qubit).index for step in steps for qubit in step.qubits})
    state = np.zeros((2,) * len(used), dtype=complex)
    state[(0,) * len(used)] = 1
    read = {}
    for step in steps:
        qubits = [used.index(circuit.find_bit(qubit).index) for qubit in step.qubits]
        if step.operation.name == "measure":
            read[circuit.find_bit(step.clbits[0]).index] = qubits[0]
        else:
            assert not set(qubits) & set(read.values()), "a gate after a measurement"
            state = applied(state, matrix_of(step.operation.name, list(map(float, step.operation.params))), qubits)
    axes = [read[bit] for bit in compiled.layout.read_into]
    assert [used[axis] for axis in axes] == list(compiled.layout.measured_on)
    chances = np.abs(state) ** 2
    kept = chances.sum(axis=tuple(axis for axis in range(len(used)) if axis not in axes))
    return kept.transpose([sorted(axes).index(axis) for axis in axes])


def off(compiled):
    """Total variation between a compiled circuit and its program."""
    return 0.5 * float(np.abs(program_chances(compiled.bound) - circuit_chances(compiled)).sum())


# What is drawn


def any_of(rng, options):
    return options[int(rng.integers(len(options)))]


def draw_angle(rng, largest=1e4):
    """A multiple of π/4 half of the time, nearly one, tiny, huge, or any."""
    special, kind = np.pi / 4 * rng.integers(-8, 9), rng.random()
    if kind < 0.5:
        return float(special)
    if kind < 0.6:
        return float(special + rng.normal() * 10.0 ** rng.uniform(-15, -5))
    return float(np.clip(rng.normal() * 10.0 ** rng.choice([-9, -5, 0, 0, 0, 4]), -largest, largest))


def draw_rules(rng, size, budget):
    """Rules of one side, none of them mostly."""
    if rng.random() < 0.7 or size < 3:
        return Rules()
    items = rng.permutation(size).tolist()
    forced = {"forced_in": items[:1]} if rng.random() < 0.5 else {"forced_out": items[:1]}
    limit = {str(rng.choice(["exactly", "at_most"])): int(rng.integers(0, budget + 1))}
    return Rules(**forced, groups=[Group(members=tuple(items[1:3]), **limit)] if rng.random() < 0.7 else ())


def draw_problem(rng, most):
    """Whole and half weights, for which multiples of π/4 stay such, zeros, and any others."""
    while True:
        n, d = rng.integers(1, most, 2).tolist()
        k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
        values = [rng.normal(size=(n + 1, d + 1)), rng.choice([-2, -1, -0.5, 0, 0.5, 1, 2], size=(n + 1, d + 1))]
        weights = values[int(rng.integers(2))]
        rules = {"sample_rules": draw_rules(rng, n, k), "feature_rules": draw_rules(rng, d, m)}
        scores = {"sample_scores": weights[:n, d], "feature_scores": weights[n, :d]}
        try:
            problem = SelectionProblem(coupling=weights[:n, :d], k=k, m=m, **scores, **rules)
            AnsatzSpec(problem, 1, mixer="path").program()
            return problem
        except (InfeasibleError, InputError):  # rules that no choice meets, or that no mixer keeps
            continue


def draw_start(rng, problem, dicke=True):
    start = str(rng.choice(["random", "canonical", *["dicke"] * dicke]))
    if start == "canonical" and (problem.sample_rules or problem.feature_rules):
        return "random"
    return start


def draw_op(rng, program):
    """A phase anywhere, or an exchange within a block."""
    n = program.n_samples
    blocks = program.blocks or ((range(n), 0), (range(n, program.qubits), 0))
    inside = [list(qubits) for qubits, _ in blocks if len(qubits) > 1]
    kind = str(rng.choice(["rz", "rzz", *["xy"] * bool(inside)]))
    choice = any_of(rng, inside) if kind == "xy" else range(program.qubits)
    qubits = tuple(int(qubit) for qubit in rng.permutation(choice)[: 1 if kind == "rz" else 2])
    return Op(kind=kind, qubits=qubits, angle=draw_angle(rng))


def draw_program(rng, most, mixers=("ring", "path", "complete"), dicke=True, late=False, more=False):
    """A program and its angles; None for one that is bound, whose operations may be any in any order."""
    problem = draw_problem(rng, most)
    options = int(rng.integers(1, 5)), str(rng.choice(list(SCHEDULES))), str(rng.choice(mixers))
    program = AnsatzSpec(problem, *options, draw_start(rng, problem, dicke), seed=rng).program()
    angles = [draw_angle(rng, 100.0 if late else 1e4) for _ in program.angle_names]
    if late or rng.random() < 0.5:
        return program, angles
    layers = [[replace(op, angle=draw_angle(rng)) for op in layer] for layer in program.bind(angles).layers]
    if rng.random() < 0.5:
        layers = [[*layer, *(draw_op(rng, program) for _ in range(3 * more))] for layer in layers]
        layers = [[layer[place] for place in rng.permutation(len(layer))] for layer in layers]
    return replace(program, layers=tuple(map(tuple, layers)), angle_names=()), None


def same_ops(program):
    """The operations of each layer, in any order."""
    return [Counter((op.kind, tuple(sorted(op.qubits)), op.angle) for op in layer) for layer in program.layers]


def compiled_by(path, rng, program, angles, target, layout):
    """The circuit and its device; a path may change the order of operations in a layer, and nothing else."""
    made = compile_circuit(program, target, layout, path, angles=angles, seed=int(rng.integers(99)))
    assert same_ops(made.bound) == same_ops(program if angles is None else program.bind(angles))
    assert starts_of(made.program) == starts_of(program)
    return made, target


def on_joined(small, rng, most):
    """Any path on a device that joins all pairs, some of them without CZ."""
    path = any_of(rng, [any_of(rng, Y_FRAMES), any_of(rng, Y_FRAMES), any_of(rng, QISKIT)])
    ours = isinstance(path, YFramePath)
    program, angles = draw_program(rng, most, dicke=not ours, late=not ours and path.late, more=True)
    qubits = program.qubits + int(rng.integers(2))
    target = small.device(str(rng.choice(JOINED)), [(i, j) for j in range(qubits) for i in range(j)], qubits)
    layout = rng.permutation(qubits)[: program.qubits].tolist()
    return compiled_by(path, rng, program, angles, target, layout)


def on_a_tree(small, rng, most):
    """The Y-frame on a device with few edges."""
    drawn = small.case(rng, int(rng.integers(2, 2 * most - 1)), extra=int(rng.integers(3)))
    target = small.device(str(rng.choice(["fractional", "cz", "prx"])), drawn.edges, drawn.qubits)
    angles = [draw_angle(rng) for _ in drawn.program.angle_names]
    return compiled_by(any_of(rng, Y_FRAMES), rng, drawn.program, angles, target, drawn.layout)


def on_a_line(small, rng, most):
    """A SWAP network, or whatever Qiskit makes of all couplings on a line."""
    path = any_of(rng, [any_of(rng, NETWORKS), any_of(rng, NETWORKS), any_of(rng, QISKIT)])
    ours = isinstance(path, NetworkPath)
    program, angles = draw_program(rng, most, ["path"], dicke=not ours, late=not ours and path.late)
    qubits = program.qubits
    target = small.device(str(rng.choice(["fractional", "cz", "prx"])), [(q, q + 1) for q in range(qubits - 1)], qubits)
    layout = list(range(qubits))[:: any_of(rng, (1, -1))]
    return compiled_by(path, rng, program, angles, target, layout)


def on_a_named_device(small, rng, most):
    """Placed, masked or routed by a network, and compiled, as `biselect compile` does it."""
    problem = draw_problem(rng, most)
    schedule, depth = str(rng.choice(list(SCHEDULES))), int(rng.integers(1, 4))
    angles = [draw_angle(rng, 100.0) for _ in AnsatzSpec(problem, depth, schedule, "path").program().angle_names]
    name = str(rng.choice(NAMED))
    options = {
        "path": str(rng.choice(["y-frame", "y-frame-quiet", "complete-cz", "opt3-cz"])),
        "registers": str(rng.choice(["trees", "paths"])),
        "keep": any_of(rng, ("edges", 0.6, 1.0)),
        "seed": int(rng.integers(99)),
    }
    start = draw_start(rng, problem, dicke=not options["path"].startswith("y"))
    made = compile_problem(problem, name, angles, depth=depth, schedule=schedule, start=start, compare=False, **options)
    assert check_meaning(made) == SIMULATED
    return made, made.target


def by_routing(small, rng, most):
    """Qiskit chooses the layout, and routes."""
    path = any_of(rng, QISKIT)
    program, angles = draw_program(rng, most, late=path.late, more=True)
    target = load_target(str(rng.choice([name for name in ROUTED if name != "manila" or program.qubits <= 5])))
    return compiled_by(path, rng, program, angles, target, None)


WAYS = (on_joined, on_a_tree, on_a_line, on_a_named_device, by_routing)


def check(small, way, seed, most):
    """Compile one program and compare; gives what was compared: nothing where the device leaves the path no way."""
    rng = np.random.default_rng(seed)
    try:
        compiled, target = way(small, rng, most)
    except InputError as error:
        assert any(reason in str(error) for reason in NO_WAY), (way.__name__, seed, str(error))
        return []
    allowed = QISKITS if isinstance(compiled.path, QiskitPath) else OURS
    name = compiled.path.name
    assert off(compiled) < allowed, (way.__name__, seed, name, target.description, off(compiled))
    n = compiled.program.n_samples
    if all(min(edge) < n <= max(edge) for edge in compiled.program.edges("rzz")):  # as in every circuit of a file
        assert distance(compiled) == pytest.approx(off(compiled), abs=1e-9), (way.__name__, seed, name)
    return [name]


def count_checked(small, way, programs, most):
    """Compare so many programs, whatever is refused left out; gives how often each path was."""
    found, seed = Counter(), 0
    while found["programs"] < programs:
        names = check(small, way, seed, most)
        found.update([*["programs"] * bool(names), *names])
        seed += 1
    return found


@pytest.mark.parametrize("way", WAYS)
def test_compiled_circuits_measure_what_their_program_says(small, way):
    assert len(count_checked(small, way, 12, most=4)) > 3  # several paths


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_thousand_compiled_circuits_measure_what_their_program_says(small, way):
    found = count_checked(small, way, 200, most=6)
    print(way.__name__, dict(found))
