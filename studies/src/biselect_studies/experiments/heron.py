"""Credit Card problems on a device, a recorded Heron unless said otherwise: couplings, thresholds, wide circuits."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.distribution import exact_distribution, fit_scale
from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect.tables import as_matrix
from biselect.tables.demo import demo_pool
from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.circuits.angle_selection import (
    FIXED_ANGLE,
    AngleSelection,
    WideShots,
    fixed_angles,
    select_by_paper,
    warm_starts,
)
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.starts import Choice, start_choice
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.circuits.training import train
from biselect_quantum.devices import Patch, choose_patch, compile_circuit, hardware_mask, masked, place, retained_mass
from biselect_quantum.devices.analysis import analyse, analyse_repaired
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.noise import cut_noise
from biselect_quantum.devices.noise.sampling import noisy_table
from biselect_quantum.devices.paths import COMPLETE_FRACTIONAL, IN_ORDER, CompilationPath
from biselect_quantum.devices.placement import Placement
from biselect_quantum.shots import Shots
from biselect_quantum.uniform import uniform_energy
from biselect_studies.data.synthetic import MARGINALS, planted_problem
from biselect_studies.experiments.compile_case import device
from biselect_studies.experiments.planted import EVIDENCE_SHOTS
from biselect_studies.quantum.mean_field import (
    agreement,
    choose_surrogate,
    low_energy_overlap,
    mean_field,
    sparse_optimum,
)
from biselect_studies.quantum.register_trees import register_shots
from biselect_studies.quantum.registers import register_mass
from biselect_studies.task import Cell, Values

DEVICE = "boston"
SIZES = {  # N, D, k, m of each width: those that give the paper's exact/chance ratios
    13: (8, 5, 2, 3),
    20: (12, 8, 3, 5),
    32: (19, 13, 5, 5),
    36: (22, 14, 6, 5),
    52: (31, 21, 8, 8),
    56: (34, 22, 8, 8),
    64: (38, 26, 10, 10),
}
SIGNAL = 3.0  # μ of planted instances
CAP = 3.0  # w_max of Credit Card instances: open in the paper, chosen by the retained mass that it prints
PATHS: dict[str, CompilationPath] = {"ours": IN_ORDER, "paper": replace(COMPLETE_FRACTIONAL, coloured=False)}
"""A patch's classes are coloured already, so the order of the program is the paper's coloured one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A problem on a patch.

    Attributes:
        problem: the dense problem.
        target: the device, a Qiskit Target.
        spot: the qubits as they were chosen, before anything was placed.
        placement: where the items sit on them.
    """

    problem: SelectionProblem
    target: Any
    spot: Patch
    placement: Placement

    @property
    def patch(self) -> Patch:
        """The qubits; position i is the problem's item i."""
        return self.placement.patch

    @cached_property
    def sparse(self) -> SelectionProblem:
        """The problem with the couplings of cross edges only: what the phases run."""
        return masked(self.problem, hardware_mask(self.patch))

    @cached_property
    def _items(self) -> Choice:
        """The sample and the feature at each position of the spot."""
        sides = ((self.patch.samples, self.spot.samples), (self.patch.features, self.spot.features))
        samples, features = ([qubits.index(qubit) for qubit in spot] for qubits, spot in sides)
        return samples, features

    def items(self, positions: Choice) -> Choice:
        """The samples and features that sit at positions of the spot, where starts are drawn."""
        samples, features = (sorted(at[p] for p in side) for at, side in zip(self._items, positions, strict=True))
        return samples, features

    @property
    def canonical(self) -> Choice:
        """The start from what sits first on the spot."""
        return self.items((list(range(self.problem.k)), list(range(self.problem.m))))

    @property
    def groups(self) -> tuple[CostGroup, ...]:
        """Cost groups of the sparse problem."""
        return components(self.sparse)

    @property
    def mixer(self) -> Any:
        """Mixer classes of both registers, in the order in which circuits run them."""
        sides = zip(self._items, (self.spot.sample_classes, self.spot.feature_classes), strict=True)
        return tuple([[(at[u], at[v]) for u, v in edges] for edges in classes] for at, classes in sides)

    def spec(self, depth: int, schedule: str, start: Choice) -> AnsatzSpec:
        """The circuit that runs: the phases of the sparse problem, measured by the dense one."""
        return AnsatzSpec(self.problem, depth, schedule, self.mixer, start, groups=self.groups)

    def compiled(self, spec: AnsatzSpec, angles: Any, path: str = "ours") -> DeviceCircuit:
        """A circuit compiled by one of `PATHS`, with all that a run needs."""
        made = compile_circuit(spec, self.target, self.patch.layout, PATHS[path], angles=angles)
        return replace(made, placement=self.placement)


Prepared = tuple[DeviceCircuit, Threshold | None]
"""A circuit that is ready to be measured, and its E_BK, fixed before any shot; None for the classical reference."""


@cache
def case(kind: str, width: int, instance: int, target: Any = None) -> Case:
    """A `creditcard` or `planted` instance, placed on the best patch of its width."""
    target = target or device(DEVICE)
    dense, patch = problem(kind, width, instance), _patch(width, target)
    return Case(problem=dense, target=target, spot=patch, placement=place(dense, patch))


@cache
def _patch(width: int, target: Any) -> Patch:
    n, d, _, _ = SIZES[width]
    return choose_patch(target, n, d)


def problem(kind: str, width: int, instance: int) -> SelectionProblem:
    """Frauds (k of them) and others of the excerpt with the first D of V1..V28, calibrated; or a planted block."""
    n, d, k, m = SIZES[width]
    if kind == "planted":
        return planted_problem(SIZES[width], SIGNAL, seed=instance, absolute=True)
    pool = demo_pool()
    rng = np.random.default_rng([instance, width])
    names = [f"V{j}" for j in range(1, d + 1)]
    labels = np.asarray(pool.labels)
    kinds = ((labels, k), (~labels, n - k))
    rows = [rng.choice(np.flatnonzero(kind), count, replace=False) for kind, count in kinds]
    candidates = pool.candidates.select(names).take(rng.permutation(np.concatenate(rows)))
    calibrator = Weigher(map="ecdf", cap=CAP).fit(pool.reference.select(names))
    return calibrator.plain_problem(candidates, k, m, marginals=paper_marginals)


LISTED = 1_000_000  # choices of a sector whose low-energy states are compared


def coupling(cell: Cell, seeds: Iterable[int]) -> Values:
    """One problem a seed, on one patch; `plain` leaves out what is ours, the mean field."""
    patch = _named_patch(cell["device"], cell["N"], cell["D"])
    values: dict[str, list[Any]] = {}
    for seed in seeds:
        size = (cell["N"], cell["D"], cell["k"], cell["m"])
        problem = credit_card(size, seed, **{name: cell[name] for name in ("cap", "marginals", "center")})
        found = _measure(problem, patch, plain=cell["plain"])
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


def _measure(problem: SelectionProblem, patch: Patch, *, plain: bool) -> dict[str, float]:
    placement = place(problem, patch)
    mask = hardware_mask(placement.patch)
    sparse = masked(problem, mask)
    reference = solve(problem, "exact", workers=1).energy
    kept, share = retained_mass(problem, mask)
    of_sparse = agreement(problem, sparse, reference)
    fields = float(np.abs(problem.sample_scores).sum() + np.abs(problem.feature_scores).sum())
    found = {
        "share": 100 * share,
        "to_fields": 100 * problem.coupling_weight * kept / fields,
        "dense_gain": 100 * of_sparse.dense_gain,
        "over_diagonal": of_sparse.gain_over_diagonal,
        "gap": placement.gap,
    }
    if plain:
        return found
    chosen, nothing = choose_surrogate(problem, mask), np.zeros_like(mask)
    mended = chosen.problem
    bare = masked(problem, nothing) if chosen.temperature is None else mean_field(problem, nothing, chosen.temperature)
    of_mended, of_bare = (agreement(problem, each, reference) for each in (mended, bare))
    found |= {"mended_gain": 100 * of_mended.dense_gain, "bare_gain": 100 * of_bare.dense_gain}
    if problem.sector.size <= LISTED:
        found["overlap"] = 100 * low_energy_overlap(problem, sparse)
        found["mended_overlap"] = 100 * low_energy_overlap(problem, mended)
    return found


def credit_card(
    size: tuple[int, int, int, int], seed: int, *, cap: float, marginals: str, center: str = "median"
) -> SelectionProblem:
    """A problem of k frauds and N - k other transactions of the excerpt, on D of its columns, drawn by the seed."""
    n, d, k, m = size
    pool = demo_pool()
    assert pool.labels is not None
    rng = np.random.default_rng(seed)
    frauds = rng.choice(np.flatnonzero(pool.labels), k, replace=False)
    others = rng.choice(np.flatnonzero(~pool.labels), n - k, replace=False)
    rows = np.sort(np.concatenate([frauds, others]))
    names = [pool.reference.column_names[column] for column in sorted(rng.permutation(pool.reference.num_columns)[:d])]
    reference, candidates = (as_matrix(table.select(names)) for table in (pool.reference, pool.candidates.take(rows)))
    scale = fit_scale([exact_distribution(column) for column in reference.values.T], center)

    def scores(W: NDArray[np.float64], _: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return MARGINALS[marginals](W, scale.residuals(candidates.values))

    return Weigher("ecdf", cap=cap).fit(reference).plain_problem(candidates, k, m, marginals=scores)


@cache
def _named_patch(name: str, n: int, d: int) -> Patch:
    return choose_patch(device(name), n, d)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """Angles fixed before anything is measured.

    Attributes:
        case: the placed problem.
        spec: the circuit, its angles open.
        angles: by the paper's search for the hit rate.
        threshold: E_BK of the dense problem in its own order.
        hit_rate: ideal p_BK.
        uniform: share of the sector at or below E_BK.
        bundle: the circuit with its angles, compiled for the device.
    """

    case: Case
    spec: AnsatzSpec
    angles: NDArray[np.float64]
    threshold: Threshold
    hit_rate: float
    uniform: float
    bundle: DeviceCircuit


def heron_replay(cell: Cell, seeds: Iterable[int]) -> Values:
    """Ideal and uniform hit rates; `hits` and the exact-budget `mass` of noisy shots by a `path`, one repeat a seed.

    With `shots` nought it is the exact-budget mass without cross gates instead, by `ours` and by the `paper`'s path.
    """
    made = _trained(cell)
    target, dense, program = made.case.target, made.case.problem, made.spec.program()
    if not cell["shots"]:
        options: dict[str, Any] = {"layout": made.case.patch.layout, "angles": made.angles.tolist()}
        return {name: [register_mass(program, target, path=path, **options).mass] for name, path in PATHS.items()}
    noisy = cut_noise(made.case.compiled(made.spec, made.angles, cell["path"]))
    tables = [noisy_table(noisy, cell["shots"], seed, cell["courses"]) for seed in seeds]
    repeats = [Shots.of_table(table, problem=dense) for table, _ in tables]
    goal = made.threshold.value + 1e-9 * abs(made.threshold.value)
    inside = [shots.samples for shots in repeats]
    return {
        "ideal": [made.hit_rate] * len(repeats),
        "uniform": [made.uniform] * len(repeats),
        "hits": [int(each.counts[each.energies <= goal].sum()) for each in inside],
        "mass": [shots.exact_budget_mass for shots in repeats],
        "flawless": [flawless for _, flawless in tables],
    }


def heron_replay_circuit(cell: Cell, target: Any) -> Prepared:
    """The circuit of a cell for a device, with angles trained for the patch that it gets there."""
    made = _trained(cell, target)
    return made.bundle, made.threshold


def _trained(cell: Cell, target: Any = None) -> Trained:
    return trained(cell["kind"], cell["width"], cell["instance"], cell["p"], cell["schedule"], target)


@cache
def trained(kind: str, width: int, instance: int, depth: int, schedule: str, target: Any = None) -> Trained:
    """E_BK from the tied circuit at π/4, then the paper's search for the schedule's angles."""
    found = case(kind, width, instance, target)
    options: dict[str, Any] = {"mixer": found.mixer, "start": found.canonical, "groups": found.groups}
    evidence = Ansatz(found.problem, depth, "tied", **options)
    fixed = np.full(evidence.size, FIXED_ANGLE)
    threshold = Threshold.from_shots(evidence, fixed, shots=EVIDENCE_SHOTS, seed=instance, pool="tied, all angles π/4")
    goal = threshold.value
    ansatz = Ansatz(found.problem, depth, schedule, **options)
    best = train(ansatz, strategy="threshold", objective="hit-rate", threshold=goal, seed=instance)
    spec = found.spec(depth, schedule, found.canonical)
    return Trained(
        case=found,
        spec=spec,
        angles=np.asarray(best.angles),
        threshold=replace(threshold, problem_hash=found.problem.digest),
        hit_rate=ansatz.hit_rate(best.angles, goal),
        uniform=float((evidence.energies <= goal + 1e-9 * abs(goal)).mean()),
        bundle=found.compiled(spec, best.angles),
    )


SCHEDULE = "bilinear"
CONTROL_SEED = 1  # of the random feasible start


def heron_wide(cell: Cell, seeds: Iterable[int]) -> Values:
    """One repeat a seed, of ideal shots or, with a `path`, under the noise model by that path; gaps of dense energies.

    Noisy shots are drawn register by register: what cross gates correlate is left out. How much that matters is what
    the mean energy of shots drawn so without any error (`alone_mean`) says beside the ideal ones. Without errors both
    paths are one circuit, so only the paper's has it.
    """
    found = case("creditcard", cell["width"], 0)
    start, angles = _protocol(found, cell)
    dense, sparse = (
        found.problem.energy(*warm_starts(found.problem, 1)[0]),
        found.sparse.energy(*sparse_optimum(found.sparse)),
    )
    if cell["path"] is None:
        draw = _draw(found, cell["p"])
        repeats = [draw(start, angles, cell["shots"], seed) for seed in seeds]
        facts = {
            "retained": retained_mass(found.problem, hardware_mask(found.patch))[1],
            "chance": found.problem.sector.chance,
            "spread": uniform_energy(found.problem)[1],
        }
        return {
            **{name: [value] * len(repeats) for name, value in facts.items()},
            "gap": [float(shots.energies[0]) - dense for shots in repeats],
            "sparse_gap": [
                float(found.sparse.energies(shots.samples, shots.features).min()) - sparse for shots in repeats
            ],
            "mean": [shots.mean_energy() for shots in repeats],
        }
    compiled = found.compiled(found.spec(cell["p"], SCHEDULE, start), angles, cell["path"])
    values: Values = {}
    for seed in seeds:
        drawn = partial(register_shots, compiled, cell["shots"], seed=seed)
        noisy = drawn(errors=True)
        strict = analyse([noisy.shots], threshold=dense, reference=dense)
        repaired = analyse_repaired([noisy.shots.under(found.sparse)], reference=sparse)
        figures = {
            "mass": strict.feasible_rate.value,
            "gap": strict.dense_gap,
            "band_1": repaired.band_1_gap,
            "flawless": noisy.flawless,
        }
        if cell["path"] == "paper":
            alone = drawn(errors=False).shots.samples
            figures["alone_mean"] = alone.mean_energy()
        for name, value in figures.items():
            values.setdefault(name, []).append(value)
    return values


def heron_wide_circuit(cell: Cell, target: Any) -> Prepared:
    """The circuit of a condition for a device, with angles selected for the patch that it gets there."""
    found = case("creditcard", cell["width"], 0, target)
    start, angles = _protocol(found, cell)
    return found.compiled(found.spec(cell["p"], SCHEDULE, start), angles), None


@cache
def selection(found: Case, depth: int) -> AngleSelection:
    """The paper's angle selection from two warm starts, inherited angles π/4."""
    draw = _draw(found, depth)
    return select_by_paper(found.problem, draw, warm_starts(found.problem), fixed_angles(draw.spec.schedule))


def _protocol(found: Case, cell: Cell) -> tuple[Choice, NDArray[np.float64]]:
    """Start and angles of a condition."""
    if cell["condition"] == "fixed":
        return found.canonical, fixed_angles(_draw(found, cell["p"]).spec.schedule)
    chosen = selection(found, cell["p"])
    warm = cell["condition"] == "warm"
    return chosen.start if warm else found.items(start_choice(found.problem, "random", CONTROL_SEED)), chosen.angles


def _draw(found: Case, depth: int) -> WideShots:
    return WideShots(AnsatzSpec(found.problem, depth, SCHEDULE, found.mixer, groups=found.groups))
