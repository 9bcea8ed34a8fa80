"""The `qaoa` solver where no state of the sector fits: a sparse circuit, a warm start, shots of the wide sampler.

The cost keeps all marginals but only a few products, those of the largest weights, so that the state has few bond
states and shots of it are exact; every shot is judged by the dense energy. It starts from the greedy choice. That start
does most of the work, and `info` says how much was added to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.samples import Samples
from biselect.errors import InputError
from biselect.qaoa.angle_selection import WideShots
from biselect.qaoa.cost_groups import surrogate
from biselect.qaoa.spec import AnsatzSpec
from biselect.qaoa.starts import Choice, start_choice
from biselect.qaoa.training.initial_angles import ramp, units
from biselect.simulate.wide.chain import BondLimitError
from biselect.solvers.greedy import greedy
from biselect.solvers.registry import Answer, Run

COUPLINGS = 10  # products kept in the cost, none at the same sample or feature
MAX_BOND = 128  # bond states; at (60, 40, 10, 8) a circuit of these takes a fraction of a second
EVALUATIONS = 24  # circuits tried at most
FEW = 384  # shots of each: the paper's
TAIL = 0.05
HEIGHTS = (0.5, 0.25)
STEP, SHORTER = 0.3, 0.8


def by_wide_sampler(
    problem: SelectionProblem,
    run: Run,
    *,
    depth: int,
    schedule: str,
    mixer: str,
    start: str,
    shots: int,
    evaluations: int,
) -> Answer:
    """Try a few angles, measure with the best, keep the best choice of all shots; see `solver.qaoa` for arguments.

    Where an exact state of `depth` layers needs more bond states than are allowed, fewer layers are taken. A deadline
    is looked at between circuits, each of which may take seconds.
    """
    seed = run.seed if isinstance(run.seed, int) else int(run.rng().integers(2**62))
    rng = np.random.default_rng(seed)
    begin = _begin(problem, run, start, rng)
    draw, layers = _deepest(problem, run, depth, schedule, mixer, begin)
    best, seen = (begin, problem.energy(*begin)), [0]

    def measured(angles: NDArray[np.float64], count: int) -> Samples:
        nonlocal best
        found = draw(begin, angles, count, int(rng.integers(1 << 31)))
        seen[0] += count
        samples, features, energy = found.best
        if energy < best[1]:
            best = (samples.tolist(), features.tolist()), energy
            run.improved(seen[0], energy)
        return found

    run.improved(0, best[1])
    tries = min(evaluations, EVALUATIONS)
    leader, value, step = ramp(draw.spec, HEIGHTS[0], 1), np.inf, STEP
    first = [ramp(draw.spec, height, sign) for height in HEIGHTS for sign in (1, -1)]
    done = 0
    while done < tries and not (done and run.expired()):
        angles = first[done] if done < len(first) else leader + step * rng.normal(size=len(leader)) * units(draw.spec)
        try:
            found = _tail(measured(angles, FEW), begin)
        except BondLimitError:  # angles near zero need fewer bond states than others
            found = np.inf
        if found < value:
            leader, value = angles, found
        else:
            step *= SHORTER
        done += 1
        run.report(0.9 * done / tries, best[1])
    last = measured(leader, shots)
    (samples, features), energy = best
    run.report(1.0, energy)
    kept = min(COUPLINGS, *problem.coupling.shape)
    origin = "the greedy choice" if start == "dicke" else f"a {start} choice"
    notes = [
        f"the sector does not fit into memory: this is a sparse circuit from {origin}, not the whole ansatz; "
        f"its cost keeps {kept} of {problem.coupling.size} products"
    ]
    if layers < depth:
        notes.append(f"p = {layers}: more layers need more than {MAX_BOND} bond states, or there was no time to try")
    if energy >= problem.energy(*begin):
        notes.append("no shot was better than the start: the answer is the start")
    by_chance = _chance(problem, seen[0], rng)
    if by_chance < energy:
        notes.append("as many uniform feasible choices found a better one")
    info: dict[str, Any] = {
        "method": "wide sampler",
        "depth": layers,
        "schedule": schedule,
        "angles": dict(zip(draw.spec.schedule.angle_names, leader.tolist(), strict=True)),
        "evaluations": done,
        "shots": seen[0],
        "largest_bond": draw.largest_bond,
        "start_energy": problem.energy(*begin),
        "hit_rate": last.hit_rate(energy),
        "random_energy": by_chance,
        "notes": notes,
    }
    return Answer(samples=np.array(samples), features=np.array(features), info=info)


def _begin(problem: SelectionProblem, run: Run, start: str, rng: np.random.Generator) -> Choice:
    """The greedy choice in place of `dicke`, whose uniform state has too many bond states; others as they are."""
    if start != "dicke":
        return start_choice(problem, start, rng)
    answer = greedy(problem, Run(seed=0, deadline=run.deadline))
    return sorted(answer.samples.tolist()), sorted(answer.features.tolist())


def _deepest(
    problem: SelectionProblem, run: Run, depth: int, schedule: str, mixer: str, begin: Choice
) -> tuple[WideShots, int]:
    """Shots of the deepest circuit, up to `depth`, that has few enough bond states; of one layer when time is up."""
    groups = surrogate(problem, _heaviest_products(problem.coupling))
    for layers in range(depth, 0, -1):
        if layers > 1 and run.expired():
            continue
        spec = AnsatzSpec(problem, layers, schedule, mixer, begin, groups=groups)
        draw = WideShots(spec, max_bond=MAX_BOND)
        try:
            draw(begin, ramp(draw.spec, HEIGHTS[0], 1), 1, 0)
        except BondLimitError:
            continue
        return draw, layers
    raise InputError(
        f"solver 'qaoa': the sector does not fit into memory, and one layer of mixer {mixer!r} needs more than "
        f"{MAX_BOND} bond states; take mixer 'path', or solver 'auto', which needs none of that"
    )


def _heaviest_products(coupling: NDArray[np.floating[Any]]) -> list[tuple[int, int]]:
    """Pairs of the largest weights by size, no two with the same sample or feature."""
    left = np.abs(coupling).astype(np.float64)
    kept = []
    for _ in range(min(COUPLINGS, *left.shape)):
        i, j = divmod(int(left.argmax()), left.shape[1])
        kept.append((i, j))
        left[i], left[:, j] = -1.0, -1.0
    return kept


def _tail(found: Samples, begin: Choice) -> float:
    """CVaR of the shots that left the start: with it, standing still would win."""
    stayed = (found.samples == begin[0]).all(axis=1) & (found.features == begin[1]).all(axis=1)
    energies = np.repeat(found.energies[~stayed], found.counts[~stayed])
    return float(energies[: max(1, round(TAIL * len(energies)))].mean()) if len(energies) else np.inf


def _chance(problem: SelectionProblem, shots: int, rng: np.random.Generator) -> float:
    """The best of as many uniform feasible choices."""
    samples, features = (
        np.argsort(rng.random((shots, n)), axis=1)[:, :count]
        for n, count in ((problem.n_samples, problem.k), (problem.n_features, problem.m))
    )
    return float(problem.energies(samples, features).min())
