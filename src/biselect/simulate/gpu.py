"""The GPU backend: complex64, the whole state in device memory, CUDA kernels through CuPy.

A layer is one pass over the feature register, which does the phase and all feature mixing of a row in shared memory,
and one pass for each stage of the sample mixer, which does hypercubes of up to 64 rows in registers. `GpuBatch` runs
many angle vectors of one small sector at once: one thread block runs a whole circuit.
"""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError, MissingDependencyError
from biselect.simulate.cube_tables import Tables, make_tables
from biselect.simulate.layers import KINDS, Centred, Layers, Observable, PairGradient, Register, cos_and_tan
from biselect.simulate.stopping import NEVER

SAMPLE_LIMIT, FEATURE_LIMIT, BATCH_LIMIT = 6, 4, 3  # acting edges in a hypercube, as registers allow
ALIGNED = 8  # hypercubes are read 16 bytes at a time
COLUMN_THREADS = 128
MOST_PAIRS = 1536  # whose derivatives a block sums in shared memory
SHARED_BESIDES = 8192  # shared memory that kernels and the system need beside the rows
SUMS = 1024  # bytes of shared memory for the value and the derivatives of a batch's circuit
BATCH_THREADS = 512
ELSEWHERE = "take backend='compiled'"  # what the GPU cannot hold
MOST_AMPLITUDES = 1_000_000  # beyond this a circuit fills the GPU by itself, and is not run in batches


def require_cupy() -> Any:
    """CuPy, or a message that says how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise MissingDependencyError("the gpu backend needs CuPy: pip install 'biselect[gpu]'") from error
    return cupy


def gpu_takes(problem: SelectionProblem) -> bool:
    """Whether there is a GPU at hand, and it can evaluate and differentiate on this problem's sector."""
    try:
        cp = require_cupy()
    except MissingDependencyError:
        return False
    if not cp.cuda.is_available():
        return False
    sector, pairs = problem.sector, problem.n_samples * problem.n_features
    rows_fit = 2 * 8 * sector.feature_subsets <= shared_memory(cp)
    return rows_fit and pairs <= MOST_PAIRS and 2 * 8 * sector.size <= free_memory(cp)


def shared_memory(cp: Any) -> int:
    """Bytes of shared memory that a block has for rows."""
    return int(cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]) - SHARED_BESIDES


def free_memory(cp: Any) -> int:
    """Bytes that a new state may take."""
    return int(cp.cuda.Device().mem_info[0] + cp.get_default_memory_pool().free_bytes())


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


def struct(**fields: Any) -> Any:
    """A C struct of pointers and ints, passed to a kernel by value."""
    kinds = [(name, np.int32 if isinstance(value, int) else np.uintp) for name, value in fields.items()]
    packed = np.zeros((), dtype=np.dtype(kinds, align=True))
    for name, value in fields.items():
        packed[name] = value if isinstance(value, int) else value.data.ptr
    return packed[()]


def packed_tables(cp: Any, tables: Tables) -> tuple[Any, Any]:
    """The struct Tables, each part of the hypercubes aligned, and the arrays it points to, which must be kept."""
    parts, spans, place = [], [], 0
    for span in tables.spans:
        for p in range(1, 5):
            part = tables.cubes[span[p - 1] : span[p]] if p < len(span) else tables.cubes[:0]
            spans.append((place, place + part.size))
            parts.append(np.pad(part, (0, -part.size % ALIGNED)))
            place += parts[-1].size
    cubes = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    arrays = cp.asarray(cubes.astype(np.uint16)), cp.asarray(np.array(spans, dtype=np.int32).reshape(-1, 2))
    return struct(cubes=arrays[0], spans=arrays[1], stages=len(tables.spans)), arrays


class GpuSimulator:
    """One problem's sector on the GPU; the same methods as the other backends."""

    stop = NEVER  # a run takes milliseconds

    def __init__(self, problem: SelectionProblem, samples: Register, features: Register) -> None:
        cp = self.cp = require_cupy()
        rows, columns = samples.subsets, features.subsets
        self.n, self.d = samples.n, features.n
        self.rows, self.columns = len(rows), len(columns)
        if self.columns >= 2**16:
            raise InputError(
                f"the gpu backend takes up to 65,535 feature subsets, here are {self.columns:,}; {ELSEWHERE}"
            )
        if self.n * self.d > MOST_PAIRS:
            raise InputError(
                f"the gpu backend takes up to {MOST_PAIRS:,} sample-feature pairs, here are {self.n * self.d:,}; "
                f"{ELSEWHERE}"
            )
        self._check_memory()
        self.row_threads = 256 if self.columns < 2048 else 512 if self.columns < 6144 else 1024
        names = [f"sample_stage{back}<{p}>" for back in ("", "_back") for p in range(1, SAMPLE_LIMIT + 1)]
        sizes = {"N": self.n, "K": samples.chosen, "D": self.d, "COLUMNS": self.columns, "THREADS": self.row_threads}
        self.module = load_module("sector.cu", tuple(names), tuple(sizes.items()))
        self.holds = np.zeros((self.d, self.columns))
        np.put_along_axis(self.holds, columns.T, 1.0, axis=0)
        self.columns_with = cp.asarray(np.nonzero(self.holds)[1].astype(np.uint16))
        sample_tables = make_tables(samples, SAMPLE_LIMIT)
        self.stages = _sample_stages(cp, sample_tables)
        self.feature_tables, self._kept = packed_tables(cp, make_tables(features, FEATURE_LIMIT))
        self.groups = self._group_struct(sample_tables)
        self.centred = Centred.of(problem, np.float32)
        about_zero = self.centred.problem
        weights = about_zero.coupling_weight * about_zero.coupling.astype(np.float64)
        energies = self._item_table(-about_zero.sample_scores, -about_zero.feature_scores, -weights)
        self.energies = cp.asarray(energies.astype(np.float32))
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
            self._check_memory()
            self.adjoint = cp.empty_like(self.psi)
        self._evolve(layers, start)
        value = self._observe(observable, adjoint=True)
        pair, mixing = cp.zeros((layers.depth, self.n, self.d)), cp.zeros(layers.depth)
        with_each = np.int32(self.columns_with.size // self.d)
        for layer in reversed(range(layers.depth)):
            angle = _rotation(layers.mixing[layer])
            by_beta = mixing[layer : layer + 1]
            for stage in reversed(self.stages):
                self._launch_stage("sample_stage_back", stage, (self.psi, self.adjoint), (*angle, by_beta))
            states = (self.psi, self.adjoint, self.groups, self._turns(layers, layer))
            rest = (self.columns_with, with_each, self.feature_tables, *angle, by_beta, pair[layer])
            self._launch_rows("feature_pass_back", 2, (*states, *rest))
        return value, PairGradient(pair=cp.asnumpy(pair), mixing=cp.asnumpy(mixing))

    def _evolve(self, layers: Layers, start: NDArray[Any] | None) -> None:
        if start is not None:
            self.psi.set(np.ascontiguousarray(start, dtype=np.complex64))
        for layer in range(layers.depth):
            angle = _rotation(layers.mixing[layer])
            uniform = (self.rows * self.columns) ** -0.5 if start is None and layer == 0 else 0.0
            phases = (np.float32(uniform), self.groups, self._turns(layers, layer))
            self._launch_rows("feature_pass", 1, (self.psi, *phases, self.feature_tables, *angle))
            for stage in self.stages:
                self._launch_stage("sample_stage", stage, (self.psi,), angle)

    def _observe(self, observable: Observable, *, adjoint: bool) -> float:
        cp = self.cp
        if observable.kind == "values":
            values = cp.asarray(observable.values)
            if adjoint:
                self.adjoint[:] = values * self.psi
            return float((values * cp.abs(self.psi) ** 2).sum())
        out = cp.zeros(1)
        states = (self.psi, self.psi if self.adjoint is None else self.adjoint, self.groups, self.energies)
        kind = (np.int32(KINDS[observable.kind]), np.float32(self.centred.threshold(observable)), np.int32(adjoint))
        self._launch_rows("observe", 0, (*states, *kind, out))
        return self.centred.as_given(float(out[0]), observable)

    def _check_memory(self) -> None:
        """Refuse one more state where the device has no room for it."""
        needed = 8 * self.rows * self.columns
        free = free_memory(self.cp)
        if needed > free:
            raise InputError(
                f"a state needs {needed / 2**30:.1f} GiB, but the GPU has {free / 2**30:.1f} GiB free; {ELSEWHERE}"
            )

    def _launch_stage(self, name: str, stage: list[tuple[int, Any, int]], states: Any, rest: Any) -> None:
        """One stage of the sample mixer: hypercubes of each size."""
        blocks = -(-self.columns // COLUMN_THREADS)
        for size, cubes, count in stage:
            kernel = self.module.get_function(f"{name}<{size}>")
            kernel((count * blocks,), (COLUMN_THREADS,), (*states, np.int32(blocks), cubes, *rest))

    def _launch_rows(self, name: str, states: int, arguments: tuple[Any, ...]) -> None:
        """A kernel that goes through the rows, group by group, with this many states' rows in shared memory."""
        kernel = self.module.get_function(name)
        shared = states * self.columns * 8
        available = shared_memory(self.cp)
        if shared > available:
            raise InputError(
                f"a row of {self.columns:,} feature subsets does not fit into the GPU's shared memory; {ELSEWHERE}"
            )
        kernel.max_dynamic_shared_size_bytes = shared
        resident = max(1, min(2048 // self.row_threads, available // (shared + SHARED_BESIDES)))
        grid = min(self.group_count, resident * multiprocessors(self.cp))
        kernel((grid,), (self.row_threads,), arguments, shared_mem=shared)

    def _group_struct(self, tables: Tables) -> Any:
        """The struct Groups: rows that differ in their smallest sample only."""
        cp = self.cp
        first = np.cumsum(tables.group_count) - tables.group_count
        rows = cp.asarray(np.stack([first, tables.group_count], axis=1).astype(np.int32))
        rest = cp.asarray(np.append(tables.group_rest, 0).astype(np.uint16))  # never empty, even for k = 1
        self._group_arrays = rows, rest
        self.group_count = len(first)
        return struct(rows=rows, rest=rest, count=len(first))

    def _item_table(
        self, own: NDArray[np.float64], other: NDArray[np.float64], pair: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(N + 1, columns): what each sample adds for every feature subset, and last what the subset adds itself."""
        return np.vstack([own[:, None] + pair @ self.holds, other @ self.holds])

    def _turns(self, layers: Layers, layer: int) -> Any:
        """The item table of a layer's phases, in turns, each brought to half a turn before it is rounded."""
        turns = self._item_table(layers.sample[layer], layers.feature[layer], layers.pair[layer]) / (2 * np.pi)
        return self.cp.asarray((turns - np.rint(turns)).astype(np.float32))


def _rotation(beta: float) -> tuple[np.float32, np.float32]:
    cosine, tangent = cos_and_tan(beta, np.float32)
    return np.float32(cosine), np.float32(tangent)


def _sample_stages(cp: Any, tables: Tables) -> list[list[tuple[int, Any, int]]]:
    """For each stage the hypercubes by size: (P, row numbers on the device, how many)."""
    flat = cp.asarray(tables.cubes)
    stages = []
    for span in tables.spans:
        sizes = range(1, len(span))
        stages.append([(p, flat[span[p - 1] : span[p]], int(span[p] - span[p - 1]) >> p) for p in sizes])
    return [[entry for entry in stage if entry[2]] for stage in stages]


class GpuBatch:
    """The tensor-Dicke start and the three cost components, for batches of layer angles; the cost is the observable."""

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
        sizes = (("ROWS", self.shape[0]), ("COLUMNS", self.shape[1]), ("STRIDE", self.stride), ("CHUNK", chunk))
        name = f"run_batch<{'true' if gradient else 'false'}>"
        kernel = load_module("batch.cu", (name,), (*sizes, ("THREADS", BATCH_THREADS))).get_function(name)
        return kernel, chunk, [packed_tables(cp, make_tables(register, BATCH_LIMIT)) for register in self.registers]

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
        kernel((grid,), (BATCH_THREADS,), arguments, shared_mem=shared)
        return out
