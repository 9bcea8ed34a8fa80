"""What rows and columns are worth on their own, in the kinds that the studies compare."""

import numpy as np
from numpy.typing import NDArray

from biselect.weights.paper import paper_marginals
from biselect.weights.weigher import Marginals


def bounded_marginals(
    W: NDArray[np.float64], Z: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """a_i = max_j W_ij, as the paper's, and b_j = std_i W_ij, in the units of W and at most half the cap."""
    return W.max(axis=1), W.std(axis=0)


def no_marginals(W: NDArray[np.float64], Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Zeros: the bilinear score alone."""
    return np.zeros(W.shape[0]), np.zeros(W.shape[1])


MARGINALS: dict[str, Marginals] = {"paper": paper_marginals, "bounded": bounded_marginals, "none": no_marginals}
"""By the name that cells of studies have for them."""
