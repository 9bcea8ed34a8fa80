"""Which simulator runs a sector, and whether it fits."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.free_memory import free_memory
from biselect.core.sector import Sector, TooLargeError, count_in_words
from biselect.errors import InputError
from biselect.simulate.first_use import is_compiled
from biselect.simulate.layers import Layers, Observable, PairGradient, Register
from biselect.simulate.other_mixers import Grover, Warm, make_other
from biselect.simulate.plain import ContinuousSimulator, PlainSimulator
from biselect.simulate.stopping import NEVER, Stop

BACKENDS = ("plain", "compiled", "gpu", "continuous")
PLAIN_AMPLITUDES = 20_000  # below this NumPy answers before anything would have been compiled
TINY = 2_000  # below this NumPy answers before compiled code would have been loaded
GPU_AMPLITUDES = 1_000_000  # from here on a GPU is worth the way to it
ITEM_BYTES = 18  # measured: what building the tables takes for each item of each subset of a register
ANY_MACHINE = 2**50  # bytes; beyond this figures help nobody


class Simulator(Protocol):
    """One problem's sector, ready to be run many times; a run may end where the byte `stop` turns to 1."""

    stop: Stop

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of the observable after the circuit."""

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives."""


def choose_backend(problem: SelectionProblem, dtype: Any, mixing: Grover | Warm | None = None) -> str:
    """What `auto` stands for: `plain` for small sectors, `gpu` for large ones in complex64 where one is at hand.

    Otherwise `compiled`: from a size on where compiling pays, or from a smaller one where the code lies in the cache.
    """
    small = problem.sector.size < TINY or (problem.sector.size < PLAIN_AMPLITUDES and not is_compiled())
    if mixing is not None:
        return mixing.backends[0 if small else -1]
    if small:
        return "plain"
    if np.dtype(dtype) == np.complex64 and problem.sector.size >= GPU_AMPLITUDES:
        from biselect.simulate import gpu

        if gpu.gpu_takes(problem):
            return "gpu"
    return "compiled"


def make_simulator(
    problem: SelectionProblem,
    samples: Register,
    features: Register,
    *,
    backend: str,
    dtype: Any = np.complex128,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
    stop: Stop = NEVER,
    mixing: Grover | Warm | None = None,
) -> Simulator:
    """A simulator for the sector of a problem, or a clear refusal where the memory does not hold it."""
    if backend not in BACKENDS:
        raise InputError(f"backend must be auto or one of {', '.join(BACKENDS)}, got {backend!r}")
    if np.dtype(dtype) not in (np.complex64, np.complex128):
        raise InputError(f"dtype must be complex64 or complex128, got {dtype!r}")
    if threads < 1:
        raise InputError(f"threads must be at least 1, got {threads}")
    if mixing is not None:
        check_memory(problem.sector, dtype, states=3, plain=backend == "plain" and "compiled" in mixing.backends)
        return make_other(mixing, problem, samples, features, backend=backend, dtype=dtype, stop=stop)
    if backend == "gpu":
        if np.dtype(dtype) != np.complex64:
            raise InputError("the gpu backend runs in single precision: give dtype='complex64'")
        from biselect.simulate.gpu import GpuSimulator

        return GpuSimulator(problem, samples, features)
    check_memory(problem.sector, dtype, states=1 if backend == "compiled" else 3, plain=backend == "plain")
    if backend == "plain":
        return PlainSimulator(problem, samples, features, dtype, stop)
    if backend == "continuous":
        return ContinuousSimulator(problem, samples, features, dtype, stop)
    from biselect.simulate.compiled import CompiledSimulator  # loads numba

    return CompiledSimulator(problem, samples, features, dtype, threads, progress, stop)


def check_memory(sector: Sector, dtype: Any, *, states: int, plain: bool = False) -> None:
    """Refuse what would not fit, with the figures and the ways out that there are."""
    each, available = sector.size * np.dtype(dtype).itemsize, free_memory()
    tables = ITEM_BYTES * (sector.sample_subsets * sector.n_samples + sector.feature_subsets * sector.n_features)
    needed = each * states + tables
    if available is None or needed <= available:
        return
    n, d, k, m = sector.n_samples, sector.n_features, sector.k, sector.m
    figures = f"the sector has C({n}, {k})·C({d}, {m}) choices"
    if sector.sample_rules or sector.feature_rules:
        figures += " less those that the rules forbid"
    figures += f", {count_in_words(sector.size)}, and its circuit needs "
    if needed > ANY_MACHINE:
        figures += "far more memory than any machine has"
    else:
        figures += f"{needed / 2**30:,.1f} GiB, but {available / 2**30:.1f} GiB are free"
    ways = []
    if plain and each + tables <= available:
        ways.append("take backend='compiled', which fits")
    if np.dtype(dtype) == np.complex128 and each * states // 2 + tables <= available:
        ways.append("take dtype='complex64', which fits")
    ways.append("take fewer samples or features, draw the shots of a sparse circuit with simulate.wide.WideSampler")
    raise TooLargeError(figures, ", ".join([*ways, "or let solve(problem) choose without a circuit"]))
