"""WideSampler: exact shots and probabilities of sparse circuits on registers far beyond a state vector.

Shots and amplitudes both walk the line from the left with one row vector for each prefix of bits. Prefixes of one
charge share their blocks, so a step is one matrix product a block; `xp` is NumPy, or CuPy for chains on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.shots import Samples
from biselect_quantum.simulate.limits import StopCheck, never_stop
from biselect_quantum.simulate.program import Program
from biselect_quantum.simulate.wide._chain import BondLimitError, Chain, Charge, TooMuchWorkError
from biselect_quantum.simulate.wide.order import Order, candidate_orders

Bits = NDArray[np.int8]
DEVICES = ("cpu", "gpu")
FIRST_WORK, MORE_WORK = 2e8, 4  # multiplications each order may take at first (a fraction of a second), then times 4


@dataclass(frozen=True, kw_only=True)
class WideReport:
    """What it took.

    Attributes:
        largest_bond: χ, the most states that any bond needed on the way.
        discarded_weight: squared norm cut away over the whole circuit, all of it below numerical rank.
        norm_error: how far the norm ended from 1.
        order: the qubit at each place of the line; give it to the next circuit on the same graph.
        order_name: `label`, `annealed`, or `given`.
        blocks: the most charge blocks of a bond at the end.
        seconds: of the evolution, trying orders included.
    """

    largest_bond: int
    discarded_weight: float
    norm_error: float
    order: Order
    order_name: str
    blocks: int
    seconds: float


class WideSampler:
    """The final state of a circuit as a charge-block matrix product state.

    Args:
        problem: whose energy the shots get.
        program: bound, from a basis state in the problem's budgets.
        dtype: what the final state is read in: complex64, or complex128 to check it. It evolves in double precision.
        order: the qubit at each place of the line. By default an annealed order and the label order are tried, the
            second only as long as it needs less work than the first, and the cheaper is kept.
        max_bond: bond states beyond which it fails rather than truncate.
        device: `cpu`, or `gpu` to draw shots there (CuPy); the evolution stays on the CPU.
        look: called now and then while it works; what it raises ends the work.

    Raises:
        InputError: a program with free angles, from the Dicke state, or of other sizes than the problem.
        BondLimitError: more bond states than `max_bond`.

    >>> from biselect_quantum.simulate.program import Op
    >>> problem = SelectionProblem(coupling=np.ones((3, 2)), k=1, m=1)
    >>> ops = tuple(Op(kind="xy", qubits=pair, angle=0.5) for pair in [(0, 1), (3, 4), (1, 2)])
    >>> program = Program(n_samples=3, n_features=2, k=1, m=1, bits=(1, 0, 0, 1, 0), layers=(ops,))
    >>> sampler = WideSampler(problem, program)
    >>> sampler.sample(100, seed=0).shots
    100
    >>> round(float(sampler.probabilities([[1, 0, 0, 1, 0]])[0]), 4)  # cos² 0.5, twice
    0.5931
    """

    def __init__(
        self,
        problem: SelectionProblem,
        program: Program,
        *,
        dtype: Any = np.complex64,
        order: Order | None = None,
        max_bond: int = 4096,
        device: str = "cpu",
        look: StopCheck = never_stop,
    ) -> None:
        sizes = [(one.n_samples, one.n_features, one.k, one.m) for one in (problem, program)]
        if sizes[0] != sizes[1]:
            raise InputError(f"(N, D, k, m) is {sizes[0]} for the problem and {sizes[1]} for the circuit")
        program.check_bound()
        if np.dtype(dtype) not in (np.complex64, np.complex128):
            raise InputError(f"dtype must be complex64 or complex128, got {dtype!r}")
        if max_bond < 1:
            raise InputError(f"max_bond must be at least 1, got {max_bond}")
        if device not in DEVICES:
            raise InputError(f"device must be one of {', '.join(DEVICES)}, got {device!r}")
        if order is not None and sorted(order) != list(range(program.qubits)):
            raise InputError(f"order must name each of the qubits 0..{program.qubits - 1} once, got {order!r}")
        self.problem = problem
        self.program = program
        self._look = look
        self._xp: Any = np
        if device == "gpu":
            from biselect_quantum.simulate._gpu import require_cupy

            self._xp = require_cupy()
        begin = perf_counter()
        with _one_thread():
            name, self._chain = _evolved(program, order, max_bond, look)
        blocks = max((len({charge for charge, _ in site}) for site in self._chain.sites), default=1)
        self.report = WideReport(
            largest_bond=self._chain.largest_bond,
            discarded_weight=self._chain.dropped,
            norm_error=abs(self._chain.norm() - 1),
            order=tuple(self._chain.order),
            order_name=name,
            blocks=blocks,
            seconds=perf_counter() - begin,
        )
        self._chain.store(self._xp, dtype)

    def draw(
        self, shots: int, seed: int | np.random.Generator | None = 0
    ) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Measure all N + D qubits.

        Returns:
            Distinct bitstrings, (distinct, N + D), samples first, and how often each was measured.
        """
        if not isinstance(shots, int | np.integer) or shots < 1:
            raise InputError(f"shots must be at least 1, and whole; got {shots!r}")
        with _one_thread():
            return _drawn(self._chain, shots, np.random.default_rng(seed), self._xp, self._look)

    def sample(self, shots: int, seed: int | np.random.Generator | None = 0) -> Samples:
        """Measure: draw choices with their energies, lowest energy first."""
        bits, counts = self.draw(shots, seed)
        n = self.program.n_samples
        samples = np.nonzero(bits[:, :n])[1].reshape(len(bits), -1)
        features = np.nonzero(bits[:, n:])[1].reshape(len(bits), -1)
        energies = self.problem.energies(samples, features)
        order = np.lexsort((*features.T, *samples.T, energies))  # ties as in Ansatz.sample
        return Samples(samples=samples[order], features=features[order], energies=energies[order], counts=counts[order])

    def amplitudes(self, bits: ArrayLike) -> NDArray[Any]:
        """Amplitudes of bitstrings, (strings, N + D) zeros and ones, samples first.

        Returns:
            (strings,) amplitudes, up to one global phase.
        """
        strings = np.asarray(bits)
        if strings.ndim != 2 or strings.shape[1] != self.program.qubits or not np.isin(strings, (0, 1)).all():
            raise InputError(f"bits must be rows of {self.program.qubits} zeros and ones, got shape {strings.shape}")
        with _one_thread():
            return _amplitudes(self._chain, strings.astype(np.int8), self._xp)

    def probabilities(self, bits: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of bitstrings, (strings, N + D) zeros and ones, samples first."""
        return np.abs(self.amplitudes(bits).astype(np.complex128)) ** 2


def _evolved(program: Program, order: Order | None, max_bond: int, look: StopCheck) -> tuple[str, Chain]:
    """The circuit run in the given order, or in the one that takes least work."""
    if order is not None:
        chain = Chain(program, order, max_bond)
        chain.run(look)
        return "given", chain
    orders = candidate_orders(program, look)
    limit = FIRST_WORK
    while True:
        best: tuple[str, Chain] | None = None
        for name, candidate in list(orders.items()):
            chain = Chain(program, candidate, max_bond, max_work=best[1].work if best else limit)
            try:
                chain.run(look)
                best = name, chain
            except TooMuchWorkError:
                continue
            except BondLimitError:
                del orders[name]
                if not orders:
                    raise
        if best is not None:
            return best
        limit *= MORE_WORK


def _one_thread() -> Any:
    """Blocks are too small to share: more BLAS threads only wait for each other."""
    return threadpool_limits(limits=1, user_api="blas")


def _drawn(
    chain: Chain, shots: int, rng: np.random.Generator, xp: Any, look: StopCheck
) -> tuple[Bits, NDArray[np.int64]]:
    """Distinct bit strings and how often each was drawn; the chain's centre is its first place.

    With everything to the right an isometry, the squared length of a prefix's vector is its probability. The shots of a
    prefix part binomially between bit 0 and bit 1, so a prefix is followed once however many shots share it.
    """
    n = len(chain.sites)
    heads: dict[Charge, _Prefixes] = {
        (0, 0): _Prefixes(xp.ones((1, 1), dtype=chain.dtype), np.array([shots]), np.zeros((1, n), dtype=np.int8))
    }
    for place in range(n):
        look()
        parts: dict[Charge, list[_Prefixes]] = {}
        for charge in sorted(heads):
            for bit, part in heads[charge].parted(chain.sites[place], charge, place, rng, xp):
                parts.setdefault(chain.after(charge, place, bit), []).append(part)
        heads = {charge: _Prefixes.joined(group, xp) for charge, group in parts.items()}
    (last,) = heads.values()
    bits = np.empty_like(last.bits)
    bits[:, chain.order] = last.bits
    return bits, last.counts


class _Prefixes:
    """Prefixes of one charge: their vectors at unit length, their shots, their bits in the order of the line."""

    def __init__(self, vectors: Any, counts: NDArray[np.int64], bits: Bits) -> None:
        self.vectors, self.counts, self.bits = vectors, counts, bits

    @classmethod
    def joined(cls, group: list[_Prefixes], xp: Any) -> _Prefixes:
        if len(group) == 1:
            return group[0]
        return cls(
            xp.concatenate([part.vectors for part in group]),
            np.concatenate([part.counts for part in group]),
            np.concatenate([part.bits for part in group]),
        )

    def parted(
        self, site: Any, charge: Charge, place: int, rng: np.random.Generator, xp: Any
    ) -> list[tuple[int, _Prefixes]]:
        """The prefixes one bit longer that have shots."""
        longer = {bit: self.vectors @ site[charge, bit] for bit in (0, 1) if (charge, bit) in site}
        weights = np.zeros((2, len(self.counts)))
        for bit, vectors in longer.items():
            weights[bit] = _on_host((xp.abs(vectors) ** 2).sum(axis=1, dtype=np.float64))
        ones = rng.binomial(self.counts, weights[1] / weights.sum(axis=0))
        parts = []
        for bit, vectors in longer.items():
            counts = ones if bit else self.counts - ones
            alive = np.flatnonzero(counts)
            if alive.size:
                scale = (1 / np.sqrt(weights[bit, alive])).astype(vectors.real.dtype)
                bits = self.bits[alive]
                bits[:, place] = bit
                scaled = vectors[xp.asarray(alive)] * xp.asarray(scale)[:, None]
                parts.append((bit, _Prefixes(scaled, counts[alive], bits)))
        return parts


def _amplitudes(chain: Chain, bits: Bits, xp: Any) -> NDArray[Any]:
    """The amplitude of each bit string, zero outside the sector."""
    amplitudes = np.zeros(len(bits), dtype=chain.dtype)
    line = bits[:, chain.order]
    start = xp.ones((len(bits), 1), dtype=chain.dtype)
    heads: dict[Charge, tuple[NDArray[np.int64], Any]] = {(0, 0): (np.arange(len(bits)), start)}
    for place, site in enumerate(chain.sites):
        parts: dict[Charge, list[tuple[NDArray[np.int64], Any]]] = {}
        for charge, (rows, vectors) in heads.items():
            for bit in (0, 1):
                matching = np.flatnonzero(line[rows, place] == bit)
                if matching.size and (charge, bit) in site:
                    longer = vectors[xp.asarray(matching)] @ site[charge, bit]
                    parts.setdefault(chain.after(charge, place, bit), []).append((rows[matching], longer))
        heads = {
            charge: (np.concatenate([rows for rows, _ in group]), xp.concatenate([vectors for _, vectors in group]))
            for charge, group in parts.items()
        }
    for rows, vectors in heads.values():
        amplitudes[rows] = _on_host(vectors[:, 0])
    return amplitudes


def _on_host(array: Any) -> NDArray[Any]:
    """A NumPy array of an array that may lie on a GPU."""
    return array.get() if hasattr(array, "get") else array
