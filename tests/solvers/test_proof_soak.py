"""A share of `scripts/soak_proofs.py`: rules of every kind on both sides against optima found in integers."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

from biselect.solvers import registry
from biselect.solvers._reduction import ReducedProblem
from biselect.solvers.registry import Verdict

PATH = Path(__file__).parents[2] / "scripts" / "soak_proofs.py"
spec = importlib.util.spec_from_file_location("soak_proofs", PATH)
soak_proofs = sys.modules["soak_proofs"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(soak_proofs)


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("small", 300),
        ("medium", 40),
        pytest.param("small", 20_000, marks=pytest.mark.slow),
        pytest.param("medium", 1_000, marks=pytest.mark.slow),
    ],
)
def test_no_proof_is_false_and_no_bound_is(size, count):
    total, wrong = soak_proofs.soak(range(count), seed=2, size=size)
    assert not wrong
    assert total["proven"] == total["checked"] > 1.5 * total["problems"] > 1.4 * count
    assert total["worse choices"] > 0.2 * count


def test_both_ways_to_the_optimum_agree():
    for number in range(300):
        if (case := soak_proofs.draw(3, number, "small")) is not None:
            table = soak_proofs.Table(case.problem)
            assert soak_proofs.brute_force(case, table) == soak_proofs.one_sided(case, table)


def test_every_kind_of_rule_is_drawn_on_both_sides_with_every_other():
    seen = Counter()
    for number in range(900):
        case = soak_proofs.draw(4, number, "small")
        if case is None:
            continue
        kinds = [
            {
                *(["several in"] if len(side.forced_in) > 1 else []),
                *(["out"] if side.forced_out else []),
                *(["at most"] if any(not needed for _, _, needed in side.groups) else []),
                *(["exactly"] if any(needed for _, _, needed in side.groups) else []),
            }
            for side in (case.samples, case.features)
        ]
        seen.update({(one, other) for one in kinds[0] for other in kinds[1]})
        problem = case.problem
        seen.update({"λ": problem.coupling_weight != 1, "k all": problem.k == problem.n_samples, "k 1": problem.k == 1})
        seen.update({"scores": problem.sample_scores.any(), "none": not problem.sample_scores.any()})
    words = ("several in", "out", "at most", "exactly")
    assert all(seen[one, other] for one in words for other in words)
    assert min(seen[word] for word in ("λ", "k all", "k 1", "scores", "none")) > 60


@pytest.mark.parametrize("checked", [True, False])
def test_a_fault_in_what_is_compared_exactly_is_noticed(monkeypatch, checked):
    monkeypatch.setattr(ReducedProblem, "exact_sums", lambda self, partner_side, items, partner: [0] * items.size)
    if not checked:
        monkeypatch.setattr(registry, "follow", lambda *given: Verdict())
    total, wrong = soak_proofs.soak(range(150), seed=5, size="small")
    assert wrong and total["refused proof" if checked else "false proof"]
    assert not checked or not total["false proof"] + total["false bound"]
