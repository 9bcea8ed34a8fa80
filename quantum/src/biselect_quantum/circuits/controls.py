"""Nulls: what a hit rate is worth, held against circuits that know less of the problem and were trained alike.

    start      the start itself, nothing trained
    uniform    a uniform feasible choice: chance
    tries      coordinate ascent from random starts; one scored item counts as one shot
    mixer      no phases: what β alone brings from the start
    fields     each group as its best one-local phases: the circuit without its two-qubit phase gates
    shuffled   the circuit's own numbers in another order: as many angles and phases of the same size, of no problem
    full       the circuit

Contributions are factors between rows, paired by seed: transport = mixer / uniform, fields = fields / mixer and
couplings = full / fields, whose product is full / uniform. Own numbers = full / shuffled. Where two rows are one
circuit, such as without any coupling, their factor is exactly 1. Intervals are order statistics of the seeds: they
cover the median with 95 % at least, whatever the distribution, from six seeds on. They are about this problem; a claim
about a family needs instances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect.progress import Progress, progress_of
from biselect_quantum.circuits.cost_groups import CostGroup
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.training.objectives import HITS
from biselect_quantum.simulate.layers import energy_scale, rounding_slack
from biselect_quantum.uniform import uniform_choices

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz
    from biselect_quantum.circuits.training.records import Training

CIRCUITS = ("mixer", "fields", "shuffled", "full")
ROWS = {
    "start": "the start",
    "uniform": "uniform choice",
    "tries": "coordinate ascent",
    "mixer": "mixer alone",
    "fields": "fields alone",
    "shuffled": "numbers shuffled",
    "full": "the circuit",
}
FACTORS = {
    "transport": ("mixer", "uniform"),
    "fields": ("fields", "mixer"),
    "couplings": ("full", "fields"),
    "own numbers": ("full", "shuffled"),
}
FLOOR = 1e-12  # of a rate before it divides
CLIMBS = 200  # runs of coordinate ascent that its rate is taken from
FEWEST = 6  # seeds: with fewer no order statistics cover a median with 95 %
ROUNDING = 1e-12  # of the largest weight: projected fields below are nought


class Trial(NamedTuple):
    """One circuit of one seed: its hit rate, the share of shots that improve on its start, how many angles count."""

    rate: float
    improved: float
    angles: int


Measure = Callable[[AnsatzSpec, int], Trial]
"""From a control and a seed to what it does, trained as the circuit was."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Nulls:
    """Hit rates of a circuit and of its controls, one for each seed.

    Attributes:
        rates: of each row, (seeds,): probability of a hit in one shot, from 0 to 1.
        improved: of each circuit that starts from a choice, (seeds,): share of shots below the energy of the start.
        angles: how many angles of each row have an effect.
        knowledge: what training knew of the answer, in words.
        goal: energy at or below which a shot hits.
        start_energy: of the choice that the circuit starts from; None for a superposition.
        shots: for the chance to see a hit at all.
    """

    rates: Mapping[str, NDArray[np.float64]]
    angles: Mapping[str, int]
    knowledge: str
    goal: float
    shots: int
    start_energy: float | None = None
    improved: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def factor(self, name: str) -> NDArray[np.float64]:
        """A contribution, seed by seed: how many times the rate of the smaller circuit, (seeds,)."""
        above, below = (np.maximum(self.rates[row], FLOOR) for row in FACTORS[name])
        return above / below

    def over_chance(self, row: str) -> tuple[float, float, float]:
        """Low end, median and high end of a row's rate, in those of a uniform feasible choice."""
        return interval(self.rates[row] / self.rates["uniform"])

    def sentence(self) -> str:
        """What may be said of this circuit in one sentence."""
        full, mixer, shuffled = (f"{self.over_chance(row)[1]:.3g}" for row in ("full", "mixer", "shuffled"))
        return (
            f"A shot hits {full} times as often as a uniform feasible choice ({self.knowledge}); start and mixer alone "
            f"give {mixer} times, the same circuit with shuffled numbers {shuffled} times."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data: every row and factor with its interval."""
        rows = [
            {
                "row": row,
                "what": words,
                "angles": self.angles[row],
                "rate": float(np.median(self.rates[row])),
                "over_chance": list(self.over_chance(row)),
                "seen": float(1 - (1 - np.median(self.rates[row])) ** self.shots),
                "improved": None if row not in self.improved else float(np.median(self.improved[row])),
            }
            for row, words in ROWS.items()
        ]
        factors = {name: list(interval(self.factor(name))) for name in FACTORS}
        facts = {"knowledge": self.knowledge, "goal": self.goal, "shots": self.shots, "seeds": len(self.rates["full"])}
        return {**facts, "start_energy": self.start_energy, "rows": rows, "factors": factors, "text": self.sentence()}

    def __str__(self) -> str:
        chance = float(np.median(self.rates["uniform"]))
        seeds = f"median [interval] of {len(self.rates['full'])} seeds"
        lines = [f"Hits in those of chance ({chance:.2e} a shot), {self.knowledge}; {seeds}"]
        for row in self.to_dict()["rows"]:
            low, middle, high = row["over_chance"]
            better = "" if row["improved"] is None else f", {100 * row['improved']:.1f} % better than the start"
            lines.append(
                f"  {row['what']:18}{row['angles']:3d} angles {middle:9.3g} [{low:.3g}, {high:.3g}], "
                f"seen in {self.shots} shots {row['seen']:.3f}{better}"
            )
        for name in FACTORS:
            low, middle, high = interval(self.factor(name))
            verdict = "" if low > 1 or high < 1 else ", not told from 1"
            lines.append(f"  × {name:12} {middle:.3g} [{low:.3g}, {high:.3g}]{verdict}")
        return "\n".join(lines)


def nulls(
    ansatz: Ansatz,
    training: Training,
    *,
    seeds: int = 8,
    shots: int = 4096,
    progress: Progress | bool | None = None,
) -> Nulls:
    """Train a circuit and its controls alike, and compare how often they hit.

    Args:
        ansatz: the circuit; its sector is looked through for the optimum.
        training: how it was trained: strategy, objective, share and spent evaluations are taken for every row.
        seeds: trainings of each row; each of `shuffled` has an order of its own.
        shots: for the chance to see a hit at all.
        progress: called with the done share; otherwise as for `biselect.solve`.

    Returns:
        Hit rates of the optimum, or of the threshold where the training was given one, row by row.

    Raises:
        InputError: fewer than six seeds.

    >>> from biselect_quantum.circuits import Ansatz
    >>> scores = {"sample_scores": [0, 1, 2, 3], "feature_scores": [0, 1]}
    >>> ansatz = Ansatz(SelectionProblem(coupling=np.zeros((4, 2)), **scores, k=2, m=1), depth=1)
    >>> table = nulls(ansatz, ansatz.train(evaluations=40))
    >>> table.factor("couplings").tolist()  # there are none
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    how, start = recipe(training), _start_energy(ansatz.spec)
    goal = float(ansatz.energies.min() if how["threshold"] is None else how["threshold"])

    def measure(spec: AnsatzSpec, seed: int) -> Trial:
        on = ansatz.with_spec(spec)
        found = on.train(seed=seed, **how)
        improved = np.nan if start is None else on.hit_rate(found.angles, _below(start, ansatz.problem))
        return Trial(on.hit_rate(found.angles, goal), improved, on.size - len(found.inert))

    hits = ansatz.energies <= goal + rounding_slack(energy_scale(ansatz.problem), np.float64)
    chance, begun = float(hits.mean()), ansatz.spec.start_state
    at_start = chance if begun is None else float((np.abs(begun) ** 2)[hits].sum())
    known = {"start": at_start, "uniform": chance}
    with progress_of(progress, "Training controls", shown_as="rows") as reporter:
        return held_against(
            ansatz.spec, measure, known, goal=goal, seeds=seeds, shots=shots,
            knowledge=training.knowledge, progress=reporter,
        )  # fmt: skip


def recipe(training: Training) -> dict[str, Any]:
    """How a circuit was trained, as `train` takes it: the same for its controls."""
    objective = training.objective
    told = objective["name"] == HITS
    weights = dict(objective["weights"]) if objective["name"] in (HITS, "blend") else objective["name"]
    how: dict[str, Any] = {"strategy": training.strategy, "evaluations": training.evaluations, "objective": weights}
    return how | {"share": objective["share"], "threshold": objective["threshold"] if told else None, "progress": False}


def held_against(
    spec: AnsatzSpec,
    measure: Measure,
    known: Mapping[str, float],
    *,
    goal: float,
    seeds: int,
    shots: int,
    knowledge: str,
    progress: Progress | None = None,
) -> Nulls:
    """The rows of `nulls`, of whatever measures a circuit; `known` has the rates of start and uniform choice."""
    if check_integer("seeds", seeds) < FEWEST:
        raise InputError(f"an interval of 95 % for a median needs at least {FEWEST} seeds, got {seeds}")
    start = _start_energy(spec)
    problem = spec.problem
    rates = {row: np.full(seeds, rate) for row, rate in known.items()}
    rates["tries"] = np.array([climb_rate(problem, goal, seed) for seed in range(seeds)])
    angles, improved = dict.fromkeys(("start", "uniform", "tries"), 0), dict[str, NDArray[np.float64]]()
    before: tuple[list[AnsatzSpec], list[Trial]] = ([], [])
    for place, row in enumerate(CIRCUITS):
        circuits = [control(spec, row, seed) for seed in range(seeds)]
        if before[0] and all(_alike(*pair) for pair in zip(circuits, before[0], strict=True)):
            trials = before[1]  # the same circuits, trained by the same seeds
        elif row in ("mixer", "fields") and start is None and not _has_phases(circuits[0]):
            trials = [Trial(known["uniform"], np.nan, 0)] * seeds  # a Dicke state is the mixer's own
        else:
            trials = [measure(circuit, seed) for seed, circuit in enumerate(circuits)]
        if row != "shuffled":
            before = circuits, trials
        rates[row], angles[row] = np.array([trial.rate for trial in trials]), trials[0].angles
        if start is not None:
            improved[row] = np.array([trial.improved for trial in trials])
        if progress is not None:
            progress((place + 1) / len(CIRCUITS), place + 1)
    ordered = {row: rates[row] for row in ROWS}
    return Nulls(
        rates=ordered, angles=angles, knowledge=knowledge, goal=goal, shots=shots, start_energy=start, improved=improved
    )


def control(spec: AnsatzSpec, row: str, seed: int) -> AnsatzSpec:
    """The circuit of a row: `mixer`, `fields`, `shuffled` or `full`."""
    if row == "full":
        return spec
    groups = tuple(
        _without_phases(group)
        if row == "mixer"
        else _one_local(group, spec.problem)
        if row == "fields"
        else _shuffled(group, np.random.default_rng([20, seed, place]))
        for place, group in enumerate(spec.groups)
    )
    return spec.changed(groups=groups)


def _without_phases(group: CostGroup) -> CostGroup:
    return CostGroup(name=group.name, sample=group.sample * 0, feature=group.feature * 0, pair=group.pair * 0)


def _one_local(group: CostGroup, problem: SelectionProblem) -> CostGroup:
    """The group's best one-local phases: its projection, over all feasible choices alike, on sums of fields.

    A pair weight acts on its sample as often as its feature is chosen, and the other way round. What is left of fields
    that cancel is made 0: training measures γ in units of a group's spread, and would make real phases of rounding.
    """
    of_samples, of_features = problem.sector.blocks
    n, d = group.pair.shape
    fields = group.pair @ of_features.chances(d), of_samples.chances(n) @ group.pair
    small = ROUNDING * np.abs(group.pair).max(initial=0.0) * (n + d)
    about_zero = [_centred(part, side) for part, side in zip(fields, (of_samples, of_features), strict=True)]
    samples, features = (
        own + np.where(np.abs(part) > small, part, 0.0)
        for own, part in zip((group.sample, group.feature), about_zero, strict=True)
    )
    return CostGroup(name=group.name, sample=samples, feature=features, pair=np.zeros_like(group.pair))


def _centred(values: NDArray[np.float64], blocks: Blocks) -> NDArray[np.float64]:
    """Values less their mean in each block: within budgets a constant is no phase."""
    centred = np.zeros_like(values)
    for members, _ in blocks.parts:
        centred[list(members)] = values[list(members)] - values[list(members)].mean()
    return centred


def _shuffled(group: CostGroup, rng: np.random.Generator) -> CostGroup:
    """The group's numbers in another order; pairs that carry no phase gate still carry none."""
    pair = group.pair.copy()
    pair[pair != 0] = rng.permutation(pair[pair != 0])
    samples, features = rng.permutation(group.sample), rng.permutation(group.feature)
    return CostGroup(name=group.name, sample=samples, feature=features, pair=pair)


def _alike(one: AnsatzSpec, other: AnsatzSpec) -> bool:
    pairs = zip(one.groups, other.groups, strict=True)
    return all(
        np.array_equal(getattr(a, part), getattr(b, part)) for a, b in pairs for part in ("sample", "feature", "pair")
    )


def _has_phases(spec: AnsatzSpec) -> bool:
    return any(part.any() for group in spec.groups for part in (group.sample, group.feature, group.pair))


def _start_energy(spec: AnsatzSpec) -> float | None:
    return spec.problem.energy(*spec.start) if isinstance(spec.start, tuple) else None


def _below(energy: float, problem: SelectionProblem) -> float:
    """What is lower than an energy by more than rounding."""
    return energy - 4 * rounding_slack(energy_scale(problem), np.float64)


def climb_rate(problem: SelectionProblem, goal: float, seed: int) -> float:
    """Chance that one more scored item brings a hit, by coordinate ascent from random starts.

    A climb scores all features for its samples and takes the best, then all samples, until nothing improves.
    """
    rng, hits, items = np.random.default_rng(seed), 0, 0
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    of_samples, of_features = problem.sector.blocks
    limit = goal + rounding_slack(energy_scale(problem), np.float64)
    for _ in range(CLIMBS):
        (rows,), last = uniform_choices(problem, 1, rng)[0], np.inf
        while True:
            columns = _best_of(problem.feature_scores + weights[rows].sum(axis=0), of_features)
            rows = _best_of(problem.sample_scores + weights[:, columns].sum(axis=1), of_samples)
            items += sum(problem.coupling.shape)
            energy = problem.energy(rows, columns)
            if energy >= last:
                break
            last = energy
        hits += last <= limit
    return float(1 - (1 - min(hits / CLIMBS, 1 - 1e-9)) ** (CLIMBS / items))


def _best_of(gains: NDArray[np.float64], blocks: Blocks) -> NDArray[np.int64]:
    """The items of largest gain that budget and rules allow."""
    best = [*blocks.always]
    for members, ones in blocks.parts:
        best += np.array(members)[np.argsort(-gains[list(members)], kind="stable")[:ones]].tolist()
    return np.array(sorted(best))


def interval(values: NDArray[np.float64], level: float = 0.95) -> tuple[float, float, float]:
    """Low end, median, high end: the closest order statistics that cover the median with at least this chance.

    >>> interval(np.arange(9.0))
    (1.0, 4.0, 7.0)
    """
    ordered, n = np.sort(values), len(values)
    cut = max(len(list(_cuts(n, level))) - 1, 0)
    return float(ordered[cut]), float(np.median(ordered)), float(ordered[n - 1 - cut])


def _cuts(n: int, level: float) -> Iterator[int]:
    """How many values may be cut off at either end."""
    missed = 0.0
    for cut in range(n):
        missed += comb(n, cut) / 2**n
        if 2 * missed > 1 - level:
            return
        yield cut
