"""Many angle vectors of one small sector at once on a GPU: one thread block runs a whole circuit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.simulate.circuit import Register
from biselect.simulate.gpu import load_module, multiprocessors, packed_tables, require_cupy
from biselect.simulate.tables import Tables, make_tables

VALUE_LIMIT, GRADIENT_LIMIT = 4, 3  # acting edges in a hypercube, as registers allow
THREADS = 512  # as in the launch bounds of the kernel
MOST_AMPLITUDES = 1_000_000  # beyond this a circuit fills the GPU by itself


class GpuBatch:
    """The tensor-Dicke start and the three cost components, for batches of layer angles.

    Args:
        problem: whose energy is cost and observable.
        samples: the sample register and its mixer.
        features: the feature register and its mixer.
    """

    def __init__(self, problem: SelectionProblem, samples: Register, features: Register) -> None:
        cp = self.cp = require_cupy()
        rows, columns = samples.subsets, features.subsets
        self.shape = (len(rows), len(columns))
        if self.shape[0] * self.shape[1] > MOST_AMPLITUDES or max(self.shape) >= 2**16:
            raise InputError(f"batches are for sectors of up to {MOST_AMPLITUDES:,} amplitudes, here are {self.shape}")
        self.stride = self.shape[1] | 1
        weights = problem.coupling_weight * problem.coupling.astype(np.float64)
        pair = sum(sum(weights[rows[:, s]][:, columns[:, f]] for f in range(problem.m)) for s in range(problem.k))
        self.pair = cp.asarray(np.asarray(pair, dtype=np.float32))
        self.by_row = cp.asarray(problem.sample_scores[rows].sum(axis=1).astype(np.float32))
        self.by_column = cp.asarray(problem.feature_scores[columns].sum(axis=1).astype(np.float32))
        names = ("run_batch<false>", "run_batch<true>")
        sizes = (("ROWS", self.shape[0]), ("COLUMNS", self.shape[1]), ("STRIDE", self.stride))
        self.module = load_module("batch.cu", names, sizes)
        self.tables = {
            gradient: tuple(_padded(make_tables(register, limit)) for register in (samples, features))
            for gradient, limit in ((False, VALUE_LIMIT), (True, GRADIENT_LIMIT))
        }
        self.packed = {
            gradient: [packed_tables(cp, tables) for tables in pair_of_tables]
            for gradient, pair_of_tables in self.tables.items()
        }

    def values(self, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Expected energies of layer angles (batch, p, 4): γ_S, γ_F, γ_SF, β."""
        return self.run(self.on_device(angles), gradient=False).get()[:, 0]

    def values_and_gradients(self, angles: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected energies, and their derivatives by every layer angle, (batch, p, 4)."""
        found = self.run(self.on_device(angles), gradient=True).get()
        return found[:, 0], found[:, 1:].reshape(angles.shape)

    def on_device(self, angles: NDArray[np.float64]) -> Any:
        """Layer angles as the kernel wants them: γ in turns, single precision."""
        given = np.array(angles, dtype=np.float64)
        if given.ndim != 3 or given.shape[2] != 4:
            raise InputError(f"a batch of layer angles must have the shape (batch, depth, 4), got {given.shape}")
        given[:, :, :3] /= 2 * np.pi
        return self.cp.asarray(given.astype(np.float32))

    def run(self, angles: Any, *, gradient: bool) -> Any:
        """Value and derivatives on the device, (batch, 1 + 4p); angles come from `on_device`."""
        cp = self.cp
        batch, depth, _ = angles.shape
        states = 2 if gradient else 1
        state_bytes = states * self.shape[0] * self.stride * 8
        sums = 8 * (1 + 4 * depth)
        most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        in_shared = state_bytes + sums <= most
        shared = sums + state_bytes * in_shared
        resident = max(1, min(1 if gradient else 2, (most + 1024) // (shared + 1024)))
        grid = min(batch, resident * multiprocessors(cp))
        slots = cp.empty(1 if in_shared else grid * state_bytes // 8, dtype=cp.complex64)
        out = cp.empty((batch, 1 + 4 * depth))
        kernel = self.module.get_function(f"run_batch<{'true' if gradient else 'false'}>")
        kernel.max_dynamic_shared_size_bytes = shared
        samples, features = (packed[0] for packed in self.packed[gradient])
        uniform = np.float32((self.shape[0] * self.shape[1]) ** -0.5)
        tables = (samples, features, self.pair, self.by_row, self.by_column)
        sizes = (np.int32(depth), np.int32(batch), uniform)
        arguments = (slots, np.int32(in_shared), *tables, angles, *sizes, out)
        kernel((grid,), (THREADS,), arguments, shared_mem=shared)
        return out


def _padded(tables: Tables) -> Tables:
    """Spans of five entries, whatever the limit was."""
    missing = 5 - tables.spans.shape[1]
    return tables._replace(spans=np.pad(tables.spans, ((0, 0), (0, missing)), mode="edge"))
