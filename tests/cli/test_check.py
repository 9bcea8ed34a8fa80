import json

import numpy as np

from biselect.core import SelectionProblem


def test_a_written_proof_is_checked_and_a_changed_one_refused(run, tmp_path):
    weights = np.random.default_rng(0).normal(size=(12, 6))
    SelectionProblem(coupling=weights, k=3, m=2).save(tmp_path / "problem.npz")
    assert run("solve", tmp_path / "problem.npz", "--out", tmp_path / "answer", "--proof").code == 0
    outcome = run("check", tmp_path / "answer")
    assert outcome.code == 0 and "no choice scores higher" in outcome.out
    proof = json.loads((tmp_path / "answer" / "proof.json").read_text())
    proof["samples"][0] += 1
    (tmp_path / "answer" / "proof.json").write_text(json.dumps(proof))
    outcome = run("check", tmp_path / "answer")
    assert outcome.code == 1 and "refused" in outcome.err
    assert run("check", tmp_path).code == 2
    assert run("solve", tmp_path / "problem.npz", "--proof").code == 2
