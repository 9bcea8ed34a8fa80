import json
import os
import runpy
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from biselect.core.untrusted import seal
from biselect.errors import AlteredWarning, BiselectError, InputError
from biselect_studies.runner import collect, pending_of, run
from biselect_studies.task import Task, tasks_for

CELL = {"N": 8, "D": 6, "k": 2, "m": 2, "noise": 0.5, "methods": ("feature-first", "exact")}


def tasks(seeds=6, block=2):
    return tasks_for("benchmark", CELL, seeds, block=block)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_equal_work_has_equal_keys_in_any_process_and_other_work_has_others():
    task = tasks()[0]
    assert task.key == replace(task).key
    others = [replace(task, stop=3), replace(task, experiment="recovery"), replace(task, cell=(*task.cell, ("x", 1)))]
    assert len({task.key, *(other.key for other in others)}) == 4
    code = (
        "from biselect_studies.task import tasks_for\n"
        f"print(tasks_for('benchmark', {dict(reversed(CELL.items()))!r}, 6, block=2)[0].key)"
    )
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert elsewhere == task.key


def test_matrices_are_summed_in_one_thread_on_any_machine(monkeypatch):
    from biselect_studies.experiments import benchmark

    def threads(cell, seeds):
        return {"threads": [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]}

    monkeypatch.setattr(benchmark, "benchmark", threads)
    with threadpool_limits(limits=2, user_api="blas"):
        assert set(tasks()[0].perform()["threads"]) == {1}


FILES = {
    "biselect/__init__.py": "",
    "biselect/named.py": "from biselect.lazy import something\n",
    "biselect/other.py": "x = 1\n",
    "biselect/parts/__init__.py": "from biselect.parts.deep import thing as one\n",
    "biselect/parts/deep.py": "thing = 1\n",
    "biselect/lazy/__init__.py": "import lazy_loader\n",
    "biselect/lazy/handed_on.py": "something = 1\n",
    "biselect/late.py": '"""Says."""\nfrom biselect.inner.data import table\ndef f():\n    """Does."""\n    return 1\n',
    "biselect/inner/__init__.py": "from biselect.other import x\n",
    "biselect/inner/data.py": "from importlib.resources import files\ntable = 1\n",
    "biselect_studies/__init__.py": "",
    "biselect_studies/work.py": "from biselect.parts import one\nfrom biselect_studies.task import Cell\n"
    "def run():\n    import biselect.late\nx = 'biselect.named:solver'\nimport biselect.registered\n",
    "biselect_studies/task.py": "from biselect.other import x\n",
    "biselect/registered.py": "MAPS = Registry('biselect.maps', 'map', {})\n",
    "biselect_studies/maps.py": "one = 1\n",
}
DATA = {
    "biselect/inner/tables/one.parquet": "PAR1",
    "biselect/inner/kernel.cu": "// none",
}
STUB = {"biselect/lazy/__init__.pyi": "from .handed_on import something as something\n"}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Small packages in place of the two, and the digest of a module `work` of the second."""
    from biselect_studies import sources

    for name, text in {**FILES, **DATA, **STUB, "biselect/parts/notes.txt": ""}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sources, "ROOTS", {name: tmp_path / name for name in ("biselect", "biselect_studies")})
    point = EntryPoint(name="mine", value="biselect_studies.maps:Map", group="biselect.maps")
    monkeypatch.setattr(sources, "entry_points", lambda group: [point] if group == point.group else [])
    return tmp_path, lambda: sources.digest.__wrapped__("biselect_studies.work")


@pytest.mark.parametrize("changed", sorted(FILES))
def test_a_result_is_kept_under_all_the_code_that_can_make_it(changed, package):
    """However a module is reached: by import, anywhere, named in a string, handed on lazily, or by entry point."""
    root, digest = package
    before = digest()
    assert digest() == before
    (root / changed).write_text(FILES[changed] + "changed = 1\n")
    assert (digest() == before) == (changed in ("biselect/other.py", "biselect_studies/task.py"))


@pytest.mark.parametrize("changed", sorted(DATA))
def test_tables_and_kernels_beside_the_code_that_reads_them_count_as_code(changed, package):
    root, digest = package
    before = digest()
    (root / changed).write_text(DATA[changed] + " ")
    assert digest() != before
    (root / changed).write_text(DATA[changed])
    (root / "biselect/parts/notes.txt").write_text("nobody reads files there")
    (root / "biselect/inner/__pycache__").mkdir()
    (root / "biselect/inner/__pycache__/kernel.nbi").write_text("compiled since")
    assert digest() == before


def test_comments_docstrings_and_layout_change_nothing(package):
    root, digest = package
    before = digest()
    for name, text in FILES.items():
        (root / name).write_text("# said\n\n" + text.replace("Says", "Says more").replace("Does", "Does more"))
    assert digest() == before
    (root / "biselect/late.py").write_text(FILES["biselect/late.py"].replace("return 1", "return 2"))
    assert digest() != before


def test_a_new_generator_makes_no_use_of_old_cells(monkeypatch, tmp_path):
    from biselect_studies import sources, task

    old = tasks_for("aml_slices", {"x": 1}, 1, block=1)[0].key
    path = sources._path("biselect_studies.data.aml_generator")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda one: read(one) + b"changed = 1\n" * (one == path))
    monkeypatch.setattr(task, "digest", sources.digest.__wrapped__)
    assert tasks_for("aml_slices", {"x": 1}, 1, block=1)[0].key != old
    same = tasks()[0].key
    monkeypatch.undo()
    assert tasks()[0].key == same, "the synthetic benchmark has nothing to do with it"


@pytest.mark.parametrize("registered", ["extensions.maps", "extensions.swap_sa"])
def test_a_registered_map_or_solver_is_part_of_every_key(registered, monkeypatch):
    from biselect_studies import sources, task

    old = tasks()[0].key
    path = sources._path(f"biselect_studies.{registered}")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda one: read(one) + b"changed = 1\n" * (one == path))
    monkeypatch.setattr(task, "digest", sources.digest.__wrapped__)
    assert tasks()[0].key != old


def test_results_do_not_depend_on_processes_or_blocks(tmp_path):
    run(tasks(), tmp_path / "alone", on="alone")
    run(tasks(), tmp_path / "local")
    assert contents(tmp_path / "alone") == contents(tmp_path / "local")
    run(tasks(block=6), tmp_path / "whole", on="alone")
    blocks, whole = collect(tasks(), tmp_path / "alone"), collect(tasks(block=6), tmp_path / "whole")
    assert blocks.keys() == whole.keys()
    for cell in blocks:
        for name in blocks[cell]:
            assert np.array_equal(blocks[cell][name], whole[cell][name])


def test_finished_work_is_not_done_again_and_counts_once(tmp_path, monkeypatch):
    seen = []
    run(tasks()[:2], tmp_path, on="alone")
    performed = Task.perform
    monkeypatch.setattr(Task, "perform", lambda task: seen.append(task.first) or performed(task))
    run([*tasks(), *tasks()], tmp_path, on="alone")
    assert seen == [4]
    (values,) = collect([*tasks(), *tasks()], tmp_path).values()
    assert len(values["exact"]) == 6


def shortened(text):
    cell = json.loads(text)
    return json.dumps({**cell, "values": {name: values[:-1] for name, values in cell["values"].items()}})


DAMAGE = {
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "no object": lambda text: "[]",
    "no values": lambda text: json.dumps(seal({"task": json.loads(text)["task"]})),
    "no hash": lambda text: json.dumps({name: part for name, part in json.loads(text).items() if name != "hash"}),
    "another task": lambda text: json.dumps(seal({**json.loads(text), "task": 1})),
    "another number": lambda text: text.replace('"exact":[', '"exact":[0.125,', 1),
    "fewer numbers": shortened,
    "NaN": lambda text: text.replace('"exact":[', '"exact":[NaN,', 1),
    "deep": lambda text: "[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_result_is_no_result_and_it_is_said(tmp_path, damage):
    run(tasks(), tmp_path, on="alone")
    whole = contents(tmp_path)
    victim = sorted(tmp_path.rglob("*.json"))[1]
    changed = damage(victim.read_text())
    assert changed != victim.read_text()
    victim.write_text(changed)
    with pytest.raises(BiselectError, match="not finished"):
        collect(tasks(), tmp_path)
    with pytest.warns(AlteredWarning, match=rf"{victim.name}: .*computed again"):
        run(tasks(), tmp_path, on="alone")
    assert contents(tmp_path) == whole


def test_many_damaged_results_are_said_once(tmp_path):
    run(tasks(), tmp_path, on="alone")
    for path in tmp_path.rglob("*.json"):
        path.write_text("{}")
    with pytest.warns(AlteredWarning, match="and 2 more; computed again") as said:
        run(tasks(), tmp_path, on="alone")
    assert len(said) == 1


def test_numbers_that_are_none_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(Task, "perform", lambda task: {"exact": [float("nan")]})
    with pytest.raises(BiselectError, match="holds other than finite numbers"):
        run(tasks(), tmp_path, on="alone")
    assert contents(tmp_path) == {}


def test_a_failing_task_keeps_what_was_finished(tmp_path):
    impossible = tasks_for("benchmark", {**CELL, "k": 99}, 2, block=2)
    with pytest.raises(InputError):
        run([*tasks(), *impossible], tmp_path, on="alone")
    assert len(collect(tasks(), tmp_path)) == 1


def test_progress_counts_what_was_there_already(tmp_path):
    run(tasks()[:1], tmp_path, on="alone")
    seen = []
    run(tasks(), tmp_path, on="alone", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("on", ["moon", "dask", "http://x"])
def test_unknown_places_are_refused(tmp_path, on):
    with pytest.raises(InputError, match="cannot run on"):
        run(tasks(), tmp_path, on=on)


def kill_once_there_are(results: int, cells: Path, command: list[str]) -> None:
    """SIGKILL, to the whole process group: it leaves no time to tidy up."""
    victim = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(cells.rglob("[!.]*.json"))) < results:
        assert victim.poll() is None and time.monotonic() < deadline, "the run ended before it could be killed"
        time.sleep(0.01)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_with_the_same_bytes(tmp_path):
    many = tasks_for("benchmark", CELL, 1200, block=15)
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from biselect_studies.runner import run\n"
        "from biselect_studies.task import tasks_for\n"
        f"run(tasks_for('benchmark', {CELL!r}, 1200, block=15), Path({str(tmp_path / 'killed')!r}))\n"
    )
    for finished in (1, 25):
        kill_once_there_are(finished, tmp_path / "killed", [sys.executable, str(script)])
    survived = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("[!.]*.json")}
    assert 25 <= len(survived) < len(many)
    run(many, tmp_path / "killed")
    run(many, tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in survived} == survived, "finished cells were done again"
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


@pytest.mark.slow
def test_a_study_killed_half_way_resumes_to_the_same_results(tmp_path):
    name = "joint-vs-sequential-param-sweep-heatmaps"
    command = [sys.executable, "-m", "biselect", "reproduce", name, "--quick", "-q", "--json", "--out"]
    kill_once_there_are(100, tmp_path / "killed" / "cells", [*command, str(tmp_path / "killed")])
    assert not (tmp_path / "killed" / name / "results.json").exists()
    resumed = subprocess.run([*command, str(tmp_path / "killed")], capture_output=True, check=True).stdout
    straight = subprocess.run([*command, str(tmp_path / "whole")], capture_output=True, check=True).stdout
    assert resumed == straight and json.loads(resumed)["cells"]
    for file in ("results.json", "table.md", "figure.png"):
        assert (tmp_path / "killed" / name / file).read_bytes() == (tmp_path / "whole" / name / file).read_bytes()


def test_the_digest_of_a_module_is_the_same_in_every_python():
    """Python 3.12 lists type parameters, and 3.13 leaves empty lists out."""
    import ast

    from biselect_studies.sources import _written_out

    tree = ast.parse("class A:\n    def f(self, x=None): return [x, 'a', 1.5]")
    x, self_ = "Name(id='x', ctx=Load())", "arg(arg='self')"
    returned = f"Return(value=List(elts=[{x}, Constant(value='a'), Constant(value=1.5)], ctx=Load()))"
    arguments = f"arguments(args=[{self_}, arg(arg='x')], defaults=[Constant()])"
    method = f"FunctionDef(name='f', args={arguments}, body=[{returned}])"
    assert _written_out(tree) == f"Module(body=[ClassDef(name='A', body=[{method}])])"


def test_tasks_that_lack_a_package_are_left_and_do_not_end_the_others(tmp_path, monkeypatch):
    from biselect.errors import MissingDependencyError

    first, second = tasks_for("benchmark", CELL, 2, block=1)
    perform = Task.perform

    def lacking(task):
        if task == first:
            raise MissingDependencyError("install the extra baselines")
        return perform(task)

    monkeypatch.setattr(Task, "perform", lacking)
    with pytest.raises(MissingDependencyError, match="baselines"):
        run([first, second], tmp_path, on="alone")
    run([first, second], tmp_path, on="alone", leaving=(MissingDependencyError,))
    assert pending_of([first, second], tmp_path) == [first]


def test_cells_of_another_tree_are_keyed_anew_where_they_are_made_the_same_here(tmp_path):
    script = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "rekey_cells.py"))
    run(tasks(), tmp_path / "own", on="alone")
    for number, path in enumerate(sorted((tmp_path / "own").glob("*/*.json"))):  # as if other code had named them
        (tmp_path / "old" / path.parent.name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / path.parent.name / f"{number}.json").write_text(path.read_text())
    outcome = script["rekey"](tmp_path / "old", tmp_path / "new", 1)
    assert list(outcome.values()) == [f"{len(tasks())} cells kept"]
    assert contents(tmp_path / "new") == contents(tmp_path / "own")
    for path in (tmp_path / "old").glob("*/*.json"):
        content = json.loads(path.read_text())
        first = next(iter(content["values"]))
        content["values"][first][0] = 17.0
        path.write_text(json.dumps(content))
    assert list(script["rekey"](tmp_path / "old", tmp_path / "none", 1).values()) == ["differs: run it again"]
    assert not (tmp_path / "none").exists()
