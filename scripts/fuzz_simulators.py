"""Random circuits on every simulator, against slower ones: the fuzzer's target `simulators`.

A case is drawn as plain data, so that one which fails is saved and can be run again. NumPy's backend is the twin of all
others, and on few qubits the whole vector, gate by gate, is the twin of NumPy's. The buffers of compiled kernels stand
beside pages that nobody may touch (`fenced`): a kernel that reads or writes beyond its own ends the process.
"""

from __future__ import annotations

import ctypes
import json
import mmap
from functools import cache
from random import Random
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.rules import Rules
from biselect.errors import BiselectError, MissingDependencyError
from biselect_quantum.circuits import SCHEDULES, Ansatz, Observable, Schedule, split_terms, surrogate
from biselect_quantum.simulate.layers import energy_scale
from biselect_quantum.simulate.states import dense_vector
from biselect_quantum.simulate.wide import BondLimitError, WideSampler

MOST_CHOICES = 4000  # of a sector: NumPy's gradient of the largest takes some milliseconds a layer
MOST_QUBITS = 11  # of a whole vector
MOST_WIDE = 600  # choices whose amplitudes are read from a matrix product state
CALLS = ("state", "expectation", "gradient", "sample", "other depth", "copy")
SINGLE, DOUBLE = 3e-5, 1e-10  # how near the precisions come, in units of what is measured


# Drawing


def drawn(rng: Random) -> dict[str, Any]:
    """A case as plain data: a problem with rules, a circuit, observables, angles, and what is called in which order."""
    while True:
        sides = [_side(rng, most) for most in rng.choice([(6, 5), (9, 7), (16, 12)])]
        size = 1
        for side in sides:
            size *= Rules(**side["rules"]).checked(side["n"], side["budget"], "items").count(side["n"], side["budget"])
        if size <= (MOST_CHOICES if rng.random() < 0.3 else 300):
            break
    mixer = "grover" if rng.random() < 0.12 else [_mixer(rng, side) for side in sides]
    starts = ["dicke", "dicke", "state", "real state", "product"]
    starts += [] if mixer == "grover" else ["canonical", "random", "choice", "turned basis state"]
    return {
        "sides": sides,
        "numbers": rng.getrandbits(32),
        "weights": rng.choice(["normal", "normal", "decimal", "whole", "equal", "none", "far from zero", "float32"]),
        "scale": rng.choice([1.0, 1.0, 1.0, 2.0**-30, 2.0**20]),
        "coupling_weight": rng.choice([1.0, 1.0, 0.3, 0.0]),
        "mixer": mixer,
        "start": rng.choice(starts),
        "depth": rng.choice([1, 1, 2, 2, 3, 4, 5]),
        "schedule": rng.choice([*SCHEDULES, "any"]),
        "groups": rng.choice(["components", "components", "split", "surrogate"]),
        "angles": rng.choice(["special", "special", "mixed", "mixed", "any", "large"]),
        "observables": rng.sample(["energy", "hit", "no hit", "all hits", "excess", "cvar", "values"], 2),
        "share": rng.choice([1e-3, 0.05, 0.3, 1.0]),
        "dtype": rng.choice(["complex128", "complex128", "complex64"]),
        "threads": rng.choice([1, 1, 1, 2, 3]),
        "fence": rng.choice(["behind", "behind", "before"]),
        "calls": rng.choices(CALLS, k=rng.randint(3, 6)),
    }


def _side(rng: Random, most: int) -> dict[str, Any]:
    """One register: length, budget, rules that leave a product of blocks, and those blocks."""
    n = rng.choice([1, 2, 3, *range(1, most + 1), *range(1, most + 1)])
    budget = rng.choice([1, n, rng.randint(1, n), max(1, n // 2), max(1, n // 2)])
    chosen = set(rng.sample(range(n), budget))
    others = set(range(n)) - chosen
    rules: dict[str, Any] = {}
    if rng.random() < 0.35:  # some at one end of the register, where a table by the largest item would be too short
        end = range(n - rng.randint(1, n), n) if rng.random() < 0.6 else range(rng.randint(1, n))
        rules["forced_out"] = sorted(others & set(end))
    elif rng.random() < 0.5:
        rules["forced_out"] = sorted(rng.sample(sorted(others), rng.randint(0, len(others))))
    if rng.random() < 0.4:
        rules["forced_in"] = sorted(rng.sample(sorted(chosen), rng.choice([0, 1, budget, rng.randint(0, budget)])))
    if rng.random() < 0.4:
        left, groups = rng.sample(range(n), rng.randint(1, n)), []
        while left:
            size = rng.choice([1, 2, 3, len(left), rng.randint(1, len(left))])
            members, left = sorted(left[:size]), left[size:]
            groups.append({"members": members, "exactly": len(chosen.intersection(members))})
        if sum(len(group["members"]) for group in groups) == n and rng.random() < 0.3:
            for group in groups:  # reached by every choice, so that it says the same
                group["at_most"] = group.pop("exactly")
        rules["groups"] = groups
    blocks = Rules(**rules).checked(n, budget, "items").blocks(n, budget, "items")
    return {"n": n, "budget": budget, "rules": rules, "parts": [list(members) for members, _ in blocks.parts]}


def _mixer(rng: Random, side: dict[str, Any]) -> Any:
    """A name, some edges inside the blocks, or classes of them in any order."""
    kind = rng.choice(["ring", "ring", "path", "complete", "edges", "classes", "none"])
    if kind not in ("edges", "classes"):
        return [] if kind == "none" else kind
    blocks = side["parts"] if any(side["rules"].values()) else [list(range(side["n"]))]
    pairs = [rng.sample([i, j], 2) for block in blocks for i in block for j in block if i < j and rng.random() < 0.6]
    rng.shuffle(pairs)
    return [sorted(pair) for pair in pairs] if kind == "edges" else [[pair] for pair in pairs]


# Building


def make_problem(case: dict[str, Any], rng: np.random.Generator) -> SelectionProblem:
    """The problem of a case."""
    (n, d), kind = (side["n"] for side in case["sides"]), case["weights"]
    parts = [rng.normal(size=shape) for shape in ((n, d), n, d)]
    if kind in ("decimal", "whole"):
        parts = [np.round(part, 1 if kind == "decimal" else 0) for part in parts]
    elif kind in ("equal", "none"):
        parts = [np.full_like(part, 0.7 if kind == "equal" else 0.0) for part in parts]
    elif kind == "far from zero":
        parts = [part + 100 for part in parts]
    coupling, samples, features = (case["scale"] * part for part in parts)
    return SelectionProblem(
        coupling=coupling.astype(np.float32) if kind == "float32" else coupling,
        sample_scores=samples,
        feature_scores=features,
        k=case["sides"][0]["budget"],
        m=case["sides"][1]["budget"],
        coupling_weight=case["coupling_weight"],
        sample_rules=case["sides"][0]["rules"],
        feature_rules=case["sides"][1]["rules"],
    )


def make_circuit(case: dict[str, Any], problem: SelectionProblem, rng: np.random.Generator) -> dict[str, Any]:
    """What `Ansatz` takes beside the problem and the simulator."""
    n, d = problem.coupling.shape
    groups = None
    if case["groups"] == "split":
        groups = split_terms(problem, rng.integers(0, rng.integers(1, 4), size=n + d + n * d))
    elif case["groups"] == "surrogate":
        groups = surrogate(problem, [(i, j) for i in range(n) for j in range(d) if rng.random() < 0.3])
    schedule: Any = case["schedule"]
    if schedule == "any":
        count = 3 if groups is None else len(groups)
        matrix = rng.normal(size=(case["depth"], count + 1, rng.integers(1, 6)))
        schedule = Schedule(name="any", matrix=matrix, angle_names=tuple(f"x{i}" for i in range(matrix.shape[2])))
    elif schedule == "bilinear" and case["groups"] == "split":
        schedule = "fully-grouped"
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    start: Any = case["start"]
    if start == "state":
        start = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    elif start == "real state":
        start = rng.normal(size=shape).astype(np.float32)
    elif start == "product":
        start = np.outer(rng.normal(size=shape[0]), rng.normal(size=shape[1])).astype(np.complex64)
    elif start == "turned basis state":
        start = np.zeros(shape, dtype=complex)
        start[rng.integers(shape[0]), rng.integers(shape[1])] = np.exp(2j)
    elif start == "choice":
        from biselect_quantum.circuits.starts import start_choice

        start = start_choice(problem, "random", int(rng.integers(100)))
    if isinstance(start, np.ndarray):
        start = start / np.linalg.norm(start)
    mixer = case["mixer"] if case["mixer"] == "grover" else tuple(case["mixer"])
    return {"depth": case["depth"], "schedule": schedule, "mixer": mixer, "start": start, "groups": groups}


def make_angles(case: dict[str, Any], ansatz: Ansatz, rng: np.random.Generator) -> Any:
    """Two vectors of angles; γ in units of the weights, exact multiples of π/4 with weight."""
    angles = rng.normal(size=(2, ansatz.size))
    turns = rng.integers(-8, 9, size=angles.shape) * (np.pi / 4)
    share = {"special": 1.0, "mixed": 0.5}.get(case["angles"], 0.0)
    angles = np.where(rng.random(angles.shape) < share, turns, angles)
    if case["angles"] == "large":
        angles *= 100
    angles[:, ["γ" in name for name in ansatz.schedule.angle_names]] /= case["scale"]
    return angles


def make_observable(kind: str, case: dict[str, Any], energies: Any, rng: np.random.Generator) -> Observable:
    """An observable; a threshold lies well between two energies, so that no rounding decides."""
    levels = np.unique(energies)
    span = float(np.abs(energies).max()) + case["scale"]
    if kind == "cvar":
        return Observable(kind=kind, share=case["share"])
    if kind == "values":
        return Observable(kind=kind, values=rng.normal(size=energies.shape))
    if kind == "no hit":
        return Observable(kind="hit", threshold=float(levels[0]) - 0.1 * span)
    if kind == "all hits":
        return Observable(kind="hit", threshold=float(levels[-1]) + 0.1 * span)
    if kind == "energy":
        return Observable()
    gaps = np.flatnonzero(np.diff(levels) > 1e-3 * span)
    place = int(gaps[min(rng.geometric(0.3) - 1, len(gaps) - 1)]) if len(gaps) else len(levels) - 1
    above = levels[place + 1] if place + 1 < len(levels) else levels[place] + span
    return Observable(kind=kind, threshold=float(0.75 * levels[place] + 0.25 * above))


# Fences


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def fenced(count: int, real: Any, *, before: bool) -> Any:
    """So many zeroed cache lines, with a page that nobody may touch right behind them, or right before."""
    page, size = mmap.PAGESIZE, count * 64
    room = -(-size // page) * page
    held = mmap.mmap(-1, room + page)
    bytes_ = np.frombuffer(held, dtype=np.uint8)
    guard = bytes_.ctypes.data + (0 if before else room)
    if _libc().mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    first = page if before else room - size
    return bytes_[first : first + size].view(real)


def put_up_fences(before: bool) -> None:
    """From now on, kernels get buffers with fences."""
    from biselect_quantum.simulate import _compiled as compiled

    compiled.aligned_lines = lambda count, real: fenced(count, real, before=before)


# Twins


def whole_vector(ansatz: Ansatz, angles: Any, ideal: bool = False) -> Any:
    """The final state over all 2^(N + D) bit strings, gate by gate; `ideal`: all edges at once, in continuous time."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import expm_multiply

    spec, layers, n = ansatz.spec, ansatz.layers(angles), ansatz.samples.n
    shape = (len(ansatz.samples.subsets), len(ansatz.features.subsets))
    begin = spec.start_state
    begin = np.full(shape, 1 / np.sqrt(shape[0] * shape[1])) if begin is None else begin
    psi = dense_vector(begin.astype(np.complex128), ansatz.samples, ansatz.features)
    axis, places = psi / np.linalg.norm(psi), np.arange(psi.size)
    bits = (places[:, None] >> np.arange(n + ansatz.features.n)) & 1
    s, f = bits[:, :n], bits[:, n:]
    edges = [edge for part in spec.mixer[0] for edge in part]
    edges += [(n + i, n + j) for part in spec.mixer[1] for i, j in part]

    def hop(x: Any, edge: Any) -> Any:
        """What (XX + YY)/2 makes of a vector."""
        partner = places ^ (1 << edge[0]) ^ (1 << edge[1])
        return np.where(bits[:, edge[0]] != bits[:, edge[1]], x.ravel()[partner], 0)

    hops = csr_array((psi.size, psi.size), dtype=complex)
    for i, j in edges if ideal else ():
        here = np.flatnonzero(bits[:, i] != bits[:, j])
        hops += csr_array((np.ones(here.size), (here, here ^ (1 << i) ^ (1 << j))), shape=hops.shape)
    for layer in range(layers.depth):
        phase = s @ layers.sample[layer] + f @ layers.feature[layer]
        psi = psi * np.exp(1j * (phase + np.einsum("xi,ij,xj->x", s, layers.pair[layer], f)))
        beta = layers.mixing[layer]
        if spec.grover:
            psi = psi + (np.exp(-1j * beta) - 1) * np.vdot(axis, psi) * axis
        elif ideal:
            psi = expm_multiply(-1j * beta * hops, psi, traceA=0.0)
        else:
            for edge in edges:
                one = bits[:, edge[0]] != bits[:, edge[1]]
                psi = np.where(one, np.cos(beta) * psi, psi) - 1j * np.sin(beta) * hop(psi, edge)
    return psi


# Running


class DifferenceError(Exception):
    """A simulator gave another answer than its twin, or no number."""


class Case:
    """One case: the twin in double precision, and what is held against it."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case, rng = case, np.random.default_rng(case["numbers"])
        self.problem = make_problem(case, rng)
        self.circuit = make_circuit(case, self.problem, rng)
        self.twin = Ansatz(self.problem, backend="plain", **self.circuit)
        self.angles = make_angles(case, self.twin, rng)
        self.observables = [make_observable(kind, case, self.twin.energies, rng) for kind in case["observables"]]
        self.single = case["dtype"] == "complex64"
        layers = self.twin.layers(self.angles[0])
        turned = max(np.abs(part).max(initial=0.0) for part in vars(layers).values())
        pairs = self.problem.k * self.problem.m
        self.near = (SINGLE if self.single else DOUBLE) * (1 + self.twin.spec.depth) + 1e-14 * pairs * turned
        if isinstance(begin := self.circuit["start"], np.ndarray):  # single precision may be that far from a norm of 1
            self.near += 10 * abs(float(np.linalg.norm(begin.astype(np.complex128))) - 1)
        terms = max(np.abs(part).max() for part in (self.twin._sample_terms, self.twin._feature_terms))
        terms = max(terms, float(np.abs(self.twin._pair_terms).max()))
        free = np.abs(self.twin.schedule.matrix).sum(axis=(0, 1)).max(initial=1.0)
        self.slope = (1 + 3 * pairs * terms) * (1 + free) * len(self.twin.spec.groups)

    def run(self) -> None:
        """Everything that this case calls, on every backend that takes it."""
        self._hold_the_twin()
        gpu = not self.twin.spec.grover and self.single and _has_gpu()
        for backend in ["plain", "compiled"] + ["gpu"] * gpu:
            how = {"backend": backend, "dtype": self.case["dtype"], "threads": self.case["threads"]}
            ansatz = Ansatz(self.problem, **self.circuit, **how)
            for number, call in enumerate(self.case["calls"]):
                self._call(call, ansatz, self.twin, self.observables[number % 2])

    def _hold_the_twin(self) -> None:
        """NumPy's backend against the whole vector, differences, and a matrix product state."""
        twin, angles = self.twin, self.angles[0]
        state = twin.state(angles)
        near = self.near + 1e-9
        if twin.samples.n + twin.features.n <= MOST_QUBITS:
            self._same(
                dense_vector(state, twin.samples, twin.features), whole_vector(twin, angles), near, "whole vector"
            )
            if not twin.spec.grover:
                ideal = Ansatz(self.problem, backend="continuous", **self.circuit)
                found = dense_vector(ideal.state(angles), twin.samples, twin.features)
                self._same(found, whole_vector(twin, angles, ideal=True), near, "continuous mixer")
        if isinstance(twin.spec.start, tuple) and not twin.spec.grover and state.size <= MOST_WIDE:
            self._hold_wide(state, angles)

    def _hold_wide(self, state: Any, angles: Any) -> None:
        twin = self.twin
        bits = np.zeros((state.size, twin.samples.n + twin.features.n), dtype=np.int8)
        rows, columns = np.divmod(np.arange(state.size), state.shape[1])
        np.put_along_axis(bits, twin.samples.subsets[rows], 1, axis=1)
        np.put_along_axis(bits, twin.samples.n + twin.features.subsets[columns], 1, axis=1)
        try:
            wide = WideSampler(self.problem, twin.spec.program(angles), dtype=np.complex128, max_bond=256)
        except BondLimitError:
            return
        found = wide.amplitudes(bits)
        turn = np.vdot(found, state.ravel())
        self._same(found * turn / max(abs(turn), 1e-300), state.ravel(), self.near + 1e-9, "matrix product state")
        self._feasible(wide.sample(20, seed=1), "matrix product state")

    def _call(self, call: str, ansatz: Ansatz, twin: Ansatz, observable: Observable) -> None:
        where = f"{call} of {observable.kind}, {ansatz.backend} {ansatz.dtype}"
        angles, near = self.angles[:, : ansatz.size], self.near
        unit = self._unit(observable)
        if call == "state":
            self._same(ansatz.state(angles[-1]), twin.state(angles[-1]), near, where)
        elif call == "expectation":
            found = ansatz.expectation(angles[-1], observable)
            self._same(found, twin.expectation(angles[-1], observable), near * unit, where)
        elif call == "gradient":
            value, slopes = twin.value_and_gradient(angles[0], observable)
            found, gradient = ansatz.value_and_gradient(angles[0], observable)
            self._same(found, value, near * unit, where)
            self._same_slopes(gradient[None], slopes[None], angles[:1], twin, observable, where)
        elif call == "sample":
            self._feasible(ansatz.sample(angles[0], 20, seed=2), where)
        elif call == "copy":
            self._call("gradient", ansatz.with_own_simulator(), twin, observable)
        elif ansatz.schedule.name != "any":  # another depth on the same simulator, whose buffers have been used
            depth = 1 + ansatz.spec.depth % 4
            other, its_twin = ansatz.at_depth(depth), twin.at_depth(depth)
            if other.size <= angles.shape[1]:
                self._call("gradient", other, its_twin, observable)

    def _unit(self, observable: Observable) -> float:
        """The size of an observable's values."""
        if observable.kind in ("energy", "cvar", "excess"):
            size = energy_scale(self.problem) + abs(observable.threshold)  # terms that cancel leave their rounding
            return size / (observable.share if observable.kind == "cvar" else 1.0)
        return 1.0 if observable.values is None else float(np.abs(observable.values).max())

    def _same_slopes(
        self, found: Any, known: Any, angles: Any, twin: Ansatz, observable: Observable, where: str
    ) -> None:
        near = self.near * self._unit(observable) * self.slope * np.sqrt(twin.energies.size)
        for gradient, slopes, vector in zip(found, known, angles, strict=True):
            if observable.kind == "cvar" and self._at_a_step(twin, vector, observable.share):
                self._same(gradient * 0, gradient * 0, near, where)  # it has two gradients there; finite they must be
            else:
                self._same(gradient, slopes, near, f"slopes, {where}")

    def _at_a_step(self, twin: Ansatz, angles: Any, share: float) -> bool:
        """Whether rounding decides up to which energy the lowest share of the distribution reaches."""
        order = np.argsort(twin.energies, axis=None)
        reached = np.cumsum(twin.probabilities(angles).ravel()[order])
        return bool(np.abs(reached - share * reached[-1]).min() < 1e3 * self.near)

    def _feasible(self, shots: Any, where: str) -> None:
        pairs = zip(shots.samples, shots.features, strict=True)
        if shots.shots != 20 or not all(self.problem.obeys(*pair) for pair in pairs):
            raise DifferenceError(f"{where}: shots break budgets or rules")

    def _same(self, found: Any, known: Any, near: float, where: str) -> None:
        found, known = np.asarray(found), np.asarray(known)
        if found.shape != known.shape:
            raise DifferenceError(f"{where}: shape {found.shape} instead of {known.shape}")
        if not np.isfinite(found).all():
            raise DifferenceError(f"{where}: not finite")
        if found.size and (far := float(np.abs(found - known).max())) > near:
            raise DifferenceError(f"{where}: {far:.3g} away from its twin, {near:.3g} allowed")


@cache
def _has_gpu() -> bool:
    from biselect_quantum.simulate._gpu import require_cupy

    try:
        return bool(require_cupy().cuda.is_available())
    except MissingDependencyError:
        return False


def run_case(content: bytes) -> None:
    """Run a case from its JSON."""
    case = json.loads(content)
    put_up_fences(case["fence"] == "before")
    try:
        Case(case).run()
    except BiselectError as error:  # every case can be run
        raise DifferenceError(f"refused: {error}") from error


def whole_cases() -> list[bytes]:
    """Cases that make the compiler compile everything before a clock runs: both precisions, all calls."""
    case = drawn(Random(0)) | {"mixer": ["ring", "ring"], "depth": 2, "schedule": "fully-grouped"}
    case["sides"] = [{"n": n, "budget": 2, "rules": {}, "parts": [list(range(n))]} for n in (5, 4)]
    case |= {"weights": "normal", "scale": 1.0, "coupling_weight": 1.0, "groups": "components", "angles": "any"}
    case["calls"] = ["state", "expectation", "gradient"]
    different = [{"start": "dicke"}, {"start": "canonical"}, {"start": "dicke", "mixer": "grover", "depth": 1}]
    return [
        json.dumps(case | {"dtype": dtype, "observables": kinds, **other}).encode()
        for dtype in ("complex128", "complex64")
        for kinds in (["energy", "energy"], ["hit", "hit"], ["values", "cvar"])
        for other in different
    ]
