"""Which simulator runs a sector, and whether it fits."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.simulate.layers import Layers, Observable, PairGradient, Register
from biselect.simulate.plain import ContinuousSimulator, PlainSimulator
from biselect.simulate.stopping import NEVER, Stop

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
    stop: Stop = NEVER,
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

    return CompiledSimulator(problem, samples, features, dtype, threads, progress, stop)


def check_memory(amplitudes: int, dtype: Any, *, states: int) -> None:
    """Refuse what would not fit, with the figures."""
    needed, available = amplitudes * np.dtype(dtype).itemsize * states, available_memory()
    if available is not None and needed > available:
        half = "" if np.dtype(dtype) == np.complex64 else "; dtype='complex64' needs half of that"
        raise InputError(
            f"the sector has {amplitudes:.3g} amplitudes and needs {needed / 2**30:.1f} GiB, "
            f"but {available / 2**30:.1f} GiB are free{half}"
        )


def available_memory() -> int | None:
    """Bytes that can be had without swapping, as far as the system says."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
