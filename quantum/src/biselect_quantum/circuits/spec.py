"""AnsatzSpec: which circuit is meant, checked once, for the simulator, the wide sampler and the compiler alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem, ising
from biselect.errors import InputError
from biselect_quantum import conventions
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.mixers import GROVER, block_classes, both_mixers, mixer_classes
from biselect_quantum.circuits.schedule import Schedule, exported, imported
from biselect_quantum.circuits.starts import Choice, Start, basis_state, checked_state, start_choice
from biselect_quantum.simulate.layers import Register
from biselect_quantum.simulate.program import RZ, RZZ, XY, Block, Classes, Edge, Op, Program, steps


@dataclass(frozen=True, init=False, eq=False)
class AnsatzSpec:
    """A CG-XY-QAOA circuit with its angles open.

    Args:
        problem: whose energy is measured. Items that its rules settle have no mixer edge, and groups of which exactly
            so many are chosen have a mixer each: no amplitude leaves the rules. Other limits are refused.
        depth: p, how many layers.
        schedule: a name (see `Schedule.named`) or a Schedule.
        mixer: `ring`, `path`, `complete`, or a pair (sample mixer, feature mixer) of names, edge lists (coloured here)
            or class lists. A list of classes is kept in its order, so classes of one edge each record any order.
            `grover` is exp(-iβ|s⟩⟨s|) with s the start, which must be a superposition; for simulators only.
        start: `dicke` (the tensor-Dicke state, uniform over what is allowed), `canonical`, `random`, a Selection or a
            choice (samples, features) (see `start_choice`); or, for simulators only, any state of the sector.
        groups: cost groups, one γ each; the paper's S, F and SF of the problem by default. They may belong to another
            objective than the measured one (a sparse surrogate, say). Groups of one name are told apart by a number.
        seed: for start `random`.

    Attributes:
        problem: whose energy is measured.
        schedule: from free angles to the angles of every layer.
        mixer: edge classes of both registers.
        start: the choice that it starts from, any state, or None for the tensor-Dicke state.
        groups: the cost groups.
        grover: whether Grover's mixer takes the place of the edges.

    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> program = AnsatzSpec(problem, 1, "tied", "path", "canonical").program()
    >>> program.angle_names, program.bits, program.edges("rzz"), program.edges("xy")
    (('γ', 'β'), (1, 0, 0, 1, 0), ((0, 3), (1, 4), (2, 3)), ((0, 1), (1, 2), (3, 4)))
    """

    problem: SelectionProblem
    schedule: Schedule
    mixer: tuple[Classes, Classes]
    start: Choice | NDArray[Any] | None
    groups: tuple[CostGroup, ...]
    grover: bool

    def __init__(
        self,
        problem: SelectionProblem,
        depth: int,
        schedule: str | Schedule = "fully-grouped",
        mixer: Any = "ring",
        start: Start = "dicke",
        *,
        groups: Sequence[CostGroup] | None = None,
        seed: int | np.random.Generator | None = 0,
    ) -> None:
        blocks = problem.sector.blocks  # refuses rules that no mixer keeps
        parts = components(problem) if groups is None else tuple(groups)
        if any(part.pair.shape != problem.coupling.shape for part in parts):
            raise InputError("every cost group must have the shape of the problem")
        names = tuple(part.name for part in parts)
        if len(set(names)) < len(names):
            names = tuple(f"{name}#{position}" for position, name in enumerate(names))
        plan = Schedule.named(schedule, depth, names) if isinstance(schedule, str) else schedule
        if plan.depth != depth or plan.groups != len(parts):
            raise InputError(
                f"the schedule is for depth {plan.depth} and {plan.groups} groups, "
                f"the circuit has depth {depth} and {len(parts)} groups"
            )
        begin: Any = None
        if isinstance(start, np.ndarray | list):
            begin = checked_state(problem, start)
        elif not (isinstance(start, str) and start == "dicke"):
            begin = start_choice(problem, start, seed)
        grover = isinstance(mixer, str) and mixer == GROVER
        if grover and isinstance(begin, tuple):
            raise InputError(
                "Grover's mixer turns about the start, and from a single choice it never moves; start from dicke or a "
                "state"
            )
        classes = tuple(
            () if grover else block_classes(side, n, free_blocks) if rules else mixer_classes(side, n)
            for side, n, rules, free_blocks in zip(
                both_mixers(mixer),
                problem.coupling.shape,
                (problem.sample_rules, problem.feature_rules),
                blocks,
                strict=True,
            )
        )
        checked = {
            "problem": problem,
            "schedule": plan,
            "mixer": classes,
            "start": begin,
            "groups": parts,
            "grover": grover,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # it is frozen from here on

    @property
    def depth(self) -> int:
        """p, the number of layers."""
        return self.schedule.depth

    @property
    def size(self) -> int:
        """Number of free angles."""
        return self.schedule.size

    @property
    def registers(self) -> tuple[Register, Register]:
        """Both sides as simulators take them."""
        problem = self.problem
        rules, free_blocks = (problem.sample_rules, problem.feature_rules), problem.sector.blocks
        samples, features = (
            Register(n=n, ones=budget, classes=classes, blocks=blocks if obeyed else None)
            for n, budget, classes, obeyed, blocks in zip(
                problem.coupling.shape, (problem.k, problem.m), self.mixer, rules, free_blocks, strict=True
            )
        )
        return samples, features

    @property
    def start_state(self) -> NDArray[Any] | None:
        """The amplitudes it starts from; None for the uniform ones."""
        if isinstance(self.start, tuple):
            return basis_state(self.problem, self.start)
        return self.start

    @property
    def axis(self) -> NDArray[Any] | None:
        """What Grover's mixer turns about, of any norm; None for XY edges."""
        if not self.grover:
            return None
        sector = self.problem.sector
        uniform = np.broadcast_to(1.0, (sector.sample_subsets, sector.feature_subsets))
        return self.start if isinstance(self.start, np.ndarray) else uniform

    @property
    def has_own_cost(self) -> bool:
        """Whether the phases are those of the measured problem in the paper's groups S, F and SF."""
        standard = components(self.problem)
        return len(standard) == len(self.groups) and all(
            one.name == other.name
            and all(np.array_equal(getattr(one, part), getattr(other, part)) for part in ("sample", "feature", "pair"))
            for one, other in zip(standard, self.groups, strict=True)
        )

    def changed(
        self,
        *,
        depth: int | None = None,
        schedule: str | Schedule | None = None,
        mixer: Any = None,
        start: Start | None = None,
        groups: Sequence[CostGroup] | None = None,
        seed: int | np.random.Generator | None = 0,
    ) -> AnsatzSpec:
        """Change some parts of the circuit and keep the others; another depth takes the schedule of the same name."""
        if schedule is None:
            schedule = self.schedule if depth is None else self.schedule.name
        if depth is None:
            depth = self.depth if isinstance(schedule, str) else schedule.depth
        own_start: Start = "dicke" if self.start is None else self.start
        return AnsatzSpec(
            self.problem,
            depth,
            schedule,
            (GROVER if self.grover else self.mixer) if mixer is None else mixer,
            own_start if start is None else start,
            groups=self.groups if groups is None else groups,
            seed=seed,
        )

    def export_angles(
        self, angles: ArrayLike, convention: str, *, maximised: bool = False, grouped: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give γ and β of every layer in the convention of another library; `circuits/schedule.py` has the factors.

        Args:
            angles: free angles of this circuit.
            convention: pennylane, openqaoa or qokit.
            maximised: whether the cost there is the score, which is minus our energy.
            grouped: whether γ shall be (p, groups), which a circuit with a γ for each group of cost terms needs.

        Returns:
            γ, (p,) or with `grouped` (p, groups), and β, (p,), in radians as that library counts them.

        Raises:
            InputError: a γ for each group where `grouped` is False, or Grover's mixer, which no other library shares.
        """
        if not any(self.mixer):
            raise InputError(
                "this circuit has no edges with an XY mixer, the only one whose angles other libraries share"
            )
        return exported(self.schedule, angles, convention, maximised=maximised, grouped=grouped)

    def import_angles(
        self, gammas: ArrayLike, betas: ArrayLike, convention: str, *, maximised: bool = False
    ) -> NDArray[np.float64]:
        """Take γ and β of every layer in the convention of another library, as `export_angles` gives them.

        Returns:
            The free angles of this circuit, (size,), in our convention.

        Raises:
            InputError: the schedule of this circuit has no angles that give those layers.
        """
        return imported(self.schedule, gammas, betas, convention, maximised=maximised)

    def program(self, angles: ArrayLike | Mapping[str, float] | None = None) -> Program:
        """The circuit as operations.

        Args:
            angles: numbers for the free angles, in their order or by name; left open by default.

        Returns:
            Start, and for each layer RZ(2γh), RZZ(2γJ) and exp(-iβ(XX + YY)/2) on qubits: sample i is qubit i, feature
            j is qubit N + j.

        Raises:
            InputError: a start or a mixer that only simulators know.
        """
        if self.grover:
            raise InputError(
                "Grover's mixer has no cheap circuit: each layer takes the start's preparation, its inverse and a phase"
                " that all qubits control together; it is for simulators, devices take ring, path or complete"
            )
        if isinstance(self.start, np.ndarray):
            raise InputError(
                "a circuit starts from the Dicke state or a choice; other states have no cheap preparation and are for "
                "simulators"
            )
        problem, bits = self.problem, None
        n = problem.n_samples
        hops = [edge for edges in self.mixer[0] for edge in edges]
        hops += [(n + i, n + j) for edges in self.mixer[1] for i, j in edges]
        if self.start is not None:
            ones = {*self.start[0], *(n + feature for feature in self.start[1])}
            bits = tuple(int(qubit in ones) for qubit in range(n + problem.n_features))
        groups = tuple(self._without_settled(group) for group in self.groups)
        program = Program(
            n_samples=n,
            n_features=problem.n_features,
            k=problem.k,
            m=problem.m,
            bits=bits,
            layers=tuple(_layer(groups, matrix, hops, n) for matrix in self.schedule.matrix),
            angle_names=self.schedule.angle_names,
            blocks=self._blocks,
        )
        return program if angles is None else program.bind(angles)

    @property
    def _blocks(self) -> tuple[Block, ...] | None:
        """The blocks of both registers as a program takes them; None without rules."""
        problem, listed = self.problem, []
        rules = (problem.sample_rules, problem.feature_rules)
        if not any(rules):
            return None
        sides = zip((0, problem.n_samples), problem.coupling.shape, (problem.k, problem.m), rules, strict=True)
        for (first, length, budget, obeyed), side in zip(sides, problem.sector.blocks, strict=True):
            always = [((item,), 1) for item in side.always]
            parts = [*always, *side.parts] if obeyed else [(tuple(range(length)), budget)]
            listed += [(tuple(first + item for item in members), ones) for members, ones in parts]
        return tuple(listed)

    def _without_settled(self, group: CostGroup) -> CostGroup:
        """The same phases, up to a global one, without items that the rules settle: with s = 1, -w s f is -w f."""
        if not (self.problem.sample_rules or self.problem.feature_rules):
            return group
        (samples, features), (n, d) = self.problem.sector.blocks, group.pair.shape
        rows, columns = np.isin(np.arange(n), samples.moving), np.isin(np.arange(d), features.moving)
        return replace(
            group,
            sample=np.where(rows, group.sample + group.pair[:, list(features.always)].sum(axis=1), 0.0),
            feature=np.where(columns, group.feature + group.pair[list(samples.always)].sum(axis=0), 0.0),
            pair=np.where(rows[:, None] & columns, group.pair, 0.0),
        )

    def describe(self) -> dict[str, Any]:
        """Describe the circuit as plain data; angles trained for one description belong to no other."""
        start: Any = "dicke"
        if isinstance(self.start, np.ndarray):
            start = f"state {_digest(self.start)}"
        elif self.start is not None:
            start = {"samples": self.start[0], "features": self.start[1]}
        arrays = [getattr(group, part) for group in self.groups for part in ("sample", "feature", "pair")]
        return {
            "problem": self.problem.digest,
            "depth": self.depth,
            "schedule": {"name": self.schedule.name, "hash": _digest(self.schedule.matrix)},
            "mixer": GROVER
            if self.grover
            else {
                side: [list(edge) for edge in _in_canonical_order(classes)]
                for side, classes in zip(("samples", "features"), self.mixer, strict=True)
            },
            "start": start,
            "cost": {"groups": [group.name for group in self.groups], "hash": _digest(*arrays)},
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of `describe`."""
        return hashlib.sha256(json.dumps(self.describe(), sort_keys=True).encode()).hexdigest()

    def differences(self, described: Mapping[str, Any]) -> list[str]:
        """Name the parts in which another circuit, as `describe` gives it, differs from this one; for people."""
        return [
            f"{part} ({_in_words(part, described.get(part))} there, {_in_words(part, own)} here)"
            for part, own in self.describe().items()
            if described.get(part) != own
        ]


def _layer(groups: Sequence[CostGroup], matrix: NDArray[np.float64], hops: Sequence[Edge], n: int) -> tuple[Op, ...]:
    """exp(-i Σ γ_g H_g), then the mixer; `matrix` is (groups + 1, free), its last row β."""
    gammas, beta = matrix[:-1], matrix[-1]
    fields = np.array([_fields(group) for group in groups])
    pairs = np.array([group.pair for group in groups])
    turns = conventions.rz_angle(1.0, fields.T @ gammas)  # (qubit, free)
    ops = [Op(kind=RZ, qubits=(q,), slopes=_slopes(turns[q])) for q in np.flatnonzero(fields.any(axis=0)).tolist()]
    for i, j in np.argwhere(pairs.any(axis=0)).tolist():
        turn = conventions.rzz_angle(1.0, ising.COUPLING_OF_PRODUCT * pairs[:, i, j] @ gammas)
        ops.append(Op(kind=RZZ, qubits=(i, conventions.feature_qubit(j, n)), slopes=_slopes(turn)))
    return (*ops, *(Op(kind=XY, qubits=edge, slopes=_slopes(beta)) for edge in hops))


def _fields(group: CostGroup) -> Any:
    """Fields h of one group: its marginals and the one-local shifts of its products."""
    marginal = ising.FIELD_OF_MARGINAL * np.concatenate([group.sample, group.feature])
    shift = ising.FIELD_OF_PRODUCT * np.concatenate([group.pair.sum(axis=1), group.pair.sum(axis=0)])
    return marginal + shift


def _slopes(row: Any) -> tuple[tuple[int, float], ...]:
    return tuple((int(number), float(row[number])) for number in np.flatnonzero(row))


def _in_canonical_order(classes: Classes) -> list[Edge]:
    """Mixer edges, each as early as it can act: orders that differ by edges which commute are one."""
    edges = [(min(edge), max(edge)) for group in classes for edge in group]
    return [edge for _, edge in sorted(zip(steps(edges), edges, strict=True))]


def _digest(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _in_words(part: str, value: Any) -> str:
    if value is None:
        return "unknown"
    if part == "schedule":
        return str(value["name"])
    if part == "problem":
        return f"{value[:8]}…"
    if part == "cost":
        return f"{', '.join(value['groups'])}: {value['hash'][:8]}…"
    if part == "mixer" and value != GROVER:
        return " and ".join(" ".join(f"{i}-{j}" for i, j in edges) or "no edges" for edges in value.values())
    return f"samples {value['samples']}, features {value['features']}" if isinstance(value, Mapping) else str(value)
