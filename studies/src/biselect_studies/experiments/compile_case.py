"""The circuits that compilation studies compare: one patch, one set of retained edges, the paper's angles."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.core import SelectionProblem
from biselect.hardware import Patch, choose_patch, load_target
from biselect.hardware.surrogates import hardware_mask, masked
from biselect.qaoa import AnsatzSpec, Program

MARGINAL, COUPLING, MIXING = 0.9, 2.4, 1.15  # γ, γ_SF and β of Supplementary Section hardware_detail
REFERENCE_ROWS = 1000
NUDGE = 2.0  # of the first k samples on the first m features


@cache
def device(name: str) -> Any:
    """A target, loaded once a process."""
    return load_target(name)


@cache
def patch(name: str, width: int, registers: str) -> Patch:
    """Five samples to three features, as near as the width allows."""
    samples = round(width * 5 / 8)
    return choose_patch(device(name), samples, width - samples, registers=registers)


@cache
def dense_problem(n_samples: int, n_features: int) -> SelectionProblem:
    """Normal data with a nudged block, calibrated; a quarter of the samples, three fifths of the features."""
    rng = np.random.default_rng(n_samples + n_features)
    k, m = n_samples // 4, int(0.6 * n_features)
    reference = rng.normal(size=(REFERENCE_ROWS, n_features))
    pool = rng.normal(size=(n_samples, n_features))
    pool[:k, :m] += NUDGE
    return Calibrator().fit(reference).problem(pool, k, m)


def retained(problem: SelectionProblem, place: Patch) -> SelectionProblem:
    """The problem with the couplings of the patch's cross edges only."""
    return masked(problem, hardware_mask(place))


def recorded_program(problem: SelectionProblem, place: Patch, depth: int, seed: int) -> Program:
    """Bilinear-CG from a random feasible state, mixer edges in a random order that stands for the recorded one."""
    rng = np.random.default_rng([seed, problem.n_samples, problem.n_features])
    orders = tuple([(edge,) for edge in rng.permutation(e).tolist()] for e in (place.sample_edges, place.feature_edges))
    return AnsatzSpec(problem, depth, "bilinear", orders, "random", seed=rng).program()


def angles(depth: int) -> list[float]:
    """Resource-only angles, in the order of the bilinear schedule."""
    return [MARGINAL, *[COUPLING] * depth, MIXING]
