"""Batches of circuits on the GPU: many angle vectors of one small sector at once, complex64.

One thread block runs a whole circuit, its state in shared memory where that fits. From a basis state the first layer is
not run, and with an observable of few values beside zero the last mixing is not run either: both give products of a
sample vector and a feature vector, which are cheap (`cuda/batch.cu`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import Sector
from biselect.errors import InputError
from biselect_quantum.simulate._cube_tables import Tables, make_tables, phase_cubes
from biselect_quantum.simulate._gpu import ALIGNED, in_words, load_module, packed_tables, require_cupy, struct
from biselect_quantum.simulate.layers import Observable, Register, energy_scale, energy_table

LIMIT = 3  # acting edges in a hypercube, as registers allow
MOST_AMPLITUDES = 1_000_000  # beyond this a circuit fills the GPU by itself
MOST_COLUMNS = 6_000  # rows of two states fit into shared memory
MOST_HITS = 8  # values beside zero up to which an observable is a sum over basis states
KEPT = 16  # observables whose tables stay on the device
SUMS = 4096  # bytes of shared memory for sums over a block
LARGE = 4_096  # amplitudes from which many threads are worth their barriers
VALUE_THREADS, GRADIENT_THREADS, FEW_THREADS, VECTOR_THREADS = 384, 512, 128, 128
SHORT_ROW, ROW_THREADS = 56, 448  # columns that a thread holds in registers, and threads on a multiprocessor that do so
WARP = 32
UNIFORM, GIVEN, PRODUCT = range(3)  # starts, as the kernel knows them


def takes_batches(sector: Sector) -> bool:
    """Whether circuits of this sector are small enough to be run many at once."""
    fits = sector.feature_subsets <= MOST_COLUMNS and sector.sample_subsets < 2**16
    return sector.size <= MOST_AMPLITUDES and fits


class Goal(NamedTuple):
    """An observable on the device."""

    values: Any  # C(N, k) × C(D, m); the energies for CVaR
    shift: float  # what to add to the kernel's value
    share: float  # of CVaR; 0 for all other observables
    hits: int  # basis states that the kernel sums over; 0 where the observable is dense
    places: Any  # row and column of a basis start and of each of them, (1 + hits, 2)
    weights: Any  # their values


class Kernel(NamedTuple):
    """A compiled kernel and how it is launched."""

    run: Any
    threads: int
    chunk: int  # rows of a state held in shared memory at once
    shared: int  # bytes
    blocks: int  # on a multiprocessor


class GpuBatch:
    """One problem's circuits: its sector, mixers, cost groups and start.

    Args:
        problem: whose energy is measured.
        samples: the sample register.
        features: the feature register.
        terms: the phase of every pair in each cost group, (N·D, groups); marginals are spread over their pairs.
        start: any state of the sector; None for the uniform one.
    """

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        terms: NDArray[np.float64],
        start: NDArray[Any] | None,
    ) -> None:
        cp = self.cp = require_cupy()
        if not takes_batches(problem.sector):
            raise InputError(
                f"batches are for sectors of up to {MOST_AMPLITUDES:,} amplitudes and {MOST_COLUMNS:,} columns; "
                f"here are {problem.sector.sample_subsets:,} × {problem.sector.feature_subsets:,}"
            )
        rows, columns = samples.subsets, features.subsets
        self.n, self.k, self.groups = samples.n, samples.ones, terms.shape[1]
        self.shape = (len(rows), len(columns))
        self.stride = self.shape[1] | 1
        self.energies, self.scale = energy_table(problem), energy_scale(problem)
        by_pair = terms.reshape(samples.n, features.n, self.groups)
        items = by_pair[:, columns].sum(axis=2).transpose(2, 0, 1)  # (groups, N, columns)
        items = items - items.mean(axis=(1, 2), keepdims=True)  # a constant is a global phase, and costs precision
        self.terms = cp.asarray(np.ascontiguousarray(items, dtype=np.float32))
        sample_tables = make_tables(samples, LIMIT)
        self.samples, self._sample_arrays = packed_tables(cp, sample_tables)
        self._feature_tables = make_tables(features, LIMIT)
        self.features, self._feature_arrays = packed_tables(cp, self._feature_tables)
        self.first, self._first_arrays = packed_phase_cubes(cp, phase_cubes(sample_tables, samples))
        self.start, self.given = UNIFORM, self.terms
        self.start_place = np.zeros((1, 2), dtype=np.int64)
        if start is not None:
            self.start = PRODUCT if np.count_nonzero(start) == 1 else GIVEN
            if self.start == PRODUCT:
                self.start_place = np.argwhere(start)
            else:
                self.given = cp.asarray(np.ascontiguousarray(start, dtype=np.complex64))
        device = cp.cuda.Device().attributes
        self.shared_memory = int(device["MaxSharedMemoryPerBlockOptin"])
        self.processors = int(device["MultiProcessorCount"])
        self._orders: dict[int, Any] = {}
        self._goals: dict[Any, tuple[Observable, Goal]] = {}
        self._kernels: dict[Any, Kernel] = {}

    def values(self, angles: NDArray[np.float64], observable: Observable) -> NDArray[np.float64]:
        """Expectation values of layer angles (batch, p, groups + 1): γ of every group, then β."""
        goal = self.goal(observable)
        return self.run(self.on_device(angles), goal, gradient=False).get()[:, 0] + goal.shift

    def values_and_gradients(
        self, angles: NDArray[np.float64], observable: Observable
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expectation values, and their derivatives by every layer angle, in the shape of the angles."""
        goal = self.goal(observable)
        results = self.run(self.on_device(angles), goal, gradient=True).get()
        return results[:, 0] + goal.shift, results[:, 1:].reshape(angles.shape)

    def on_device(self, angles: NDArray[np.float64]) -> Any:
        """Layer angles as the kernel wants them: γ in turns, β within half a turn, single precision."""
        if angles.ndim != 3 or angles.shape[2] != self.groups + 1:
            raise InputError(f"layer angles must have the shape (batch, depth, {self.groups + 1}), got {angles.shape}")
        turns = angles / (2 * np.pi)
        turns[:, :, -1] = 2 * np.pi * (turns[:, :, -1] - np.rint(turns[:, :, -1]))
        return self.cp.asarray(turns.astype(np.float32))

    def goal(self, observable: Observable) -> Goal:
        """The observable's tables; those asked for last stay on the device."""
        key = (observable.kind, observable.threshold, observable.share, id(observable.values))
        if key not in self._goals:
            if len(self._goals) >= KEPT:
                del self._goals[next(iter(self._goals))]
            self._goals[key] = observable, self._make_goal(observable)  # kept with its values, whose id is in the key
        return self._goals[key][1]

    def _make_goal(self, observable: Observable) -> Goal:
        cp, cvar = self.cp, observable.kind == "cvar"
        table = self.energies if cvar else observable.of(self.energies, self.scale)
        about_zero = cvar or observable.kind == "energy"
        shift = (float(table.max()) + float(table.min())) / 2 if about_zero else 0.0
        places = np.argwhere(table) if not about_zero else np.empty((0, 2))
        hits = 0
        if not about_zero and len(places) <= MOST_HITS:
            hits = next(size for size in (1, 2, 4, MOST_HITS) if size >= len(places))
        padded, weights = np.zeros((hits, 2), dtype=np.int32), np.zeros(max(hits, 1), dtype=np.float32)
        if hits:
            padded[: len(places)] = places
            weights[: len(places)] = table[tuple(places.T)]
        return Goal(
            values=cp.asarray((table - shift).astype(np.float32)),
            shift=shift,
            share=observable.share if cvar else 0.0,
            hits=hits,
            places=cp.asarray(np.vstack([self.start_place, padded]).astype(np.int32)),
            weights=cp.asarray(weights),
        )

    def run(self, angles: Any, goal: Goal, *, gradient: bool) -> Any:
        """Value and derivatives on the device, (batch, 1 + p·(groups + 1)); angles come from `on_device`."""
        cp = self.cp
        batch, depth, _ = angles.shape
        hits = goal.hits if depth > 1 else 0
        kernel = self._kernel(self.start, hits, gradient)
        states, whole = 1 + gradient, kernel.chunk == self.shape[0]
        grid = min(batch, kernel.blocks * self.processors)
        results = 1 + (self.groups + 1) * depth if gradient else 1
        vectors = self._vectors(angles, goal.places, 1 + hits)
        out = cp.empty((batch, results))
        slots = cp.empty(1 if whole else grid * states * self.shape[0] * self.stride, dtype=cp.complex64)
        items = cp.empty(1 if whole else grid * self.n * self.shape[1], dtype=cp.float32)
        sums = cp.empty((grid, -(-kernel.threads // WARP), results), dtype=cp.float32)
        order = self._order(kernel.threads) if goal.share else self.terms
        fields = {"terms": self.terms, "angles": angles, "start": self.given, "vectors": vectors}
        fields |= {"weights": goal.weights, "values": goal.values, "order": order, "slots": slots, "items": items}
        tables = {"first": self.first, "samples": self.samples, "features": self.features}
        job = struct(**tables, **fields, sums=sums, out=out, depth=depth, batch=batch)
        kernel.run((grid,), (kernel.threads,), (job, np.float32(goal.share)), shared_mem=kernel.shared)
        return out

    def _vectors(self, angles: Any, places: Any, count: int) -> Any:
        """The registers' vectors of a basis start and of the hits, with their derivatives."""
        cp = self.cp
        batch, depth, _ = angles.shape
        first = int(self.start != PRODUCT)
        if first == count:
            return self.terms  # none; the kernel does not look
        vectors = cp.empty((batch, count, 2, sum(self.shape)), dtype=cp.complex64)
        kernel = self._module("register_vectors", VECTOR_THREADS, self.shape[0], 1)
        what = (vectors, places, np.int32(count), np.int32(first), self.samples, self.features, angles, np.int32(depth))
        kernel((batch * (count - first),), (VECTOR_THREADS,), what)
        return vectors

    def _kernel(self, start: int, hits: int, gradient: bool) -> Kernel:
        """Threads and shared memory: with two states fewer rows fit."""
        key = (start, hits, gradient)
        if key not in self._kernels:
            most = self.shared_memory - SUMS
            row = (1 + gradient) * self.stride * 8
            whole = self.shape[0] * row + 4 * self.n * self.shape[1]
            chunk = self.shape[0] if whole <= most else min(self.shape[0], most // 2 // row)
            shared = whole if whole <= most else chunk * row
            threads = GRADIENT_THREADS if gradient else VALUE_THREADS
            if self.shape[0] * self.shape[1] < LARGE:
                threads = FEW_THREADS
            blocks = max(1, min((512 if gradient else 1024) // threads, most // shared))
            short = self.shape[1] <= SHORT_ROW and whole <= most
            if short and not gradient:  # all rows in as few rounds as registers allow
                rounds = -(-self.shape[0] * blocks // ROW_THREADS)
                threads = -(-self.shape[0] // (rounds * WARP)) * WARP
            name = f"run_batch<{start}, {hits}, {str(gradient).lower()}>"
            run = self._module(name, threads, chunk, blocks, short)
            run.max_dynamic_shared_size_bytes = shared
            self._kernels[key] = Kernel(run=run, threads=threads, chunk=chunk, shared=shared, blocks=blocks)
        return self._kernels[key]

    def _module(self, name: str, threads: int, chunk: int, blocks: int, short: bool = False) -> Any:
        sizes = {"N": self.n, "K": self.k, "ROWS": self.shape[0], "COLUMNS": self.shape[1], "STRIDE": self.stride}
        sizes |= {"CHUNK": chunk, "GROUPS": self.groups, "THREADS": threads, "BLOCKS": blocks}
        generated = row_mixer(self._feature_tables) if short else ""
        return load_module("batch.cu", (name,), tuple(sizes.items()), generated).get_function(name)

    def _order(self, threads: int) -> Any:
        """Cells by rising energy, an equal stretch for each thread, thread by thread in the last axis; -1 for none."""
        if threads not in self._orders:
            each = -(-self.energies.size // threads)
            order = np.full(each * threads, -1, dtype=np.int32)
            order[: self.energies.size] = np.argsort(self.energies, axis=None, kind="stable")
            self._orders[threads] = self.cp.asarray(np.ascontiguousarray(order.reshape(threads, each).T))
        return self._orders[threads]


def row_mixer(tables: Tables) -> str:
    """The function `mix_row` of a mixer: all its rotations written out, so that a row can stay in registers."""
    lines = ["#define SHORT_ROWS", "__device__ __forceinline__ void mix_row(c64* x, float c, float t) {"]
    for span in tables.spans:
        for p in range(1, len(span)):
            for cube in tables.cubes[span[p - 1] : span[p]].reshape(-1, 2**p).tolist():
                names = [f"x[{state}]" for state in cube]
                lines.append(f"{{ c64 z[] = {{{', '.join(names)}}}; rotate<{p}>(z, c, t);")
                lines.append(" ".join(f"{name} = z[{place}];" for place, name in enumerate(names)) + " }")
    return "\n".join([*lines, "}", ""])


def packed_phase_cubes(cp: Any, first: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> tuple[Any, Any]:
    """The struct PhaseCubes, each part of the hypercubes aligned, and the arrays it points to, which must be kept."""
    cubes, words, spans = [np.zeros(0, dtype=np.int64)], [np.zeros(1, dtype=np.uint32)], []
    for states, items in first:
        spans.append([sum(map(len, cubes)), len(states), sum(map(len, words)), 0])
        cubes.append(np.pad(states.ravel(), (0, -states.size % ALIGNED)))
        words.append(in_words(items).ravel())
    arrays = (
        cp.asarray(np.concatenate(cubes).astype(np.uint16)),
        cp.asarray(np.concatenate(words)),
        cp.asarray(np.array(spans, dtype=np.int32)),
    )
    return struct(cubes=arrays[0], samples=arrays[1], spans=arrays[2]), arrays
