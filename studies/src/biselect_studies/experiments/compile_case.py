"""Circuits of the compilation studies, and what becomes of them: one patch, one set of edges, the paper's angles."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, wraps
from itertools import combinations
from typing import Any

import numpy as np
import qiskit
from numpy.typing import NDArray
from qiskit import QuantumCircuit, generate_preset_pass_manager
from qiskit.quantum_info import Statevector

from biselect.core import SelectionProblem
from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals
from biselect_quantum.circuits import Ansatz, AnsatzSpec, Program
from biselect_quantum.devices import Patch, choose_patch, compile_circuit, load_target
from biselect_quantum.devices.compile import fit_for
from biselect_quantum.devices.masks import hardware_mask, masked
from biselect_quantum.devices.paths import (
    COMPLETE_CZ,
    COMPLETE_FRACTIONAL,
    OPT3_CZ,
    OPT3_FRACTIONAL,
    STRONGEST_QISKIT,
    Y_FRAME,
    CompilationPath,
    QiskitPath,
    YFramePath,
)
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities, ideal_shots, to_qiskit
from biselect_quantum.devices.targets import IQM_54
from biselect_quantum.shots import decode_bits
from biselect_quantum.simulate.program import XY
from biselect_studies.data.synthetic import gaussian_qubo
from biselect_studies.experiments import by_seed
from biselect_studies.paper_environment import TODAY, VERSION, perform
from biselect_studies.quantum.penalty_x import PenaltyX, candidate_search
from biselect_studies.task import Cell, Values

MARGINAL, COUPLING, MIXING = 0.9, 2.4, 1.15  # γ, γ_SF and β of Supplementary Section hardware_detail
REFERENCE_ROWS = 1000
NUDGE = 2.0  # of the first k samples on the first m features


recorded: Callable[[str], Any] = load_target  # the paper's Python has no recorded devices and is given ours


@cache
def device(name: str) -> Any:
    """A target, loaded once a process."""
    return load_target(name) if name == IQM_54 else recorded(name)


@cache
def patch(name: str, width: int, registers: str) -> Patch:
    """Five samples to three features, as near as the width allows."""
    samples = round(width * 5 / 8)
    return choose_patch(device(name), samples, width - samples, registers=registers)


@cache
def dense_problem(n_samples: int, n_features: int) -> SelectionProblem:
    """Normal data with a nudged block, calibrated; a quarter of the samples, three fifths of the features."""
    rng = np.random.default_rng(n_samples + n_features)
    k, m = n_samples // 4, int(0.6 * n_features)
    reference = rng.normal(size=(REFERENCE_ROWS, n_features))
    pool = rng.normal(size=(n_samples, n_features))
    pool[:k, :m] += NUDGE
    return Weigher("ecdf").fit(reference).plain_problem(pool, k, m, marginals=paper_marginals)


def retained(problem: SelectionProblem, place: Patch) -> SelectionProblem:
    """The problem with the couplings of the patch's cross edges only."""
    return masked(problem, hardware_mask(place))


def recorded_program(problem: SelectionProblem, place: Patch, depth: int, seed: int) -> Program:
    """Bilinear-CG from a random feasible state, mixer edges in a random order that stands for the recorded one."""
    rng = np.random.default_rng([seed, problem.n_samples, problem.n_features])
    orders = tuple([(edge,) for edge in rng.permutation(e).tolist()] for e in (place.sample_edges, place.feature_edges))
    return AnsatzSpec(problem, depth, "bilinear", orders, "random", seed=rng).program()


def angles(depth: int) -> list[float]:
    """Resource-only angles, in the order of the bilinear schedule."""
    return [MARGINAL, *[COUPLING] * depth, MIXING]


PATH_MEASURES = ("depth", "two_qubit_depth", "two_qubit_gates", "duration", "gate_duration")
PRINTED = (OPT3_CZ, OPT3_FRACTIONAL, COMPLETE_CZ, COMPLETE_FRACTIONAL)
FUSED_ONLY, COLOURED_ONLY = replace(OPT3_FRACTIONAL, fused=True), replace(OPT3_FRACTIONAL, coloured=True)
OTHERS = (replace(OPT3_CZ, coloured=True), STRONGEST_QISKIT, Y_FRAME, YFramePath(coloured=False))
PATHS: dict[str, tuple[CompilationPath, ...]] = {
    TODAY: (*PRINTED, FUSED_ONLY, COLOURED_ONLY, *OTHERS),
    VERSION: (*PRINTED, FUSED_ONLY, COLOURED_ONLY),
}
"""What is compiled by each Qiskit."""


def by_either_qiskit(measure: Callable[[Cell, int], Mapping[str, Any]]) -> Callable[[Cell, Iterable[int]], Values]:
    """An experiment of each seed by itself, here or, where the cell asks for the paper's Qiskit, by its Python."""
    here = by_seed(measure)

    @wraps(here)
    def work(cell: Cell, seeds: Iterable[int]) -> Values:
        if cell["qiskit"] == TODAY or qiskit.__version__ == VERSION:
            return here(cell, seeds)
        return perform(measure.__name__, cell, seeds)

    return work


@by_either_qiskit
def compile_paths(cell: Cell, seed: int) -> dict[str, float]:
    """`path:measure` for every path; a seed fixes the recorded order, the start and the transpiler."""
    program, place = recorded_circuit(cell, seed)
    found: dict[str, float] = {}
    for path in PATHS[cell["qiskit"]]:
        found |= _measured(program, place, cell, path, seed)
    return found


@by_either_qiskit
def transpiler_seeds(cell: Cell, seed: int) -> dict[str, float]:
    """`path:measure` for the four printed paths; a seed fixes the transpiler alone."""
    program, place = recorded_circuit(cell, 0)
    found: dict[str, float] = {}
    for path in PRINTED:
        found |= _measured(program, place, cell, path, seed)
    return found


def recorded_circuit(cell: Cell, seed: int) -> tuple[Program, Patch]:
    """The open circuit of a point, its couplings those of the patch."""
    place = patch(cell["device"], cell["width"], cell["registers"])
    problem = retained(dense_problem(place.n_samples, place.n_features), place)
    return recorded_program(problem, place, cell["depth"], seed), place


def _measured(program: Program, place: Patch, cell: Cell, path: CompilationPath, seed: int) -> dict[str, float]:
    chosen = angles(cell["depth"])
    made = compile_circuit(program, device(cell["device"]), place.layout, path, angles=chosen, seed=seed)
    return {f"{path.name}:{measure}": getattr(made.resources, measure) for measure in PATH_MEASURES}


NATIVE = QiskitPath(fractional=False, fused=True, coloured=False, late=False)
COSTS: dict[str, CompilationPath] = {"dense": NATIVE, "aligned": NATIVE, "y-frame": YFramePath(coloured=False)}
COST_MEASURES = ("two_qubit_gates", "two_qubit_depth", "depth", "swaps")


@by_either_qiskit
def compile_dense(cell: Cell, seed: int) -> dict[str, float]:
    """Resources of Qiskit on a `dense` cost or on hardware edges alone (`aligned`), or of the `y-frame` on the latter.

    Everything else is equal, the mixer on the `patch`'s own edges or on a `ring`; a seed fixes the start and the
    transpiler.
    """
    name, depth, cost = cell["device"], cell["depth"], cell["cost"]
    place = patch(name, cell["width"], "trees")
    dense = dense_problem(place.n_samples, place.n_features)
    problem = dense if cost == "dense" else retained(dense, place)
    mixer: Any = "ring" if cell["mixer"] == "ring" else (place.sample_classes, place.feature_classes)
    program = AnsatzSpec(problem, depth, "bilinear", mixer, "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(name), place.layout, COSTS[cost], seed=seed)
    return {measure: getattr(made.resources, measure) for measure in COST_MEASURES}


STRENGTH = 1.0  # λ / c_Q of penalty-X in the routing check
ROUTED_SHOTS = 4096


@by_either_qiskit
def routing(cell: Cell, seed: int) -> dict[str, float]:
    """Exact-budget mass of a dense cost on heavy-hex, read in the order of `physical` wires and `decoded`; its SWAPs.

    `penalty` is the decoded mass of penalty-X under the same transpilation, with the angles of the paper's short
    search. A seed fixes start, transpiler, angles and shots.
    """
    depth, name = cell["depth"], cell["device"]
    problem = replace(dense_problem(cell["N"], cell["D"]), k=cell["k"], m=cell["m"])
    program = AnsatzSpec(problem, depth, "bilinear", "ring", "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(name), None, OPT3_CZ, seed=seed)
    shots, layout = ideal_shots(made.gates, ROUTED_SHOTS, seed), made.layout
    wires = np.argsort(
        layout.measured_on, kind="stable"
    ).tolist()  # as if measured wires in physical order were logical
    penalised = PenaltyX(problem, depth, STRENGTH)
    found = candidate_search(penalised.probabilities, penalised.cost, penalised.size, seed=seed)
    routed = transpiled(penalty_circuit(penalised, found), name, seed)
    bits = shots_of(routed, ROUTED_SHOTS, seed)
    return {
        "physical": decode_bits(shots, problem, wires).exact_budget_mass,
        "decoded": decode_bits(shots, problem, layout.read_into).exact_budget_mass,
        "swaps": made.resources.swaps,
        "penalty": decode_bits(bits, problem, range(cell["N"] + cell["D"])).exact_budget_mass,
    }


ANYWHERE = "all-to-all"  # CZ between any two qubits


@by_either_qiskit
def layer_gates(cell: Cell, seed: int) -> dict[str, float]:
    """Two-qubit gates of p layers of `penalty`-X and of `strict` QAOA on a ring, neither prepared nor measured."""
    problem = gaussian_qubo(cell["N"], cell["D"], cell["k"], cell["m"], seed=seed)
    depth = cell["p"]
    chosen = np.random.default_rng([seed, 1]).uniform(0, np.pi, 2 * depth)
    strict = AnsatzSpec(problem, depth, "layerwise", "ring", "canonical").program(chosen)
    bare = replace(strict, k=0, m=0, bits=(0,) * strict.qubits)  # layers alone
    circuits = {
        "penalty": penalty_circuit(PenaltyX(problem, depth, STRENGTH), chosen, prepared=False),
        "strict": to_qiskit(bare, fused=False, measure=False),
    }
    return {
        name: sum(len(step.qubits) == 2 for step in transpiled(circuit, cell["device"], seed).data)
        for name, circuit in circuits.items()
    }


STAGES = ("preparation", "cost", "mixer")


@by_either_qiskit
def staged_depth(cell: Cell, seed: int) -> dict[str, float]:
    """Depth of each stage of a transpiled circuit, barriers between them; from a `dicke` or a `basis` start."""
    depth = cell["depth"]
    place = patch(cell["device"], cell["width"], "trees")
    dense = dense_problem(place.n_samples, place.n_features)
    problem = dense if cell["cost"] == "dense" else retained(dense, place)
    start = "dicke" if cell["start"] == "dicke" else "random"
    mixer = (place.sample_classes, place.feature_classes)
    program = AnsatzSpec(problem, depth, "bilinear", mixer, start, seed=seed).program(angles(depth))
    circuit = staged(program)
    layout = list(place.layout)
    manager = generate_preset_pass_manager(
        optimization_level=3,
        target=fit_for(NATIVE, device(cell["device"])),
        initial_layout=layout,
        seed_transpiler=seed,
    )
    return dict(zip(STAGES, stage_depths(manager.run(circuit), depth), strict=True))


def staged(program: Program) -> QuantumCircuit:
    """A program with a barrier after its preparation, and after the cost and the mixer of each layer."""
    circuit = to_qiskit(replace(program, layers=()), measure=False)
    circuit.barrier()
    for layer in program.layers:
        for mixing in (False, True):
            part = tuple(op for op in layer if (op.kind == XY) == mixing)
            zeros = replace(program, k=0, m=0, bits=(0,) * program.qubits, layers=(part,))
            circuit.compose(to_qiskit(zeros, measure=False), inplace=True)
            circuit.barrier()
    return circuit


def stage_depths(circuit: QuantumCircuit, layers: int) -> tuple[int, int, int]:
    """Depths of preparation, of all costs and of all mixers between the barriers of a transpiled circuit."""
    parts = [circuit.copy_empty_like()]
    for step in circuit.data:
        if step.operation.name == "barrier":
            parts.append(circuit.copy_empty_like())
        else:
            parts[-1].append(step)
    depths = [part.depth() for part in parts[: 1 + 2 * layers]]
    return depths[0], sum(depths[1::2]), sum(depths[2::2])


def penalty_circuit(penalised: PenaltyX, chosen: Any, *, prepared: bool = True) -> QuantumCircuit:
    """Penalty-X in gates: a Hadamard on each qubit, then RZ and RZZ of all pairs, then RX(2β)."""
    n = penalised.problem.n_samples + penalised.problem.n_features
    fields, couplings = penalised.ising()
    circuit = QuantumCircuit(n)
    if prepared:
        circuit.h(range(n))
    for gamma, beta in np.reshape(chosen, (-1, 2)).tolist():
        for i in range(n):
            circuit.rz(2 * gamma * fields[i], i)
        for i, j in combinations(range(n), 2):
            circuit.rzz(2 * gamma * couplings[i, j], i, j)
        circuit.rx(2 * beta, range(n))
    return circuit


def transpiled(circuit: QuantumCircuit, name: str, seed: int) -> QuantumCircuit:
    """Level 3 with a layout of Qiskit's own choice, on a device's CZ target or on all pairs."""
    where: dict[str, Any] = (
        {"basis_gates": ["cz", "rz", "sx", "x"]} if name == ANYWHERE else {"target": fit_for(NATIVE, device(name))}
    )
    return generate_preset_pass_manager(optimization_level=3, seed_transpiler=seed, **where).run(circuit)


def shots_of(circuit: QuantumCircuit, shots: int, seed: int) -> NDArray[np.int64]:
    """Ideal shots of a transpiled circuit, each qubit read where the final layout says it is."""
    places = circuit.layout.final_index_layout(filter_ancillas=True)
    used = sorted({circuit.find_bit(qubit).index for step in circuit.data for qubit in step.qubits} | set(places))
    small = QuantumCircuit(len(used))
    for step in circuit.data:
        small.append(step.operation, [used.index(circuit.find_bit(qubit).index) for qubit in step.qubits])
    chances = Statevector(small).probabilities([used.index(place) for place in places])
    drawn = np.random.default_rng(seed).choice(chances.size, shots, p=chances / chances.sum())
    return (drawn[:, None] >> np.arange(len(places))) & 1


@by_seed
def circuit(cell: Cell, seed: int) -> dict[str, float]:
    """Gate counts of a random problem with random angles, and the total variation to the simulator."""
    n, d, k, m = (cell[name] for name in "NDkm")
    rng = np.random.default_rng(seed)
    coupling, samples, features = (rng.exponential(size=shape) for shape in ((n, d), n, d))
    problem = SelectionProblem(coupling=coupling, sample_scores=samples, feature_scores=features, k=k, m=m)
    angles = rng.uniform(-np.pi, np.pi, 4)
    program = AnsatzSpec(problem, 1).program(angles)
    kinds = [op.kind for op in program.ops]
    expected = np.abs(Ansatz(problem, 1).dense_state(angles)) ** 2
    return {
        "preparation": to_qiskit(program, measure=False).size() - len(kinds),
        **{kind: kinds.count(kind) for kind in ("rz", "rzz", "xy")},
        "distance": float(np.abs(ideal_probabilities(to_qiskit(program)) - expected).sum() / 2),
    }
