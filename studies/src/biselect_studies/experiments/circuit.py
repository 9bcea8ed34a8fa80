"""The circuit of Figure circuit: its gates, and its distribution against the sector simulator's."""

import numpy as np

from biselect.core import SelectionProblem
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities, to_qiskit
from biselect_studies.experiments import by_seed
from biselect_studies.task import Cell


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
