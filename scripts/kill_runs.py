"""Kill `run` at many moments wherever circuits can be run, and go on: `python scripts/kill_runs.py --moments 20`.

Half of the kills come at an even spread of times, half right before or after an even spread of steps: a record, a
sample, a job handed in or asked for. Each killed run is taken up once; its folder must then hold the same bytes as that
of a run that nobody killed, but for SQLite's count of how often its file was opened. Jobs of services carry random
tags, so of their records the shots are compared, and no job may be handed in twice. The service's side is a
stand-in that keeps its jobs in a file.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")
os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
sys.path.insert(0, str(Path(__file__).parents[1] / "quantum" / "tests"))

import numpy as np  # noqa: E402 (the threads are counted at import)

from biselect import SelectionProblem  # noqa: E402
from biselect_quantum.devices import compile_problem  # noqa: E402
from biselect_quantum.devices.circuit_files import load_circuit, write_circuit  # noqa: E402
from biselect_quantum.devices.execution import remote  # noqa: E402
from biselect_quantum.devices.execution.outcomes import conclude  # noqa: E402
from biselect_quantum.devices.execution.run import freeze, plan  # noqa: E402
from biselect_quantum.devices.execution.runner import execute  # noqa: E402
from biselect_quantum.devices.execution.samplers import RawShots, sampler_for  # noqa: E402
from biselect_quantum.devices.execution.store import RESULTS, TABLES, RunStore  # noqa: E402

REPEATS, SHOTS = 12, 100
CIRCUITS = 5  # of a job
RECORDED = "FakeManilaV2"
COUNTERS = (range(24, 28), range(92, 96))  # where SQLite's header says how often the file was opened to be changed
SAMPLER = "StatevectorSampler"
IBM = "ibm:answering"  # by IBM's own client
PLACES = ("sector", "wide", "aer", f"noisy:{RECORDED}", SAMPLER, IBM)


def answering(folder: Path) -> Any:
    """IBM's own client, and a service that answers it from a file."""
    import pytest
    from answering_ibm import AnsweringIbm, grid
    from ibm_quantum_schemas.executor import version_2_0 as executor

    queue = folder / "queue"

    class Kept(AnsweringIbm):
        def answer(self, request: Any) -> Any:
            self.queue = pickle.loads(queue.read_bytes()) if queue.exists() else []  # our own, of a moment ago
            for job in self.queue:
                job["program"] = executor.QuantumProgramModel.model_validate_json(job["program"])
            found = super().answer(request)
            kept = [{**job, "program": job["program"].model_dump_json()} for job in self.queue]
            queue.with_suffix(".part").write_bytes(pickle.dumps(kept))
            os.replace(queue.with_suffix(".part"), queue)
            return found

    folder.mkdir(exist_ok=True)
    remote.MOST_CIRCUITS = CIRCUITS
    return Kept(pytest.MonkeyPatch(), grid(4, 3)).sampling()


def compiled(room: Path, on: str) -> Path:
    """A circuit that can be measured there."""
    rng = np.random.default_rng(7)
    if RECORDED in on:
        problem = SelectionProblem(coupling=rng.random((3, 2)), k=1, m=1)
        target: Any = RECORDED
        options: dict[str, Any] = {"path": "complete-cz"}
    else:
        from answering_ibm import grid
        from qiskit_ibm_runtime.models import BackendConfiguration, BackendProperties
        from qiskit_ibm_runtime.utils.backend_converter import convert_to_target

        problem = SelectionProblem(coupling=rng.random((5, 4)), k=2, m=2)
        configuration, properties = grid(4, 3)
        target = convert_to_target(
            BackendConfiguration.from_dict(configuration), BackendProperties.from_dict(properties)
        )
        options = {}
    made = compile_problem(problem, target, [0.4, 0.3], depth=1, schedule="tied", compare=False, **options)
    write_circuit(folder := room / "circuit", made)
    return folder


def whole_run(circuit: Path, folder: Path, on: str) -> None:
    """All that `biselect run` does, from the first file to the last."""
    given: Any = on
    if on == SAMPLER:
        from qiskit.primitives import StatevectorSampler

        given = StatevectorSampler()
    elif on == IBM:
        given = answering(folder.parent / "service")
    stored, sampler = load_circuit(circuit), sampler_for(given)
    run = freeze(stored, circuit, folder, plan(stored, given, shots=SHOTS, repeats=REPEATS, seed=1))
    conclude(run, execute(run, sampler))


def watch(step: Callable[[], None]) -> None:
    """Call `step` before and after everything that a run does."""
    seen: list[tuple[Any, str]] = [(RunStore, "_append"), (RunStore, "check"), (remote.Service, "submit")]
    seen += [(remote.Service, "collect"), (RawShots, "of_table")]
    for owner, name in seen:
        setattr(owner, name, _watched(getattr(owner, name), step, bound=owner is RawShots))


def _watched(original: Any, step: Callable[[], None], bound: bool) -> Any:
    def call(*arguments: Any, **options: Any) -> Any:
        step()
        found = original(*arguments, **options)
        step()
        return found

    return staticmethod(call) if bound else call


def in_child(work: Callable[[], Any]) -> tuple[bool, Any]:
    """Run it in a process of its own; whether it was killed, and what it gave."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, json.dumps(work()).encode())
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a run failed by itself")
    return os.WIFSIGNALED(status), json.loads(text) if text else None


def kill_at(place: str, moments: int, room: Path) -> Counter[str]:
    """Kill runs at one place; counts of what was found."""
    circuit = compiled(room, place)

    def folder(name: str) -> Path:
        (room / name).mkdir()
        return room / name / "run"

    def counted(when: int | None, seconds: float | None, path: Path) -> Any:
        count = 0

        def step() -> None:
            nonlocal count
            count += 1
            if count == when:
                os.kill(os.getpid(), signal.SIGKILL)

        def work() -> Any:
            watch(step)
            if seconds is not None:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process on the spot, as SIGKILL does
                signal.setitimer(signal.ITIMER_REAL, seconds)
            begin = time.monotonic()
            whole_run(circuit, path, place)
            signal.setitimer(signal.ITIMER_REAL, 0)
            return {"steps": count, "seconds": time.monotonic() - begin}

        return work

    whole = folder("whole")
    _, took = in_child(counted(None, None, whole))
    wanted, found = contents(whole, place), Counter[str]()
    for number in range(moments):
        path, share = folder(str(number)), (number // 2 + 0.5) / max(1, moments // 2)
        if number % 2:
            killed, _ = in_child(counted(1 + int(share * took["steps"]), None, path))
        else:
            killed, _ = in_child(counted(None, share * took["seconds"], path))
        found["killed" if killed else "(ended before)"] += 1
        in_child(lambda: whole_run(circuit, path, place))  # noqa: B023
        other = [name for name, data in contents(path, place).items() if data != wanted.get(name)]
        found[f"OTHER {', '.join(other).upper()}" if other else "same"] += 1
        if place == IBM and jobs(path.parent / "service") != -(-REPEATS // CIRCUITS):
            found["A JOB TWICE"] += 1
    return found


def jobs(service: Path) -> int:
    """How many were handed in."""
    queue = service / "queue"
    return len(pickle.loads(queue.read_bytes())) if queue.exists() else len(list(service.iterdir()))


def contents(folder: Path, place: str) -> dict[str, Any]:
    """What a run's folder holds, byte for byte; of a service's records what was measured."""
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")}
    if place == IBM:
        with closing(sqlite3.connect(folder / RESULTS)) as database:
            records = [
                json.loads(text) for (text,) in database.execute(f"SELECT record FROM {TABLES[0]} ORDER BY number")
            ]
        return {**{name: data for name, data in files.items() if name != RESULTS}, "records": records}
    for span in COUNTERS:
        files[RESULTS] = files[RESULTS][: span.start] + bytes(len(span)) + files[RESULTS][span.stop :]
    return files


def main() -> None:
    """Every place in turn."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", default=PLACES, help=f"of {', '.join(PLACES)}")
    parser.add_argument("--moments", type=int, default=20)
    arguments = parser.parse_args()
    bad = False
    for place in arguments.places:
        with tempfile.TemporaryDirectory(prefix="biselect-kills-") as room, suppress(KeyboardInterrupt):
            found = kill_at(place, arguments.moments, Path(room))
            bad |= any(name.isupper() for name in found)
            print(f"{place}: {dict(found)}", flush=True)
    print("wrong: " + ("see above" if bad else "none"))
    sys.exit(bad)


if __name__ == "__main__":
    main()
