"""The cost and the mixer of a circuit as Qiskit's SparsePauliOp, with every sign and constant."""

from dataclasses import dataclass

from biselect.core import ising
from biselect.errors import MissingDependencyError
from biselect_quantum import conventions
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.spec import AnsatzSpec

try:
    from qiskit.quantum_info import SparsePauliOp
except ImportError as error:
    raise MissingDependencyError("operators need Qiskit: pip install ./quantum") from error

Term = tuple[str, list[int], float]


@dataclass(frozen=True, kw_only=True, eq=False)
class PauliOperators:
    """What a circuit is made of, as operators on its N + D qubits.

    Attributes:
        energy: of the measured problem, constant included: ⟨x|energy|x⟩ is the energy of the choice x.
        groups: H_g of each cost group by name; a layer turns by exp(-i Σ γ_g H_g). With the problem's own groups they
            add up to `energy`.
        mixers: Σ (XX + YY)/2 over the edges of `samples` and of `features`. A layer takes its edges one by one, each as
            exp(-iβ(XX + YY)/2), in the order of the circuit: edges that share a qubit do not commute.
    """

    energy: SparsePauliOp
    groups: dict[str, SparsePauliOp]
    mixers: dict[str, SparsePauliOp]


def pauli_operators(spec: AnsatzSpec) -> PauliOperators:
    """The cost groups and mixers of an ansatz, and the energy that it is measured by.

    >>> from biselect import SelectionProblem
    >>> problem = SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1)
    >>> found = pauli_operators(AnsatzSpec(problem, 1, mixer="path"))
    >>> sorted(found.energy.to_list())[-2:]  # qubit 0 is the last letter
    [('ZIZ', (-0.25+0j)), ('ZZI', (-0.75+0j))]
    """
    n, d = spec.problem.coupling.shape
    terms = [_terms(group) for group in components(spec.problem)]
    edges = {
        name: [(first + i, first + j) for group in classes for i, j in group]
        for name, first, classes in zip(("samples", "features"), (0, n), spec.mixer, strict=True)
    }
    return PauliOperators(
        energy=_operator([term for part in terms for term in part], n + d),
        groups={group.name: _operator(_terms(group), n + d) for group in spec.groups},
        mixers={
            name: _operator([(pauli, list(edge), 0.5) for edge in pairs for pauli in ("XX", "YY")], n + d)
            for name, pairs in edges.items()
        },
    )


def _terms(group: CostGroup) -> list[Term]:
    """-Σ a s - Σ b f - Σ w s f in Pauli matrices, as `core/conventions.py` has it."""
    n = len(group.sample)
    found: list[Term] = []
    for qubit, score in enumerate([*group.sample.tolist(), *group.feature.tolist()]):
        found += [
            ("Z", [qubit], ising.FIELD_OF_MARGINAL * score),
            ("", [], ising.OFFSET_OF_MARGINAL * score),
        ]
    for i, row in enumerate(group.pair.tolist()):
        for feature, weight in enumerate(row):
            j = conventions.feature_qubit(feature, n)
            found.append(("ZZ", [i, j], ising.COUPLING_OF_PRODUCT * weight))
            found += [("Z", [end], ising.FIELD_OF_PRODUCT * weight) for end in (i, j)]
            found.append(("", [], ising.OFFSET_OF_PRODUCT * weight))
    return [term for term in found if term[2]]


def _operator(terms: list[Term], qubits: int) -> SparsePauliOp:
    return SparsePauliOp.from_sparse_list(terms or [("", [], 0.0)], num_qubits=qubits).simplify()
