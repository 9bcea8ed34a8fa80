import json


def test_the_demo_proves_its_answer_and_writes_the_report(run, tmp_path):
    outcome = run("demo", "--out", tmp_path / "demo", "--json")
    answer = json.loads(outcome.out)
    assert outcome.code == 0
    assert (
        answer["proven_optimal"]
        and answer["proof_checked"]
        and len(answer["samples"]) == 10
        and len(answer["features"]) == 4
    )
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
