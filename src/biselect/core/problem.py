"""SelectionProblem: which k samples and m features together hold the highest score?"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import checks, ising
from biselect.core import exact_sums as exact_arithmetic
from biselect.core.files import write_file
from biselect.core.ising import Components, Ising, coupling_component, marginal_component
from biselect.core.rules import Rules, rules_from
from biselect.core.sector import Sector
from biselect.core.untrusted import packed_arrays, read_arrays, refused_as
from biselect.errors import InputError
from biselect.pages.notebook import problem_html

FORMAT = "biselect-problem-1"


@dataclass(frozen=True, kw_only=True, eq=False, init=False)
class SelectionProblem:
    """Maximise Σ_{i∈S} a_i + Σ_{j∈F} b_j + λ Σ_{i∈S, j∈F} W_ij with `|S| = k` and `|F| = m`.

    Arrays are copied and read-only. A coupling that is already read-only is shared instead of copied, which
    is how a very large one is passed without doubling it; float32 stays float32.

    Attributes:
        coupling: W, N × D.
        k: how many samples to choose, 1 to N.
        m: how many features to choose, 1 to D.
        sample_scores: a, length N; zeros if not given.
        feature_scores: b, length D; zeros if not given.
        coupling_weight: λ ≥ 0.
        sample_names: N names, or None for positions.
        feature_names: D names, or None for positions; of directed columns the names of the columns.
        directions: of directed columns, in which direction each feature looks at its column, such as `low`, `high` or a
            value; then names may repeat, never with the same direction. None for plain features.
        sample_rules: what the samples obey beside their budget; groups with `exactly` are kept as limits on all groups.
        feature_rules: what the features obey beside theirs.
        library: the frame library that answers come in, such as `polars`; None for the usual one. Not stored.

    >>> problem = SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2)
    >>> problem.score([0, 2], [0, 2])
    8.0
    """

    coupling: NDArray[np.floating[Any]]
    k: int
    m: int
    sample_scores: NDArray[np.float64]
    feature_scores: NDArray[np.float64]
    coupling_weight: float
    sample_names: tuple[str, ...] | None
    feature_names: tuple[str, ...] | None
    directions: tuple[str, ...] | None
    sample_rules: Rules
    feature_rules: Rules
    library: str | None

    def __init__(
        self,
        *,
        coupling: ArrayLike,
        k: int,
        m: int,
        sample_scores: ArrayLike | None = None,
        feature_scores: ArrayLike | None = None,
        coupling_weight: float = 1.0,
        sample_names: Iterable[str] | None = None,
        feature_names: Iterable[str] | None = None,
        directions: Iterable[str] | None = None,
        sample_rules: Rules | Mapping[str, Any] | None = None,
        feature_rules: Rules | Mapping[str, Any] | None = None,
        library: str | None = None,
    ) -> None:
        weights = checks.matrix(coupling)
        n, d = weights.shape
        directions = None if directions is None else checks.texts("directions", directions)
        factor = checks.number("coupling_weight (λ)", coupling_weight)
        if factor < 0:
            raise InputError(f"coupling_weight (λ) must not be negative, got {factor:g}; put signs into the coupling")
        put = partial(object.__setattr__, self)
        put("coupling", weights)
        put("sample_scores", checks.vector("sample_scores", sample_scores, n, "samples"))
        put("feature_scores", checks.vector("feature_scores", feature_scores, d, "features"))
        put("coupling_weight", factor)
        put("sample_names", checks.names("sample_names", sample_names, n, "samples"))
        put("feature_names", checks.names("feature_names", feature_names, d, "features", directions))
        put("directions", directions)
        sector = Sector(n_samples=n, n_features=d, k=k, m=m)  # refuses budgets out of range
        put("k", int(sector.k))
        put("m", int(sector.m))
        checks.refuse_overflow(
            self.k * np.abs(self.sample_scores).max(),
            self.m * np.abs(self.feature_scores).max(),
            float(self.k * self.m) * max(factor, 1.0) * max(float(weights.max()), -float(weights.min())),
        )
        put("sample_rules", rules_from(sample_rules, "sample_rules").checked(n, self.k, "samples"))
        put("feature_rules", rules_from(feature_rules, "feature_rules").checked(d, self.m, "features"))
        put("library", library)

    def __repr__(self) -> str:
        ruled = ", with rules" if self.sample_rules or self.feature_rules else ""
        return f"SelectionProblem({self.n_samples} samples × {self.n_features} features, k={self.k}, m={self.m}{ruled})"

    def _repr_html_(self) -> str:
        return problem_html(self)

    # Sizes and names

    @property
    def n_samples(self) -> int:
        """How many samples, N."""
        return int(self.coupling.shape[0])

    @property
    def n_features(self) -> int:
        """How many features, D."""
        return int(self.coupling.shape[1])

    @cached_property
    def sector(self) -> Sector:
        """The exact-budget sector Ω, or what the rules leave of it."""
        return Sector(
            n_samples=self.n_samples,
            n_features=self.n_features,
            k=self.k,
            m=self.m,
            sample_rules=self.sample_rules,
            feature_rules=self.feature_rules,
        )

    def sample_name(self, sample: int) -> str:
        """The sample's name, or its position where there are no names."""
        return str(sample) if self.sample_names is None else self.sample_names[sample]

    def feature_name(self, feature: int) -> str:
        """The feature's name, or its position where there are no names."""
        return str(feature) if self.feature_names is None else self.feature_names[feature]

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the table's columns, each once, in the order in which features look at them."""
        return tuple(dict.fromkeys(self.feature_name(j) for j in range(self.n_features)))

    @cached_property
    def column_of(self) -> NDArray[np.int64]:
        """Of each feature, the position of its column among `column_names`."""
        place = {name: at for at, name in enumerate(self.column_names)}
        return np.array([place[self.feature_name(j)] for j in range(self.n_features)], dtype=np.int64)

    def direction(self, feature: int) -> str:
        """In which direction a feature looks at its column; empty for a plain feature."""
        return "" if self.directions is None else self.directions[feature]

    @cached_property
    def columns(self) -> NDArray[np.floating[Any]]:
        """Wᵀ with each feature's column contiguous; free where the coupling is column-major already."""
        columns = self.coupling.T
        if columns.flags.c_contiguous:
            return columns
        copy = np.empty(columns.shape, dtype=columns.dtype)
        for begin in range(0, self.n_samples, 1024):  # rows that fit into cache: several times faster than in one go
            copy[:, begin : begin + 1024] = columns[:, begin : begin + 1024]
        copy.flags.writeable = False
        return copy

    def obeys(self, samples: Iterable[int], features: Iterable[int]) -> bool:
        """Whether a choice meets both budgets and all rules."""
        rows = checks.check_positions("samples", samples, self.n_samples)
        columns = checks.check_positions("features", features, self.n_features)
        budgets_met = rows.size == self.k and columns.size == self.m
        return budgets_met and self.sample_rules.allow(rows.tolist()) and self.feature_rules.allow(columns.tolist())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that defines the problem, names included."""
        digest = hashlib.sha256(FORMAT.encode())
        for array in (self.coupling, self.sample_scores, self.feature_scores):
            digest.update(repr(array.shape).encode())
            for rows in np.array_split(array, max(1, array.nbytes >> 26)):  # 64 MiB at a time
                digest.update(np.ascontiguousarray(rows, dtype="<f8").data)
        rest: list[Any] = [self.k, self.m, self.coupling_weight, self.sample_names, self.feature_names]
        if self.directions is not None:
            rest.append(self.directions)
        if self.sample_rules or self.feature_rules:
            rest += [self.sample_rules.to_dict(), self.feature_rules.to_dict()]
        digest.update(json.dumps(rest, ensure_ascii=True).encode())
        return digest.hexdigest()

    def refuse_other(self, digest: str, what: str) -> None:
        """Raise InputError where something belongs to another problem, whose positions may stand for other items.

        Args:
            digest: of the problem that it belongs to.
            what: its name in the error.
        """
        if digest != self.digest:
            raise InputError(
                f"{what} belongs to problem {digest[:12]}…, this one is {self.digest[:12]}…, whose positions may stand "
                "for other items; make one for this problem"
            )

    # Energies

    def energy(self, samples: Iterable[int], features: Iterable[int]) -> float:
        """The paper's H of one choice; lower is better. Sets that miss the budgets have an energy too."""
        return -self.score(samples, features)

    def score(self, samples: Iterable[int], features: Iterable[int]) -> float:
        """What the choice collects: -energy. The exact sum, rounded once."""
        return exact_arithmetic.nearest(self.score_units(samples, features))

    def score_units(self, samples: Iterable[int], features: Iterable[int]) -> int:
        """The exact score, a whole multiple of 2⁻²¹⁴⁸: the way to tell two choices apart that float64 cannot."""
        rows = checks.check_positions("samples", samples, self.n_samples)
        columns = checks.check_positions("features", features, self.n_features)
        block = self.coupling[np.ix_(rows, columns)]
        return exact_arithmetic.score_units(
            self.sample_scores[rows], self.feature_scores[columns], self.coupling_weight, block
        )

    def score_parts(self, samples: Iterable[int], features: Iterable[int]) -> dict[str, float]:
        """The score held by the samples' marginals, the features' marginals and the coupling."""
        rows = checks.check_positions("samples", samples, self.n_samples)
        columns = checks.check_positions("features", features, self.n_features)
        block = self.coupling[np.ix_(rows, columns)].astype(np.float64)
        return {
            "samples": float(self.sample_scores[rows].sum()),
            "features": float(self.feature_scores[columns].sum()),
            "coupling": self.coupling_weight * float(block.sum()),
        }

    def energies(self, samples: ArrayLike, features: ArrayLike) -> NDArray[np.float64]:
        """Energies of many choices at once: index arrays (..., k) and (..., m) with equal leading shape."""
        rows = checks.check_position_rows("samples", samples, self.n_samples)
        columns = checks.check_position_rows("features", features, self.n_features)
        pairs = self.coupling[rows[..., :, None], columns[..., None, :]].sum(axis=(-2, -1), dtype=np.float64)
        marginals = self.sample_scores[rows].sum(axis=-1) + self.feature_scores[columns].sum(axis=-1)
        return -(marginals + self.coupling_weight * pairs)

    def bit_energies(self, bits: ArrayLike) -> NDArray[np.float64]:
        """Energies of bitstrings over all N + D variables (last axis), in or out of the sector."""
        x = np.asarray(bits, dtype=np.float64)
        s, f = x[..., : self.n_samples], x[..., self.n_samples :]
        pairs = np.einsum("...i,ij,...j->...", s, self.coupling, f, optimize=True)
        return -(s @ self.sample_scores + f @ self.feature_scores + self.coupling_weight * pairs)

    # The same energy in other forms

    def qubo(self) -> NDArray[np.float64]:
        """Symmetric Q over N + D variables, E(x) = x @ Q @ x."""
        n = self.n_samples
        q = np.diag(ising.QUBO_OF_MARGINAL * np.concatenate([self.sample_scores, self.feature_scores]))
        q[:n, n:] = ising.QUBO_OF_PRODUCT * self.coupling_weight * self.coupling.astype(np.float64)
        q[n:, :n] = q[:n, n:].T
        return q

    def components(self) -> Components:
        """H_S, H_F and H_SF of Eq. grouped_cost_decomposition, each with its own offset."""
        shape = (self.n_samples, self.n_features)
        return Components(
            samples=marginal_component(self.sample_scores, first_qubit=0, shape=shape),
            features=marginal_component(self.feature_scores, first_qubit=self.n_samples, shape=shape),
            coupling=coupling_component(self.coupling_weight * self.coupling.astype(np.float64)),
        )

    def ising(self) -> Ising:
        """Fields, couplings and offset of the whole energy (Eq. ising)."""
        parts = self.components()
        return parts.samples + parts.features + parts.coupling

    # Storage: one .npz without pickle, or a JSON-ready dictionary

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write one `.npz`, to a path or an open file; `load` reads it back."""
        rest = {
            "format": FORMAT,
            "k": self.k,
            "m": self.m,
            "coupling_weight": self.coupling_weight,
            "sample_names": self.sample_names,
            "feature_names": self.feature_names,
            **self._extras(),
        }
        names = ("coupling", "sample_scores", "feature_scores")
        content = packed_arrays(rest, {name: getattr(self, name) for name in names})
        if isinstance(path, str | Path):
            write_file(path, content)
        else:
            path.write(content)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        what = "a problem file written by biselect"
        header, arrays = read_arrays(path, what)
        with refused_as(f"{path}: not {what}"):
            return cls.from_dict({**header, **arrays})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: plain lists and numbers."""
        return {
            "format": FORMAT,
            "coupling": self.coupling.tolist(),
            "sample_scores": self.sample_scores.tolist(),
            "feature_scores": self.feature_scores.tolist(),
            "k": self.k,
            "m": self.m,
            "coupling_weight": self.coupling_weight,
            "sample_names": None if self.sample_names is None else list(self.sample_names),
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            **self._extras(),
        }

    def _extras(self) -> dict[str, Any]:
        """What only some problems have: directions and rules."""
        directions = {} if self.directions is None else {"directions": list(self.directions)}
        rules = {"sample_rules": self.sample_rules, "feature_rules": self.feature_rules}
        return directions | {name: rule.to_dict() for name, rule in rules.items() if rule}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build from the JSON form; only `coupling`, `k` and `m` are required."""
        if not isinstance(content, Mapping):
            raise InputError("a problem in JSON must be an object with at least coupling, k and m")
        fields = {*cls.__dataclass_fields__, "format"} - {"library"}
        if unknown := sorted(set(content) - fields):
            raise InputError(f"unknown problem fields {unknown}; known are {sorted(fields)}")
        if missing := [name for name in ("coupling", "k", "m") if name not in content]:
            raise InputError(f"the problem lacks {missing}")
        if content.get("format", FORMAT) != FORMAT:
            raise InputError(f"problem format {content['format']!r} is not {FORMAT!r}")
        return cls(**{name: value for name, value in content.items() if name != "format"})
