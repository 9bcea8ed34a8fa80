"""What every path makes of the same circuit."""

from __future__ import annotations

from biselect.hardware import compile_circuit
from biselect.hardware.paths import compared
from biselect_studies.experiments import by_seed
from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, recorded_program, retained
from biselect_studies.task import Cell

MEASURES = ("depth", "two_qubit_depth", "two_qubit_gates", "duration", "gate_duration")


@by_seed
def work(cell: Cell, seed: int) -> dict[str, float]:
    """`path:measure` for every path; a seed fixes the recorded order, the start and the transpiler."""
    target, place = device(cell["device"]), patch(cell["device"], cell["width"], cell["registers"])
    problem = retained(dense_problem(place.n_samples, place.n_features), place)
    program = recorded_program(problem, place, cell["depth"], seed)
    found: dict[str, float] = {}
    for name, path in compared().items():
        made = compile_circuit(program, target, place.layout, path, angles=angles(cell["depth"]), seed=seed)
        found |= {f"{name}:{measure}": getattr(made.resources, measure) for measure in MEASURES}
    return found
