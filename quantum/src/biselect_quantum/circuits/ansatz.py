"""Ansatz: a circuit on a simulator, ready to be evaluated, differentiated and sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.circuits.cost_groups import CostGroup
from biselect_quantum.circuits.mixers import GROVER
from biselect_quantum.circuits.schedule import Schedule
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Start
from biselect_quantum.shots import Samples
from biselect_quantum.simulate.backends import choose_backend, make_simulator
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable, PairGradient, energy_table
from biselect_quantum.simulate.limits import NEVER, Stop, check_memory, check_stop, parts
from biselect_quantum.simulate.states import dense_vector, quantile, sample_state

if TYPE_CHECKING:
    from biselect_quantum.circuits.training.records import Training
    from biselect_quantum.options import TrainingOptions


class Ansatz:
    """CG-XY-QAOA inside the (k, m) sector, on a simulator.

    Phases are exp(-iγ_g H_g) of the energy that is minimised, with every H_g as `SelectionProblem.ising` gives it; a
    mixer edge is exp(-iβ(XX + YY)/2). Free angles are in the order of `schedule.angle_names`, in radians.

    Problem, depth, schedule, mixer, start, groups and seed are those of `AnsatzSpec`.

    Args:
        backend: `plain`, `compiled`, `gpu`, `continuous` for the ideal continuous-time mixer, or `auto`: `plain` or
            `compiled`, by the size of the sector alone.
        dtype: complex128 or complex64.
        threads: threads of one evaluation.
        progress: called with the done share of a long evaluation, 0 to 1 (compiled backend).
        stop: a byte that another thread may turn to 1 to end all work in progress (`simulate.stopping`).

    Attributes:
        spec: the circuit itself, which the compiler and the wide sampler take too.

    Raises:
        InputError: a mixer, start, schedule or backend that does not fit the problem.
        TooLargeError: the states do not fit into memory.

    >>> problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1)
    >>> ansatz = Ansatz(problem, depth=1, schedule="tied")
    >>> round(ansatz.expectation([0.0, 0.0]), 6)  # no rotation: the uniform mean
    -11.0
    """

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
        backend: str = "auto",
        dtype: Any = np.complex128,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
        stop: Stop = NEVER,
    ) -> None:
        spec = AnsatzSpec(problem, depth, schedule, mixer, start, groups=groups, seed=seed)
        self.dtype = np.dtype(dtype)
        self.backend = choose_backend(problem) if backend == "auto" else backend
        self._take(spec)
        self.samples, self.features = spec.registers
        self._start = spec.start_state
        how: dict[str, Any] = {"backend": self.backend, "dtype": dtype, "threads": threads, "progress": progress}
        self._stop = how["stop"] = stop
        how["axis"] = spec.axis
        self._make_simulator = partial(make_simulator, problem, self.samples, self.features, **how)
        self._simulator: Any = self._make_simulator()
        self._tables: dict[str, Any] = {}  # made when first asked for; copies of the ansatz share them

    def _take(self, spec: AnsatzSpec) -> None:
        """Write the phases of a circuit as the simulator takes them."""
        self.spec, problem = spec, spec.problem
        self._sample_terms = np.array([group.sample for group in self.groups])
        self._feature_terms = np.array([group.feature for group in self.groups])
        self._pair_terms = np.array([group.pair.ravel() for group in self.groups])
        # a sample phase acts as its row of pair phases over m, a feature phase as its column over k (PairGradient)
        all_terms = self._sample_terms[:, :, None] / problem.m + self._feature_terms[:, None, :] / problem.k
        self._by_pair = np.ascontiguousarray((all_terms.reshape(self._pair_terms.shape) + self._pair_terms).T)

    @classmethod
    def from_spec(cls, spec: AnsatzSpec, **simulator: Any) -> Ansatz:
        """Put the circuit of a spec on a simulator; `backend`, `dtype`, `threads`, `progress` and `stop` as above."""
        start = "dicke" if spec.start is None else spec.start
        mixer = GROVER if spec.grover else spec.mixer
        return cls(spec.problem, spec.depth, spec.schedule, mixer, start, groups=spec.groups, **simulator)

    @property
    def problem(self) -> SelectionProblem:
        """The problem whose energy is measured."""
        return self.spec.problem

    @property
    def schedule(self) -> Schedule:
        """The map from free angles to the angles of every layer."""
        return self.spec.schedule

    @property
    def groups(self) -> tuple[CostGroup, ...]:
        """The cost groups, one γ each."""
        return self.spec.groups

    @property
    def stop(self) -> Stop:
        """The byte that ends all work in progress where it turns to 1."""
        return self._stop

    @property
    def size(self) -> int:
        """Number of free angles."""
        return self.schedule.size

    def at_depth(self, depth: int, schedule: str | None = None) -> Ansatz:
        """The same ansatz at another depth, or with another of the named schedules; both share one simulator."""
        other = copy(self)
        other.spec = self.spec.changed(depth=depth, schedule=schedule)
        return other

    def with_schedule(self, schedule: Schedule) -> Ansatz:
        """The same ansatz with another schedule; both share one simulator."""
        other = copy(self)
        other.spec = self.spec.changed(schedule=schedule)
        return other

    def with_spec(self, spec: AnsatzSpec) -> Ansatz:
        """Another circuit of the same problem, mixer and start, with other phases; both share one simulator."""
        other = copy(self)
        other._take(spec)
        return other

    def with_own_simulator(self, dtype: Any = None) -> Ansatz:
        """The same ansatz with a simulator of its own, for another thread or in another precision."""
        other = copy(self)
        if dtype is not None:
            other.dtype = np.dtype(dtype)
            other._make_simulator = partial(self._make_simulator, dtype=dtype)
        other._simulator = other._make_simulator()
        return other

    def ended_by(self, stop: Stop) -> Ansatz:
        """The same ansatz, whose work ends where this byte turns to 1; both share one simulator's memory."""
        other = copy(self)
        other._stop = stop
        other._make_simulator = partial(self._make_simulator, stop=stop)
        other._simulator = copy(self._simulator)
        other._simulator.stop = stop
        return other

    def train(self, options: TrainingOptions | None = None, **more: Any) -> Training:
        """Choose angles; see `biselect_quantum.train`."""
        run: Callable[..., Training] = resolve_name("biselect_quantum.circuits.training:train")  # built on this file
        return run(self, options, **more)

    @property
    def energies(self) -> NDArray[np.float64]:
        """Energies of all choices of the sector, C(N, k) × C(D, m), rows and columns as in `state`; lower is better."""
        if "energies" not in self._tables:
            self._tables["energies"] = energy_table(self.problem, self._stop)
        return self._tables["energies"]

    def layers(self, angles: ArrayLike) -> Layers:
        """Phases and mixing angles of every layer.

        Returns:
            Phases and mixing angles of the p layers, in radians. The phase of a choice is exp(+i·sum) of its entries,
            as energies are minus scores.
        """
        table = self.schedule.expand(angles)
        gammas = table[:, :-1]
        return Layers(
            sample=gammas @ self._sample_terms,
            feature=gammas @ self._feature_terms,
            pair=(gammas @ self._pair_terms).reshape(-1, *self.problem.coupling.shape),
            mixing=np.ascontiguousarray(table[:, -1]),
        )

    def expectation(self, angles: ArrayLike, observable: Observable = ENERGY) -> float:
        """Expectation value of the energy, or of another observable.

        Args:
            angles: the free angles, radians, in the order of `schedule.angle_names`.
            observable: the energy by default; see `Observable`.

        Returns:
            The expectation value after the circuit, in units of the energy: lower is better.
        """
        if observable.kind == "cvar":
            return self.value_and_gradient(angles, observable)[0]
        self._check(observable)
        check_stop(self._stop)
        return self._simulator.expectation(self.layers(angles), self._start, observable)

    def value_and_gradient(
        self, angles: ArrayLike, observable: Observable = ENERGY
    ) -> tuple[float, NDArray[np.float64]]:
        """Expectation value and its gradient by the free angles, by the adjoint method.

        Args:
            angles: the free angles, radians.
            observable: the energy by default.

        Returns:
            The value, and its derivative by every free angle, (size,).
        """
        if observable.kind == "cvar":  # = q + E[min(E - q, 0)] / share at the share-quantile q, held in the derivative
            lowest = quantile(self.energies, self.probabilities(angles), observable.share, self._stop)
            excess, gradient = self.value_and_gradient(angles, Observable(kind="excess", threshold=lowest))
            return lowest + excess / observable.share, gradient / observable.share
        self._check(observable)
        check_stop(self._stop)
        value, by_pair = self._simulator.value_and_gradient(self.layers(angles), self._start, observable)
        return value, self._by_angle(by_pair)

    def _by_angle(self, gradient: PairGradient) -> NDArray[np.float64]:
        """The gradient by the free angles."""
        by_group = gradient.pair.reshape(len(gradient.mixing), -1) @ self._by_pair
        return self.schedule.pull_back(np.column_stack([by_group, gradient.mixing]))

    def _check(self, observable: Observable) -> None:
        shape = (self.problem.sector.sample_subsets, self.problem.sector.feature_subsets)
        if observable.values is not None and observable.values.shape != shape:
            raise InputError(f"an observable must have the shape {shape}, got {observable.values.shape}")

    def state(self, angles: ArrayLike) -> NDArray[Any]:
        """The final state inside the sector.

        Args:
            angles: the free angles, radians.

        Returns:
            C(N, k) × C(D, m) amplitudes, or those that the rules allow. Row r is the r-th sample subset and column c
            the c-th feature subset, both in colexicographic order, which is the order of their bitmasks. The global
            phase is that of the simulator, not the circuit's.
        """
        check_stop(self._stop)
        return self._simulator.state(self.layers(angles), self._start)

    def dense_state(self, angles: ArrayLike) -> NDArray[np.complex128]:
        """The final state as a vector over all qubits, for small cases.

        Args:
            angles: the free angles, radians.

        Returns:
            2^(N+D) amplitudes in Qiskit's order: bit q of the position is qubit q; sample i is qubit i, feature j is
            qubit N + j.

        Raises:
            InputError: more than 26 qubits.
        """
        qubits = self.problem.n_samples + self.problem.n_features
        if qubits > 26:
            raise InputError(f"a dense vector of {qubits} qubits is too large; use state()")
        return dense_vector(self.state(angles), self.samples, self.features)

    def probabilities(self, angles: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of all choices of the sector, C(N, k) × C(D, m), rows and columns as in `state`."""
        state = self.state(angles)
        check_memory(self.problem.sector, np.float64, states=1)
        squares = np.empty(state.shape)
        for part in parts(len(state), state.shape[1], self._stop):
            squares[part] = np.abs(state[part].astype(np.complex128)) ** 2
        return squares

    def sample(self, angles: ArrayLike, shots: int, seed: int | np.random.Generator | None = 0) -> Samples:
        """Measure: draw choices from the final state.

        Args:
            angles: the free angles, radians.
            shots: how many choices are drawn.
            seed: fixes them.

        Returns:
            Distinct choices with energies and counts, lowest energy first.
        """
        rows, columns, counts = sample_state(self.state(angles), shots, seed, self._stop)
        samples, features = self.samples.subsets[rows], self.features.subsets[columns]
        energies = self.problem.energies(samples, features)
        order = np.lexsort((columns, rows, energies))
        return Samples(samples=samples[order], features=features[order], energies=energies[order], counts=counts[order])

    # Figures of merit beyond the mean

    def hit_rate(self, angles: ArrayLike, threshold: float) -> float:
        """Probability of an energy at or below the threshold, p_BK, from 0 to 1."""
        rate = self.expectation(angles, Observable(kind="hit", threshold=threshold))
        return min(1.0, max(0.0, rate))  # sums of squares may end a rounding beyond

    def optimum_mass(self, angles: ArrayLike) -> float:
        """Probability of the exact optimum."""
        return self.hit_rate(angles, float(self.energies.min()))

    def approximation(self, angles: ArrayLike) -> float:
        """α = (C̄_Ω - E[C]) / (C̄_Ω - C*): 0 for uniform sampling, 1 for the optimum."""
        mean, best = float(self.energies.mean()), float(self.energies.min())
        if mean == best:
            return 1.0
        return (mean - self.expectation(angles)) / (mean - best)

    def cvar(self, angles: ArrayLike, share: float = 0.05) -> float:
        """Mean energy of the lowest `share` of the distribution, CVaR."""
        return self.cvar_and_gradient(angles, share)[0]

    def cvar_and_gradient(self, angles: ArrayLike, share: float = 0.05) -> tuple[float, NDArray[np.float64]]:
        """CVaR and its gradient by the free angles."""
        return self.value_and_gradient(angles, Observable(kind="cvar", share=share))
