"""Angle selection: the paper's protocol against rounds, in the same 12,800 shots.

    python benchmarks/bench_angles.py small   # 20 qubits, p = 3: judged by the exact CVaR of what was chosen
    python benchmarks/bench_angles.py wide    # 64 qubits, p = 2, warm starts: both protocols, timed

Credit Card instances on FakeBoston's best patch, bilinear-CG, inherited angles π/4.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from biselect_quantum.circuits.angle_selection import (
    WideShots,
    fixed_angles,
    select_by_paper,
    select_by_rounds,
    warm_starts,
)
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import start_choice
from biselect_studies.experiments.heron import case

PROTOCOLS = {"paper": select_by_paper, "rounds": select_by_rounds}
INSTANCES, SEEDS = range(10, 14), 6  # none of these was looked at while the rounds were designed


def small() -> None:
    """Exact CVaR₅ of the chosen angles, from random and from warm starts."""
    for kind in ("random", "warm"):
        gains = []
        for instance in INSTANCES:
            found = case("creditcard", 20, instance)
            starts = (
                [found.items(start_choice(found.problem, "random", seed)) for seed in (1, 2)]
                if kind == "random"
                else warm_starts(found.problem)
            )
            for seed in range(SEEDS):
                exact = {}
                for name, select in PROTOCOLS.items():
                    chosen = select(found.problem, draw_exactly(found), starts, np.full(5, np.pi / 4), seed=seed)
                    ansatz = ansatz_of(found, chosen.start)
                    spread = float(ansatz.energies.mean() - ansatz.energies.min())
                    exact[name] = (ansatz.cvar(chosen.angles) - float(ansatz.energies.min())) / spread
                gains.append((exact["paper"], exact["rounds"]))
        paper, rounds = np.array(gains).T
        wins = int((rounds < paper - 1e-12).sum())
        print(
            f"{kind:7s} (CVaR₅ - optimum) / (mean - optimum): paper {paper.mean():.3f}, rounds {rounds.mean():.3f}; "
            f"rounds better in {wins} of {len(gains)}, worse in {int((rounds > paper + 1e-12).sum())}",
            flush=True,
        )


def ansatz_of(found: Any, start: Any) -> Ansatz:
    """The circuit of one start, in the sector."""
    return Ansatz(found.problem, 3, "bilinear", found.mixer, start, groups=found.groups)


def draw_exactly(found: Any) -> Callable[..., Any]:
    """Shots from the exact state."""
    return lambda start, angles, shots, seed: ansatz_of(found, start).sample(angles, shots, seed)


def wide() -> None:
    """Both protocols at 64 qubits."""
    found = case("creditcard", 64, 0)
    for name, select in PROTOCOLS.items():
        draw = WideShots(AnsatzSpec(found.problem, 2, "bilinear", found.mixer, groups=found.groups))
        chosen = select(found.problem, draw, warm_starts(found.problem), fixed_angles(draw.spec.schedule))
        best = chosen.confirmed[0]
        print(
            f"{name:7s} {chosen.seconds:5.1f} s, {chosen.shots} shots, χ {draw.largest_bond}, confirmed CVaR₅ "
            f"{best.cvar:.2f}, mean {best.mean:.2f}, best {best.best:.2f}, better than the start {best.improved:.2%}",
            flush=True,
        )


if __name__ == "__main__":
    for part in sys.argv[1:] or ["small", "wide"]:
        {"small": small, "wide": wide}[part]()
