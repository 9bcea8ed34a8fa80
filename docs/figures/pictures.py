"""Draws docs/images/plot-*.png: one picture of each function of `bs.plot`, as the page on pictures describes them."""

import matplotlib
import numpy as np
import pandas as pd
from canvas import IMAGES
from matplotlib import pyplot

import biselect as bs
from biselect.options import Watch
from biselect.tables.demo import COLUMNS, demo_tables
from biselect.weights import Weigher
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.metrics import by_depth
from biselect_studies.data.synthetic import planted_problem
from biselect_studies.quantum.trade import trade


def weeks() -> pd.DataFrame:
    """3,000 hours in which one column of six moves away."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 6)), columns=list("abcdef"))
    table["b"] += np.linspace(0, 2, 3000)
    return table.assign(when=pd.date_range("2026-01-01", periods=3000, freq="h"))


def trained():
    """The circuit of the tutorial on QAOA, and its training."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(500, 6)), rng.normal(size=(8, 6))
    pool[[1, 4, 6], 2:4] += 2.5
    ansatz = Ansatz(Weigher().fit(reference).plain_problem(pool, k=3, m=2), depth=3)
    return ansatz, ansatz.train(objective="energy", evaluations=400, seed=0)


def concentrated():
    """One circuit on twelve instances, trained; the first of them, and its training through all depths."""
    circuits = [Ansatz(planted_problem((8, 6, 3, 2), 2.0, seed=seed), 3, "layerwise") for seed in range(12)]
    ladder = circuits[0].train(strategy="ladder", evaluations=300, seed=0)
    return [circuit.train(evaluations=300, seed=0) for circuit in circuits], circuits[0], ladder


def kept():
    """A random 8 x 6 problem on a recorded chip, with few of its couplings up to all of them."""
    problem = bs.SelectionProblem(coupling=np.random.default_rng(6).normal(size=(8, 6)), k=3, m=3)
    return trade(problem, "boston", trajectories=40)


def main() -> None:
    """Draw all of them."""
    matplotlib.use("Agg")
    pool, reference = demo_tables()
    review = bs.review(bs.table(pool, columns=COLUMNS), reference, k=10, m=4)
    ansatz, training = trained()
    several, circuit, ladder = concentrated()
    drawn = {
        "block": bs.plot.block(review),
        "reasons": bs.plot.reasons(review),
        "budgets": bs.plot.budgets(review),
        "drift": bs.plot.drift(bs.monitor(bs.table(weeks(), time="when"), k=5, m=2, watch=Watch(window=300))),
        "schedule": bs.plot.schedule(training),
        "landscape": bs.plot.landscape(ansatz, training),
        "concentration": bs.plot.schedule(several),
        "energies": bs.plot.energies(circuit, ladder),
        "depths": bs.plot.depths(by_depth(circuit, ladder)),
        "couplings": bs.plot.couplings(kept()),
        "hits": bs.plot.landscape(circuit, ladder, along=("γ_2", "β_1"), threshold=float(circuit.energies.min())),
    }
    for name, axes in drawn.items():
        axes.figure.savefig(IMAGES / f"plot-{name}.png", dpi=110, metadata={"Software": None})
        pyplot.close(axes.figure)


if __name__ == "__main__":
    main()
