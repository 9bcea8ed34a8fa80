"""Register-preserving placement: which sample sits at which position of a patch, which feature at which.

Hardware edges can carry only a few of the N·D couplings at no routing cost; the placement makes these the heaviest:

    maximise Σ_{(u,v) ∈ E_×} |W_{π_S(u), π_F(v)}|   over permutations π_S of the samples and π_F of the features

Only the ends of cross edges matter, so only they are decided; all others follow in ascending order. x_ui says that
sample i sits at position u, y_vj the same for features, and z_eij that edge e carries W_ij:

    Σ_j z_eij = x_ui,  Σ_i z_eij = y_vj   for e = (u, v)

which makes z the product at every integer point. Where rules cut a register into groups, each group has connected
positions of its own (`block_positions`), and items that the rules settle have those that are left: x_ui = 0 elsewhere.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits.mixers import edges_inside
from biselect_quantum.devices._block_positions import block_labels, item_labels
from biselect_quantum.devices.device_errors import Edge
from biselect_quantum.devices.patches import Patch

Order = tuple[NDArray[np.int64], NDArray[np.int64]]
Fits = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Of samples and of features: (position, item), whether the item may sit there."""

CLIMBS = 32
PRECISION = 1e-9  # of a proof, relative to the mass
UNITS = 1e3  # HiGHS is sure of 1e-6 in its own units; so many of them make the largest weight


@dataclass(frozen=True, kw_only=True, eq=False)
class Placement:
    """Where every sample and every feature sits: `P` of the paper. Nothing but the patch changes its order.

    Attributes:
        patch: the patch whose position i is the problem's own item i. Masks, mixer edges and layouts that are made from
            it are in the order of the problem, and so is all that a circuit on it measures.
        mass: `Σ |W|` on the cross edges.
        bound: no placement has more (under rules, none with the groups in the same parts of the patch); the mass itself
            where that is proven, to within 1e-9 of it.
        seconds: what it took.
    """

    patch: Patch
    mass: float
    bound: float
    seconds: float = 0.0

    @property
    def gap(self) -> float:
        """Relative distance of the mass from its bound; 0 when proven."""
        return max(0.0, self.bound - self.mass) / max(abs(self.mass), 1e-300)

    @property
    def proven_optimal(self) -> bool:
        """Whether no placement has more mass."""
        return self.mass >= self.bound


def place(
    problem: SelectionProblem, patch: Patch, *, time_limit: float = 30.0, seed: int | np.random.Generator | None = 0
) -> Placement:
    """Place the variables so that the patch's cross edges carry the most mass, by a mixed-integer linear program.

    Couplings of items that the rules settle need no edge and count for nothing here.

    Args:
        problem: whose couplings are placed.
        patch: where.
        time_limit: seconds for the proof, 0 for none; after that the best found is returned, with a bound. Heavy-hex
            patches need a second or so; a square lattice with dozens of cross edges is out of reach.
        seed: of the climbs that look for a good placement beforehand.

    Returns:
        The patch with its qubits in the order of the problem's items, its mass Σ|W| on cross edges, and a bound on any
        other.
    """
    begin = time.perf_counter()
    n, d = problem.n_samples, problem.n_features
    if (patch.n_samples, patch.n_features) != (n, d):
        raise InputError(
            f"the patch holds {patch.n_samples} samples and {patch.n_features} features, the problem has {n} and {d}"
        )
    cross = patch.cross_edges
    weights = np.abs(problem.coupling.astype(np.float64))
    if problem.sample_rules or problem.feature_rules:
        for side, weight in zip(problem.sector.blocks, (weights, weights.T), strict=True):
            weight[np.setdiff1d(np.arange(len(weight)), side.moving)] = 0.0
    if len(cross) == n * d and _keeps_blocks(problem, patch):  # every coupling is carried, wherever it is
        mass = float(weights.sum())
        return Placement(patch=patch, mass=mass, bound=mass)
    fits = _fits(problem, patch)
    worth = _compress_outliers(weights, len(cross))
    order = _climb(worth, cross, fits, np.random.default_rng(seed))
    bound = float(np.sort(worth, axis=None)[::-1][: len(cross)].sum())  # the heaviest pairs, wherever they are
    if time_limit > 0 and not _meets(mass_on_edges(worth, cross, *order), bound):
        theirs, dual = _solve(worth, cross, fits, time_limit)
        bound = min(bound, dual)
        order = max(order, theirs or order, key=lambda each: mass_on_edges(worth, cross, *each))
    mass = mass_on_edges(weights, cross, *order)
    proven = _meets(mass_on_edges(worth, cross, *order), bound)
    seats = zip((patch.samples, patch.features), order, strict=True)
    return Placement(
        patch=patch.reordered(*(np.array(side)[np.argsort(items)].tolist() for side, items in seats)),
        mass=mass,
        bound=mass if proven else max(mass, bound + float((weights - worth).sum())),
        seconds=time.perf_counter() - begin,
    )


def _keeps_blocks(problem: SelectionProblem, patch: Patch) -> bool:
    """Whether no mixer edge of the patch leads out of a block that rules make, with the items in their own order."""
    if not (problem.sample_rules or problem.feature_rules):
        return True
    sides = zip((patch.sample_edges, patch.feature_edges), problem.sector.blocks, strict=True)
    return all(edges_inside(edges, blocks) == tuple(edges) for edges, blocks in sides)


def _fits(problem: SelectionProblem, patch: Patch) -> Fits:
    """Which sample may sit at which position, (position, sample), and the same for features."""
    n, d = problem.n_samples, problem.n_features
    if not (problem.sample_rules or problem.feature_rules):
        return np.ones((n, n), dtype=bool), np.ones((d, d), dtype=bool)
    fits = []
    sides = (("sample", n, patch.sample_edges), ("feature", d, patch.feature_edges))
    for number, ((what, size, edges), blocks) in enumerate(zip(sides, problem.sector.blocks, strict=True)):
        ends = {edge[number] for edge in patch.cross_edges}
        labels = block_labels(edges, size, blocks, ends, what)
        fits.append(labels[:, None] == item_labels(size, blocks))
    return fits[0], fits[1]


def _meets(mass: float, bound: float) -> bool:
    return bound <= mass * (1 + PRECISION)


def _compress_outliers(weights: NDArray[np.float64], edges: int) -> NDArray[np.float64]:
    """Weights with the same best placements, and no outlier that drowns the others in a solver's tolerance.

    A weight above the `edges` next ones together decides before all of them; twice their sum does so too. This holds
    down the list as long as every weight outweighs what follows.
    """
    order = np.argsort(-weights, axis=None, kind="stable")
    sizes = weights.ravel()[order]
    rest = np.array([sizes[place + 1 : place + 1 + edges].sum() for place in range(min(edges, sizes.size))])
    ruling = int(np.logical_and.accumulate((sizes[: rest.size] > rest) & (rest > 0)).sum())
    for place in reversed(range(ruling)):
        sizes[place] = min(sizes[place], 2 * sizes[place + 1 : place + 1 + edges].sum())
    tamed = np.empty_like(sizes)
    tamed[order] = sizes
    return tamed.reshape(weights.shape)


def mass_on_edges(weights: NDArray[np.float64], cross: Sequence[Edge], samples: Any, features: Any) -> float:
    """Weight on the cross edges."""
    return float(sum(weights[samples[u], features[v]] for u, v in cross))


def _climb(weights: NDArray[np.float64], cross: Sequence[Edge], fits: Fits, rng: np.random.Generator) -> Order:
    """The best of several climbs; with one side settled, the other is an assignment problem, solved exactly."""
    n, d = weights.shape
    adjacent = np.zeros((n, d))
    adjacent[tuple(np.array(cross).T)] = 1
    best, best_mass = (_assigned(np.zeros((n, n)), fits[0]), _assigned(np.zeros((d, d)), fits[1])), -1.0
    for _ in range(CLIMBS):
        samples, features, mass = best[0], _shuffled(best[1], fits[1], rng), -1.0
        while True:
            samples = _assigned(adjacent @ weights[:, features].T, fits[0])  # (position u, sample i): Σ_v W[i, π_F(v)]
            features = _assigned(adjacent.T @ weights[samples], fits[1])
            now = mass_on_edges(weights, cross, samples, features)
            if now <= mass * (1 + 1e-12):
                break
            mass = now
        if mass > best_mass:
            best, best_mass = (samples, features), mass
    return best


def _assigned(gains: NDArray[np.float64], fits: NDArray[np.bool_]) -> NDArray[np.int64]:
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(np.where(fits, gains, -np.inf), maximize=True)[1].astype(np.int64)


def _shuffled(order: NDArray[np.int64], fits: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """Items at random among the positions that they may take."""
    if fits.all():
        return rng.permutation(order.size)
    return _assigned(rng.random(fits.shape), fits)


def _solve(
    weights: NDArray[np.float64], cross: Sequence[Edge], fits: Fits, time_limit: float
) -> tuple[Order | None, float]:
    """What HiGHS finds in time, if anything, and its bound."""
    import scipy.optimize

    n, d = weights.shape
    ends = [sorted({edge[side] for edge in cross}) for side in (0, 1)]
    unit = (float(weights.max()) or 1.0) / UNITS
    rows, low, high = _constraints(n, d, cross, ends)
    decided = len(ends[0]) * n + len(ends[1]) * d
    may = np.ones(decided + len(cross) * n * d)
    may[:decided] = np.concatenate([fits[side][ends[side]].ravel() for side in (0, 1)])
    solution = scipy.optimize.milp(
        np.concatenate([np.zeros(decided), np.tile(-weights.ravel() / unit, len(cross))]),
        integrality=np.concatenate([np.ones(decided), np.zeros(len(cross) * n * d)]),
        bounds=scipy.optimize.Bounds(0.0, may),
        constraints=scipy.optimize.LinearConstraint(rows, low, high),
        options={"mip_rel_gap": 0.0, "time_limit": time_limit},
    )
    dual = solution.get("mip_dual_bound")
    bound = np.inf if dual is None else -unit * float(dual)
    if solution.x is None:
        return None, bound
    x, y = np.split(solution.x[:decided], [len(ends[0]) * n])
    samples, features = x.reshape(-1, n).argmax(axis=1), y.reshape(-1, d).argmax(axis=1)
    return (_filled(fits[0], ends[0], samples), _filled(fits[1], ends[1], features)), bound


def _constraints(n: int, d: int, cross: Sequence[Edge], ends: list[list[int]]) -> Any:
    """Matrix, lower and upper sides over x, y and z, in this order."""
    from scipy.sparse import block_array, eye_array, kron

    u, v, edges = len(ends[0]), len(ends[1]), len(cross)
    ends_of = [np.array([[edge[side] == end for end in ends[side]] for edge in cross], dtype=float) for side in (0, 1)]
    rows = [
        [kron(eye_array(u), np.ones((1, n))), None, None],  # every position has one item
        [kron(np.ones((1, u)), eye_array(n)), None, None],  # every item one position at most
        [None, kron(eye_array(v), np.ones((1, d))), None],
        [None, kron(np.ones((1, v)), eye_array(d)), None],
        [-kron(ends_of[0], eye_array(n)), None, kron(eye_array(edges), kron(eye_array(n), np.ones((1, d))))],
        [None, -kron(ends_of[1], eye_array(d)), kron(eye_array(edges), kron(np.ones((1, n)), eye_array(d)))],
    ]
    sums = np.zeros(edges * (n + d))
    low = np.concatenate([np.ones(u), np.zeros(n), np.ones(v), np.zeros(d), sums])
    return block_array(rows, format="csr"), low, np.concatenate([np.ones(u + n + v + d), sums])


def _filled(fits: NDArray[np.bool_], ends: Sequence[int], items: NDArray[np.int64]) -> NDArray[np.int64]:
    """A permutation with the decided items at their positions and all others in ascending order where they fit."""
    order = np.full(len(fits), -1)
    order[list(ends)] = items
    free = np.setdiff1d(np.arange(len(fits)), items).tolist()
    for position in np.flatnonzero(order < 0).tolist():
        order[position] = next(item for item in free if fits[position, item])
        free.remove(order[position])
    return order
