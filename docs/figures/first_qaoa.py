"""Draws docs/images/first-qaoa.png: what training changed in the tutorial's first circuit."""

import numpy as np
from canvas import IMAGES

from biselect.weights import Weigher
from biselect_quantum.circuits import Ansatz
from biselect_quantum.plot.circuit_figures import draw_training


def main() -> None:
    """Train as the tutorial does, then draw what `biselect train` draws."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(500, 6)), rng.normal(size=(8, 6))
    pool[[1, 4, 6], 2:4] += 2.5
    ansatz = Ansatz(Weigher().fit(reference).plain_problem(pool, k=3, m=2), depth=3)
    draw_training(ansatz, ansatz.train(objective="energy", evaluations=400, seed=0), IMAGES / "first-qaoa.png")


if __name__ == "__main__":
    main()
