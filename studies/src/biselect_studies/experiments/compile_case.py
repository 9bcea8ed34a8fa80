"""Circuits of the compilation studies, and what becomes of them: one patch, one set of edges, the paper's angles."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.core import SelectionProblem
from biselect.hardware import Patch, choose_patch, compile_circuit, load_target
from biselect.hardware.circuits import ideal_shots
from biselect.hardware.decode import decode_bits, parse_physical_order
from biselect.hardware.paths import OPT3_CZ, CompilationPath, QiskitPath, YFramePath, compared
from biselect.hardware.surrogates import hardware_mask, masked
from biselect.qaoa import AnsatzSpec, Program
from biselect_studies.experiments import by_seed
from biselect_studies.task import Cell

MARGINAL, COUPLING, MIXING = 0.9, 2.4, 1.15  # γ, γ_SF and β of Supplementary Section hardware_detail
REFERENCE_ROWS = 1000
NUDGE = 2.0  # of the first k samples on the first m features


@cache
def device(name: str) -> Any:
    """A target, loaded once a process."""
    return load_target(name)


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
    return Calibrator("ecdf").fit(reference).problem(pool, k, m, marginals="bounded")


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


@by_seed
def compile_paths(cell: Cell, seed: int) -> dict[str, float]:
    """`path:measure` for every path; a seed fixes the recorded order, the start and the transpiler."""
    target, place = device(cell["device"]), patch(cell["device"], cell["width"], cell["registers"])
    problem = retained(dense_problem(place.n_samples, place.n_features), place)
    program = recorded_program(problem, place, cell["depth"], seed)
    found: dict[str, float] = {}
    for name, path in compared().items():
        made = compile_circuit(program, target, place.layout, path, angles=angles(cell["depth"]), seed=seed)
        found |= {f"{name}:{measure}": getattr(made.resources, measure) for measure in PATH_MEASURES}
    return found


NATIVE = QiskitPath(fractional=False, fused=True, coloured=False, late=False)
COSTS: dict[str, CompilationPath] = {"dense": NATIVE, "aligned": NATIVE, "y-frame": YFramePath(coloured=False)}
COST_MEASURES = ("two_qubit_gates", "two_qubit_depth", "depth", "swaps")


@by_seed
def compile_dense(cell: Cell, seed: int) -> dict[str, float]:
    """Resources of Qiskit on a `dense` cost or on hardware edges alone (`aligned`), or of the `y-frame` on the latter.

    Everything else is equal; a seed fixes the start and the transpiler.
    """
    name, depth, cost = cell["device"], cell["depth"], cell["cost"]
    place = patch(name, cell["width"], "trees")
    dense = dense_problem(place.n_samples, place.n_features)
    problem = dense if cost == "dense" else retained(dense, place)
    mixer = (place.sample_classes, place.feature_classes)
    program = AnsatzSpec(problem, depth, "bilinear", mixer, "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(name), place.layout, COSTS[cost], seed=seed)
    return {measure: getattr(made.resources, measure) for measure in COST_MEASURES}


@by_seed
def routing(cell: Cell, seed: int) -> dict[str, float]:
    """Exact-budget mass of a dense cost on heavy-hex, read in the order of `physical` wires and `decoded`; its SWAPs.

    A seed fixes start, transpiler and shots.
    """
    depth = cell["depth"]
    problem = replace(dense_problem(cell["N"], cell["D"]), k=cell["k"], m=cell["m"])
    program = AnsatzSpec(problem, depth, "bilinear", "ring", "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(cell["device"]), None, OPT3_CZ, seed=seed)
    shots = ideal_shots(made, 4096, seed)
    return {
        "physical": parse_physical_order(shots, problem, made.final_layout).exact_budget_mass(problem),
        "decoded": decode_bits(shots, problem, made.clbits).exact_budget_mass(problem),
        "swaps": made.resources.swaps,
    }
