"""Hits of the optimum for each shot taken, under noise models: each mitigation by itself and all together.

    python benchmarks/bench_mitigation.py                      # (12, 8, 3, 5) and (8, 6, 3, 2), p = 3, three devices
    python benchmarks/bench_mitigation.py --sizes 14 --devices boston --instances 4
    python benchmarks/bench_mitigation.py --readout            # which readout correction: exact inversion or M3

Circuits are placed, trained and compiled as `biselect compile --path y-frame-quiet` does, with few evaluations. Rates
are exact sums over the output of courses of errors (`noise/chances.py`): no shot noise, and the standard error of a
ratio comes from resampling courses, the same for both sides. Shots that calibration takes count as taken: one repeat's
worth for every ten, as `biselect run --repeats 10 --mitigate readout` asks for.

Repair is classical, so what it makes of random strings stands beside it: uniform ones, and strings with as many ones on
each side as the circuit gives. Noise model, not hardware. Figures are written to benchmarks/results/.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect import solve
from biselect.core.sector import Sector
from biselect_quantum.circuits import Ansatz
from biselect_quantum.devices import Compiled, load_target, place_circuit
from biselect_quantum.devices.analysis import goal_of
from biselect_quantum.devices.bundle import PlacedCircuit
from biselect_quantum.devices.decode import Shots
from biselect_quantum.devices.mitigation.decoupling import decoupled
from biselect_quantum.devices.mitigation.readout import inside_weights
from biselect_quantum.devices.mitigation.repair import repair
from biselect_quantum.devices.mitigation.twirling import twirled
from biselect_quantum.devices.noise import LABEL, NoisyShots, cut_noise, mitigate
from biselect_quantum.devices.noise.chances import CourseValues, weigh_courses
from biselect_quantum.devices.noise.courses import read_out
from biselect_quantum.devices.noise.trajectories import misread
from biselect_studies.experiments.heron_case import SIZES, problem

DEPTH, EVALUATIONS = 3, 300
CALIBRATION = 10 / 11  # of all shots taken, those that measure the circuit where readout is calibrated
RANDOMISATIONS = 4
RESAMPLED = 400
WANTED = 1.5
SIZES[14] = (8, 6, 3, 2)
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, kw_only=True, eq=False)
class Strings:
    """Strings whose chances are asked for, under the original variables.

    Attributes:
        hits: the optimum.
        repaired: all strings that repair takes for it, itself included.
        likeliest: all strings whose likeliest source, by readout alone, it is, itself included.
    """

    hits: NDArray[np.int64]
    repaired: NDArray[np.int64]
    likeliest: NDArray[np.int64]

    @classmethod
    def of(cls, placed: PlacedCircuit, confusion: NDArray[np.float64]) -> Strings:
        """Looked for among all strings within one flip on each side."""
        dense, n = placed.problem, placed.problem.n_samples
        best = solve(dense, "exact")
        string = np.zeros(n + dense.n_features, dtype=np.int64)
        string[list(best.samples)] = 1
        string[n + np.array(best.features)] = 1
        near = []
        for i in (None, *range(n)):
            for j in (None, *range(n, len(string))):
                other = string.copy()
                other[[flip for flip in (i, j) if flip is not None]] ^= 1
                near.append(other)
        goal = goal_of(dense, best.energy)
        repaired = [row for row in near if _lands(row, dense, goal)]
        wrong = confusion[np.arange(len(string)), :, :]
        odds = np.log(np.stack([wrong[:, 1, 0], wrong[:, 0, 1]], axis=1))  # that a 0 read was a 1, a 1 read a 0
        likeliest = [row for row in near if (_most_likely(row, dense, odds) == string).all()]
        return cls(hits=string[None], repaired=np.array(repaired), likeliest=np.array(likeliest))


def _lands(row: NDArray[np.int64], dense: Any, goal: float) -> bool:
    made = repair(Shots.of_table(row[None], np.ones(1, dtype=np.int64)), dense).samples(dense)
    return bool(made.energies.size) and float(made.energies[0]) <= goal


def _most_likely(row: NDArray[np.int64], dense: Any, odds: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest choice that was most likely misread as this string."""
    made = row.copy()
    for side, budget in ((slice(0, dense.n_samples), dense.k), (slice(dense.n_samples, None), dense.m)):
        off = int(row[side].sum()) - budget
        if off:
            part, chances = made[side], odds[side][np.arange(len(made[side])), made[side]]
            part[np.where(part == (off > 0), chances, -np.inf).argmax()] ^= 1
    return made


class Figures:
    """Chances of strings and of counts of ones under one circuit, course by course."""

    def __init__(
        self, compiled: Compiled, placed: PlacedCircuit, strings: Strings, courses: int, seed: int, idle: bool = False
    ) -> None:
        dense = placed.problem
        noisy = cut_noise(compiled, placed.target, idle=idle)
        circuit = noisy.plain.in_order(compiled.clbits)
        rows: dict[str, tuple[int, int]] = {}
        sides: list[list[NDArray[np.float64]]] = [[], []]
        for name in ("hits", "repaired", "likeliest"):
            begin = len(sides[0])
            for string in getattr(strings, name):
                for side, bits in enumerate(np.split(string, [dense.n_samples])):
                    exact = np.zeros(1 << len(bits))
                    exact[int(bits @ (1 << np.arange(len(bits))))] = 1
                    sides[side].append(exact)
            rows[name] = begin, len(sides[0])
        self.weights = [(a, b) for a in range(dense.k - 1, dense.k + 2) for b in range(dense.m - 1, dense.m + 2)]
        for counts in self.weights:
            for side, (size, count) in enumerate(zip(dense.coupling.shape, counts, strict=True)):
                ones = np.array([number.bit_count() for number in range(1 << size)])
                sides[side].append((ones == count).astype(float))
        misread = np.split(circuit.confusion, [dense.n_samples])
        read = [
            np.array([read_out(row, matrix.transpose(0, 2, 1)) for row in side])
            for side, matrix in zip(sides, misread, strict=True)
        ]
        self.rows = rows
        self.values: CourseValues = weigh_courses(circuit, (read[0], read[1]), courses, seed=seed)
        self.seed = seed

    def of(self, name: str) -> NDArray[np.float64]:
        """A chance, and then as resampled courses give it."""
        return self._drawn(slice(*self.rows[name]))

    def class_chances(self) -> dict[tuple[int, int], float]:
        """The chance of each pair of counts within one of the budgets."""
        first = max(stop for _, stop in self.rows.values())
        return {
            counts: float(self._drawn(slice(first + number, first + number + 1))[0])
            for number, counts in enumerate(self.weights)
        }

    def _drawn(self, columns: slice) -> NDArray[np.float64]:
        values, rng = self.values, np.random.default_rng(self.seed)  # the same courses for every figure
        right = values.flawless[columns].sum()
        drawn = np.repeat(values.wrong[:, columns].sum(axis=1), values.counts)
        again = drawn[rng.integers(len(drawn), size=(RESAMPLED, len(drawn)))].mean(axis=1)
        return values.chance * right + (1 - values.chance) * np.concatenate([[drawn.mean()], again])


def controls(figures: Figures, strings: Strings, placed: PlacedCircuit) -> dict[str, float]:
    """What repair makes of uniform strings, and of ones with the counts that the circuit gives."""
    from math import comb

    dense = placed.problem
    n, d = dense.n_samples, dense.n_features
    counts = [(int(row[:n].sum()), int(row[n:].sum())) for row in strings.repaired]
    chances = figures.class_chances()
    each = [chances[pair] / (comb(n, pair[0]) * comb(d, pair[1])) for pair in counts]
    outside = sum(chance for chance, pair in zip(each, counts, strict=True) if pair != (dense.k, dense.m))
    return {"uniform": len(counts) / 2 ** (n + d), "shuffled": sum(each), "shuffled_outside": outside}


def measure(device: str, width: int, seed: int, courses: int) -> dict[str, Any]:
    """One instance on one device."""
    dense = problem("creditcard", width, seed)
    target = load_target(device)
    placed = place_circuit(dense, target, depth=DEPTH, path="y-frame-quiet", seed=seed)
    trained = Ansatz.from_spec(placed.spec).train(objective="cvar", evaluations=EVALUATIONS, seed=seed)
    compiled = placed.compile(trained, compare=False).compiled
    confusion = cut_noise(compiled, target).confusion[list(compiled.clbits)]
    strings = Strings.of(placed, confusion)
    plain = Figures(compiled, placed, strings, courses, seed=0)
    waiting = Figures(compiled, placed, strings, courses // 2, seed=1, idle=True)
    paused = Figures(decoupled(compiled, target), placed, strings, courses // 2, seed=2, idle=True)
    few = max(2, courses // 2 // RANDOMISATIONS)
    framed = [
        Figures(twirled(compiled, target, frame), placed, strings, few, seed=3 + frame)
        for frame in range(RANDOMISATIONS)
    ]
    none, random = plain.of("hits"), controls(plain, strings, placed)
    found = {
        "readout (calibration paid, no hit more)": CALIBRATION * none / none,
        "twirl": np.mean([each.of("hits") for each in framed], axis=0) / none,
        "decouple (waiting qubits relax on both sides)": paused.of("hits") / waiting.of("hits"),
        "repair to the likeliest source (calibration paid)": CALIBRATION * plain.of("likeliest") / none,
        "repair to the lowest energy": plain.of("repaired") / none,
        "the same, less what strings of these counts give": (plain.of("repaired") - random["shuffled_outside"]) / none,
        "twirl and repair": np.mean([each.of("repaired") for each in framed], axis=0) / none,
        "all (calibration paid; waiting qubits relax)": CALIBRATION * paused.of("repaired") / waiting.of("hits"),
    }
    return {
        "device": device,
        "width": width,
        "instance": seed,
        "ideal": float(plain.values.flawless[plain.rows["hits"][0]]),
        "hits": {"none": float(none[0]), "repair": float(plain.of("repaired")[0])},
        "controls": random,
        "mass": plain.class_chances()[(dense.k, dense.m)],
        "ratios": {name: [float(values[0]), float(values[1:].std())] for name, values in found.items()},
    }


def compare_corrections(trials: int = 6, shots: int = 1024) -> None:
    """How far the exact-budget mass by exact inversion and by M3 is from the truth, for one known confusion.

    The output is spread as a noisy circuit's: most shots uniform inside the budgets, the others a few flips away.
    """
    dense = problem("creditcard", 20, 0)
    rng, n, width = np.random.default_rng(0), dense.n_samples, 20
    for wrong in (0.005, 0.01, 0.03):
        off: dict[str, list[float]] = {"exact inversion": [], "M3, then the rule of `noise.mitigate`": []}
        for _ in range(trials):
            rates = wrong * rng.uniform(0.3, 1.7, size=(width, 2))
            confusion = np.array([[1 - rates[:, 0], rates[:, 0]], [rates[:, 1], 1 - rates[:, 1]]]).transpose(2, 0, 1)
            rows = np.zeros((shots, width), dtype=np.int64)
            rows[:, : dense.k], rows[:, n : n + dense.m] = 1, 1
            rows = np.hstack([rng.permuted(side, axis=1) for side in np.split(rows, [n], axis=1)])
            rows ^= (rng.random((shots, width)) < 0.04) & (rng.random((shots, 1)) < 0.2)
            ones = np.ones(shots, dtype=np.int64)
            truth = Shots.of_table(rows, ones).exact_budget_mass(dense)
            read = Shots.of_table(misread(rows, confusion, rng), ones)
            weights = inside_weights(read.bits, np.linalg.inv(confusion), dense)
            seen = NoisyShots(shots=read, confusion=confusion, flawless=0.0, seconds=0.0)
            found = read.counts @ weights / shots, float(mitigate(seen, dense)[read.inside(dense)].sum())
            for name, value in zip(off, found, strict=True):
                off[name].append(100 * (value - truth))
        for name, values in off.items():
            error = np.sqrt(np.mean(np.square(values)))
            print(
                f"misread {100 * wrong:.1f} %: {name:38s} bias {np.mean(values):+.2f}, rms error {error:.2f} points",
                flush=True,
            )


def dense_size(width: int) -> int:
    """How many choices there are."""
    n, d, k, m = SIZES[width]
    return Sector(n_samples=n, n_features=d, k=k, m=m).size


def main() -> None:
    """Print every case, and the median of each ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", nargs="+", default=["boston", "pittsburgh", "aachen"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[20, 14])
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--courses", type=int, default=100)
    parser.add_argument("--readout", action="store_true")
    options = parser.parse_args()
    if options.readout:
        return compare_corrections()
    print(f"{LABEL}; p = {DEPTH}, random starts, courses of errors twirled to Paulis")
    cases = []
    for width in options.sizes:
        for device in options.devices:
            for seed in range(options.instances):
                found = measure(device, width, seed, options.courses)
                cases.append(found)
                hits, random = found["hits"], found["controls"]
                print(
                    f"{SIZES[width]} {device} {seed}: mass {100 * found['mass']:.1f} %, hits "
                    f"{100 * hits['none']:.3f} % (ideal {100 * found['ideal']:.3f}, chance "
                    f"{100 / dense_size(width):.3f}), repaired "
                    f"{100 * hits['repair']:.3f} %; repair of uniform strings {100 * random['uniform']:.4f} %, of the "
                    f"same counts {100 * random['shuffled']:.4f} %"
                )
                for name, (value, error) in found["ratios"].items():
                    print(f"    {name:52s} {value:.3f} ± {error:.3f}", flush=True)
        print(f"{SIZES[width]}, all cases: median [lowest, highest] of hits for each shot taken over no mitigation")
        for name in cases[0]["ratios"]:
            values = [case["ratios"][name][0] for case in cases if case["width"] == width]
            met = f"; promised {WANTED}" if name == "repair to the lowest energy" else ""
            print(f"    {name:52s} {np.median(values):.2f} [{min(values):.2f}, {max(values):.2f}]{met}", flush=True)
    (RESULTS / "mitigation.json").write_text(json.dumps({"label": LABEL, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
