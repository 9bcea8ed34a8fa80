"""Batches on the CPU: many circuits of one small sector in one call, 8 or 16 to a vector, on all threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect_quantum.simulate._batch_kernels import Circuits, Results, Scratch, Side, run_block, undo_block
from biselect_quantum.simulate._cube_tables import Tables
from biselect_quantum.simulate._simd import BYTES, aligned_lines
from biselect_quantum.simulate.layers import (
    Layers,
    Observable,
    PairGradient,
    Register,
    angle_lines,
    energy_scale,
    energy_table,
)
from biselect_quantum.simulate.limits import Stop, check_stop

MOST_AMPLITUDES = 150_000  # beyond this the states of so many circuits leave the caches, and one at a time is faster
MOST_FROM_BASIS = 500_000  # the same from a basis state, where a batch spares the first layer
MOST_HITS = 8  # beyond this a hit rate is read from the whole state


class Batches:
    """One problem's sector, ready for batches; `samples` and `features` are the registers and their tables."""

    def __init__(
        self,
        problem: SelectionProblem,
        samples: tuple[Register, Tables],
        features: tuple[Register, Tables],
        real: type[np.floating[Any]],
        threads: int,
        stop: Stop,
    ) -> None:
        self.real, self.threads, self.stop = real, threads, stop
        self.lanes = BYTES // np.dtype(real).itemsize
        self.k, self.m = problem.k, problem.m
        self.energies, self.scale = energy_table(problem, stop), energy_scale(problem)
        self.rows, self.columns = self.energies.shape
        self.height = self.rows | 1  # an odd distance between columns spreads a row over all sets of a cache
        self.n, self.d = samples[0].n, features[0].n
        self.samples, self.features = self._side(samples, features, True), self._side(features, samples, False)
        self._spare: list[tuple[Scratch, NDArray[Any]]] = []  # of calls before, one for each thread
        self._lock = RLock()
        self._last: tuple[Any, ...] | None = None  # the observable last asked for, as kernels want it

    def values(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> NDArray[np.float64]:
        """Expectation values of a batch of circuits."""
        return self._run(layers, start, observable, gradient=False)[0]

    def values_and_gradients(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[NDArray[np.float64], PairGradient]:
        """Expectation values of a batch of circuits, and their derivatives."""
        return self._run(layers, start, observable, gradient=True)

    def reads_amplitudes(self, observable: Observable, depth: int) -> bool:
        """Whether the amplitudes of an observable's hits are found one by one."""
        return observable.kind == "hit" and depth > 1 and 0 < len(self._goal(observable)[2]) <= MOST_HITS

    def amplitudes_and_gradients(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[NDArray[np.complex128], PairGradient]:
        """Amplitudes (batch, hits), and derivatives: first of all their real parts, then of all imaginary parts."""
        count, hits = len(layers.mixing), len(self._goal(observable)[2])
        copies = Layers(
            **{
                name: np.tile(np.repeat(part, hits, axis=0), (2, *(1,) * (part.ndim - 1)))
                for name, part in vars(layers).items()
            }
        )
        # 2 Re(weight̄·amplitude) is the real part for weight ½, and the imaginary part for weight i/2
        weights = np.zeros((2, count, hits, hits, 2))
        for hit in range(hits):
            weights[0, :, hit, hit, 0] = weights[1, :, hit, hit, 1] = 0.5
        amplitudes, gradient = self._run(
            copies, start, observable, gradient=True, weights=weights.reshape(-1, 2 * hits)
        )
        own = amplitudes.reshape(2, count, hits, hits, 2)[0, :, 0]
        return own[..., 0] + 1j * own[..., 1], gradient

    def _run(
        self,
        layers: Layers,
        start: NDArray[Any] | None,
        observable: Observable,
        *,
        gradient: bool,
        weights: NDArray[np.float64] | None = None,
    ) -> Any:
        """Values and derivatives; with weights amplitudes, and the derivatives of 2 Re Σ weight̄·amplitude."""
        count, depth = layers.mixing.shape
        blocks = -(-count // self.lanes)
        circuits, shift = self._circuits(layers, start, observable, blocks)
        hits, pairs = len(circuits.hits), self.n * self.d
        amplitudes = self._lines(2 * blocks * hits)
        out = Results(
            value=self._lines(blocks),
            low=self._lines(blocks),
            amplitudes=amplitudes,
            weights=amplitudes if weights is None else self._laned(weights, blocks),
            mixing=self._lines(blocks * depth if gradient else 0),
            pair=self._lines(blocks * depth * pairs if gradient else 0),
        )

        def work(thread: int, scratch: Scratch, adjoint: NDArray[Any]) -> None:
            for block in range(thread, blocks, self.threads):
                run_block(self.samples, self.features, circuits, scratch, block, self.stop, out)
                if gradient:
                    undo_block(self.samples, self.features, circuits, scratch, block, self.stop, adjoint, out)

        self._share(work, min(self.threads, blocks), hits, gradient)
        values = self._unlaned(out.value, blocks, ())[:count] + shift
        if weights is not None:
            values = self._unlaned(amplitudes, blocks, (2 * hits,))[:count]
        if not gradient:
            return values, None
        by_beta = 2 * self._unlaned(out.mixing, blocks, (depth,))[:count]
        by_pair = -2 * self._unlaned(out.pair, blocks, (depth, self.n, self.d))[:count]
        if observable.kind == "cvar":
            by_beta, by_pair = by_beta / observable.share, by_pair / observable.share
        return values, PairGradient(pair=by_pair, mixing=by_beta)

    def _share(self, work: Callable[..., None], threads: int, hits: int, gradient: bool) -> None:
        """Run the work on all threads, each with scratch of its own."""
        with self._lock:
            spare = [self._spare.pop() if self._spare else self._scratch() for _ in range(threads)]
        spare = [self._enough(one, hits, gradient) for one in spare]
        check_stop(self.stop)
        if threads == 1:
            work(0, *spare[0])
        elif threads:
            with ThreadPoolExecutor(threads) as pool:
                running = [pool.submit(work, thread, *one) for thread, one in enumerate(spare)]
                for job in running:
                    job.result()  # an error in a thread is an error here
        with self._lock:
            self._spare += spare
        check_stop(self.stop)

    def _circuits(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable, blocks: int
    ) -> tuple[Circuits, float]:
        """A batch as the kernels want it, and what is to be added to their values."""
        count, depth = layers.mixing.shape
        parts = [layers.pair.reshape(count, depth, -1), layers.sample, layers.feature]
        angles = np.concatenate(parts, axis=2)
        phases = np.empty((*angles.shape, 2), dtype=self.real)
        np.cos(angles, out=phases[..., 0], casting="same_kind")
        np.sin(angles, out=phases[..., 1], casting="same_kind")
        place: Any = np.empty(0, dtype=np.int64)
        amplitudes = np.empty(0, dtype=self.real)
        if start is not None:
            occupied = np.flatnonzero(start)
            if occupied.size == 1:  # a basis state; its phase is nobody's concern
                place = np.array(np.unravel_index(occupied[0], start.shape), dtype=np.int64)
            else:
                amplitudes = np.stack([self._columns(start.real), self._columns(start.imag)], axis=-1).ravel()
        table, shift, hits, order = self._goal(observable)
        first = 1 if place.size else 0
        ends_in_hits = observable.kind == "hit" and len(hits) <= MOST_HITS and depth > first
        circuits = Circuits(
            depth=depth,
            first=first,
            phases=self._laned(phases.reshape(count, -1), blocks),
            layer_lines=2 * angles.shape[2],
            mixing=self._laned(angle_lines(layers.mixing, self.real).reshape(count, -1), blocks),
            start=place,
            amplitudes=amplitudes,
            hits=hits if ends_in_hits else hits[:0],
            ends_in_hits=ends_in_hits,
            table=table,
            order=order,
            share=observable.share,
        )
        return circuits, shift

    def _goal(self, observable: Observable) -> tuple[Any, ...]:
        """The observable as a table in the order of the state, its shift, its hits, and the order of the energies."""
        key = (observable.kind, observable.threshold, id(observable.values))
        last = self._last
        if last is None or last[0] != key:
            hits, order, shift = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64), 0.0
            if observable.kind in ("energy", "cvar"):
                shift = (float(self.energies.max()) + float(self.energies.min())) / 2  # spares single precision
                values = self.energies - shift
                if observable.kind == "cvar":
                    rows, columns = np.unravel_index(np.argsort(self.energies, axis=None), self.energies.shape)
                    order = columns * self.height + rows
            else:
                values = observable.of(self.energies, self.scale)
            if observable.kind == "hit":
                hits = np.ascontiguousarray(np.argwhere(values))  # in another order kernels would compile again
            table = self._columns(values)
            self._last = last = key, (table, shift, hits, order), observable.values  # the id is that of a living array
        return last[1]

    # Layout: one vector for each number, a circuit in each lane; feature states, then sample states

    def _lines(self, count: int) -> NDArray[Any]:
        return aligned_lines(count, self.real)

    def _columns(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """A number for each amplitude in the order of the state, zero between the columns."""
        padded = np.zeros((self.columns, self.height), dtype=self.real)
        padded[:, : self.rows] = matrix.T
        return padded.ravel()

    def _laned(self, numbers: NDArray[Any], blocks: int) -> NDArray[Any]:
        """(circuits, numbers) as lines, blocks first; lanes without a circuit repeat the last one."""
        padded = np.empty((blocks * self.lanes, numbers.shape[1]), dtype=self.real)
        padded[: len(numbers)], padded[len(numbers) :] = numbers, numbers[-1:]
        lines = self._lines(blocks * numbers.shape[1])
        lines.reshape(blocks, -1, self.lanes)[:] = padded.reshape(blocks, self.lanes, -1).transpose(0, 2, 1)
        return lines

    def _unlaned(self, lines: NDArray[Any], blocks: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Lines as numbers of this shape for every circuit."""
        numbers = lines.reshape(blocks, -1, self.lanes).transpose(0, 2, 1).astype(np.float64)
        return numbers.reshape(blocks * self.lanes, *shape)

    def _side(self, own: tuple[Register, Tables], other: tuple[Register, Tables], samples: bool) -> Side:
        tables, basis = own[1], other[0].subsets
        same = basis[1:, ::-1] == basis[:-1, ::-1]
        across, pairs = 2 * self.height, self.n * self.d
        return Side(
            tables=tables,
            back=tables._replace(spans=np.ascontiguousarray(tables.spans[::-1])),
            samples=samples,
            basis=basis,
            shared=np.r_[0, np.cumprod(same, axis=1).sum(axis=1)].astype(np.int64),
            step=2 if samples else across,
            tile_step=across if samples else 2,
            items=own[0].n,
            own_at=pairs if samples else pairs + self.n,
            other_at=pairs + self.n if samples else pairs,
            pair_own=self.d if samples else 1,
            pair_other=1 if samples else self.d,
        )

    def _scratch(self) -> tuple[Scratch, NDArray[Any]]:
        sides = (self.samples, self.features)
        product = 2 * (self.rows + self.columns)
        scratch = Scratch(
            x=self._lines(2 * self.height * self.columns),
            factors=self._lines(max(2 * (side.items + 1) * (side.basis.shape[1] + 1) for side in sides)),
            stack=self._lines(max(2 * side.tables.group_rest.shape[1] for side in sides) + 2),
            heads=self._lines(3 * max(len(side.tables.tails) for side in sides)),
            items=self._lines(max(self.n, self.d)),
            total=self._lines(3),
            start=self._lines(product),
            start_adjoint=self._lines(product),
            end=self._lines(0),
            end_inner=self._lines(0),
            unit=self._lines(0),
        )
        return scratch, self._lines(0)

    def _enough(self, spare: tuple[Scratch, NDArray[Any]], hits: int, gradient: bool) -> tuple[Scratch, NDArray[Any]]:
        """Scratch with room for so many hits, and for an adjoint where one is needed."""
        scratch, adjoint = spare
        lines = hits * 2 * (self.rows + self.columns)
        if len(scratch.end) < lines * self.lanes:
            names = ("end", "end_inner", "unit")
            scratch = scratch._replace(**{name: self._lines(lines) for name in names})
        if gradient and not len(adjoint):
            adjoint = self._lines(len(scratch.x) // self.lanes)
        return scratch, adjoint
