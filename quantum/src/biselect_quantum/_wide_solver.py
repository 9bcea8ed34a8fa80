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
from biselect.errors import InputError
from biselect.options import spell
from biselect.solvers.local_search import coordinate_ascent, greedy
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import top
from biselect_quantum.circuits.angle_selection import WideShots
from biselect_quantum.circuits.cost_groups import surrogate
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Choice, start_choice
from biselect_quantum.circuits.training.first_angles import ramp, units
from biselect_quantum.shots import Samples
from biselect_quantum.simulate.limits import PART, OutOfTimeError, StopCheck, never_stop
from biselect_quantum.simulate.wide import BondLimitError
from biselect_quantum.uniform import uniform_choices

COUPLINGS = 10  # products kept in the cost, none at the same sample or feature
MAX_BOND = 128  # bond states; at (60, 40, 10, 8) a circuit of these takes a fraction of a second
EVALUATIONS = 24  # circuits tried at most
FEW = 384  # shots of each: the paper's
TAIL = 0.05
HEIGHTS = (0.5, 0.25)
STEP, SHORTER = 0.3, 0.8
LAST = 0.2  # share of the time limit for the last measurement


def by_wide_sampler(
    problem: SelectionProblem,
    run: Run,
    look: StopCheck = never_stop,
    *,
    depth: int,
    schedule: str,
    mixer: str,
    start: str,
    shots: int,
    evaluations: int,
) -> Answer:
    """Try a few angles, measure with the best, keep the best choice of all shots; see `solver.qaoa` for arguments.

    Where an exact state of `depth` layers needs more bond states than are allowed, fewer layers are taken. Where `look`
    gives up on the way, the best choice until then is the answer.
    """
    seed = run.seed if isinstance(run.seed, int) else int(run.rng().integers(2**62))
    rng = np.random.default_rng(seed)
    begin = _begin(problem, run, start, rng)
    best, shots_drawn = (begin, problem.energy(*begin)), 0
    run.improved(0, best[1])
    products = min(COUPLINGS, *problem.coupling.shape)
    origin = "the greedy choice" if start == "dicke" else f"a {start} choice"
    notes = [
        f"the sector does not fit into memory: this is a sparse circuit from {origin}, not the whole ansatz; "
        f"its cost keeps {products} of {problem.coupling.size} products"
    ]
    info: dict[str, Any] = {
        "method": "wide sampler",
        "schedule": schedule,
        "evaluations": 0,
        "start_energy": best[1],
        "notes": notes,
    }

    def measured(angles: NDArray[np.float64], count: int) -> Samples:
        nonlocal best, shots_drawn
        samples_drawn = draw(begin, angles, count, int(rng.integers(1 << 31)))
        shots_drawn += count
        samples, features, energy = samples_drawn.best
        if energy < best[1]:
            best = (samples.tolist(), features.tolist()), energy
            run.improved(shots_drawn, energy)
        return samples_drawn

    try:
        draw, info["depth"] = _deepest(problem, look, depth, schedule, mixer, begin)
        if info["depth"] < depth:
            notes.append(f"p = {info['depth']}: more layers need more than {MAX_BOND} bond states")
        leader, value, step = ramp(draw.spec, HEIGHTS[0], 1), np.inf, STEP
        first = [ramp(draw.spec, height, sign) for height in HEIGHTS for sign in (1, -1)]
        tries, last_part = min(evaluations, EVALUATIONS), run.after(1 - LAST)
        while (tried := info["evaluations"]) < tries and not (tried and run.now() >= last_part):
            angles = (
                first[tried] if tried < len(first) else leader + step * rng.normal(size=leader.size) * units(draw.spec)
            )
            try:
                cvar = _tail(measured(angles, FEW), begin)
            except BondLimitError:  # angles near zero need fewer bond states than others
                cvar = np.inf
            if cvar < value:
                leader, value = angles, cvar
            else:
                step *= SHORTER
            info["evaluations"] += 1
            info["angles"] = dict(zip(draw.spec.schedule.angle_names, leader.tolist(), strict=True))
            info["largest_bond"] = draw.largest_bond
            run.report(0.9 * info["evaluations"] / tries, best[1])
        last = measured(leader, shots)
        info["hit_rate"] = last.hit_rate(best[1])
        info["random_energy"] = _chance(problem, shots_drawn, rng, look)
        if info["random_energy"] < best[1]:
            notes.append("as many uniform feasible choices found a better one")
    except OutOfTimeError:
        notes.append("time was up before all was measured")
    (samples, features), energy = best
    run.report(1.0, energy)
    if energy >= info["start_energy"]:
        notes.append("no shot was better than the start: the answer is the start")
    return Answer(samples=np.array(samples), features=np.array(features), info={**info, "shots": shots_drawn})


def _begin(problem: SelectionProblem, run: Run, start: str, rng: np.random.Generator) -> Choice:
    """The greedy choice in place of `dicke`, whose uniform state has too many bond states; others as they are."""
    if start != "dicke":
        return start_choice(problem, start, rng)
    limited = problem.sample_rules.has_limits or problem.feature_rules.has_limits  # greedy knows none
    answer = (coordinate_ascent if limited else greedy)(problem, Run(seed=0, deadline=run.deadline))
    return sorted(answer.samples.tolist()), sorted(answer.features.tolist())


def _deepest(
    problem: SelectionProblem, look: StopCheck, depth: int, schedule: str, mixer: str, begin: Choice
) -> tuple[WideShots, int]:
    """Shots of the deepest circuit, up to `depth`, that has few enough bond states."""
    groups = surrogate(problem, _heaviest_products(problem, look))
    for layers in range(depth, 0, -1):
        look()
        spec = AnsatzSpec(problem, layers, schedule, mixer, begin, groups=groups)
        draw = WideShots(spec, max_bond=MAX_BOND, look=look)
        try:
            draw(begin, ramp(draw.spec, HEIGHTS[0], 1), 1, 0)
        except BondLimitError:
            continue
        return draw, layers
    raise InputError(
        f"solver 'qaoa': the sector does not fit into memory, and one layer of mixer {mixer!r} needs more than "
        f"{MAX_BOND} bond states; take {spell(solver='auto')}, which needs none of that"
    )


def _heaviest_products(problem: SelectionProblem, look: StopCheck = never_stop) -> list[tuple[int, int]]:
    """Pairs of the largest weights by size, no two with the same sample or feature; the first in order on a tie.

    Whatever was taken before, one of the heaviest few of a column is still free.
    """
    count = min(COUPLINGS, *problem.coupling.shape)
    candidates: list[tuple[float, int, int]] = []
    for j, column in enumerate(problem.columns):
        look()
        sizes = np.abs(column)
        candidates += [(-float(sizes[i]), int(i), j) for i in top(sizes, count)]
    heaviest: list[tuple[int, int]] = []
    for _, i, j in sorted(candidates):
        if len(heaviest) < count and all(i != row and j != line for row, line in heaviest):
            heaviest.append((i, j))
    return heaviest


def _tail(shots: Samples, begin: Choice) -> float:
    """CVaR of the shots that left the start: with it, standing still would win."""
    stayed = (shots.samples == begin[0]).all(axis=1) & (shots.features == begin[1]).all(axis=1)
    energies = np.repeat(shots.energies[~stayed], shots.counts[~stayed])
    return float(energies[: max(1, round(TAIL * len(energies)))].mean()) if len(energies) else np.inf


def _chance(problem: SelectionProblem, shots: int, rng: np.random.Generator, look: StopCheck = never_stop) -> float:
    """The best of as many uniform feasible choices."""
    lowest, at_once = np.inf, max(1, PART // (problem.n_samples + problem.n_features + problem.k * problem.m))
    for begin in range(0, shots, at_once):
        look()
        samples, features = uniform_choices(problem, min(at_once, shots - begin), rng)
        lowest = min(lowest, float(problem.energies(samples, features).min()))
    return lowest
