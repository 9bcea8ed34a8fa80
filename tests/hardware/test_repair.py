"""Band-1 repair against a flip-by-flip twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect import SelectionProblem
from biselect.hardware.decode import Shots
from biselect.hardware.repair import band_1


def energy(problem, bits):
    n = problem.n_samples
    return problem.energy(np.flatnonzero(bits[:n]).tolist(), np.flatnonzero(bits[n:]).tolist())


def repaired_slowly(problem, bits):
    """One string: None if it is too far off, else flip by flip."""
    n, bits = problem.n_samples, bits.astype(int).copy()

    def off():
        return bits[:n].sum() - problem.k, bits[n:].sum() - problem.m

    if max(map(abs, off())) > 1:
        return None
    while any(off()):
        choices = []
        for place in range(len(bits)):
            missed = off()[0 if place < n else 1]
            if (missed == 1 and bits[place]) or (missed == -1 and not bits[place]):
                flipped = bits.copy()
                flipped[place] ^= 1
                choices.append((round(energy(problem, flipped) - energy(problem, bits), 9), place))
        bits[min(choices)[1]] ^= 1
    return tuple(bits.tolist())


@given(st.integers(0, 1 << 30))
@settings(max_examples=60, deadline=None)
def test_repair_flips_the_best_bit_first(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    scores = {"sample_scores": rng.normal(size=n), "feature_scores": rng.normal(size=d), "coupling_weight": 0.7}
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    problem = SelectionProblem(coupling=rng.normal(size=(n, d)), k=k, m=m, **scores)
    shots = Shots.of_table(rng.integers(2, size=(60, n + d)), np.ones(60, dtype=np.int64))
    found = band_1(shots, problem)
    expected = {}
    for row, count in zip(shots.bits, shots.counts, strict=True):
        mended = repaired_slowly(problem, row)
        if mended is not None:
            expected[mended] = expected.get(mended, 0) + int(count)
    got = dict(zip(map(tuple, found.bits.tolist()), found.counts.tolist(), strict=True))
    assert found.inside(problem).all()
    assert got == expected
