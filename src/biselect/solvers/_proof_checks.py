"""A small proof is followed by the independent checker before its answer is called proven.

The checker shares no code with the solvers. It is given the problem as asked, with the rules as the problem holds them,
so a fault of folding, screens, bounds or search costs the claim, not its truth. What is small is counted in sums, never
on a clock: the same problem is checked on every machine.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.exact_sums import SCORE_BITS
from biselect.core.proof import Proof
from biselect.solvers import check_proof

LITTLE_WORK = 10_000  # sums that a check may take unless told otherwise: less than half a millisecond


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the checker says of a proof.

    Attributes:
        checked: whether it followed the proof to its end.
        refused: why the proof is none; empty where nothing was found against it.
        excess: how far the best score can lie above the answer's by the checker's own root bound, exact, in units of
            2⁻²¹⁴⁸. That bound holds at any prices, so it does not rest on the search. None where it was not reached.
    """

    checked: bool = False
    refused: str = ""
    excess: int | None = None


class _TooLongError(Exception):
    """Following the proof takes more work than was allowed."""


def follow(
    problem: SelectionProblem, samples: NDArray[np.int64], features: NDArray[np.int64], proof: Proof, most_work: int
) -> Verdict:
    """Follow a proof that these samples and features are the best, unless that takes more than `most_work` sums."""
    noted = sum(depths.size for _, depths, _, _ in proof.dives or ())
    a_node = 2 * len(proof.order) * (problem.k if proof.lines == "features" else problem.m)  # about what it takes
    if check_proof.A_CELL * problem.coupling.size + noted * a_node > most_work:
        return Verdict()
    content = {name: getattr(problem, name) for name in ("k", "m", "coupling_weight")}
    content |= {"n": problem.n_samples, "d": problem.n_features, "cells": problem.coupling.ravel().tolist()}
    content |= {"a": problem.sample_scores.tolist(), "b": problem.feature_scores.tolist()}
    content |= {side: getattr(problem, side).to_dict() for side in ("sample_rules", "feature_rules")}
    remaining = most_work

    def spend(sums: int) -> None:
        nonlocal remaining
        remaining -= sums
        if remaining < 0:
            raise _TooLongError

    checker = None
    try:
        claim = {**proof.to_dict(), "samples": samples.tolist(), "features": features.tolist()}
        checker = check_proof.Checker(content, claim, spend)
        checker.check()
    except (_TooLongError, RecursionError):
        return Verdict()
    except Exception as error:  # whatever a wrong proof runs into
        words = str(error) if isinstance(error, check_proof.ProofError) else repr(error)
        if checker is None or checker.excess is None:
            return Verdict(refused=words)
        return Verdict(refused=words, excess=-(-checker.excess << SCORE_BITS >> checker.bits))
    return Verdict(checked=True)
