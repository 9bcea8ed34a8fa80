import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem
from biselect.core.proof import Screen
from biselect.errors import InputError
from biselect.solvers import _branch_and_bound, _exact, check_proof
from biselect.solvers.representatives import solve_for_whole
from biselect.testing.strategies import problems, ruled_problems


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A problem whose proof is a tree, and both files."""
    folder = tmp_path_factory.mktemp("proof")
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=np.abs(rng.normal(size=(200, 20))), k=20, m=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_exact, "INSTANT_CELLS", -1)
        patch.setattr(_exact, "LOOP_CELLS", -1)
        best = bs.solve(problem, "exact")
    problem.save(folder / "problem.npz")
    best.save_proof(folder / "proof.json")
    return folder


def rewritten(folder, target, **changes):
    """The proof with some of it replaced and a checksum that fits, as a forger would write it."""
    content = json.loads((folder / "proof.json").read_text()) | changes
    del content["sha256"]
    body = json.dumps(content, separators=(",", ":"))
    content["sha256"] = hashlib.sha256(body.encode()).hexdigest()
    target.write_text(json.dumps(content))
    return target


def test_a_tree_is_checked(searched):
    assert "nodes opened" in check_proof.check(searched / "proof.json", searched / "problem.npz")


@settings(max_examples=150)
@given(problems(max_samples=7, max_features=6) | ruled_problems(max_samples=7, max_features=6))
def test_every_proof_is_checked_however_it_was_found(tmp_path_factory, problem):
    folder = tmp_path_factory.mktemp("proof")
    problem.save(folder / "problem.npz")
    for instant in (_exact.INSTANT_CELLS, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_exact, "INSTANT_CELLS", instant)
            patch.setattr(_exact, "LOOP_CELLS", instant)
            patch.setattr(_branch_and_bound, "DIVE_CELLS", 50)
            best = bs.solve(problem, "exact", workers=1)
        best.save_proof(folder / "proof.json")
        assert check_proof.check(folder / "proof.json", folder / "problem.npz")


def test_any_changed_number_is_refused(searched, tmp_path):
    text = (searched / "proof.json").read_text()
    (tmp_path / "proof.json").write_text(text.replace('"tau":', '"tau":1', 1))
    with pytest.raises(check_proof.ProofError, match="changed"):
        check_proof.check(tmp_path / "proof.json", searched / "problem.npz")


def test_a_missing_node_is_refused_even_with_a_new_checksum(searched, tmp_path):
    nodes = json.loads((searched / "proof.json").read_text())["nodes"]
    assert len(nodes) > 20
    for missing in (0, len(nodes) // 2, len(nodes) - 1):
        forged = rewritten(searched, tmp_path / "proof.json", nodes=nodes[:missing] + nodes[missing + 1 :])
        with pytest.raises(check_proof.ProofError, match=r"neither closed nor listed|do not belong"):
            check_proof.check(forged, searched / "problem.npz")


@pytest.mark.parametrize(
    "forgery",
    [
        lambda content: {
            "samples": sorted({*content["samples"][1:], next(i for i in range(200) if i not in content["samples"])})
        },
        lambda content: {"order": content["order"][1:], "nodes": None},
        lambda content: {"samples": content["samples"][1:]},
        lambda content: {"prices": content["prices"][1:]},
        lambda content: {"problem": "0" * 64},
        lambda content: {"format": "biselect-proof-9"},
    ],
)
def test_a_forged_proof_is_refused(searched, tmp_path, forgery):
    content = json.loads((searched / "proof.json").read_text())
    forged = rewritten(searched, tmp_path / "proof.json", **forgery(content))
    with pytest.raises(check_proof.ProofError):
        check_proof.check(forged, searched / "problem.npz")


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A problem with directed columns of which at most so many may be those of an earlier choice, and both files."""
    folder = tmp_path_factory.mktemp("limited")
    weights = np.random.default_rng(0).exponential(size=(60, 18))
    rules = Rules(groups=[Group(members=(3 * j, 3 * j + 1, 3 * j + 2)) for j in range(6)])
    plain = SelectionProblem(coupling=weights, k=8, m=4, feature_rules=rules)
    earlier = bs.solve(plain, "exact").features
    limit = Group(members=earlier.tolist(), at_most=2)
    problem = replace(plain, feature_rules=replace(rules, overlapping=[limit]))
    best = bs.solve(problem, "exact")
    assert best.proven_optimal and len({*best.features} & {*earlier}) <= 2
    for name, one in (("problem", problem), ("plain", plain)):
        one.save(folder / f"{name}.npz")
    best.save_proof(folder / "proof.json")
    return folder, earlier.tolist()


def test_overlapping_limits_are_part_of_what_is_proven(limited, tmp_path):
    folder, earlier = limited
    assert check_proof.check(folder / "proof.json", folder / "problem.npz")
    with pytest.raises(check_proof.ProofError, match="another problem"):
        check_proof.check(folder / "proof.json", folder / "plain.npz")
    plain = SelectionProblem.load(folder / "plain.npz")
    # with the hash of the problem without the limit the search tree is the same, and no proof
    forged = rewritten(folder, tmp_path / "proof.json", problem=plain.digest)
    with pytest.raises(check_proof.ProofError, match=r"scores more|neither closed nor listed|better choice"):
        check_proof.check(forged, folder / "plain.npz")
    forged = rewritten(folder, tmp_path / "proof.json", features=earlier)
    with pytest.raises(check_proof.ProofError, match="breaks a budget or a rule"):
        check_proof.check(forged, folder / "problem.npz")
    forged = rewritten(folder, tmp_path / "proof.json", lines="samples")
    with pytest.raises(check_proof.ProofError, match="must be the lines"):
        check_proof.check(forged, folder / "problem.npz")


def test_the_proof_of_another_table_is_refused(searched, tmp_path):
    SelectionProblem(coupling=np.ones((200, 20)), k=20, m=4).save(tmp_path / "problem.npz")
    with pytest.raises(check_proof.ProofError, match="another problem"):
        check_proof.check(searched / "proof.json", tmp_path / "problem.npz")


def test_it_reads_a_table_of_weights_and_runs_without_the_package(tmp_path):
    weights = np.random.default_rng(0).normal(size=(12, 6))
    names = [f"row{i}" for i in range(12)], [f"c{j}" for j in range(6)]
    lines = [",".join([name, *map(repr, row)]) for name, row in zip(names[0], weights.tolist(), strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([",".join(["id", *names[1]]), *lines]) + "\n")
    problem = SelectionProblem(coupling=weights, k=3, m=2, sample_names=names[0], feature_names=names[1])
    bs.solve(problem).save_proof(tmp_path / "proof.json")
    command = [sys.executable, "-I", "-S", check_proof.__file__, "proof.json", "table.csv", "id"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0 and "CHECKED" in found.stdout
    (tmp_path / "table.csv").write_text((tmp_path / "table.csv").read_text().replace("row3", "row33"))
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1 and "REFUSED" in found.stderr


def test_the_checker_is_one_short_file_of_its_own():
    text = Path(check_proof.__file__).read_text()
    assert len(text.splitlines()) <= 460
    assert "import biselect" not in text and "from biselect" not in text and "numpy" not in text


def test_an_unproven_answer_has_no_proof(tmp_path):
    problem = SelectionProblem(coupling=np.eye(3), k=1, m=1)
    with pytest.raises(InputError, match="proven"):
        bs.solve(problem, "greedy").save_proof(tmp_path / "proof.json")


@pytest.fixture(scope="module")
def screened(tmp_path_factory):
    """A table of 400 rows of which the heaviest were kept: its weights, and both files."""
    folder = tmp_path_factory.mktemp("screened")
    weights = np.random.default_rng(1).exponential(size=(400, 8))
    weights[[7, 100, 399], :3] += 6
    sums = np.sort(weights, axis=1)[:, -3:].sum(axis=1)
    kept = np.flatnonzero(sums > np.sort(sums)[-40])
    problem = SelectionProblem(coupling=weights[kept], k=5, m=3)
    best = solve_for_whole(problem, float(np.delete(sums, kept).max()) * (1 + 1e-12))
    assert best.proven_optimal and best.samples.max() < kept.size
    heavy = float(np.delete(weights, kept, axis=0).sum(axis=1).max()) + 1e-9
    screen = Screen(rows=400, kept_rows=kept.tolist(), heavy=heavy)
    best.problem.save(folder / "problem.npz")
    replace(best, proof=replace(best.proof, screen=screen)).save_proof(folder / "proof.json")
    return folder, weights, kept


def check_table(folder, weights, cuts, *, proof="proof.json", to=None):
    """Check a table in parts that end at these rows."""
    to = to or folder
    parts = []
    for first, end in pairwise([0, *cuts, len(weights)]):
        np.save(to / f"{first}.npy", weights[first:end])
        parts.append((first, to / f"{first}.npy"))
    return check_proof.check(to / proof, folder / "problem.npz", parts=parts)


@settings(max_examples=10)
@given(st.lists(st.integers(1, 399), max_size=4, unique=True))
def test_a_large_table_is_checked_in_any_parts(screened, cuts):
    folder, weights, _ = screened
    assert "all 400 rows" in check_table(folder, weights, sorted(cuts))


def test_what_was_checked_of_a_large_table_is_said(screened):
    folder, weights, _ = screened
    assert "0 of 400 rows" in check_proof.check(folder / "proof.json", folder / "problem.npz")
    np.save(folder / "middle.npy", weights[100:250])
    words = check_proof.check(folder / "proof.json", folder / "problem.npz", parts=[(100, folder / "middle.npy")])
    assert "150 of 400 rows" in words


def test_a_row_heavier_than_what_stands_for_it_is_refused(screened, tmp_path):
    folder, weights, kept = screened
    (tmp_path / "proof.json").write_bytes((folder / "proof.json").read_bytes())
    outside = np.setdiff1d(np.arange(400), kept)
    heaviest = outside[np.sort(weights[outside], axis=1)[:, -3:].sum(axis=1).argmax()]
    forged = weights.copy()
    forged[heaviest, weights[heaviest].argmax()] += 1e-6
    forged[heaviest, weights[heaviest].argmin()] -= 1e-5  # lighter in all
    with pytest.raises(check_proof.ProofError, match=f"row {heaviest} was not kept"):
        check_table(folder, forged, [200], to=tmp_path)
    forged = weights.copy()
    forged[outside[3]] = 0.9 * forged[outside].sum(axis=1).max() / 7  # wide rather than high
    forged[outside[3], :] *= 1.3
    with pytest.raises(check_proof.ProofError, match="so heavy"):
        check_table(folder, forged, [200], to=tmp_path)
    forged = weights.copy()
    forged[kept[0], 0] *= 1.001
    with pytest.raises(check_proof.ProofError, match="does not weigh"):
        check_table(folder, forged, [200], to=tmp_path)
    with pytest.raises(check_proof.ProofError, match="7 weights"):
        check_table(folder, weights[:, :7], [200], to=tmp_path)


@pytest.mark.parametrize("length", [399, 401])
def test_a_table_of_another_length_is_never_checked_whole(screened, tmp_path, length):
    folder, weights, _ = screened
    (tmp_path / "proof.json").write_bytes((folder / "proof.json").read_bytes())
    longer = np.vstack([weights, weights[:1] * 0])[:length]
    try:
        assert "399 of 400 rows" in check_table(folder, longer, [200], to=tmp_path)
    except check_proof.ProofError as error:
        assert length == 401 and "more than the table" in str(error)


def test_parts_that_overlap_are_refused(screened):
    folder, weights, _ = screened
    np.save(folder / "some.npy", weights[:10])
    parts = [(0, folder / "some.npy"), (0, folder / "some.npy")]
    with pytest.raises(check_proof.ProofError, match="repeats rows"):
        check_proof.check(folder / "proof.json", folder / "problem.npz", parts=parts)


@pytest.mark.parametrize(
    "forgery",
    [
        lambda screen: {"kept": screen["kept"][1:]},
        lambda screen: {"kept": [*screen["kept"][1:], screen["kept"][0]]},
        lambda screen: {"kept": [*screen["kept"][:-1], 400]},
        lambda screen: {"rows": screen["kept"][-1]},
    ],
)
def test_a_forged_list_of_kept_rows_is_refused(screened, tmp_path, forgery):
    folder, weights, _ = screened
    screen = json.loads((folder / "proof.json").read_text())["screen"]
    rewritten(folder, tmp_path / "proof.json", screen=screen | forgery(screen))
    with pytest.raises(check_proof.ProofError, match=r"not those of the problem|does not weigh"):
        check_table(folder, weights, [], to=tmp_path)


@pytest.mark.parametrize("change", ["unlike", "named", "chosen"])
def test_rows_that_cannot_stand_for_others_are_refused(screened, tmp_path, change):
    folder, weights, kept = screened
    problem = SelectionProblem.load(folder / "problem.npz")
    scores = problem.sample_scores.copy()
    if change == "unlike":
        scores[-1] /= 2
    elif change == "chosen":
        scores[-5:] += 30
    rules = Rules(forced_out=[kept.size]) if change == "named" else Rules()
    changed = replace(problem, sample_scores=scores, sample_rules=rules)
    best = bs.solve(changed, "exact")
    changed.save(tmp_path / "problem.npz")
    screen = Screen(rows=400, kept_rows=kept.tolist(), heavy=None)
    replace(best, proof=replace(best.proof, screen=screen)).save_proof(tmp_path / "proof.json")
    with pytest.raises(check_proof.ProofError, match="cannot stand for others"):
        check_table(tmp_path, weights, [])


def test_parts_are_checked_without_the_package(screened):
    folder, weights, _ = screened
    np.save(folder / "all.npy", weights)
    lines = [",".join(map(repr, row)) for row in weights[:100].tolist()]
    (folder / "some.csv").write_text("\n".join([",".join("abcdefgh"), *lines]) + "\n")
    command = [sys.executable, "-I", "-S", check_proof.__file__, "proof.json", "problem.npz"]
    for part, words in (("0=all.npy", "all 400 rows"), ("0=some.csv", "100 of 400 rows")):
        found = subprocess.run([*command, part], cwd=folder, capture_output=True, text=True, check=False)
        assert found.returncode == 0 and words in found.stdout
