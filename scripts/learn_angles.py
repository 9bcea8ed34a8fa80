"""Learn angles for hit rates on instances of the threshold panel, and write them down for trainings to start from.

    python scripts/learn_angles.py [OUT.json]

By default it writes the file that the package ships. Instances are seeds 100 up of two sizes, p = 3, fully grouped,
from the canonical start; seeds below 100 are for judging and never looked at here. Each instance is trained twice, for
12,000 evaluations, without any learnt angles; two trainings that end at about the same angles count once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

import biselect
from biselect.core.files import write_file
from biselect.data.synthetic import panel_problem
from biselect.qaoa import Ansatz
from biselect.qaoa.training.known_angles import LEARNT
from biselect_studies.experiments.threshold_panel import evidence_threshold

INSTANCES = {(12, 8, 3, 5): range(100, 124), (14, 10, 3, 3): range(100, 112)}
DEPTH, TRAININGS, EVALUATIONS = 3, 2, 12_000
APART = 0.3  # in units


def main() -> None:
    """Train on every instance and write the file."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(biselect.__file__).parent / "qaoa" / "training" / LEARNT
    found: list[dict[str, object]] = []
    for size, seeds in INSTANCES.items():
        for seed in seeds:
            problem = panel_problem(seed=seed, size=size)
            ansatz = Ansatz(problem, DEPTH, start="canonical", backend="compiled")
            goal = {"objective": "hit-rate", "threshold": evidence_threshold(problem, DEPTH, seed).of(problem)}
            tables: list[np.ndarray] = []
            for number in range(TRAININGS):
                trained = ansatz.train(**goal, evaluations=EVALUATIONS, seed=number, learnt=False, progress=False)
                table = trained.in_units.round(4)
                if all(np.abs(table - other).max() > APART for other in tables):
                    tables.append(table)
                    found.append({"size": size, "seed": seed, "hit_rate": trained.hit_rate, "in_units": table.tolist()})
            print(size, seed, len(found), file=sys.stderr)
    head = {
        "what": "layer angles (p, γ_S γ_F γ_SF β) in units, for hit rates from a single choice",
        "made_by": "scripts/learn_angles.py",
        "evaluations": EVALUATIONS,
    }
    lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in found)
    text = json.dumps(head, ensure_ascii=False)[:-1] + f',\n "angles": [\n  {lines}\n]}}\n'
    write_file(out, text)


if __name__ == "__main__":
    main()
