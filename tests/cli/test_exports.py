"""`biselect select FILE` with nothing else, on exports of other hands; and `inspect`'s command, run as printed."""

import json
import shlex

import numpy as np
import pytest
from tests.tables.exports import EXPORTS
from tests.tables.test_same_schema import forms, some_table

import biselect as bs

FILES = [name for name in EXPORTS if "frame" not in name]


@pytest.mark.parametrize("name", sorted(FILES))
def test_one_command_finds_what_was_planted(run, tmp_path, monkeypatch, name):
    export = EXPORTS[name](tmp_path)
    monkeypatch.chdir(tmp_path)
    looked = run("inspect", export.source.name, "--json")
    assert looked.code == 0, looked.err
    command = shlex.split(json.loads(looked.out)["command"])
    assert command == ["biselect", "select", export.source.name, "--out", command[-1]]
    assert command[-1].endswith("report") and command[-1].removesuffix("-report") in (
        export.source.name.split(".")[0],
        "report",
    )
    outcome = run(*command[1:])
    assert outcome.code == 0, outcome.err
    answer = json.loads((tmp_path / command[-1] / "selection.json").read_text())
    found = set(answer["sample_indices"]) & set(export.planted)
    assert len(found) >= 0.75 * len(export.planted), (answer["features"], found)


@pytest.mark.parametrize("name", sorted(EXPORTS.keys() - FILES))
def test_one_call_finds_what_was_planted_in_a_frame(tmp_path, name):
    export = EXPORTS[name](tmp_path)
    review = bs.review(export.source, progress=False)
    assert len(set(review.selection.samples.tolist()) & set(export.planted)) >= 0.75 * len(export.planted)


@pytest.mark.parametrize("seed", range(50))
def test_what_inspect_prints_runs_as_printed(run, tmp_path, monkeypatch, seed):
    columns, locale = some_table(1000 + seed)
    source = forms(tmp_path, columns, locale)[seed % 4]
    monkeypatch.chdir(tmp_path)
    said = [[], ["--column", "amount=category"], ["--exclude", "order"], ["--column", "order=show"]][seed // 4 % 4]
    looked = run("inspect", source.name, *said)
    assert looked.code == 0, looked.err
    command = shlex.split(looked.out.splitlines()[-1])
    assert command[:3] == ["biselect", "select", source.name]
    assert run(*command[1:], "--kinds", "1", "--neighbours", "0", "0").code == 0


def test_names_and_cells_of_any_kind_run_as_printed(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    names = ["-k", "a, b", "c;d", 'e"f', "g=h", "i:j", " k ", "l\nm", "", "n", "n", "ü 日"]
    cells = [[f"{x:.3f}" for x in rng.normal(size=len(names))] for _ in range(60)]
    text = "\n".join(",".join('"' + one.replace('"', '""') + '"' for one in row) for row in [names, *cells])
    (tmp_path / "-x y.csv").write_text(text + "\n")
    monkeypatch.chdir(tmp_path)
    roles = bs.inspect("-x y.csv").roles
    assert [*roles] == ["-k", "a, b", "c;d", 'e"f', "g=h", "i:j", "k", "l m", "column 9", "n", "n (2)", "ü 日"]
    for name in roles:
        looked = run("inspect", "./-x y.csv", "--column", f"{name}=category")
        command = shlex.split(looked.out.splitlines()[-1])
        assert run(*command[1:], "--kinds", "1", "--neighbours", "0", "0").code == 0, (name, looked.out)
