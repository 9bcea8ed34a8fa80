"""How rare a category is in the reference, as a p-value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.columns.distribution import Column

FLAG = ("false", "true")  # labels of a boolean column: their positions are its numbers
AS_FLAG = dict(zip("01", FLAG, strict=True))  # flags are also written as numbers


class Categories:
    """How often each label stands in the reference, and what a label therefore weighs.

    A label that stands c times in n rows weighs -log p with p = (1 + rows whose own label stands at most c + 1 times)
    / (n + 1): the share of rows at least as rare, had this row been one of them. Under exchangeable rows p is
    super-uniform (full conformal prediction with the label's own count as the score). A new label so weighs
    -log (1 + labels that stand once) / (n + 1), which is Good and Turing's estimate of how often something new comes:
    most where every label of the reference is common, next to nothing in a column of ids.

    Args:
        counts: reference rows by label; None stands for a missing cell.

    >>> colours = Categories({"red": 60, "blue": 38, "green": 1})
    >>> np.exp(-colours.surprise([60, 38, 1, 0])).round(2).tolist()
    [1.0, 0.4, 0.02, 0.02]
    """

    def __init__(self, counts: Mapping[str | None, int]):
        self.counts = {label: int(count) for label, count in counts.items() if count}
        self._sizes = np.sort(np.array([*self.counts.values()], dtype=np.int64))
        self._rows_of_sizes = np.append(0, np.cumsum(self._sizes))
        self.rows = int(self._rows_of_sizes[-1])

    @property
    def singles(self) -> int:
        """Labels that stand once, a missing cell aside."""
        return sum(count == 1 for label, count in self.counts.items() if label is not None)

    def surprise(self, counts: ArrayLike) -> NDArray[np.float64]:
        """-log p of labels that stand so many times in the reference."""
        as_rare = self._rows_of_sizes[np.searchsorted(self._sizes, np.asarray(counts) + 1, side="right")]
        return np.log((self.rows + 1) / (as_rare + 1))

    def counted(self, labels: Sequence[str | None]) -> list[int]:
        """How often each of these stands in the reference."""
        if {*self.counts, None} <= {*FLAG, None}:
            labels = [AS_FLAG.get(label or "", label) for label in labels]
        return [self.counts.get(label, 0) for label in labels]

    def encode(self, codes: NDArray[np.float64], labels: Sequence[str]) -> NDArray[np.float64]:
        """What each cell weighs; `codes` are positions among the labels, NaN for a missing cell."""
        places = np.where(np.isnan(codes), len(labels), codes).astype(np.intp)
        return self.surprise(self.counted([*labels, None]))[places]

    def column(self) -> Column:
        """The weights of the reference's own rows."""
        sizes = np.array([*self.counts.values()])
        weights = self.surprise(sizes)
        order = np.argsort(weights, kind="stable")
        mean = float(np.average(weights, weights=sizes))
        return Column(
            values=weights[order],
            counts=np.cumsum(sizes[order]),
            mean=mean,
            deviation=float(np.sqrt(np.average((weights - mean) ** 2, weights=sizes))),
        )
