"""The page of a pipeline, for a researcher: plain data with every coordinate settled, and its HTML."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.pages.html import render_page
from biselect_quantum._version import __version__
from biselect_quantum.devices.analysis import goal_of
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.device_errors import device_errors, positions_of
from biselect_quantum.devices.execution.outcomes import LOOKED_THROUGH, Outcome
from biselect_quantum.shots import Shots
from biselect_quantum.simulate.layers import energy_table
from biselect_quantum.simulate.program import XY
from biselect_quantum.uniform import uniform_choices

FORMAT = "biselect-quantum-1"
BINS = 40
DRAWS = 20_000  # of uniform choice, where not all can be looked through
LOST = 8  # heaviest couplings that no edge carries, drawn as arcs
LEVELS = 6  # of the ramp of couplings
RESOURCES = {
    "depth": "depth",
    "pulse_depth": "without virtual gates",
    "two_qubit_depth": "2q depth",
    "two_qubit_gates": "2q gates",
    "duration": "µs",
}
ROWS = ("full", "shuffled", "fields", "mixer", "tries", "uniform", "start")  # from the circuit downwards
SELECTED = "angles selected by CVaR₅ of own shots, blind"
GAMMA = "γ"


@dataclass(frozen=True, kw_only=True, eq=False)
class PipelineFacts:
    """What a page is made of.

    Attributes:
        source: where the problem is from, in words.
        preset: `default` or `paper`.
        optimum: samples, features, energy, and whether it is proven.
        circuit: compiled, with its controls.
        outcome: figures of its shots.
        shots: decoded, by row.
        figures: of training: nulls, hits by depth and by schedule, the simulator; empty where no sector was held.
        folded: whether the problem was one of directed columns.
        wide: whether no state of the sector is held.
    """

    source: str
    preset: str
    optimum: Mapping[str, Any]
    circuit: DeviceCircuit
    outcome: Outcome
    shots: Mapping[str, Sequence[Shots]]
    figures: Mapping[str, Any]
    folded: bool
    wide: bool


def render_pipeline(view: Mapping[str, Any]) -> str:
    """The page of what `view_of` gives, or of the content of `view.json`."""
    return render_page("pipeline.html", view, FORMAT, package="biselect_quantum", height_of=_height)


def _height(rate: float) -> float:
    """Where a rate stands in the picture of hits by depth: six decades on 240 pixels."""
    return round(16 + 40 * min(6.0, -log10(max(rate, 1e-6))), 1)


def view_of(facts: PipelineFacts) -> dict[str, Any]:
    """What the page shows, as plain data."""
    circuit, outcome = facts.circuit, facts.outcome
    problem, strict = circuit.problem, outcome.strict
    at_fixed = facts.wide and len({*circuit.compiled.angles.tolist()}) == 1
    knowledge = (
        "fixed at π/4, nothing known"
        if at_fixed
        else SELECTED
        if facts.wide
        else str(circuit.manifest()["knowledge"] or "angles of unknown training")
    )
    rows = {row["row"]: row for row in outcome.nulls}
    size = problem.coupling.shape
    return {
        "format": FORMAT,
        "version": __version__,
        "title": sentence(facts, rows),
        "lead": verdict(facts, rows),
        "knowledge": knowledge,
        "source": facts.source,
        "on": outcome.run.on,
        "kind": outcome.kind,
        "preset": facts.preset,
        "folded": facts.folded,
        "directed_energy": facts.optimum["directed_energy"],
        "size": [*size, problem.k, problem.m],
        "choices": problem.sector.size,
        "depth": circuit.spec.depth,
        "schedule": circuit.spec.schedule.name,
        "path": circuit.path.name,
        "shots": strict.shots,
        "seed": circuit.seed,
        "optimum": {
            **facts.optimum,
            "sample_names": [problem.sample_name(i) for i in facts.optimum["samples"]],
            "feature_names": [problem.feature_name(j) for j in facts.optimum["features"]],
        },
        "start_energy": None if circuit.program.choice is None else problem.energy(*circuit.program.choice),
        "histogram": _histogram(facts, rows),
        "couplings": _couplings(problem, circuit, facts.optimum),
        "chip": _chip(circuit, facts.optimum),
        "depths": _depths(facts),
        "schedules": facts.figures.get("schedules", []),
        "nulls": facts.figures.get("nulls"),
        "angles": _angles(circuit),
        "landscape": _landscape(facts),
        "mass": {
            "share": strict.feasible_rate.value,
            "interval": list(strict.feasible_interval[1:]),
            "chance": strict.chance,
            "controls": {row: figures.feasible_rate.value for row, figures in outcome.controls.items()},
        },
        "corrected": None if outcome.corrected is None else outcome.corrected.feasible_rate.value,
        "dense_gain": outcome.dense_gain,
        "resources": _resources(circuit),
    }


def sentence(facts: PipelineFacts, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """What the circuit found, and what its nulls would have."""
    strict, optimum = facts.outcome.strict, facts.optimum
    what = "the proven optimum" if optimum["proven"] else "the best choice known"
    if not rows:
        best = "nothing inside the budgets" if strict.best_energy is None else f"energy {strict.best_energy:.6g}"
        return f"The circuit found {best} in {strict.shots:,} shots; without its controls that says nothing."
    words = {
        "shuffled": "with shuffled numbers in {}",
        "fields": "without its two-qubit phases in {}",
        "mixer": "by start and mixer alone in {}",
        "uniform": "a uniform feasible choice would in {}",
    }
    nulls = [words[row].format(f"{rows[row]['hits']:,.3g}") for row in words if row in rows]
    text = f"The circuit hit {what} in {strict.hits:,} of {strict.shots:,} shots; {', '.join(nulls[:-1])}, and"
    return f"{text} {nulls[-1]}."


def verdict(facts: PipelineFacts, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """What of it may be put down to the couplings and numbers of this problem."""
    strict, problem = facts.outcome.strict, facts.circuit.problem
    said = []
    begin = facts.circuit.program.choice
    if begin is not None and problem.energy(*begin) <= goal_of(problem, strict.threshold):
        said.append("The circuit starts from that very choice: a hit is a shot that stayed there, and no finding.")
    nulls = facts.figures.get("nulls")
    if nulls:
        parts = [_factor(name, nulls["factors"][name]) for name in ("couplings", "own numbers")]
        said.append(f"Without noise, in {nulls['seeds']} trainings of each, {' and '.join(parts)}.")
    for row, less in (("fields", "two-qubit phases"), ("shuffled", "own numbers in place of shuffled ones")):
        if row not in rows or row not in facts.outcome.controls:
            continue
        other = facts.outcome.controls[row]
        change, half = _difference((strict.hits, strict.shots), (other.hits, other.shots))
        interval = f"{100 * (change - half):+.2g} to {100 * (change + half):+.2g}"
        told = "" if abs(change) > half else ", which these shots do not tell from nothing"
        said.append(
            f"In these shots, one training each, its {less} change hits by {100 * change:+.2g} points "
            f"(95 % interval {interval}){told}."
        )
    if "tries" in rows:
        seen = 100 * rows["tries"]["seen"]
        said.append(
            f"Coordinate ascent finds it with a chance of {seen:.3g} % in as many scored items as there were shots."
        )
    return " ".join(said)


def _factor(name: str, interval: Sequence[float]) -> str:
    """A contribution in words, told from 1 or not."""
    low, middle, high = interval
    told = "" if low > 1 or high < 1 else ", not told from 1"
    return f"its {name} multiply hits by {middle:.3g} ({low:.3g} to {high:.3g}{told})"


def _difference(one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
    """A difference of two shares and half of its 95 % interval, two pseudo-shots added to each (Agresti and Caffo)."""
    (a, n), (b, m) = one, other
    p, q = (a + 1) / (n + 2), (b + 1) / (m + 2)
    return p - q, 1.96 * sqrt(p * (1 - p) / (n + 2) + q * (1 - q) / (m + 2))


def _histogram(facts: PipelineFacts, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Shares of shots by energy, a row each: the circuit, its controls, and uniform choice."""
    problem, best = facts.circuit.problem, float(facts.optimum["energy"])
    if problem.sector.size <= LOOKED_THROUGH:
        uniform = energy_table(problem).ravel()
    else:
        uniform = problem.energies(*uniform_choices(problem, DRAWS, np.random.default_rng(facts.circuit.seed)))
    energies: dict[str, NDArray[np.float64]] = {"uniform": uniform}
    for row, repeats in facts.shots.items():
        samples = [shots.samples for shots in repeats]
        energies[row] = np.concatenate([np.repeat(each.energies, each.counts) for each in samples])
    top = float(max(np.quantile(uniform, 0.995), *(each.max(initial=best) for each in energies.values() if each.size)))
    top = top if top > best else best + 1.0
    edges = np.linspace(best, top, BINS + 1)
    drawn = []
    for row in ROWS:
        if row not in energies or not energies[row].size:
            continue
        counts, _ = np.histogram(np.clip(energies[row], best, top), edges)
        told = rows.get(row, {})
        rate = told.get("rate")
        drawn.append(
            {
                "row": row,
                "heights": np.sqrt(counts / counts.sum()).round(5).tolist(),
                "hits": None if rate is None else told["hits"],
                "rate": None if rate is None else list(rate),
                "seen": told.get("seen"),
            }
        )
    other = [
        {"row": row, "rate": list(rows[row]["rate"]), "hits": rows[row]["hits"], "seen": rows[row]["seen"]}
        for row in ("tries", "start")
        if row in rows
    ]
    highest = max((height for row in drawn for height in row["heights"]), default=1.0)
    ticks = [{"at": share, "energy": best + share * (top - best)} for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return {"rows": drawn, "other": other, "highest": highest, "ticks": ticks}


def _couplings(problem: SelectionProblem, circuit: DeviceCircuit, optimum: Mapping[str, Any]) -> dict[str, Any]:
    """The matrix, chosen rows and columns first, and which of its entries the circuit carries."""
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    rows, columns = (
        [*optimum[side], *(item for item in range(count) if item not in optimum[side])]
        for side, count in zip(("samples", "features"), weights.shape, strict=True)
    )
    top = float(np.abs(weights).max()) or 1.0
    cells = [
        [
            {
                "value": float(weights[i, j]),
                "level": min(LEVELS - 1, int(LEVELS * abs(weights[i, j]) / top)),
                "kept": bool(circuit.mask[i, j]),
            }
            for j in columns
        ]
        for i in rows
    ]
    names = {
        "rows": [problem.sample_name(i) for i in rows],
        "columns": [problem.feature_name(j) for j in columns],
    }
    kept = int(circuit.mask.sum())
    return {**names, "cells": cells, "kept": kept, "all": weights.size, "share": circuit.retained_share}


def _chip(circuit: DeviceCircuit, optimum: Mapping[str, Any]) -> dict[str, Any]:
    """Where the items sit: mixer edges, couplings on edges, and the heaviest of those that no edge carries."""
    places, patch, problem = positions_of(circuit.target), circuit.patch, circuit.problem
    device, n = device_errors(circuit.target), problem.n_samples
    used = [places[qubit] for qubit in patch.layout]
    top, left = (min(place[axis] for place in used) - 1 for axis in (0, 1))
    bottom, right = (max(place[axis] for place in used) + 1 for axis in (0, 1))

    def at(qubit: int) -> list[float]:
        row, column = places[qubit]
        return [column - left, row - top]

    def shown(qubit: int) -> bool:
        row, column = places[qubit]
        return top <= row <= bottom and left <= column <= right

    qubits = [qubit for qubit in range(circuit.target.num_qubits) if shown(qubit)]
    edges = [] if device.joins_all_pairs else [e for e in device.edge_costs if shown(e[0]) and shown(e[1])]
    weights = np.abs(problem.coupling_weight * problem.coupling.astype(np.float64))
    lost = np.argwhere(~circuit.mask & (weights > 0))
    heaviest = sorted(lost.tolist(), key=lambda pair: -weights[pair[0], pair[1]])[:LOST]
    kept = [(int(i), int(j)) for i, j in np.argwhere(circuit.mask)]
    on_edges = {(min(pair), max(pair)) for pair in device.edge_costs}
    layout = patch.layout
    direct = [(i, j) for i, j in kept if tuple(sorted((layout[i], layout[n + j]))) in on_edges]
    chosen = {*optimum["samples"], *(n + j for j in optimum["features"])}
    return {
        "width": right - left,
        "height": bottom - top,
        "qubits": [at(qubit) for qubit in qubits],
        "edges": [[*at(a), *at(b)] for a, b in edges],
        "mixer": [[*at(layout[i]), *at(layout[j])] for i, j in circuit.program.edges(XY)],
        "kept": [[*at(layout[i]), *at(layout[n + j])] for i, j in direct],
        "lost": [[*at(layout[i]), *at(layout[n + j])] for i, j in heaviest],
        "items": [
            {
                "at": at(qubit),
                "item": item if item < n else item - n,
                "sample": item < n,
                "chosen": item in chosen,
                "qubit": int(qubit),
            }
            for item, qubit in enumerate(layout)
        ],
    }


def _depths(facts: PipelineFacts) -> list[dict[str, Any]]:
    """Hits without noise by depth, a line for each circuit; the last points are medians of the seeds of the nulls."""
    table = facts.figures.get("nulls")
    if not table:
        return []
    last = {row["row"]: row["rate"] for row in table["rows"]}
    lines = []
    for row in ("full", "shuffled", "fields", "mixer", "uniform"):
        points = [[each["depth"], each["rate"]] for each in facts.figures["depths"] if each["row"] == row]
        first = [[1, last[row]]] if row == "uniform" and facts.circuit.spec.depth > 1 else []
        lines.append({"row": row, "points": [*points, *first, [facts.circuit.spec.depth, last[row]]]})
    return lines


def _angles(circuit: DeviceCircuit) -> list[dict[str, Any]]:
    """Angles by layer, a line for each γ and one for β."""
    layers = circuit.spec.schedule.expand(circuit.compiled.angles)
    names = [*(f"{GAMMA} {group.name}" for group in circuit.spec.groups), "β"]
    return [
        {"name": name, "values": values.tolist(), "largest": float(np.abs(values).max()) or 1.0}
        for name, values in zip(names, layers.T, strict=True)
    ]


def _landscape(facts: PipelineFacts) -> str | None:
    """The energies around the angles, as the address of a picture."""
    if "ansatz" not in facts.figures:
        return None
    from io import StringIO

    from matplotlib import rc_context

    from biselect.plot.style import house_style, panels
    from biselect_quantum.plot.angles import landscape

    picture = StringIO()
    with house_style(), rc_context({"svg.hashsalt": "biselect"}):
        figure, axes = panels(1, 1, width=4.8, height=3.8)
        landscape(facts.figures["ansatz"], facts.figures["trained"], ax=axes[0, 0], points=17)
        figure.savefig(picture, format="svg", metadata={"Date": None})
    return "data:image/svg+xml;base64," + b64encode(picture.getvalue().encode()).decode()


def _resources(circuit: DeviceCircuit) -> dict[str, Any]:
    """What the circuit costs, beside the same ansatz by Qiskit."""
    ways = {**circuit.references, circuit.path.name: circuit.resources}
    rows = [
        {"name": name, "ours": name == circuit.path.name, "cells": [getattr(one, key) for key in RESOURCES]}
        for name, one in ways.items()
    ]
    return {"columns": list(RESOURCES.values()), "rows": rows}
