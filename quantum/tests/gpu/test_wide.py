"""Shots of wide registers on a GPU against those on the CPU. Skips where there is no GPU."""

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect_quantum.circuits import AnsatzSpec, surrogate
from biselect_quantum.simulate.wide import WideSampler


@pytest.mark.parametrize("start", ["canonical", "random"])
@pytest.mark.parametrize("size", [(6, 5, 2, 3, 2), (5, 1, 1, 1, 3), (14, 12, 5, 4, 2)])
def test_a_gpu_reads_the_same_state(size, start):
    n, d, k, m, p = size
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.exponential(size=(n, d)), sample_scores=rng.random(n), k=k, m=m)
    groups = surrogate(problem, [(int(rng.integers(n)), int(rng.integers(d))) for _ in range(4)])
    circuit = AnsatzSpec(problem, p, mixer="path", start=start, groups=groups).program(rng.uniform(-1, 1, 4 * p))
    cpu, gpu = WideSampler(problem, circuit), WideSampler(problem, circuit, device="gpu")
    bits, counts = gpu.draw(5000, seed=3)
    assert counts.sum() == 5000
    assert (bits[:, :n].sum(axis=1) == k).all() and (bits[:, n:].sum(axis=1) == m).all()
    np.testing.assert_allclose(gpu.amplitudes(bits), cpu.amplitudes(bits), atol=1e-6)
    same_bits, same_counts = cpu.draw(5000, seed=3)
    shared = {tuple(row): int(count) for row, count in zip(same_bits.tolist(), same_counts, strict=True)}
    differing = sum(
        abs(int(count) - shared.get(tuple(row), 0)) for row, count in zip(bits.tolist(), counts, strict=True)
    )
    assert differing < 250  # one seed: only what rounding moves across a border can differ
