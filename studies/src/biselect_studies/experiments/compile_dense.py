"""Qiskit on a dense cost and on the hardware's edges alone, and the Y-frame on the latter; everything else is equal."""

from __future__ import annotations

from biselect.hardware import compile_circuit
from biselect.hardware.paths import CompilationPath, QiskitPath, YFramePath
from biselect.qaoa import AnsatzSpec
from biselect_studies.experiments import by_seed
from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, retained
from biselect_studies.task import Cell

NATIVE = QiskitPath(fractional=False, fused=True, coloured=False, late=False)
PATHS: dict[str, CompilationPath] = {"dense": NATIVE, "aligned": NATIVE, "y-frame": YFramePath(coloured=False)}
MEASURES = ("two_qubit_gates", "two_qubit_depth", "depth", "swaps")


@by_seed
def work(cell: Cell, seed: int) -> dict[str, float]:
    """Resources of one cost (`dense`, `aligned`) or of the Y-frame; a seed fixes the start and the transpiler."""
    name, depth, cost = cell["device"], cell["depth"], cell["cost"]
    place = patch(name, cell["width"], "trees")
    dense = dense_problem(place.n_samples, place.n_features)
    problem = dense if cost == "dense" else retained(dense, place)
    mixer = (place.sample_classes, place.feature_classes)
    program = AnsatzSpec(problem, depth, "bilinear", mixer, "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(name), place.layout, PATHS[cost], seed=seed)
    return {measure: getattr(made.resources, measure) for measure in MEASURES}
