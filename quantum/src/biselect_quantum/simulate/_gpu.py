"""The GPU backend: complex64, the whole state in device memory, CUDA kernels through CuPy.

A pass over the feature register does all feature mixing of a row in shared memory, a pass for each stage of the sample
mixer hypercubes of up to 64 rows in registers. The two mixers commute, so every second layer's phase goes with the
first sample stage, every other one stands between two feature mixings in one pass, and the last pass takes the
expectation value.
"""

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.simulate._cube_tables import Tables, make_tables, phase_cubes
from biselect_quantum.simulate.layers import (
    ENERGY,
    KINDS,
    Centred,
    Layers,
    Observable,
    PairGradient,
    Register,
    cos_and_tan,
)
from biselect_quantum.simulate.limits import NEVER

SAMPLE_LIMIT, BACK_LIMIT, FEATURE_LIMIT = 6, 4, 3  # acting edges in a hypercube, as registers allow
ALIGNED = 8  # hypercubes are read 16 bytes at a time
COLUMN_THREADS = 128
MOST_BLOCKS = 5, 2  # on a multiprocessor, with rows of one state and of two
FEATURE_PASSES = ("feature_pass<false, false>", "feature_pass<true, false>", "feature_pass<false, true>")
BANKS, NEAR = 16, 128  # eight-byte banks of shared memory; hypercubes to choose the next from
WAVES = 16  # blocks for each that is resident, so that those which end early make room for others
NONE = np.float32(0)
MOST_PAIRS = 1536  # whose derivatives a block sums in shared memory
SHARED_BESIDES = 8192  # shared memory that kernels and the system need beside the rows
ELSEWHERE = "take backend='compiled'"  # what the GPU cannot hold


def require_cupy() -> Any:
    """CuPy, or a message that says how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise MissingDependencyError("the gpu backend needs CuPy: pip install './quantum[gpu]'") from error
    return cupy


def shared_memory(cp: Any) -> int:
    """Bytes of shared memory that a block has for rows."""
    return int(cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]) - SHARED_BESIDES


def free_memory(cp: Any) -> int:
    """Bytes that a new state may take."""
    return int(cp.cuda.Device().mem_info[0] + cp.get_default_memory_pool().free_bytes())


@cache
def load_module(file: str, names: tuple[str, ...], defines: tuple[tuple[str, int], ...]) -> Any:
    """A CUDA file of ours, compiled for these sizes; CuPy keeps what it compiled on disk."""
    folder = files("biselect_quantum.simulate") / "cuda"
    source = (folder / "common.cuh").read_text() + (folder / file).read_text()
    options = ("-std=c++17", *(f"-D{name}={value}" for name, value in defines))
    return require_cupy().RawModule(code=source, options=options, name_expressions=names)


def struct(**fields: Any) -> Any:
    """A C struct of pointers, numbers and other structs, passed to a kernel by value."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, int):
            values[name] = np.int32(value)
        else:
            values[name] = value if isinstance(value, np.generic) else np.uintp(value.data.ptr)
    packed = np.zeros((), dtype=np.dtype([(name, value.dtype) for name, value in values.items()], align=True))
    for name, value in values.items():
        packed[name] = value
    return packed[()]


def packed_tables(cp: Any, tables: Tables) -> tuple[Any, Any]:
    """The struct Tables, each part of the hypercubes aligned, and the arrays it points to, which must be kept.

    Neighbouring hypercubes lie in different banks of shared memory as far as possible.
    """
    parts, spans, place = [], [], 0
    for span in tables.spans:
        for p in range(1, 5):
            part = tables.cubes[span[p - 1] : span[p]] if p < len(span) else tables.cubes[:0]
            part = spread_over_banks(part.reshape(-1, 2**p)).ravel()
            spans.append((place, place + part.size))
            parts.append(np.pad(part, (0, -part.size % ALIGNED)))
            place += parts[-1].size
    cubes = np.concatenate([np.zeros(0, dtype=np.int32), *parts])
    arrays = cp.asarray(cubes.astype(np.uint16)), cp.asarray(np.array(spans, dtype=np.int32).reshape(-1, 2))
    return struct(cubes=arrays[0], spans=arrays[1], stages=len(tables.spans)), arrays


def spread_over_banks(cubes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The hypercubes (rows) in an order in which those that threads read together collide in few banks.

    Half a warp reads member v of 16 hypercubes at once, eight bytes each, and there are 16 banks of that width. Of the
    next few hypercubes it gets the one whose members meet the fewest others.
    """
    banks, waiting, order = cubes % BANKS, np.arange(len(cubes)), np.empty(len(cubes), dtype=np.int64)
    members = np.arange(cubes.shape[1])
    for place in range(len(cubes)):
        if place % BANKS == 0:
            occupied = np.zeros((cubes.shape[1], BANKS), dtype=np.int32)
        near = waiting[:NEAR]
        pick = int(np.argmin(occupied[members, banks[near]].sum(axis=1)))
        order[place] = waiting[pick]
        occupied[members, banks[waiting[pick]]] += 1
        waiting[1 : pick + 1] = waiting[:pick]  # the one picked gives its place to those before it
        waiting = waiting[1:]
    return cubes[order]


def in_words(items: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Rows of item numbers, two to a word."""
    even = np.pad(items, ((0, 0), (0, items.shape[1] % 2))).astype(np.uint32)
    return np.ascontiguousarray(even[:, ::2] | even[:, 1::2] << 16)


class Passes(NamedTuple):
    """Compiled kernels that have rows of one state, or of two, in shared memory."""

    module: Any
    threads: int  # that work on a row
    blocks: int  # on a multiprocessor
    shared: int  # bytes of rows


def row_threads(states: int, blocks: int) -> int:
    """Threads for each of so many blocks on a multiprocessor, as registers allow."""
    return min(1024, 1280 // blocks // 32 * 32) if states == 1 else 512


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
        self.processors = int(cp.cuda.Device().attributes["MultiProcessorCount"])
        self._check_memory()
        self.sizes = {"N": self.n, "K": samples.ones, "D": self.d, "COLUMNS": self.columns}
        self.holds = np.zeros((self.d, self.columns))
        np.put_along_axis(self.holds, columns.T, 1.0, axis=0)
        self.features_of = cp.asarray(np.ascontiguousarray(columns.T.astype(np.uint16)))
        self.columns_with = cp.asarray(np.nonzero(self.holds)[1].astype(np.uint16))  # feature by feature
        self.with_each = cp.asarray(np.r_[0, np.cumsum(self.holds.sum(axis=1))].astype(np.int32))
        sample_tables = make_tables(samples, SAMPLE_LIMIT)
        self.stages = _sample_stages(cp, sample_tables)
        self.stages_back = _sample_stages(cp, make_tables(samples, BACK_LIMIT))
        self.first = [
            (p, cp.asarray(states.astype(np.int32)), cp.asarray(in_words(items)), len(states))
            for p, (states, items) in enumerate(phase_cubes(sample_tables, samples))
            if len(states)
        ]
        staged = {size for stage in self.stages for size, *_ in stage}
        names = [f"sample_stage<{p}>" for p in sorted(staged)] + [f"sample_phase<{p}>" for p, *_ in self.first]
        self.forward = self._passes((*names, *FEATURE_PASSES), states=1)
        self.feature_tables, self._kept = packed_tables(cp, make_tables(features, FEATURE_LIMIT))
        self.groups = self._group_struct(sample_tables, rows[:, 0])
        self.centred = Centred.of(problem, np.float32)
        about_zero = self.centred.problem
        weights = about_zero.coupling_weight * about_zero.coupling.astype(np.float64)
        energies = self._item_table(-about_zero.sample_scores, -about_zero.feature_scores, -weights)
        self.energies = cp.asarray(energies.astype(np.float32))
        self.psi = cp.empty((self.rows, self.columns), dtype=cp.complex64)
        self.out = cp.zeros(1)
        self.adjoint: Any = None

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of a function of the energy after the circuit."""
        self._evolve(layers, start)
        return self._observe(layers, observable, adjoint=False)

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""
        self._evolve(layers, start)
        if layers.depth % 2:
            self._mix_features(layers, layers.depth - 1)
        return self.cp.asnumpy(self.psi)

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives by every phase and every mixing angle."""
        cp = self.cp
        if self.adjoint is None:
            staged = {size for stage in self.stages_back for size, *_ in stage}
            self.backward = self._passes(tuple(f"sample_stage_back<{p}>" for p in sorted(staged)), states=2)
            self._check_memory()
            self.adjoint = cp.empty_like(self.psi)
        self._evolve(layers, start)
        value = self._observe(layers, observable, adjoint=True)
        pair, mixing = cp.zeros((layers.depth, self.n, self.d)), cp.zeros(layers.depth)
        for layer in reversed(range(layers.depth)):
            angle = _rotation(layers.mixing[layer])
            by_beta = mixing[layer : layer + 1]
            for stage in reversed(self.stages_back):
                self._launch_stage("sample_stage_back", stage, (self.psi, self.adjoint), (*angle, by_beta))
            states = (self.psi, self.adjoint, self.groups, self._turns(layers, layer))
            rest = (self.columns_with, self.with_each, self.feature_tables, *angle, by_beta, pair[layer])
            self._launch_rows("feature_pass_back", self.backward, (*states, *rest))
        return value, PairGradient(pair=cp.asnumpy(pair), mixing=cp.asnumpy(mixing))

    def _evolve(self, layers: Layers, start: NDArray[Any] | None) -> None:
        """All layers, but for a last feature mixing of an odd number of them."""
        if start is not None:
            self.psi.set(np.ascontiguousarray(start, dtype=np.complex64))
        for layer in range(layers.depth):
            angle = _rotation(layers.mixing[layer])
            turns, stages = self._turns(layers, layer), self.stages
            if layer % 2:
                self._mix_features(layers, layer - 1, turns, angle)
            else:
                uniform = (self.rows * self.columns) ** -0.5 if start is None and layer == 0 else 0.0
                self._launch_stage("sample_phase", self.first, (self.psi, np.float32(uniform)), (turns, *angle))
                stages = stages[1:]
            for stage in stages:
                self._launch_stage("sample_stage", stage, (self.psi,), angle)

    def _mix_features(self, layers: Layers, layer: int, turns: Any = None, then: Any = (NONE, NONE)) -> None:
        """A layer's feature mixing; with the next one's phase and feature mixing, where that is given."""
        name = f"feature_pass<{'false' if turns is None else 'true'}, false>"
        arguments = (self.psi, self.groups, self.feature_tables, *_rotation(layers.mixing[layer]))
        phase = (self.energies if turns is None else turns, *then)
        self._launch_rows(name, self.forward, (*arguments, *phase, self._goal(ENERGY), self.out))

    def _observe(self, layers: Layers, observable: Observable, *, adjoint: bool) -> float:
        """The last feature mixing, if it is still to be done, the expectation value and, if wanted, the adjoint."""
        cp, pending = self.cp, layers.depth % 2 == 1
        self.out[:] = 0
        if pending and not adjoint and observable.kind != "values":
            arguments = (self.psi, self.groups, self.feature_tables, *_rotation(layers.mixing[-1]), self.energies)
            self._launch_rows(
                "feature_pass<false, true>", self.forward, (*arguments, NONE, NONE, self._goal(observable), self.out)
            )
            return self.centred.as_given(float(self.out[0]), observable)
        if pending:
            self._mix_features(layers, layers.depth - 1)
        if observable.kind == "values":
            values = cp.asarray(observable.values)
            if adjoint:
                self.adjoint[:] = values * self.psi
            return float((values * cp.abs(self.psi) ** 2).sum())
        states = (self.psi, self.adjoint if adjoint else self.psi, self.groups, self._goal(observable))
        passes = self.backward if adjoint else self.forward
        self._launch_rows("observe", passes, (*states, np.int32(adjoint), self.out))
        return self.centred.as_given(float(self.out[0]), observable)

    def _goal(self, observable: Observable) -> Any:
        """The struct Goal."""
        threshold = np.float32(self.centred.threshold(observable))
        return struct(energies=self.energies, kind=KINDS[observable.kind], threshold=threshold)

    def _check_memory(self) -> None:
        """Refuse one more state where the device has no room for it."""
        needed = 8 * self.rows * self.columns
        free = free_memory(self.cp)
        if needed > free:
            raise InputError(
                f"a state needs {needed / 2**30:.1f} GiB, but the GPU has {free / 2**30:.1f} GiB free; {ELSEWHERE}"
            )

    def _launch_stage(self, name: str, stage: list[tuple[Any, ...]], states: Any, rest: Any) -> None:
        """One stage of the sample mixer: hypercubes of each size, (P, tables, how many)."""
        blocks = -(-self.columns // COLUMN_THREADS)
        for size, *tables, count in stage:
            module = (self.backward if name.endswith("_back") else self.forward).module
            kernel = module.get_function(f"{name}<{size}>")
            kernel((count * blocks,), (COLUMN_THREADS,), (*states, np.int32(blocks), *tables, *rest))

    def _launch_rows(self, name: str, passes: Passes, arguments: tuple[Any, ...]) -> None:
        """A kernel that goes through the rows, group by group."""
        kernel = passes.module.get_function(name)
        shared = passes.shared if name.startswith("feature") else 0
        kernel.max_dynamic_shared_size_bytes = shared
        grid = min(self.group_count, WAVES * passes.blocks * self.processors)
        kernel((grid,), (passes.threads,), arguments, shared_mem=shared)

    def _passes(self, names: tuple[str, ...], *, states: int) -> Passes:
        """These kernels and those that work on rows, compiled for rows of so many states in shared memory."""
        shared = 8 * states * self.columns
        available = shared_memory(self.cp)
        if shared > available:
            raise InputError(
                f"a row of {self.columns:,} feature subsets does not fit into the GPU's shared memory; {ELSEWHERE}"
            )
        blocks = max(1, min(MOST_BLOCKS[states - 1], available // (shared + SHARED_BESIDES // 2)))
        threads = row_threads(states, blocks)
        sizes = {**self.sizes, "THREADS": threads, "RESIDENT": blocks, "EDGES": FEATURE_LIMIT}
        module = load_module("sector.cu", names, tuple({**sizes, "COLUMN_THREADS": COLUMN_THREADS}.items()))
        return Passes(module=module, threads=threads, blocks=blocks, shared=shared)

    def _group_struct(self, tables: Tables, smallest: NDArray[np.int64]) -> Any:
        """The struct Groups: rows that differ in their smallest sample only."""
        cp = self.cp
        first = np.cumsum(tables.group_count) - tables.group_count
        rows = cp.asarray(np.stack([first, tables.group_count], axis=1).astype(np.int32))
        rest = cp.asarray(np.append(tables.group_rest, 0).astype(np.uint16))  # never empty, even for k = 1
        last = cp.asarray(smallest.astype(np.uint16))
        self._group_arrays = rows, rest, last
        self.group_count = len(first)
        return struct(rows=rows, rest=rest, smallest=last, count=len(first))

    def _item_table(
        self, own: NDArray[np.float64], other: NDArray[np.float64], pair: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(N + 1, columns): what each sample adds for every feature subset, and last what the subset adds itself."""
        return np.vstack([own[:, None] + pair @ self.holds, other @ self.holds])

    def _turns(self, layers: Layers, layer: int) -> Any:
        """The item table of a layer's phases, in turns, each brought to half a turn before it is rounded."""
        ones = len(self.features_of)
        pairs = layers.pair[layer] + layers.sample[layer][:, None] / ones
        phases = self.cp.asarray(np.vstack([pairs, layers.feature[layer]]) / (2 * np.pi))
        turns = self.cp.empty((self.n + 1, self.columns), dtype=self.cp.float32)
        blocks = -(-turns.size // COLUMN_THREADS)
        arguments = (turns, phases, self.features_of, np.int32(ones))
        self.forward.module.get_function("fill_turns")((blocks,), (COLUMN_THREADS,), arguments)
        return turns


def _rotation(beta: float) -> tuple[np.float32, np.float32]:
    cosine, tangent = cos_and_tan(beta, np.float32)
    return np.float32(cosine), np.float32(tangent)


def _sample_stages(cp: Any, tables: Tables) -> list[list[tuple[Any, ...]]]:
    """For each stage the hypercubes by size: (P, row numbers on the device, how many)."""
    flat = cp.asarray(tables.cubes)
    stages = []
    for span in tables.spans:
        sizes = range(1, len(span))
        stages.append([(p, flat[span[p - 1] : span[p]], int(span[p] - span[p - 1]) >> p) for p in sizes])
    return [[entry for entry in stage if entry[2]] for stage in stages]
