import json

import numpy as np

from biselect.core import SelectionProblem


def test_a_strong_block_is_certified_and_a_weak_one_is_not(run, tmp_path):
    W = np.random.default_rng(0).normal(size=(30, 12))
    for name, signal, verdict in (("weak", 0.5, "Joint: not certified"), ("strong", 9.0, "Joint: certified")):
        planted = W.copy()
        planted[:4, :3] += signal
        SelectionProblem(coupling=planted, k=4, m=3).save(tmp_path / f"{name}.npz")
        assert verdict in run("certify", tmp_path / f"{name}.npz").out
    content = json.loads(
        run("certify", tmp_path / "strong.npz", "--json", "--eta", 0.1, "--sigma", 1, "--signal", 9).out
    )
    assert content["assumptions"]["signal"] == 9 and content["assumptions"]["error"] == 0.1
    assert {"selector", "needed", "margin", "holds", "tolerated_error"} <= set(content["conditions"][0])
    assert content["separability"] is None  # weights below zero


def test_a_pool_is_held_against_its_reference(run, tables):
    arguments = ("certify", tables / "pool.parquet", "-r", tables / "reference.parquet", "--id-column", "id")
    content = json.loads(run(*arguments, "-k", 2, "-m", 2, "--json").out)
    assert content["estimate"]["source"] == "60 reference rows"
    assert "full score" in json.dumps(content["conditions"])
    assert "give both -k and -m" in run(*arguments).err
    assert run(*arguments, "-k", 2, "-m", 2, "--delta", 2).code == 2
