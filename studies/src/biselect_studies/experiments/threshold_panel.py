"""Hit rates of a fixed threshold on the planted panel: the paper's angle search and ours, at equal cost."""

from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.schedule import SCHEDULES
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.circuits.training import train
from biselect_studies.data.synthetic import panel_problem
from biselect_studies.experiments import by_seed
from biselect_studies.task import Cell

GRADIENT_COST = 3  # evaluations that one with its gradient takes
MIXING_GRID = 61  # steps of β in [0, π]
EVIDENCE_ANGLE = np.pi / 4
EVIDENCE_SHOTS = round(0.67 * 40_960)  # the paper's shots of a device that keeps 67 % of them inside the budgets


@by_seed
def threshold_panel(cell: Cell, seed: int) -> dict[str, float | None]:
    """p_BK of every schedule by the `paper`'s search and by `ours`, of `mixing` alone and of `uniform` sampling.

    Also whether coordinate `ascent` hits, and whether the threshold is `optimal`. Ours may evaluate a third as often
    as the paper's did, since each of its evaluations has a gradient.
    """
    problem = panel_problem(seed=seed)
    threshold = evidence_threshold(problem, cell["p"], seed).of(problem)
    energies = Ansatz(problem, 1).energies
    slack = 1e-9 * abs(threshold)
    found: dict[str, float | None] = {
        "uniform": float((energies <= threshold + slack).mean()),
        "ascent": int(solve(problem, "coordinate-ascent", seed=seed, starts=1).energy <= threshold + slack),
        "mixing": mixing_alone(problem, cell["p"], threshold),
        "optimal": int(threshold <= energies.min() + slack),
    }
    for schedule in SCHEDULES:
        ansatz = Ansatz(problem, cell["p"], schedule, start="canonical", backend="compiled")
        goal: dict[str, Any] = {"objective": "hit-rate", "threshold": threshold, "seed": seed}
        paper = train(ansatz, strategy="threshold", **goal)
        ours = train(ansatz, strategy="multistart", evaluations=paper.evaluations // GRADIENT_COST, **goal)
        found |= {f"paper {schedule}": paper.hit_rate, f"ours {schedule}": ours.hit_rate}
    return found


def evidence_threshold(problem: SelectionProblem, depth: int, seed: int) -> Threshold:
    """E_BK, fixed before any angle is trained: the best of the shots of a tied circuit with all angles at π/4."""
    evidence = Ansatz(problem, depth, "tied", start="canonical")
    angles = np.full(evidence.size, EVIDENCE_ANGLE)
    return Threshold.from_shots(evidence, angles, shots=EVIDENCE_SHOTS, seed=seed, pool="untrained tied circuit")


def mixing_alone(problem: SelectionProblem, depth: int, threshold: float) -> float:
    """The highest hit rate of the start and the mixer without any phase: what needs no knowledge of the cost."""
    ansatz = Ansatz(problem, depth, "tied", start="canonical", backend="compiled")
    return max(ansatz.hit_rate([0.0, beta], threshold) for beta in np.linspace(0, np.pi, MIXING_GRID))
