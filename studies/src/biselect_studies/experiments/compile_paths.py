"""What every path makes of the same circuit."""

from __future__ import annotations

from collections.abc import Iterable

from biselect.hardware import compile_circuit
from biselect.hardware.paths import compared
from biselect_studies.experiments.compile_case import angles, dense_problem, device, patch, recorded_program, retained
from biselect_studies.task import Cell, Values

MEASURES = ("depth", "two_qubit_depth", "two_qubit_gates", "duration", "gate_duration")


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """`path:measure` for every path; a seed fixes the recorded order, the start and the transpiler."""
    place = patch(cell["device"], cell["width"], cell["registers"])
    problem = retained(dense_problem(place.n_samples, place.n_features), place)
    values: Values = {}
    for seed in seeds:
        program = recorded_program(problem, place, cell["depth"], seed)
        for name, path in compared().items():
            made = compile_circuit(
                program, device(cell["device"]), place.layout, path, angles=angles(cell["depth"]), seed=seed
            )
            for measure in MEASURES:
                values.setdefault(f"{name}:{measure}", []).append(getattr(made.resources, measure))
    return values
