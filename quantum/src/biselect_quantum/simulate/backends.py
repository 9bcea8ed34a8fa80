"""Which simulator runs a sector."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.simulate._plain import ContinuousSimulator, GroverSimulator, PlainSimulator
from biselect_quantum.simulate.layers import Layers, Observable, PairGradient, Register
from biselect_quantum.simulate.limits import NEVER, Stop, check_memory

BACKENDS = ("plain", "compiled", "gpu", "continuous")
PLAIN_AMPLITUDES = 20_000  # below this NumPy runs a few circuits before anything would have been compiled
TINY = 2_000  # below this NumPy runs a circuit before compiled code would have been loaded


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


def choose_backend(problem: SelectionProblem) -> str:
    """What `auto` stands for: `plain` for sectors below `TINY`, else `compiled`.

    The sector alone decides, so that one seed gives the same angles on every machine: neither what lies in Numba's
    cache nor a GPU counts.
    """
    return "plain" if problem.sector.size < TINY else "compiled"


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
    axis: NDArray[Any] | None = None,
) -> Simulator:
    """A simulator for the sector of a problem, or a clear refusal where the memory does not hold it.

    `axis` is the state that Grover's mixer turns about, in the place of the registers' edges; both CPU backends then
    run it in NumPy.
    """
    if backend not in BACKENDS:
        raise InputError(f"backend must be auto or one of {', '.join(BACKENDS)}, got {backend!r}")
    if np.dtype(dtype) not in (np.complex64, np.complex128):
        raise InputError(f"dtype must be complex64 or complex128, got {dtype!r}")
    if threads < 1:
        raise InputError(f"threads must be at least 1, got {threads}")
    if axis is not None:
        check_memory(problem.sector, dtype, states=4)
        if backend not in ("plain", "compiled"):
            raise InputError(
                f"the {backend} backend knows XY mixers only; for Grover's mixer take backend='plain' or 'compiled'"
            )
        return GroverSimulator(problem, samples, features, dtype, axis, stop)
    if backend == "gpu":
        if np.dtype(dtype) != np.complex64:
            raise InputError("the gpu backend runs in single precision: give dtype='complex64'")
        from biselect_quantum.simulate._gpu import GpuSimulator

        return GpuSimulator(problem, samples, features)
    check_memory(problem.sector, dtype, states=1 if backend == "compiled" else 3, plain=backend == "plain")
    if backend == "plain":
        return PlainSimulator(problem, samples, features, dtype, stop)
    if backend == "continuous":
        return ContinuousSimulator(problem, samples, features, dtype, stop)
    from biselect_quantum.simulate._compiled import CompiledSimulator  # loads numba

    return CompiledSimulator(problem, samples, features, dtype, threads, progress, stop)
