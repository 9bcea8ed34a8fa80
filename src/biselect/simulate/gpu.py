"""The GPU backend: complex64, the whole state in device memory, CUDA kernels through CuPy.

A layer is one pass over the feature register, which does the phase and all feature mixing of a row in shared memory,
and one pass for each stage of the sample mixer, which does hypercubes of up to 32 rows in registers.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError, MissingDependencyError
from biselect.simulate.circuit import Layers, Observable, PairGradient, Register
from biselect.simulate.tables import Tables, make_tables

KINDS = {"energy": 0, "hit": 1, "excess": 2}
SAMPLE_LIMIT, SAMPLE_LIMIT_BACK, FEATURE_LIMIT = 5, 4, 4  # acting edges in a hypercube, as registers allow
THREADS = 128
ROW_THREADS = 256
SMALLEST_COSINE = 1e-6  # single precision overflows on powers of tan β right at β = π/2


def require_cupy() -> Any:
    """CuPy, or a message that says how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise MissingDependencyError("the gpu backend needs CuPy: pip install 'biselect[gpu]'") from error
    return cupy


@cache
def load_module(file: str, names: tuple[str, ...], defines: tuple[tuple[str, int], ...]) -> Any:
    """A CUDA file of ours, compiled for these sizes; CuPy keeps what it compiled on disk."""
    folder = files("biselect.simulate") / "cuda"
    source = (folder / "common.cuh").read_text() + (folder / file).read_text()
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defines))
    return require_cupy().RawModule(code=source, options=options, name_expressions=names)


def multiprocessors(cp: Any) -> int:
    """How many the device has."""
    return int(cp.cuda.Device().attributes["MultiProcessorCount"])


def packed_tables(cp: Any, tables: Tables) -> tuple[Any, Any]:
    """The tables as a C struct, passed by value, and the arrays it points to, which must be kept."""
    arrays = cp.asarray(tables.cubes.astype(np.uint16)), cp.asarray(tables.spans.astype(np.int32))
    layout = np.dtype([("cubes", np.uintp), ("spans", np.uintp), ("stages", np.int32)], align=True)
    packed = np.zeros((), dtype=layout)
    packed["cubes"], packed["spans"], packed["stages"] = arrays[0].data.ptr, arrays[1].data.ptr, len(tables.spans)
    return packed[()], arrays


class GpuSimulator:
    """One problem's sector on the GPU; the same methods as the other backends."""

    def __init__(self, problem: SelectionProblem, samples: Register, features: Register) -> None:
        cp = self.cp = require_cupy()
        rows, columns = samples.subsets, features.subsets
        self.n, self.d, self.chosen = samples.n, features.n, samples.chosen
        self.rows, self.columns = len(rows), len(columns)
        if self.columns >= 2**16:
            raise InputError(f"the gpu backend takes up to 65,535 feature subsets, here are {self.columns:,}")
        names = [f"sample_stage<{p}>" for p in range(1, SAMPLE_LIMIT + 1)]
        names += [f"sample_stage_back<{p}>" for p in range(1, SAMPLE_LIMIT_BACK + 1)]
        self.module = load_module("sector.cu", tuple(names), (("DFEATURES", self.d),))
        self.subsets = cp.asarray(rows.astype(np.uint8))
        self.column_bits = cp.asarray((1 << columns).sum(axis=1).astype(np.uint32))
        self.holds = np.zeros((self.d, self.columns))
        np.put_along_axis(self.holds, columns.T, 1.0, axis=0)
        self.forward_stages = _sample_stages(cp, make_tables(samples, SAMPLE_LIMIT))
        self.backward_stages = _sample_stages(cp, make_tables(samples, SAMPLE_LIMIT_BACK))
        self.feature_tables, self._kept = packed_tables(cp, make_tables(features, FEATURE_LIMIT))
        weights = problem.coupling_weight * problem.coupling.astype(np.float64)
        self.energies = self._item_table(-problem.sample_scores, -problem.feature_scores, -weights)
        self.psi = cp.empty((self.rows, self.columns), dtype=cp.complex64)
        self.adjoint: Any = None

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of a function of the energy after the circuit."""
        self._evolve(layers, start)
        return self._observe(observable, adjoint=False)

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""
        self._evolve(layers, start)
        return self.cp.asnumpy(self.psi)

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives by every phase and every mixing angle."""
        cp = self.cp
        if self.adjoint is None:
            self.adjoint = cp.empty_like(self.psi)
        self._evolve(layers, start)
        value = self._observe(observable, adjoint=True)
        pair, mixing = cp.zeros((layers.depth, self.n, self.d)), cp.zeros(layers.depth)
        blocks = -(-self.columns // THREADS)
        for layer in reversed(range(layers.depth)):
            cosine, tangent = _rotation(layers.mixing[layer])
            for stage in reversed(self.backward_stages):
                for size, cubes, count in stage:
                    kernel = self.module.get_function(f"sample_stage_back<{size}>")
                    arguments = (self.psi, self.adjoint, np.int32(self.columns), np.int32(blocks), cubes)
                    kernel((count * blocks,), (THREADS,), (*arguments, cosine, tangent, mixing[layer : layer + 1]))
            self._launch_rows(
                "feature_pass_back",
                2,
                (self.psi, self.adjoint, np.int64(self.rows), np.int32(self.columns), *self._subset_arguments()),
                (self._turns(layers, layer), self.column_bits, self.feature_tables, cosine, tangent),
                (mixing[layer : layer + 1], pair[layer]),
            )
        return value, PairGradient(pair=cp.asnumpy(pair), mixing=cp.asnumpy(mixing))

    def _evolve(self, layers: Layers, start: NDArray[Any] | None) -> None:
        if start is not None:
            self.psi.set(np.ascontiguousarray(start, dtype=np.complex64))
        blocks = -(-self.columns // THREADS)
        for layer in range(layers.depth):
            cosine, tangent = _rotation(layers.mixing[layer])
            uniform = (self.rows * self.columns) ** -0.5 if start is None and layer == 0 else 0.0
            self._launch_rows(
                "feature_pass",
                1,
                (self.psi, np.int64(self.rows), np.int32(self.columns), np.float32(uniform), *self._subset_arguments()),
                (self._turns(layers, layer), self.feature_tables, cosine, tangent),
            )
            for stage in self.forward_stages:
                for size, cubes, count in stage:
                    kernel = self.module.get_function(f"sample_stage<{size}>")
                    arguments = (self.psi, np.int32(self.columns), np.int32(blocks), cubes, cosine, tangent)
                    kernel((count * blocks,), (THREADS,), arguments)

    def _observe(self, observable: Observable, *, adjoint: bool) -> float:
        cp = self.cp
        if observable.kind == "values":
            values = cp.asarray(observable.values)
            if adjoint:
                self.adjoint[:] = values * self.psi
            return float((values * cp.abs(self.psi) ** 2).sum())
        threshold = observable.threshold + (observable.slack(np.float32) if observable.kind == "hit" else 0.0)
        out = cp.zeros(1)
        arguments: tuple[Any, ...] = (
            self.psi,
            self.psi if self.adjoint is None else self.adjoint,
            np.int64(self.rows),
            np.int32(self.columns),
            *self._subset_arguments(),
            self.energies,
            np.int32(KINDS[observable.kind]),
            np.float32(threshold),
            np.int32(adjoint),
            out,
        )
        grid = min(self.rows, 16 * multiprocessors(self.cp))
        self.module.get_function("observe")((grid,), (ROW_THREADS,), arguments)
        return float(out[0])

    def _launch_rows(self, name: str, states: int, *arguments: tuple[Any, ...]) -> None:
        """A kernel that holds whole rows of one or two states in shared memory."""
        kernel = self.module.get_function(name)
        shared = states * self.columns * 8
        available = self.cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"] - 2048
        if shared > available:
            raise InputError(f"a row of {self.columns:,} feature subsets does not fit into the GPU's shared memory")
        kernel.max_dynamic_shared_size_bytes = shared
        per_multiprocessor = max(1, min(8, (available + 2048) // (shared + 1024)))
        grid = min(self.rows, per_multiprocessor * multiprocessors(self.cp))
        kernel((grid,), (ROW_THREADS,), tuple(part for group in arguments for part in group), shared_mem=shared)

    def _subset_arguments(self) -> tuple[Any, ...]:
        return self.subsets, np.int32(self.chosen), np.int32(self.n)

    def _item_table(
        self, own: NDArray[np.float64], other: NDArray[np.float64], pair: NDArray[np.float64]
    ) -> NDArray[Any]:
        """(N + 1, columns): what each sample adds for every feature subset, and last what the subset adds itself."""
        table = np.vstack([own[:, None] + pair @ self.holds, other @ self.holds])
        return self.cp.asarray(table.astype(np.float32))

    def _turns(self, layers: Layers, layer: int) -> Any:
        """The item table of a layer's phases, in turns, each brought to half a turn before it is rounded."""
        own, other, pair = layers.sample[layer], layers.feature[layer], layers.pair[layer]
        turns = np.vstack([own[:, None] + pair @ self.holds, other @ self.holds]) / (2 * np.pi)
        return self.cp.asarray((turns - np.rint(turns)).astype(np.float32))


def _rotation(beta: float) -> tuple[np.float32, np.float32]:
    """Cos β and tan β."""
    cosine = float(np.cos(beta))
    if abs(cosine) < SMALLEST_COSINE:
        cosine = float(np.copysign(SMALLEST_COSINE, cosine))
    return np.float32(cosine), np.float32(np.sin(beta) / cosine)


def _sample_stages(cp: Any, tables: Tables) -> list[list[tuple[int, Any, int]]]:
    """For each stage the hypercubes by size: (P, row numbers on the device, how many)."""
    flat = cp.asarray(tables.cubes)
    stages = []
    for span in tables.spans:
        sizes = range(1, len(span))
        stages.append([(p, flat[span[p - 1] : span[p]], int(span[p] - span[p - 1]) >> p) for p in sizes])
    return [[entry for entry in stage if entry[2]] for stage in stages]
