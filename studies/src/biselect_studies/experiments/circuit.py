"""The circuit of Figure circuit: its gates, and its distribution against the sector simulator's."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from biselect.core import SelectionProblem
from biselect.hardware.circuits import to_qiskit
from biselect.hardware.ideal import ideal_probabilities
from biselect.qaoa import Ansatz, AnsatzSpec
from biselect_studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """A random problem and random angles a seed: gate counts, and total variation to the simulator."""
    values: Values = {name: [] for name in ("preparation", "rz", "rzz", "xy", "distance")}
    shape: tuple[int, int] = (cell["N"], cell["D"])
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = SelectionProblem(
            coupling=rng.exponential(size=shape),
            sample_scores=rng.exponential(size=shape[:1]),
            feature_scores=rng.exponential(size=shape[1:]),
            k=cell["k"],
            m=cell["m"],
        )
        angles = rng.uniform(-np.pi, np.pi, 4)
        program = AnsatzSpec(problem, 1).program(angles)
        kinds = [op.kind for op in program.ops]
        values["preparation"].append(to_qiskit(program, measure=False).size() - len(kinds))
        for kind in ("rz", "rzz", "xy"):
            values[kind].append(kinds.count(kind))
        measured = ideal_probabilities(to_qiskit(program))
        expected = np.abs(Ansatz(problem, 1).dense_state(angles)) ** 2
        values["distance"].append(float(np.abs(measured - expected).sum() / 2))
    return values
