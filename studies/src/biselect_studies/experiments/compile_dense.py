"""Qiskit on a dense cost and on the hardware's edges alone, and the Y-frame on the latter; everything else is equal."""

from __future__ import annotations

from collections.abc import Iterable

from biselect.hardware import compile_circuit
from biselect.hardware.paths import CompilationPath, QiskitPath, YFramePath
from biselect.qaoa import AnsatzSpec
from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, retained
from biselect_studies.task import Cell, Values

NATIVE = QiskitPath(fractional=False, fused=True, coloured=False, late=False)
PATHS: dict[str, CompilationPath] = {"dense": NATIVE, "aligned": NATIVE, "y-frame": YFramePath(coloured=False)}
MEASURES = ("two_qubit_gates", "two_qubit_depth", "depth", "swaps")


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """Resources of one cost (`dense`, `aligned`) or of the Y-frame; a seed fixes the start and the transpiler."""
    place = patch(cell["device"], cell["width"], "trees")
    problem = dense_problem(place.n_samples, place.n_features)
    if cell["cost"] != "dense":
        problem = retained(problem, place)
    mixer = (place.sample_classes, place.feature_classes)
    values: Values = {measure: [] for measure in MEASURES}
    for seed in seeds:
        spec = AnsatzSpec(problem, cell["depth"], "bilinear", mixer, "random", seed=seed)
        program = spec.program(angles(cell["depth"]))
        made = compile_circuit(program, device(cell["device"]), place.layout, PATHS[cell["cost"]], seed=seed)
        for measure in MEASURES:
            values[measure].append(getattr(made.resources, measure))
    return values
