"""Devices of a few qubits, programs that fit them, and exact output distributions."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.quantum_info import DensityMatrix, Statevector, SuperOp
from qiskit_aer.noise import pauli_error

from biselect import SelectionProblem
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import PATHS, compile_circuit, to_qiskit
from biselect_quantum.devices.noise.noisy_circuit import WAIT, pauli_labels
from biselect_quantum.devices.targets import FORMAT, from_snapshot, snapshot

MICRO = 1e-6


def device(kind, edges, qubits):
    """A device with the gates of a Heron (`fractional`, `cz`), of IQM (`prx`), or one two-qubit gate of any other."""
    one = [[q] for q in range(qubits)]
    two = sorted({pair for i, j in edges for pair in ((i, j), (j, i))})

    def gate(places, seconds, bounds=None):
        count = len(places)
        places = [list(place) for place in places]
        return {"qubits": places, "duration": [seconds] * count, "error": [None] * count, "angle_bounds": bounds}

    pair = kind if kind in ("rzz", "rxx", "cx", "ecr") else "cz"
    gates = {pair: gate(two, 68e-9), "measure": gate(one, 2e-6)}
    if kind == "prx":
        gates["r"] = gate(one, 40e-9)
    else:
        gates |= {"rz": gate(one, 0.0), "sx": gate(one, 32e-9), "x": gate(one, 32e-9)}
    if kind == "fractional":
        gates |= {"rx": gate(one, 32e-9), "rzz": gate(two, 68e-9, [[0.0, np.pi / 2]])}
    timing = {"granularity": 1, "min_length": 1, "pulse_alignment": 1, "acquire_alignment": 1}
    none = [None] * qubits
    content = {"name": f"small {kind}", "qubits": qubits, "dt": None, "t1": none, "t2": none, "timing": timing}
    return from_snapshot({"format": FORMAT, **content, "gates": gates})


def case(
    rng, qubits, *, split=None, budgets=None, depth=None, schedule="fully-grouped", scale=2.0, extra=0, special=False
):
    """A program on a random tree with `extra` more edges, open, with angles, the device's edges and a layout.

    Half of the angles are multiples of π/4 if `special`.
    """
    n = int(rng.integers(1, qubits)) if split is None else split
    d = qubits - n
    names = rng.permutation(qubits).tolist() if split is None else list(range(qubits))
    back = qubits if split is None else 3  # with a given split trees stay narrow
    pairs = [(names[q], names[int(rng.integers(max(0, q - back), q))]) for q in range(1, qubits)]
    pairs += [tuple(rng.choice(qubits, 2, replace=False).tolist()) for _ in range(extra)]
    edges = sorted({(min(pair), max(pair)) for pair in pairs})
    coupling = np.zeros((n, d))
    for i, j in edges:
        if i < n <= j:
            coupling[i, j - n] = rng.normal()
    k, m = budgets or (int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1)))
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d)}
    problem = SelectionProblem(coupling=coupling, k=k, m=m, **scores)
    parts = [(i, j) for i, j in edges if j < n], [(i - n, j - n) for i, j in edges if i >= n]
    orders = tuple([(edge,) for edge in rng.permutation(part).tolist()] for part in parts)
    p = int(rng.integers(1, 4)) if depth is None else depth
    spec = AnsatzSpec(problem, p, schedule, orders, "random", seed=rng)
    program = spec.program()
    layout = rng.permutation(qubits).tolist() if split is None else list(range(qubits))
    count = len(program.angle_names)
    angles = scale * rng.normal(size=count)
    if special:
        angles = np.where(rng.random(count) < 0.5, np.pi / 4 * rng.integers(-8, 9, count), angles)
    return SimpleNamespace(
        problem=problem,
        spec=spec,
        program=program,
        mixer=orders,
        angles=angles,
        edges=[(layout[i], layout[j]) for i, j in edges],
        layout=layout,
        qubits=qubits,
    )


def ideal(program):
    """Probabilities of a bound program, by its logical circuit."""
    return Statevector(to_qiskit(program, measure=False)).probabilities()


def measured(compiled):
    """Probabilities of a compiled circuit's classical bits, in the logical order."""
    circuit, layout = compiled.gates, compiled.layout
    place = {
        circuit.find_bit(step.clbits[0]).index: circuit.find_bit(step.qubits[0]).index
        for step in circuit.data
        if step.operation.name == "measure"
    }
    assert [place[bit] for bit in layout.read_into] == list(layout.measured_on)
    unmeasured = circuit.remove_final_measurements(inplace=False)
    return Statevector(unmeasured).probabilities([place[bit] for bit in layout.read_into])


def distance(one, other):
    """Total variation."""
    return 0.5 * float(np.abs(one - other).sum())


def noisy_device(edges, qubits, *, gates=0.02, readout=0.03, t1=20 * MICRO, seed=0):
    """A small device whose gates, readout and qubits all err, each a little differently."""
    content = snapshot(device("fractional", edges, qubits))
    rng = np.random.default_rng(seed)
    for name, gate in content["gates"].items():
        size = readout if name == "measure" else 0.0 if name == "rz" else gates
        gate["error"] = (size * rng.uniform(0.5, 1.5, len(gate["error"]))).tolist()
    content["t1"] = None if t1 is None else (t1 * rng.uniform(0.5, 1.5, qubits)).tolist()
    content["t1"] = content["t1"] or [None] * qubits
    content["t2"] = [None if time is None else 1.4 * time for time in content["t1"]]  # beyond T1: no mere mixture
    del content["hash"]
    return from_snapshot(content)


def drawn(seed=0, qubits=6, split=3, **more):
    found = case(np.random.default_rng(seed), qubits, split=split, depth=2, **more)
    return found, noisy_device(found.edges, qubits)


def compiled(drawn_case, target, path="y-frame"):
    return compile_circuit(drawn_case.spec, target, drawn_case.layout, PATHS[path], angles=drawn_case.angles)


def step_by_step(noisy):
    """Probabilities of all classical bits before readout: every gate, then its error, on one density matrix."""
    state, gates = DensityMatrix.from_int(0, 2**noisy.width), get_standard_gate_name_mapping()
    for step in noisy.steps:
        if step.name != WAIT:
            state = state.evolve(SuperOp(gates[step.name].base_class(*step.angles)), step.qubits)
        if step.channel is not None:
            state = state.evolve(SuperOp(step.channel), step.qubits)
    return state.probabilities(list(noisy.reads))


def twirled(noisy):
    """The same circuit with Pauli channels in the place of the recorded ones."""
    steps = [
        step
        if step.channel is None
        else step._replace(channel=pauli_error([*zip(pauli_labels(len(step.qubits)), step.chances, strict=True)]))
        for step in noisy.steps
    ]
    return replace(noisy, steps=tuple(steps))


def misread(probabilities, confusion):
    """Probabilities of what is read, by the whole matrix."""
    matrix = np.ones((1, 1))
    for bit in confusion:
        matrix = np.kron(bit, matrix)
    return probabilities @ matrix
