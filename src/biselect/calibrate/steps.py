"""Step functions of one variable, column by column: how rank-based maps are applied to a pool."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KERNEL_CELLS = 500_000  # below this NumPy is done before numba has loaded


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """levels[r] where r knots lie below x.

    Attributes:
        values: ascending knots.
        levels: one more than there are knots.
        inclusive: whether a knot equal to x counts as below it.
    """

    values: NDArray[np.float64]
    levels: NDArray[np.float64]
    inclusive: bool

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step function at every x."""
        return self.levels[np.searchsorted(self.values, x, side="right" if self.inclusive else "left")]


def apply_steps(steps: Sequence[Steps], Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Column j of Z through step function j; large matrices through a kernel with the same answer."""
    out = np.empty(Z.shape)
    if Z.size < KERNEL_CELLS:
        for j, step in enumerate(steps):
            out[:, j] = step(Z[:, j])
        return out
    from biselect.calibrate.steps_kernel import look_up

    for j, step in enumerate(steps):
        look_up(Z[:, j], step.values, step.levels, step.inclusive, out[:, j])
    return out
