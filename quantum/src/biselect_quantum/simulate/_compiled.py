"""The compiled backend: the sector in tiles of cache lines, p + 1 passes, adjoint gradients, threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect_quantum.simulate._cube_tables import Tables, make_tables
from biselect_quantum.simulate._passes import Circuit, Grid, PassLayers, Side, Team, Work, run, undo
from biselect_quantum.simulate._simd import BYTES, aligned_lines
from biselect_quantum.simulate.layers import KINDS, Centred, Layers, Observable, PairGradient, Register, angle_lines
from biselect_quantum.simulate.limits import NEVER, Stop, check_memory, check_stop, parts, tell_when_compiling

LIMIT = 3  # 8 complex rows fill the vector registers
LOOK_EVERY = 0.2  # seconds between two words on progress


class CompiledSimulator:
    """One problem's sector, ready to be run many times.

    `progress` is told the done share of a run now and then; a run ends without a result where `stop` turns to 1.
    """

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        dtype: Any,
        threads: int,
        progress: Callable[[float], None] | None = None,
        stop: Stop = NEVER,
    ) -> None:
        tell_when_compiling()
        self.progress, self.stop, self.sector = progress, stop, problem.sector
        self._lock = RLock()  # one run at a time: they share the state
        self.real = np.float32 if np.dtype(dtype) == np.complex64 else np.float64
        self.lanes = BYTES // np.dtype(self.real).itemsize
        rows, columns = samples.subsets, features.subsets
        self.shape = (len(rows), len(columns))
        self.grid = Grid(blocks=-(-len(columns) // self.lanes), rows=-(-len(rows) // self.lanes) * self.lanes)
        self.centred = Centred.of(problem, self.real)
        about_zero = self.centred.problem
        weights = about_zero.coupling_weight * about_zero.coupling.astype(np.float64)
        a, b = about_zero.sample_scores, about_zero.feature_scores
        tables = tuple(make_tables(register, LIMIT, tail=2, stop=stop) for register in (samples, features))
        self.samples = self._side(tables[0], False, columns, a, b, weights)
        self.features = self._side(tables[1], True, rows, b, a, np.ascontiguousarray(weights.T))
        self.threads = max(1, min(threads, self.samples.tiles, self.features.tiles))
        self.work = [self._workspace() for _ in range(self.threads)]
        self._state = self._lines(self.grid.blocks * self.grid.rows * 2)
        self._adjoint: NDArray[Any] | None = None

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of a function of the energy after the circuit."""
        with self._lock:
            return self._run(layers, start, observable, keep=False)

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""
        with self._lock:
            check_memory(self.sector, np.result_type(self.real, np.complex64), states=1)
            self._run(layers, start, None, keep=True)
            return self._read(self._state)

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives by every phase and every mixing angle."""
        with self._lock:
            return self._differentiate(layers, start, observable)

    def _differentiate(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        if self._adjoint is None:
            check_memory(self.sector, np.result_type(self.real, np.complex64), states=1)
            self._adjoint = self._lines(self._state.size // self.lanes)
        value = 0.0
        own_values = observable.kind == "values"
        p, n, d = layers.pair.shape
        circuit = self._circuit(layers, start, None if own_values else observable)
        shares = [(np.zeros(p), np.zeros((p, n, d)), np.zeros((p, d, n))) for _ in range(self.threads)]
        if own_values:  # any diagonal: run, multiply outside, go back
            state = self.state(layers, start)
            weighted = observable.values * state
            value = float(np.vdot(state, weighted).real)
            self._write(self._adjoint, weighted)
        else:
            if start is not None:
                self._write(self._state, start)
            ends = self._forward(circuit, self._adjoint, keep=True, passes=2 * p + 1)
            value = self.centred.as_given(float(ends[0]), observable)
            shares[0][0][-1] = ends[1]

        def back(thread: int, team: Team) -> None:
            undo(self._state, self._adjoint, circuit, self.work[thread], team, *shares[thread])

        self._share(back, 0 if own_values else p + 1, 2 * p + 1)
        pair = np.sum([share[1] + share[2].transpose(0, 2, 1) for share in shares], axis=0)
        return value, PairGradient(pair=pair, mixing=np.sum([share[0] for share in shares], axis=0))

    def _run(self, layers: Layers, start: NDArray[Any] | None, observable: Observable | None, *, keep: bool) -> float:
        if observable is not None and observable.kind == "values":
            state = self.state(layers, start)
            return float(np.sum(np.abs(state) ** 2 * observable.values))
        if start is not None:
            self._write(self._state, start)
        circuit = self._circuit(layers, start, observable)
        value = float(self._forward(circuit, None, keep=keep, passes=layers.depth + 1)[0])
        return 0.0 if observable is None else self.centred.as_given(value, observable)

    def _forward(self, circuit: Circuit, adjoint: NDArray[Any] | None, *, keep: bool, passes: int) -> Any:
        """Expectation value, and where an adjoint is formed the derivative by the last β that goes with it."""
        outs = np.zeros((self.threads, 2))

        def work(thread: int, team: Team) -> None:
            run(self._state, adjoint, circuit, keep, self.work[thread], team, outs[thread])

        self._share(work, 0, passes)
        return outs.sum(axis=0)

    def _circuit(self, layers: Layers, start: NDArray[Any] | None, observable: Observable | None) -> Circuit:
        pair = np.exp(1j * layers.pair)
        in_passes = PassLayers(
            sample=np.exp(1j * layers.sample),
            feature=np.exp(1j * layers.feature),
            pair=pair,
            pair_turned=np.ascontiguousarray(pair.transpose(0, 2, 1)),
            mixing=self._aligned(np.repeat(angle_lines(layers.mixing, self.real), self.lanes)),
        )
        goal = (False, 0, 0.0)
        if observable is not None:
            goal = (True, KINDS[observable.kind], self.centred.threshold(observable))
        return Circuit(self.samples, self.features, self.grid, layers.depth, in_passes, start is None, *goal)

    def _share(self, work: Callable[[int, Team], None], before: int, passes: int) -> None:
        """Run the work on all threads; tell whoever watches how many passes are done, of those made before and all."""
        counter = np.zeros(1, dtype=np.int64)
        teams = [Team(thread, self.threads, counter, self.stop) for thread in range(self.threads)]
        if self.threads == 1 and self.progress is None:
            work(0, teams[0])
            check_stop(self.stop)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            running = [pool.submit(work, team.thread, team) for team in teams]
            while wait(running, timeout=None if self.progress is None else LOOK_EVERY).not_done:
                if self.progress is not None:
                    self.progress(min(1.0, (before + int(counter[0]) / self.threads) / passes))
            for job in running:
                job.result()  # an error in a thread is an error here
        check_stop(self.stop)

    # Layout: tiles of one vector of feature states by all sample states, real and imaginary lines in turn

    def _lines(self, count: int) -> NDArray[Any]:
        return aligned_lines(count, self.real)

    def _tiles(self, lines: NDArray[Any]) -> NDArray[Any]:
        return lines.reshape(self.grid.blocks, self.grid.rows, 2, self.lanes)

    def _write(self, lines: NDArray[Any], matrix: NDArray[Any]) -> None:
        rows, columns = self.shape
        padded = np.zeros((rows, self.grid.blocks * self.lanes), dtype=matrix.dtype)
        padded[:, :columns] = matrix
        blocks = padded.reshape(rows, self.grid.blocks, self.lanes).transpose(1, 0, 2)
        tiles = self._tiles(lines)
        tiles[:, :rows, 0], tiles[:, :rows, 1] = blocks.real, blocks.imag

    def _read(self, lines: NDArray[Any]) -> NDArray[Any]:
        rows, columns = self.shape
        tiles = self._tiles(lines)[:, :rows]
        matrix = np.empty((rows, self.grid.blocks, self.lanes), dtype=np.result_type(self.real, np.complex64))
        for part in parts(rows, columns, self.stop):
            for turned, tile in ((matrix.real, tiles[:, part, 0]), (matrix.imag, tiles[:, part, 1])):
                turned[part] = tile.transpose(1, 0, 2)
        return matrix.reshape(rows, -1)[:, :columns]

    def _side(
        self,
        tables: Tables,
        turned: bool,
        other_basis: NDArray[np.int64],
        own: NDArray[np.float64],
        other: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> Side:
        count, n = len(other_basis), len(own)
        tiles = -(-count // self.lanes)
        values = np.zeros((tiles * self.lanes, n + 1))
        values[:count, :n] = -(own + sum(weights.T[other_basis[:, t]] for t in range(other_basis.shape[1])))
        values[:count, n] = -other[other_basis].sum(axis=1)
        amplitude = np.zeros(tiles * self.lanes)
        amplitude[:count] = 1 / np.sqrt(self.shape[0] * self.shape[1])
        same = other_basis[1:, ::-1] == other_basis[:-1, ::-1]
        return Side(
            tables=tables,
            turned=turned,
            tiles=tiles,
            basis=other_basis,
            shared=np.r_[0, np.cumprod(same, axis=1).sum(axis=1)].astype(np.int64),
            amplitude=self._aligned(amplitude),
            factors=self._lines(tiles * (n + 1) * 2),
            values=self._aligned(values.reshape(tiles, self.lanes, n + 1).transpose(0, 2, 1).ravel()),
        )

    def _aligned(self, values: NDArray[np.float64]) -> NDArray[Any]:
        lines = self._lines(values.size // self.lanes)
        lines[:] = values
        return lines

    def _workspace(self) -> Work:
        turned = 2 * self.grid.blocks * self.lanes
        deep = 2 * max(self.samples.tables.group_rest.shape[1], self.features.tables.group_rest.shape[1]) + 4
        return Work(
            x=self._lines(turned),
            y=self._lines(turned),
            stack=self._lines(deep),
            heads=self._lines(3 * max(len(side.tables.tails) for side in (self.samples, self.features))),
            items=self._lines(max(self.centred.problem.coupling.shape)),  # also those that rules settle
            total=self._lines(2),
        )
