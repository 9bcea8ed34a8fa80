import json


def test_doctor_finds_everything_in_order(run, monkeypatch, tmp_path):
    monkeypatch.setenv("BISELECT_DATA", str(tmp_path))
    facts = json.loads(run("doctor", "--json").out)
    assert facts["ok"] and all(facts["core"].values())
    assert facts["data"]["note"] == "no Credit Card table in that folder"
    shown = run("doctor")
    assert shown.code == 0 and "exact solver" in shown.out


def test_doctor_says_what_is_broken(run, monkeypatch):
    import numba

    def broken(*_):
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(numba, "njit", broken)
    outcome = run("doctor")
    assert outcome.code == 1
    assert "no compiler here" in outcome.out
