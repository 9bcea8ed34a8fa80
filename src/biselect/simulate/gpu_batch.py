"""Many angle vectors of one small sector at once on a GPU: one thread block runs a whole circuit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.simulate.cube_tables import make_tables
from biselect.simulate.gpu import load_module, multiprocessors, packed_tables, require_cupy
from biselect.simulate.layers import Register

LIMIT = 3  # acting edges in a hypercube, as registers allow
SUMS = 1024  # bytes of shared memory for the value and the derivatives
THREADS = 512
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
        self.pair = cp.asarray(np.ascontiguousarray(pair, dtype=np.float32))
        self.by_row = cp.asarray(problem.sample_scores[rows].sum(axis=1).astype(np.float32))
        self.by_column = cp.asarray(problem.feature_scores[columns].sum(axis=1).astype(np.float32))
        self.registers = (samples, features)
        self.modes = {gradient: self._mode(gradient) for gradient in (False, True)}

    def _mode(self, gradient: bool) -> Any:
        """Kernel, rows held at once, tables: with two states fewer rows fit, and hypercubes must be smaller."""
        cp = self.cp
        most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] - SUMS
        row = (2 if gradient else 1) * self.stride * 8
        whole = self.shape[0] * row <= most
        chunk = self.shape[0] if whole else min(self.shape[0], most // 2 // row)
        sizes = (("ROWS", self.shape[0]), ("COLUMNS", self.shape[1]), ("STRIDE", self.stride))
        name = f"run_batch<{'true' if gradient else 'false'}>"
        kernel = load_module("batch.cu", (name,), (*sizes, ("CHUNK", chunk), ("THREADS", THREADS))).get_function(name)
        return kernel, chunk, [packed_tables(cp, make_tables(register, LIMIT)) for register in self.registers]

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
        kernel, chunk, tables = self.modes[gradient]
        states = 2 if gradient else 1
        shared = 8 * (1 + 4 * depth) + states * chunk * self.stride * 8
        if 8 * (1 + 4 * depth) > SUMS:
            raise InputError(f"batches take circuits of up to depth {(SUMS // 8 - 1) // 4}, got {depth}")
        kernel.max_dynamic_shared_size_bytes = shared
        most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
        grid = min(batch, max(1, min(1 if gradient else 2, most // shared)) * multiprocessors(cp))
        whole = chunk == self.shape[0]
        slots = cp.empty(1 if whole else grid * states * self.shape[0] * self.stride, dtype=cp.complex64)
        out = cp.empty((batch, 1 + 4 * depth))
        packed = (slots, *(table[0] for table in tables), self.pair, self.by_row, self.by_column)
        uniform = np.float32((self.shape[0] * self.shape[1]) ** -0.5)
        arguments = (*packed, angles, np.int32(depth), np.int32(batch), uniform, out)
        kernel((grid,), (THREADS,), arguments, shared_mem=shared)
        return out
