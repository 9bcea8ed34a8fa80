"""Selection: one answer, how good it is, why it is the answer; and answers as frames."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.files import write_file
from biselect.core.problem import SelectionProblem
from biselect.core.proof import FORMAT, Proof
from biselect.core.rules import Rules
from biselect.errors import InputError
from biselect.pages.notebook import explanation_html, selection_html, some
from biselect.pages.words import phrase


@dataclass(frozen=True, kw_only=True, eq=False)
class Selection:
    """k samples and m features, with the proof or the gap.

    Attributes:
        problem: what was asked.
        samples: S, ascending positions.
        features: F, ascending positions.
        energy: the paper's H; lower is better.
        bound: no choice has an energy below this. -inf where the solver gives none.
        proven_optimal: whether `energy` is the optimum.
        solver: who answered.
        seconds: how long it took.
        info: what the solver did, in its own words.
        proof: what `save_proof` writes; None where nothing is proven.
        proof_checked: whether the independent checker (`check_proof`) followed the proof to its end before the answer
            was called proven. Where that takes long it is left to `biselect check`.
    """

    problem: SelectionProblem = field(repr=False)
    samples: NDArray[np.int64]
    features: NDArray[np.int64]
    energy: float
    bound: float
    proven_optimal: bool
    solver: str
    seconds: float
    info: Mapping[str, Any] = field(default_factory=dict)
    proof: Proof | None = field(default=None, repr=False)
    proof_checked: bool = False

    @property
    def score(self) -> float:
        """What the choice collects: -energy."""
        return -self.energy

    @property
    def gap(self) -> float:
        """`(energy - bound) / |energy|`: how much of the score could still be missing; 0 when proven."""
        if self.proven_optimal:
            return 0.0
        return max(0.0, self.energy - self.bound) / max(abs(self.energy), np.finfo(float).tiny)

    @property
    def sample_names(self) -> list[str]:
        """Names of the chosen samples."""
        return [self.problem.sample_name(i) for i in self.samples]

    @property
    def feature_names(self) -> list[str]:
        """Names of the chosen features; of directed columns the names of the columns."""
        return [self.problem.feature_name(j) for j in self.features]

    @property
    def directions(self) -> list[str]:
        """In which direction each chosen feature looks at its column; empty texts for plain features."""
        return [self.problem.direction(j) for j in self.features]

    def explain(self, nearest: int = 20) -> Explanation:
        """Which cells made the choice, and the `nearest` samples and features that did not make it in."""
        return explain(self.problem, self.samples, self.features, nearest)

    def to_frame(self) -> Any:
        """The chosen samples, strongest first: what each adds with each chosen feature, alone, and in all.

        The frame is of the library that the pool came in, see `SelectionProblem.library`. A feature whose name is taken
        gets a star.
        """
        why = self.explain(nearest=0)
        order = why.strongest_samples
        content: dict[str, list[Any]] = {"sample": [self.sample_names[i] for i in order]}
        for j in why.strongest_features:
            name = free_name(self.feature_names[j], {*content, "alone", "adds"})
            content[name] = why.cells[order, j].tolist()
        content |= {"alone": why.sample_marginals[order].tolist(), "adds": why.sample_values[order].tolist()}
        return as_frame(content, self.problem.library)

    @property
    def standing(self) -> str:
        """How good the choice is, in words.

        >>> from biselect import SelectionProblem, solve
        >>> solve(SelectionProblem(coupling=[[3, 0], [0, 2]], k=1, m=1)).standing
        'no other choice scores higher: proven'
        """
        certainty = "proven" if self.proven_optimal else "gap" if np.isfinite(self.gap) else "open"
        return phrase(f"standing.{certainty}", gap=100 * self.gap, solver=self.solver)

    def __repr__(self) -> str:
        names = f"samples={some(self.sample_names)}, features={some(self.feature_names)}"
        return f"Selection(score={self.score:.6g}, proven_optimal={self.proven_optimal}, {names})"

    def _repr_html_(self) -> str:
        return selection_html(self)

    def save_proof(self, path: str | Path) -> None:
        """Write what anybody needs to check that no choice scores higher: `biselect check`, or a program of their own.

        The format is described in docs/reference/proof-format.md.
        """
        write_file(path, self.proof_json())

    def proof_json(self) -> str:
        """The text of the file that `save_proof` writes."""
        if self.proof is None:
            raise InputError("only a proven answer has a proof; give `exact` or `auto` more time")
        content: dict[str, Any] = {
            "format": FORMAT,
            "problem": self.problem.digest,
            "samples": self.samples.tolist(),
            "features": self.features.tolist(),
            **self.proof.to_dict(),
        }
        body = json.dumps(content, separators=(",", ":"))
        content["sha256"] = hashlib.sha256(body.encode()).hexdigest()
        return json.dumps(content, separators=(",", ":")) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data; no clock in it, so that equal runs give equal bytes."""
        return {
            "samples": self.sample_names,
            "sample_indices": self.samples.tolist(),
            "features": self.feature_names,
            "feature_indices": self.problem.column_of[self.features].tolist(),
            "directions": self.directions,
            "score": self.score,
            "energy": self.energy,
            "bound": self.bound if np.isfinite(self.bound) else None,
            "gap": self.gap if np.isfinite(self.gap) else None,
            "proven_optimal": self.proven_optimal,
            "proof_checked": self.proof_checked,
            "solver": self.solver,
            "components": self.problem.score_parts(self.samples, self.features),
            "problem_hash": self.problem.digest,
        }


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Bring `enters` in for `leaves`, all else kept: the score falls by `cost` (a negative cost would raise it)."""

    enters: int
    leaves: int
    cost: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Why a choice scores what it scores.

    Attributes:
        problem: what was asked.
        samples: the chosen samples, ascending positions.
        features: the chosen features.
        cells: k × m, what each chosen cell adds: λ W_ij.
        sample_marginals: a_i of the chosen samples.
        feature_marginals: b_j of the chosen features.
        sample_swaps: cheapest exact swap of the samples left out, nearest first.
        feature_swaps: the same for the features left out.
    """

    problem: SelectionProblem
    samples: NDArray[np.int64]
    features: NDArray[np.int64]
    cells: NDArray[np.float64]
    sample_marginals: NDArray[np.float64]
    feature_marginals: NDArray[np.float64]
    sample_swaps: list[Swap]
    feature_swaps: list[Swap]

    @property
    def sample_values(self) -> NDArray[np.float64]:
        """What each chosen sample adds, given the chosen features."""
        return self.sample_marginals + self.cells.sum(axis=1)

    @property
    def feature_values(self) -> NDArray[np.float64]:
        """What each chosen feature adds, given the chosen samples."""
        return self.feature_marginals + self.cells.sum(axis=0)

    @property
    def strongest_samples(self) -> list[int]:
        """Places in `samples`, the one that adds most first."""
        return _strongest_first(self.sample_values)

    @property
    def strongest_features(self) -> list[int]:
        """Places in `features`, the one that adds most first."""
        return _strongest_first(self.feature_values)

    def to_frame(self) -> Any:
        """One line for each chosen cell: sample, feature, and what it adds; strongest sample first, then feature."""
        rows = [(i, j) for i in self.strongest_samples for j in _strongest_first(self.cells[i])]
        content: dict[str, list[Any]] = {
            "sample": [self.problem.sample_name(self.samples[i]) for i, _ in rows],
            "feature": [self.problem.feature_name(self.features[j]) for _, j in rows],
            "adds": [float(self.cells[i, j]) for i, j in rows],
        }
        return as_frame(content, self.problem.library)

    def __repr__(self) -> str:
        k, m = self.cells.shape
        score = self.cells.sum() + self.sample_marginals.sum() + self.feature_marginals.sum()
        return f"Explanation({k} samples × {m} features, score={score:.6g})"

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explain(
    problem: SelectionProblem, samples: NDArray[np.int64], features: NDArray[np.int64], nearest: int
) -> Explanation:
    """Cells and swap values of a choice. With the other side held, a swap's value is exact."""
    weight = problem.coupling_weight
    all_samples = problem.sample_scores + weight * problem.coupling[:, features].sum(axis=1, dtype=np.float64)
    all_features = problem.feature_scores + weight * problem.coupling[samples].sum(axis=0, dtype=np.float64)
    return Explanation(
        problem=problem,
        samples=samples,
        features=features,
        cells=weight * problem.coupling[np.ix_(samples, features)].astype(np.float64),
        sample_marginals=problem.sample_scores[samples],
        feature_marginals=problem.feature_scores[features],
        sample_swaps=_cheapest_swaps(all_samples, samples, problem.sample_rules, nearest),
        feature_swaps=_cheapest_swaps(all_features, features, problem.feature_rules, nearest),
    )


def _cheapest_swaps(values: NDArray[np.float64], members: NDArray[np.int64], rules: Rules, nearest: int) -> list[Swap]:
    """Values add up within a side, so the cheapest swap sends out the weakest chosen item that the rules let go."""
    if nearest == 0:
        return []
    left_out = np.setdiff1d(np.arange(values.size), [*members, *rules.forced_out])
    may_leave = np.setdiff1d(members, rules.forced_in)
    limits_of, limits = rules.memberships(values.size), rules.limits
    chosen_limits = limits_of[members]
    full = np.bincount(chosen_limits[chosen_limits >= 0], minlength=limits.size) >= limits

    def weakest(items: NDArray[np.int64]) -> int:
        return int(items[np.argmin(values[items])]) if items.size else -1

    weakest_of_all = weakest(may_leave)
    swaps = []
    for enters in left_out[np.argsort(-values[left_out], kind="stable")].tolist():
        leaves, own = weakest_of_all, may_leave
        for limit in limits_of[enters]:
            if limit >= 0 and full[limit]:
                own = own[(limits_of[own] == limit).any(axis=1)]
                leaves = weakest(own)
        if leaves >= 0:
            swaps.append(Swap(enters=enters, leaves=leaves, cost=float(values[leaves] - values[enters])))
        if len(swaps) == nearest and not rules:
            break
    return sorted(swaps, key=lambda swap: swap.cost)[:nearest]


def _strongest_first(values: NDArray[np.float64]) -> list[int]:
    """Places by value, the largest first; ties keep their order."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return order


def as_frame(content: Mapping[str, list[Any]], library: str | None) -> Any:
    """A frame of these columns; without a library in pandas, or in Arrow where that is not installed."""
    import narwhals as nw

    backend: Any = library or usual_library()
    return nw.from_dict(content, backend=backend).to_native()


def usual_library() -> str:
    """The frame library of those who came with none."""
    return "pandas" if find_spec("pandas") else "pyarrow"


def free_name(name: str, names: Collection[str]) -> str:
    """The name, with stars where it is taken.

    >>> free_name("adds", ["sample", "adds"])
    'adds*'
    """
    while name in names:
        name += "*"
    return name
