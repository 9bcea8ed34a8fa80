"""`biselect quantum`: from a table or a problem to a page, and again."""

import numpy as np
import pytest

pytest.importorskip("qiskit_aer")

from biselect import SelectionProblem

QUICK = ("--depth", 1, "--shots", 32, "--evaluations", 40, "--on", "sector")


def test_a_table_becomes_a_page_and_is_taken_up_again(run, tmp_path):
    rng = np.random.default_rng(0)
    for name, rows in (("pool", 30), ("normal", 80)):
        np.savetxt(
            tmp_path / f"{name}.csv", rng.normal(size=(rows, 6)), delimiter=",", header="a,b,c,d,e,f", comments=""
        )
    order = (
        "quantum",
        tmp_path / "pool.csv",
        "--reference",
        tmp_path / "normal.csv",
        "--candidates",
        "5x4",
        "-k",
        2,
        "-m",
        2,
    )
    done = run(*order, "--preset", "paper", *QUICK, "--out", tmp_path / "out")
    assert done.code == 0 and "by start and mixer alone" in done.out
    assert "of all of them are held" in done.err and "pool.csv" in (tmp_path / "out" / "index.html").read_text()
    again = run(*order, "--preset", "paper", *QUICK, "--out", tmp_path / "out")
    assert again.out == done.out and "there already" in again.err
    other = run(*order, *QUICK, "--out", tmp_path / "out")
    assert other.code == 2 and "another pipeline" in other.err


def test_a_problem_file_will_do(run, tmp_path):
    SelectionProblem(coupling=np.arange(12.0).reshape(4, 3), k=2, m=1).save(tmp_path / "p.npz")
    done = run("quantum", tmp_path / "p.npz", *QUICK, "--out", tmp_path / "out")
    assert done.code == 0 and (tmp_path / "out" / "circuit" / "circuit.qasm").exists()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ((), "--demo alone"),
        (("pool.csv", "--demo"), "--demo alone"),
        (("--demo", "--candidates", "12"), "12x8"),
        (("--demo", "--candidates", "700x8"), "only 600"),
        (("--demo", "--device", "nowhere"), "nowhere"),
    ],
)
def test_what_it_cannot_do_is_said(run, tmp_path, wrong, why):
    done = run("quantum", *wrong, "--out", tmp_path / "out")
    assert done.code == 2 and why in done.err
