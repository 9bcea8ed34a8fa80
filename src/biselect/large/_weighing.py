"""How a row of a large table becomes weights, as one file: whoever has it and some of the rows can weigh them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.core.untrusted import packed_arrays, read_arrays, refused_as, shortened
from biselect.large._collecting import moved_back
from biselect.large._survey import FeatureColumns
from biselect.tables import NamedMatrix, Roles
from biselect.weights import Reference, Weigher
from biselect.weights.alignment import Shift
from biselect.weights.directed import at_best

FORMAT = "biselect-calibration-5"
SETTINGS = ("map", "cap", "missing", "seed")  # of a weigher


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighing:
    """Everything that rows are weighed with.

    Attributes:
        features: how they are read.
        weigher: fitted; it needs no row of the reference.
        reference: what it was fitted on, with the rows of the reference that neighbours are looked for among.
        shifts: how columns that moved are put back first; None where none did.
        roles: of the columns, names resolved.
        question: what was asked: `k`, `m`, `drift`, `is_own_reference`, and `rules` by name.
    """

    features: FeatureColumns
    weigher: Weigher
    reference: Reference
    shifts: Shift | None
    roles: Roles
    question: Mapping[str, Any]

    def weights(self, block: pa.Table, first: int) -> NDArray[np.float64]:
        """What the cells of a block of rows weigh at best; the first row stands at this position."""
        matrix = self.features.matrix(block, np.arange(first, first + block.num_rows))
        return at_best(self.weigher, self.weigher.weights(moved_back(matrix, self.shifts)))

    def to_bytes(self) -> bytes:
        """The content of a file that `load` reads: a NumPy archive of plain numbers and JSON."""
        header, arrays = self.reference.state()
        plain: dict[str, Any] = {
            "format": FORMAT,
            "features": asdict(self.features),
            "settings": {name: getattr(self.weigher, name) for name in SETTINGS},
            "shifted": None if self.shifts is None else list(self.shifts.columns),
            "reference": header,
            "roles": asdict(self.roles),
            "question": self.question,
        }
        if (sample := self.reference.sample) is not None:
            arrays["sample"] = sample.values
            plain["labels"] = [[j, list(labels)] for j, labels in sample.labels.items()]
        if self.shifts is not None:
            arrays |= {"middles": self.shifts.middles, "factors": self.shifts.factors, "targets": self.shifts.targets}
        return packed_arrays(plain, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Weighing:
        """Read what `to_bytes` gave; anything else is refused."""
        what = f"the calibration of a large table ({FORMAT})"
        header, arrays = read_arrays(path, what)
        with refused_as(f"{path}: not {what}"):
            if header["format"] != FORMAT:
                raise ValueError(f"its format is {shortened(header['format'])}")
            columns = header["features"]
            lists: Any = {name: tuple(map(str, columns[name])) for name in ("names", "categories", "dates", "kept")}
            reference = Reference.from_state(header["reference"], arrays)
            if "sample" in arrays:
                labels = {int(j): tuple(map(str, texts)) for j, texts in header["labels"]}
                values = arrays["sample"].astype(float)
                reference.sample = NamedMatrix(values=values, names=tuple(reference.columns), labels=labels)
            shifts = None
            if header["shifted"] is not None:
                shifts = Shift(
                    columns=tuple(map(int, header["shifted"])),
                    **{name: arrays[name].astype(float) for name in ("middles", "factors", "targets")},
                )
            return cls(
                features=FeatureColumns(missing=str(columns["missing"]), **lists),
                weigher=Weigher(**{name: header["settings"][name] for name in SETTINGS}).fit(reference),
                reference=reference,
                shifts=shifts,
                roles=Roles(**header["roles"]),
                question=header["question"],
            )
