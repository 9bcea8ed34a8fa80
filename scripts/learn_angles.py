"""Learn angles for hit rates on instances of the threshold panel, and write them down for trainings to start from.

    python scripts/learn_angles.py [--workers N] [--out OUT.json]

By default it writes the file that the package ships. Instances are seeds 100 up of two sizes, p = 3, fully grouped,
from the canonical start; seeds below 100 are for judging and never looked at here. Each instance is trained twice, for
12,000 evaluations, without any learnt angles; two trainings that end at about the same angles count once.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from pathlib import Path

import numpy as np

import biselect
from biselect.core.files import write_file
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training.first_angles import LEARNT
from biselect_studies.data.synthetic import panel_problem
from biselect_studies.experiments.planted import evidence_threshold

INSTANCES = {(12, 8, 3, 5): range(100, 124), (14, 10, 3, 3): range(100, 112)}
DEPTH, TRAININGS, EVALUATIONS = 3, 2, 12_000
APART = 0.3  # in units


def learn(size: tuple[int, int, int, int], seed: int) -> list[dict[str, object]]:
    """The angles of one instance."""
    problem = panel_problem(seed=seed, size=size)
    ansatz = Ansatz(problem, DEPTH, start="canonical", backend="compiled")
    goal = {"objective": "hit-rate", "threshold": evidence_threshold(problem, DEPTH, seed).of(problem)}
    found: list[dict[str, object]] = []
    for number in range(TRAININGS):
        trained = ansatz.train(**goal, evaluations=EVALUATIONS, seed=number, learnt=False, progress=False)
        table = trained.in_units.round(4)
        if all(np.abs(table - entry["in_units"]).max() > APART for entry in found):
            found.append({"size": size, "seed": seed, "hit_rate": trained.hit_rate, "in_units": table.tolist()})
    return found


def main() -> None:
    """Train on every instance and write the file."""
    parser = argparse.ArgumentParser(description="Learn angles for hit rates.")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    shipped = Path(biselect.__file__).parent / "qaoa" / "training" / LEARNT
    parser.add_argument("--out", type=Path, default=shipped, help="file for the angles")
    given = parser.parse_args()
    tasks = [(size, seed) for size, seeds in INSTANCES.items() for seed in seeds]
    learn(*tasks[0])  # compile once, for all processes
    with multiprocessing.get_context("spawn").Pool(given.workers) as pool:
        found = [entry for entries in pool.starmap(learn, tasks, chunksize=1) for entry in entries]
    head = {
        "what": "layer angles (p, γ_S γ_F γ_SF β) in units, for hit rates from a single choice",
        "made_by": "scripts/learn_angles.py",
        "evaluations": EVALUATIONS,
    }
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in found)
    text = json.dumps(head, ensure_ascii=False)[:-1] + f',\n "angles": [\n  {lines}\n]}}\n'
    write_file(given.out, text)


if __name__ == "__main__":
    main()
