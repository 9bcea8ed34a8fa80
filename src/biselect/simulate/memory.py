"""Whether a state fits, asked before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from biselect.errors import InputError


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
