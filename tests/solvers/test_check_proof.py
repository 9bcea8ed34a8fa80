import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import branch_and_bound, check_proof, exact
from biselect.testing.strategies import problems, ruled_problems


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A problem whose proof is a tree, and both files."""
    folder = tmp_path_factory.mktemp("proof")
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=np.abs(rng.normal(size=(200, 20))), k=20, m=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "INSTANT_CELLS", -1)
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
    for instant in (exact.INSTANT_CELLS, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "INSTANT_CELLS", instant)
            patch.setattr(exact, "INSTANT_LIMITED_CELLS", instant)
            patch.setattr(branch_and_bound, "DIVE_CELLS", 50)
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
    assert len(text.splitlines()) <= 320
    assert "import biselect" not in text and "from biselect" not in text and "numpy" not in text


def test_an_unproven_answer_has_no_proof(tmp_path):
    problem = SelectionProblem(coupling=np.eye(3), k=1, m=1)
    with pytest.raises(InputError, match="proven"):
        bs.solve(problem, "random").save_proof(tmp_path / "proof.json")
