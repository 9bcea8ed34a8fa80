"""Balanced slices of two public tables: every selector, plain baselines, and a map chosen on the buffer window.

Tables joint_vs_sequential_real_creditcard and joint_vs_sequential_real_ibm_aml_hi_small.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.data.aml_features import MEANINGS
from biselect_studies.data.candidates import PAPER_SLICES, SLICES
from biselect_studies.experiments import aml as aml
from biselect_studies.experiments import creditcard as creditcard
from biselect_studies.experiments.baselines import DETECTORS, FIXED, LABEL_FREE, STUDIED
from biselect_studies.figures import COLOURS, Figure, panels, whiskers
from biselect_studies.inference import Comparison, Family, compare
from biselect_studies.results import Entry, Findings, compared, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.task import Cell, Grid

Values = Mapping[str, NDArray[Any]]
SEQUENTIAL = ("feature-first:sum", "feature-first:max", "feature-first:median")
HEURISTICS = {
    "swap-sa": "Swap-SA",
    "greedy": "Greedy+LS",
    "coordinate-ascent": "Coord.-ascent",
    "tabu": "Tabu",
}
FIRST, PLAIN = "joint against feature-first", "joint against baselines"
"""Families of comparisons that Holm's correction takes together; those under the map chosen are one more."""


def slice_grid(
    experiment: str, cells: Callable[[bool], Iterable[Cell]], slices: int | Callable[[], int] = SLICES
) -> Grid:
    """The paper's 25 slices of each cell, or 200; few tasks a cell, since each process makes whole windows first."""
    return Grid(experiment=experiment, cells=cells, quick=PAPER_SLICES, full=slices, block=100)


def paired(values: Values, first: str, second: str, units: str = "frauds") -> tuple[Comparison, Comparison]:
    """F1 of one method minus another's: slices resampled, then the units that the positives belong to.

    In unbalanced pools the hits of a slice do not add up to its F1; nearly all hold one fraud, so there a slice goes
    with its first one.
    """
    by_slice = compare(values[first] - values[second])
    if f"hits {first}" not in values:
        return by_slice, compare(values[first] - values[second], clusters=values["fraud"])
    hits = values[f"hits {first}"].astype(float) - values[f"hits {second}"]
    return by_slice, compare(hits, clusters=values[units])


def both_ways(row: str, column: str, found: tuple[Comparison, Comparison], units: str = "frauds") -> list[Entry]:
    """What `paired` found, as two numbers; the second is the one to believe."""
    return [
        compared(f"{row}, slices resampled", column, found[0]),
        compared(f"{row}, {units} resampled", column, found[1]),
    ]


def listed(found: Mapping[Any, Iterable[str]]) -> str:
    """Names by where they stand, or that there are none."""
    return "; ".join(f"{where}: {', '.join(names)}" for where, names in found.items()) or "none"


def choose(on_buffer: Mapping[str, Values], heuristics: Collection[str]) -> tuple[str, str]:
    """Map and aggregate by the paper's rule: best joint (of the heuristics) and best sequential mean, averaged.

    >>> means = {"feature-first:sum": [0.4], "feature-first:max": [0.5], "feature-first:median": [0.1]}
    >>> choose({"ecdf": {**means, "greedy": [0.5]}, "abs-z": {**means, "greedy": [0.6]}}, ["greedy"])
    ('abs-z', 'feature-first:max')
    """

    def judged(name: str) -> tuple[float, str]:
        means = {method: float(np.mean(values)) for method, values in on_buffer[name].items()}
        rule = max(SEQUENTIAL, key=means.__getitem__)
        return (max(means[method] for method in heuristics) + means[rule]) / 2, rule

    best = max(on_buffer, key=lambda name: judged(name)[0])
    return best, judged(best)[1]


def best_heuristic(values: Values) -> str:
    """The joint heuristic with the highest mean F1, as the paper reports it (the first on a tie)."""
    return max(HEURISTICS, key=lambda name: float(np.mean(values[name])))


@dataclass(frozen=True, kw_only=True)
class SliceTable:
    """A table of F1@k on balanced slices, at several sizes of the pool.

    Attributes:
        experiment: as `Task` has it.
        sizes: N and k.
        features: how many each row has; `m` of them are chosen.
        names: the paper's methods, by the experiment's name.
        baselines: plain methods beside them.
        cell: of a size, the quick form, methods, and a `window` and `map` that are not the paper's.
        maps: candidates on the buffer.
        choice: methods that the choice needs there, and those that are read under it later.
        units: what positives are resampled by.
        words: what is chosen, in the rows: `map`, and what precedes "chosen on the buffer" for the sequential rule.
        chosen: the family of comparisons under the choice.
        paper_map: a comparison under it that is also the choice counts in that family only.
        named: what a comparison under the choice goes by; its rule where empty.
        beside: how a printed figure stands beside ours.
    """

    experiment: str
    sizes: Mapping[int, int]
    features: int
    m: int
    names: Mapping[str, str]
    baselines: Mapping[str, str]
    cell: Callable[..., dict[str, Any]]
    maps: tuple[str, ...]
    choice: tuple[tuple[str, ...], tuple[str, ...]]
    units: str
    words: tuple[str, str, str]
    chosen: str
    paper_map: str = ""
    named: str = ""
    beside: Callable[[Entry], Entry] = lambda one: one
    slices: int | Callable[[], int] = SLICES

    @property
    def labels(self) -> dict[str, str]:
        """All methods, for people."""
        return {**self.names, **self.baselines}

    def heading(self, size: int) -> str:
        """A size as the paper writes it."""
        return f"({size},{self.features},{self.sizes[size]},{self.m})"

    def main_cell(self, size: int, quick: bool) -> dict[str, Any]:
        """The paper's protocol at one size, all methods on the same slices."""
        return self.cell(size, quick, tuple(self.labels))

    def choice_cell(self, size: int, quick: bool, name: str, window: str) -> dict[str, Any]:
        """One candidate map on the buffer, where it may be chosen, or on the test window."""
        return self.cell(size, quick, self.choice[window == "test"], map=name, window=window)

    @property
    def main(self) -> Grid:
        """The paper's table."""
        return slice_grid(
            self.experiment, lambda quick: [self.main_cell(size, quick) for size in self.sizes], self.slices
        )

    @property
    def grid(self) -> Grid:
        """The table, and every map on both windows for the choice."""

        def cells(quick: bool) -> list[Cell]:
            tried = [(size, quick, name, w) for w in ("buffer", "test") for name in self.maps for size in self.sizes]
            return [*self.main.cells(quick), *(self.choice_cell(*each) for each in tried)]

        return slice_grid(self.experiment, cells, self.slices)

    def choose(self, records: Records, size: int, quick: bool) -> tuple[str, str]:
        """Map and sequential rule of a size, from the buffer window alone."""
        tried = {name: records.of(self.choice_cell(size, quick, name, "buffer")) for name in self.maps}
        return choose(tried, HEURISTICS)

    def summarise(self, records: Records, quick: bool) -> SliceFindings:
        """The paper's table, the same with more slices, paired differences, and the map chosen on the buffer."""
        count = self.main.seeds(quick)
        rows: list[Entry] = []
        families = {name: Family(named=self._named) for name in (FIRST, PLAIN, self.chosen)}
        ahead: dict[str, list[str]] = {}
        choices = {size: self.choose(records, size, quick) for size in self.sizes}
        (rival, *_), joint = self.names, "exact"
        what, first, both = self.words
        for size in self.sizes:
            values, column = records.of(self.main_cell(size, quick)), self.heading(size)
            for method, name in self.names.items():
                rows.append(self.beside(entry(name, column, values[method][:PAPER_SLICES])))
            for method, name in self.labels.items():
                rows.append(entry(f"{name}, {count} slices", column, values[method]))
                if method in self.baselines and np.mean(values[method]) > np.mean(values[joint]):
                    ahead.setdefault(f"N = {size}", []).append(name)
            for method in (rival, *self.baselines):
                found = paired(values, joint, method, self.units)
                rows += both_ways(f"Joint − {self.labels[method]}", column, found, self.units)
                if (self.paper_map, method) != choices[size]:
                    families[PLAIN if method in self.baselines else FIRST][self.labels[method], size] = found[1]
            name, rule = choices[size]
            values = records.of(self.choice_cell(size, quick, name, "test"))
            found = paired(values, joint, rule, self.units)
            rows.append(entry(f"Feature-first, {first}chosen on the buffer", column, values[rule]))
            rows.append(entry(f"Exact joint optimum, {what} chosen on the buffer", column, values[joint]))
            rows += both_ways(f"Joint − sequential, {both}chosen on the buffer", column, found, self.units)
            families[self.chosen][self.named or self.labels[rule], size] = found[1]
        order = {name: place for place, name in enumerate(dict.fromkeys(one.row for one in rows))}
        rows.sort(key=lambda one: order[one.row])
        return SliceFindings(rows=rows, families=families, choices=choices, ahead=ahead, count=count)

    def _named(self, name: str, size: int) -> str:
        return f"{name} {self.heading(size)}"

    def draw(self, found: Findings, caption: str, *, width: float, height: float) -> Figure:
        """F1 of the paper's methods beside the baselines, one panel a size."""
        figure, axes = panels(1, len(self.sizes), width=width, height=height, sharey=True)
        for panel, size in zip(axes[0], self.sizes, strict=True):
            for place, (method, name) in enumerate(self.labels.items()):
                point = found.find(f"{name}, {found.seeds} slices", self.heading(size))
                colour = "grey" if method == "kawasaki" else COLOURS[method in self.baselines]
                whiskers(panel, [place], [point], upright=False, marker="o", color=colour)
                if method in self.names:
                    panel.plot([found.find(name, self.heading(size)).paper], [place], "x", color="black", zorder=5)
            panel.set(title=self.heading(size), xlabel="mean F1@k")
        axes[0, 0].set_yticks(range(len(self.labels)), list(self.labels.values()))
        axes[0, 0].invert_yaxis()
        figure.supxlabel(caption, fontsize=8)
        return figure


@dataclass(frozen=True, kw_only=True)
class SliceFindings:
    """What a `SliceTable` found; the study adds its notes.

    Attributes:
        rows: the numbers.
        families: comparisons of the exact joint optimum with others.
        choices: map and sequential rule of each size, chosen on the buffer.
        ahead: baselines with a higher mean F1@k than the exact joint optimum, by size.
        count: slices of each cell.
    """

    rows: list[Entry]
    families: dict[str, Family]
    choices: dict[int, tuple[str, str]]
    ahead: dict[str, list[str]]
    count: int

    def claims(self, asked: Mapping[str, tuple[str, str | None]]) -> list[str]:
        """Claims by their text: of all comparisons of a family, or of those with one method. None without any."""
        return [
            self.families[family].claim(text, name)
            for text, (family, name) in asked.items()
            if any(name in (None, other) for other, _ in self.families[family])
        ]

    @property
    def picked(self) -> str:
        """The choices in words."""
        return "; ".join(f"N = {size}: {name}, {rule.split(':')[1]}" for size, (name, rule) in self.choices.items())

    def findings(self, *notes: str) -> Findings:
        """With what a reader must know."""
        return Findings(
            seeds=self.count,
            cells=tuple(self.rows),
            notes=notes,
            extra={
                "holm": {name: family.adjusted for name, family in self.families.items()},
                "choices": {str(size): list(names) for size, names in self.choices.items()},
            },
        )


CHOSEN_MAP = "under the map chosen on the buffer"
BY_SUM, EXACT = "feature-first:sum", "Exact joint optimum"
CHOICE = (*SEQUENTIAL, *HEURISTICS, "exact")

CREDIT_CARD = SliceTable(
    experiment="creditcard_slices",
    sizes=creditcard.SIZES,
    features=creditcard.D,
    m=creditcard.M,
    names={
        BY_SUM: "Feature-first sequential",
        **HEURISTICS,
        "kawasaki": "Ring-local Kawasaki",
        "exact": EXACT,
    },
    baselines={
        FIXED: "Swap-SA, fixed temperature",
        "feature-first:max": "Feature-first, max",
        "feature-first:median": "Feature-first, median",
        "rule:weight-sum": "Sum of all weights, top k",
        "rule:largest-weights": "Sum of a row's m largest weights, top k",
        "rule:tall-columns": "Columns by their k largest weights, then top k",
        "detector:isolation-forest:12": "Isolation Forest, 12 features",
        "detector:isolation-forest:28": "Isolation Forest, 28 features",
        "detector:ecod:12": "ECOD, 12 features",
        "detector:ecod:28": "ECOD, 28 features",
        "detector:copod:12": "COPOD, 12 features",
        "detector:copod:28": "COPOD, 28 features",
        "detector:lof:12": "LOF, 12 features",
    },
    cell=lambda size, quick, methods, **more: creditcard.cell(size, methods, **more),
    maps=LABEL_FREE,
    choice=(CHOICE, CHOICE),
    units="frauds",
    words=("map", "", ""),
    chosen=CHOSEN_MAP,
    named=EXACT,
)
CLAIMS = {
    "joint selection beats feature-first under the paper's maps": (FIRST, None),
    "joint selection beats Isolation Forest on 12 features": (PLAIN, "Isolation Forest, 12 features"),
    "joint selection beats COPOD on 28 features": (PLAIN, "COPOD, 28 features"),
    "joint selection beats feature-first under the map chosen on the buffer": (CHOSEN_MAP, None),
}
"""What the paper claims of these data and what a user would ask, with frauds resampled."""


def summarise_credit_card(records: Records, quick: bool) -> Findings:
    """The table with its claims."""
    found = CREDIT_CARD.summarise(records, quick)
    for size in creditcard.SIZES:
        values = records.of(CREDIT_CARD.main_cell(size, quick))
        apart = (values["swap-sa"] - values[FIXED])[:PAPER_SLICES]
        found.rows.append(entry("Swap-SA, annealed − fixed temperature", CREDIT_CARD.heading(size), apart))
    first = "No plain baseline has a higher mean F1@k than the exact joint optimum on these slices."
    if found.ahead:
        first = f"Plain baselines with a higher mean F1@k than the exact joint optimum: {listed(found.ahead)}."
    held = "; ".join(f"{name}: {p:.3f}" for name, p in found.families[FIRST].adjusted.items())
    return found.findings(
        f"{first} What joint selection gives beyond F1: the m features, which cell made each row stand out, and a "
        "proof.",
        *found.claims(CLAIMS),
        f"Chosen on the buffer window by the paper's own rule: {found.picked}. The paper reports ECDF at N = 50 and "
        "sum at every size.",
        "Slices share the 75 frauds of the test window (74 different rows of features), so intervals over slices are "
        "too narrow; those with frauds resampled are the ones to believe.",
        f"Joint against feature-first, p-values by Holm with frauds resampled: {held}.",
        "ECOD and COPOD are PyOD's: they rank the whole test window among the reference and itself. LOF sees 10,000 "
        "reference rows. No detector uses the budget m.",
    )


def draw_credit_card(found: Findings) -> Figure:
    """F1 of every method, and a line where the exact optimum stands."""
    caption = "crosses: the paper, 25 slices; dotted: exact joint optimum"
    figure = CREDIT_CARD.draw(found, caption, width=3.0, height=4.6)
    for panel, size in zip(figure.axes, creditcard.SIZES, strict=True):
        exact = found.find(f"{EXACT}, {found.seeds} slices", CREDIT_CARD.heading(size))
        panel.axvline(exact.ours, color=COLOURS[0], linewidth=0.8, linestyle=":")
    return figure


CHOSEN_SCORER = "under the scorer chosen on the buffer"
AML_SIZES = {20: 3, 50: 5}
M, BY_MAX, PAPER_MAP = 4, "feature-first:max", "logistic"


def _aml_cell(
    size: int, quick: bool, methods: tuple[str, ...], *, map: str = PAPER_MAP, window: str = "test"
) -> dict[str, Any]:
    budgets = {"N": size, "k": AML_SIZES[size], "m": M}
    return {**aml.origin(quick), **budgets, "window": window, "map": map, "methods": methods}


AML = SliceTable(
    experiment="aml_slices",
    sizes=AML_SIZES,
    features=len(MEANINGS),
    m=M,
    names={BY_MAX: "Feature-first sequential", **HEURISTICS, "exact": "Exact joint optimum"},
    baselines={
        "feature-first:sum": "Feature-first, sum",
        "feature-first:median": "Feature-first, median",
        "rule:weight-sum": "Sum of all weights, top k",
        "rule:largest-weights": "Sum of a row's m largest weights, top k",
        "rule:tall-columns": "Columns by their k largest weights, then top k",
        "trigger": "Stage-1 logistic trigger, top k",
        "budgeted": "Budget-aware trigger, top k",
        **{f"detector:{name}": f"{label}, top k" for name, label in DETECTORS.items()},
    },
    cell=_aml_cell,
    maps=STUDIED,
    choice=((*SEQUENTIAL, *HEURISTICS), (*SEQUENTIAL, "exact")),
    units="groups",
    words=("scorer", "scorer and rule ", "both "),
    chosen=CHOSEN_SCORER,
    paper_map=PAPER_MAP,
    beside=aml.beside,
    slices=aml.slices,
)

AML_RIVALS = {
    "feature-first by max under the logistic scorer": (FIRST, None),
    "feature-first, scorer and rule chosen on the buffer": (CHOSEN_SCORER, None),
    "the budget-aware trigger": (PLAIN, AML.labels["budgeted"]),
}
"""What the paper compares joint selection with, as families and methods."""


def summarise_aml(records: Records, quick: bool) -> Findings:
    """The table with its claims, and how far heuristics end below the optimum."""
    found = AML.summarise(records, quick)
    shortfalls = {}
    for size in AML_SIZES:
        values = records.of(AML.main_cell(size, quick))
        short = {name: np.mean(values[f"short {method}"]) for method, name in HEURISTICS.items()}
        shortfalls[f"N = {size}"] = [f"{name} {100 * part:.1f} %" for name, part in short.items()]
    by_family = " ".join(
        f"{name[0].upper()}{name[1:]}: {'; '.join(f'{one} {p:.3f}' for one, p in family.adjusted.items())}."
        for name, family in found.families.items()
    )
    where = "on generated data " if aml.source() == aml.GENERATED else ""
    return found.findings(
        f"{aml.where_from(quick)} Plain rules with a higher mean F1@k than the exact joint optimum: "
        f"{listed(found.ahead)}.",
        *found.claims({f"{where}joint selection beats {text}": asked for text, asked in AML_RIVALS.items()}),
        f"Scorer and sequential rule chosen on the buffer by the paper's rule for Credit Card, then held: "
        f"{found.picked}. The paper uses the supervised logistic scorer and max.",
        "Every scorer is fit on the reference window alone: the logistic one, one regression per feature, on its "
        "labels; the others and the detectors on its latest rows, without labels. Detectors score pool by pool. The "
        "stage-1 trigger sees the same labels and no budget m.",
        "Laundering payments are resampled by group: all whose accounts laundering connects. p-values by Holm. "
        + by_family,
        f"How far the heuristics end below the exact optimum's score, on average: {listed(shortfalls)}.",
    )


def draw_aml(found: Findings) -> Figure:
    """F1 of every method."""
    caption = f"{aml.place(found)}; crosses: the paper on HI-Small, 25 slices"
    return AML.draw(found, caption, width=3.4, height=4.0)


STUDIES = (
    described(
        "joint-vs-sequential-real-creditcard",
        tasks=CREDIT_CARD.grid.tasks,
        summarise=summarise_credit_card,
        draw=draw_credit_card,
        absent=creditcard.absent,
    ),
    described(
        "joint-vs-sequential-real-ibm-aml-hi-small", tasks=AML.grid.tasks, summarise=summarise_aml, draw=draw_aml
    ),
)
