"""`biselect compile`: a problem and its angles to a circuit that a device takes, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import FIRST, Only
from biselect.cli.options import ROW_NAMES, KOfTable, MOfTable, Output, Problem
from biselect.options import Columns
from biselect.pages.terminal import figures, show_line, show_table
from biselect_quantum.cli._readers import read_angles, read_start
from biselect_quantum.options import CircuitOptions

if TYPE_CHECKING:
    from biselect_quantum.devices.device_circuit import DeviceCircuit
    from biselect_quantum.devices.resources import Resources

ALWAYS = ("depth", "2q depth", "2q gates")  # columns that are shown whatever they hold
NOTHING_TO_TELL = {"0", "unknown"}


def compile_(
    problem: Problem,
    k: KOfTable = None,
    m: MOfTable = None,
    columns: Annotated[Columns, Only("exclude", id=ROW_NAMES)] = Columns(),
    angles: Annotated[
        str | None,
        typer.Option(
            show_default=False,
            rich_help_panel=FIRST,
            help="What `biselect train` wrote (.json), a JSON list, or numbers separated by commas; left out, they are "
            "trained for this very circuit where the problem is small.",
        ),
    ] = None,
    circuit: Annotated[
        CircuitOptions,
        Only(
            *("target", "path", "registers", "keep", "seed"),
            depth="p; known for angles from a file, else 3.",
            schedule="Of the angles: known for those of a file; else fully-grouped, bilinear for a list.",
            start="auto (the likeliest to find the best), reach, random, canonical, dicke, or a selection.json.",
        ),
    ] = CircuitOptions(target="boston", path="y-frame", registers="auto", start="auto", keep="edges"),
    output: Annotated[
        Output,
        Only(
            "quiet",
            out="Folder for circuit.qpy, circuit.qasm, manifest.json, target.json, problem.npz, patch.svg and, where "
            "they were trained for this circuit, angles.json.",
            json="Print the manifest instead of a table.",
        ),
    ] = Output(),
) -> None:
    """Compile PROBLEM for a device, on hardware edges alone, and compare with plain Qiskit.

    Angles that suit the whole problem on a ring rarely suit the couplings and mixer of a chip: train them here, or with
    `biselect train --target`.

    The manifest holds what is needed to read the measured bits: layouts, mask, and the hashes of all files.
    """
    from biselect.core.files import check_folder
    from biselect.tables.problem_files import read_problem
    from biselect_quantum.devices import compile_problem
    from biselect_quantum.devices.circuit_files import NAMES, write_circuit

    steps = Steps(output.quiet)
    if output.out is not None:
        check_folder(output.out, NAMES)  # before the work, not after it
    loaded = read_problem(problem, k, m, columns.id, columns.exclude)
    compiled = compile_problem(
        loaded,
        circuit.target,
        read_angles(angles),
        depth=circuit.depth,
        schedule=circuit.schedule,
        path=str(circuit.path),
        registers=str(circuit.registers),
        start=read_start(str(circuit.start), loaded),
        keep=circuit.keep,
        seed=circuit.seed,
        progress=steps.say,
    )
    written = [] if output.out is None else write_circuit(output.out, compiled)
    if output.json:
        show_json(compiled.manifest())
    else:
        _show(compiled)
    for note in compiled.notes:
        steps.say(
            f"warning: {note}. Such angles may do no better than chance; leave --angles out to train them for this "
            "very circuit",
            style="bold yellow",
        )
    for file in written:
        steps.say(f"wrote {file}")


def _show(circuit: DeviceCircuit) -> None:
    ours, manifest = circuit.resources, circuit.manifest()
    n, d = circuit.patch.n_samples, circuit.patch.n_features
    title = f"{n} + {d} qubits of {circuit.target.description}, p = {manifest['depth']}, {manifest['schedule']}"
    retained, edges = f"{100 * circuit.retained_share:.2f} %", circuit.on_edges
    rows = (
        [] if edges is None else [("hardware edges alone", edges.resources, "", f"{100 * edges.retained_share:.2f} %")]
    )
    rows += [(name, other, "", retained) for name, other in circuit.references.items()]
    rows += [
        (circuit.path.name, ours, "", retained),
        ("a layer more", circuit.added_layer(), "+", ""),
    ]
    everything = {name: [_cells(resources)[name] for _, resources, *_ in rows] for name in _cells(ours)}
    columns = [name for name, cells in everything.items() if name in ALWAYS or {*cells} - NOTHING_TO_TELL]
    table = figures(title, "path", *columns, *(["mass kept"] if edges is not None else []))
    for number, (name, _, sign, share) in enumerate(rows):
        cells = [sign + everything[column][number] for column in columns]
        bold = "bold" if name == circuit.path.name else None
        table.add_row(name, *cells, *([share] if edges is not None else []), style=bold)
    show_table(table)
    for name, other in circuit.references.items():
        show_line(
            f"Against {name}: depth {_cut(ours.depth, other.depth)}, two-qubit gates "
            f"{_cut(ours.two_qubit_gates, other.two_qubit_gates)}, time {_cut(ours.duration, other.duration)}"
        )
    line = f"{circuit.mask.sum()} of {n * d} couplings stay: {retained} of the mass"
    if not circuit.mask.all():
        placement = circuit.placement
        assert placement is not None
        proof = "proven the most" if placement.proven_optimal else f"within {100 * placement.gap:.0f} % of the most"
        line += f", {proof} that any placement keeps there"
    show_line(line)


def _cells(resources: Resources) -> dict[str, str]:
    counts = {
        "depth": resources.depth,
        "pulse depth": resources.pulse_depth,
        "2q depth": resources.two_qubit_depth,
        "2q gates": resources.two_qubit_gates,
        "SWAPs": resources.swaps,
    }
    times = {"µs": resources.duration, "gates, µs": resources.gate_duration}
    return {name: "unknown" if count is None else str(count) for name, count in counts.items()} | {
        name: "unknown" if seconds is None else f"{1e6 * seconds:.2f}" for name, seconds in times.items()
    }


def _cut(ours: float | None, theirs: float | None) -> str:
    return "unknown" if ours is None or not theirs else f"{100 * (ours / theirs - 1):+.1f} %"
