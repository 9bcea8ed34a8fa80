"""The form that the paper prints: its residuals, its ECDF map, its cap and its marginal scores.

`biselect.review` takes it for tables as they come where the preset is the paper's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.columns.distribution import Distribution
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.options import Kinds, Weighing
from biselect.weights.maps import EcdfMap, rank_steps
from biselect.weights.weigher import Weigher

CAP = 10.0
"""w_max, the largest weight."""


class PaperEcdfMap(EcdfMap):
    """The paper's rank to the letter: of a tied value all entries lie below it, so that a common one can look rare."""

    cap = CAP

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Tabulate the score of every rank."""
        self.steps = [rank_steps(column) for column in columns]

    def weigh_own(self, residuals: NDArray[np.float64], columns: Sequence[Distribution]) -> NDArray[np.float64]:
        """As any other row: the paper weighs no row of the reference."""
        return self.weigh(residuals)


def paper_marginals(W: NDArray[np.float64], Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a sample and a feature are worth on their own: `a_i = max_j W_ij`, `b_j = Var_i |Z_ij|`.

    Residuals are unbounded, so one heavy-tailed feature can hold nearly the whole score.

    Args:
        W: weights, samples × features.
        Z: residuals, likewise.

    Returns:
        a, one per sample, and b, one per feature.
    """
    return W.max(axis=1), np.abs(Z).var(axis=0)


PRESET: dict[str, Any] = {"map": "ecdf-paper", "marginals": paper_marginals, "kinds": 1, "drift": "keep"}
"""What `preset="paper"` takes where nothing else is said: one block without directions, nothing moved back."""


def paper_problem(
    pool: Any, reference: Any, k: int, m: int, *, cap: float = CAP, coupling_weight: float = 1.0
) -> SelectionProblem:
    """The selection problem of a pool as the paper prints it.

    Args:
        pool: rows to choose from: a frame, or an array of numbers.
        reference: normal rows.
        k: how many samples.
        m: how many features.
        cap: w_max.
        coupling_weight: λ.

    Returns:
        Weights by the paper's rank, its marginal scores, λ and both budgets.

    >>> reference = np.arange(40.0).reshape(20, 2)
    >>> paper_problem([[5.0, 90.0], [22.0, 30.0]], reference, k=1, m=1).coupling.round(2).tolist()
    [[1.1, 2.35], [0.21, 0.65]]
    """
    weigher = Weigher(PaperEcdfMap, cap=cap).fit(reference)
    return weigher.plain_problem(pool, k, m, marginals=paper_marginals, coupling_weight=coupling_weight)


PRESETS: dict[str, dict[str, Any]] = {
    "default": {"map": "reach", "marginals": None, "kinds": 5, "drift": "recentre"},
    "paper": PRESET,
}


@dataclass(frozen=True, kw_only=True)
class Form:
    """How rows are weighed, once the preset has said what was left open.

    Attributes:
        map: how extremeness becomes a weight.
        marginals: the paper's scores of rows and columns on their own; None for the part of a row as a whole.
        kinds: how many kinds of unusual to look for; 1 for the best block alone.
        drift: `recentre` or `keep`.
        cap: the largest weight; None for the map's own.
        missing: `weigh`, `median` or `error`.
    """

    map: Any
    marginals: Any
    kinds: int
    drift: str
    cap: float | None = None
    missing: str = "weigh"

    @classmethod
    def of(cls, weighing: Weighing, kinds: Kinds = Kinds()) -> Self:
        """The options, and those of the preset where one is None.

        >>> Form.of(Weighing(drift="keep"), Kinds(kinds=3))
        Form(map='reach', marginals=None, kinds=3, drift='keep', cap=None, missing='weigh')
        """
        if weighing.preset not in PRESETS:
            raise InputError(f"there is no preset {weighing.preset!r}; choose one of: {', '.join(PRESETS)}")
        own = {"map": weighing.map, "kinds": kinds.kinds, "drift": weighing.drift}
        form = {**PRESETS[weighing.preset], **{name: one for name, one in own.items() if one is not None}}
        return cls(**form, cap=weighing.cap, missing=weighing.missing)

    def weigher(self, seed: int = 0) -> Weigher:
        """A weigher of this form, not fitted yet."""
        return Weigher(self.map, cap=self.cap, missing=self.missing, seed=seed)
