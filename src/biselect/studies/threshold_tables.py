"""What the two threshold studies share: the panel of planted instances and its hit rates."""

from __future__ import annotations

from typing import Any

from biselect.studies.runner import Records
from biselect.studies.task import Task, tasks_for

CELL = {"p": 3}
VARIANTS = {
    "tied": "XY-QAOA",
    "bilinear": "Bilinear-CG",
    "fixed-transport": "Fixed-transport grouped",
    "fully-grouped": "Fully grouped",
}
"""The paper's four; its XY-QAOA has one γ and one β for all layers."""

FAIR = {"layerwise": "Layerwise XY-QAOA"}
SEARCHES = {"paper": "paper's search", "ours": "our search"}
FAMILY = (
    "Instances (12, 8, 3, 5): Z = 3 on a block at random places plus N(0, 1), W = |Z|, a_i = max_j W_ij, b_j = Var_i "
    "|Z_ij|, λ = 1, and of W only the ten heaviest couplings with at most two at a qubit, as a chip's edges leave. "
    "The paper leaves the generator open; these were fitted to its table, and they are not its instances."
)
PROTOCOL = (
    "E_BK is the best of 27,443 noiseless shots of the tied circuit with all angles π/4, drawn before any training; "
    "the paper takes it from a device's trace. Start |1^k 0^(N-k)⟩|1^m 0^(D-m)⟩, ring mixer edge by edge."
)
BUDGET = (
    "Paper's search: six starts, 96 calls each of random local steps and of Powell in [0, π], about 1,150 evaluations. "
    "Ours: multi-start L-BFGS on log p_BK with a third as many evaluations, since one with its gradient takes about as "
    "long as three without: equal cost in simulations."
)


def seeds(quick: bool) -> int:
    """Instances; the paper has 8."""
    return 2 if quick else 32


def tasks(quick: bool) -> list[Task]:
    """One instance a task."""
    return tasks_for("threshold_panel", CELL, seeds(quick), block=1)


def rates(records: Records, name: str) -> Any:
    """A quantity, instance by instance."""
    return records[tuple(sorted(CELL.items()))][name]
