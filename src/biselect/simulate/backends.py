"""Which simulator runs a sector, and whether it fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.simulate.continuous import ContinuousSimulator
from biselect.simulate.layers import Layers, Observable, PairGradient, Register
from biselect.simulate.memory import check_memory
from biselect.simulate.plain import PlainSimulator

BACKENDS = ("plain", "compiled", "gpu", "continuous")
PLAIN_AMPLITUDES = 20_000  # below this NumPy answers before anything would have been compiled
GPU_AMPLITUDES = 1_000_000  # from here on a GPU is worth the way to it


class Simulator(Protocol):
    """One problem's sector, ready to be run many times."""

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of the observable after the circuit."""

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives."""


def choose_backend(problem: SelectionProblem, dtype: Any) -> str:
    """What `auto` stands for: `plain` for small sectors, `gpu` for large ones in complex64 where one is at hand."""
    if problem.sector.size < PLAIN_AMPLITUDES:
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
) -> Simulator:
    """A simulator for the sector of a problem, or a clear refusal where the memory does not hold it."""
    if backend not in BACKENDS:
        raise InputError(f"backend must be auto or one of {', '.join(BACKENDS)}, got {backend!r}")
    if np.dtype(dtype) not in (np.complex64, np.complex128):
        raise InputError(f"dtype must be complex64 or complex128, got {dtype!r}")
    if threads < 1:
        raise InputError(f"threads must be at least 1, got {threads}")
    if backend == "gpu":
        if np.dtype(dtype) != np.complex64:
            raise InputError("the gpu backend runs in single precision: give dtype='complex64'")
        from biselect.simulate.gpu import GpuSimulator

        return GpuSimulator(problem, samples, features)
    check_memory(problem.sector.size, dtype, states=1 if backend == "compiled" else 3)
    if backend == "plain":
        return PlainSimulator(problem, samples, features, dtype)
    if backend == "continuous":
        return ContinuousSimulator(problem, samples, features, dtype)
    from biselect.simulate.compiled import CompiledSimulator  # loads numba

    return CompiledSimulator(problem, samples, features, dtype, threads, progress)
