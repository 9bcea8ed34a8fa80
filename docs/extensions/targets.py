"""The directive `named-targets`: every target that has a name, with its figures and their sources, from the data."""

from statistics import median
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from biselect.hardware.published import Published, ion_traps, named_devices, source
from biselect.hardware.targets import load_target

WORDS = {
    "gates_at_once": "gates at once",
    "pulse_error": "error of a pulse",
    "pair_error": "error of the full two-qubit gate",
    "memory_error": "memory error of a qubit in one layer",
    "angle_slope": "slope of the two-qubit error over the size of θ/π",
    "angle_offset": "its offset",
    "readout_error": "readout error, state preparation included",
    "readout_error_0": "readout error of 0",
    "readout_error_1": "readout error of 1",
    "pulse_seconds": "time of a pulse",
    "pair_seconds": "time of a two-qubit gate",
    "readout_seconds": "time of the readout",
    "t1": "T1",
    "t2": "T2",
}
OPEN = ("memory_error", "angle_slope", "pulse_seconds", "pair_seconds", "readout_seconds", "t1", "t2")


def number(value: float | None, unit: str = "") -> str:
    """A figure for people; an open one says so."""
    if value is None:
        return "open"
    if unit != "s" or value == 0:
        return f"{value:.3g}{' ' * bool(unit)}{unit}"
    scale, word = next((scale, word) for scale, word in ((1, "s"), (1e-6, "µs"), (1e-9, "ns")) if value >= scale)
    return f"{value / scale:.4g} {word}"


def page() -> list[str]:
    """All targets as Markdown: one table of what circuits are compiled for, then a section each."""
    lines = [
        "| target | qubits | gates | error of two-qubit gates | readout error |",
        "| --- | --- | --- | --- | --- |",
    ]
    sections: list[str] = []
    for name, entry in named_devices().items():
        target = load_target(name)
        gates = [gate for gate in sorted(target.operation_names) if gate not in ("delay", "measure", "reset", "id")]
        rows = {gate: figures(target, gate) for gate in [*gates, "measure"]}
        pairs = [errors for gate, (_, errors) in rows.items() if target.operation_from_name(gate).num_qubits == 2]
        cells = (
            f"`{name}`",
            str(target.num_qubits),
            ", ".join(gates),
            " and ".join(dict.fromkeys(number(error) for error in pairs)),
            number(rows["measure"][1]),
        )
        lines.append(f"| {' | '.join(cells)} |")
        sections += section(name, entry, rows, ion_traps().get(name))
    return [*lines, "", *sections]


def section(name: str, entry: dict[str, Any], rows: dict[str, Any], trap: Published | None) -> list[str]:
    """One target."""
    lines = [f"## {name}", "", f"{entry['title']}. {entry.get('note', '')}".strip(), ""]
    lines += [f"    biselect compile problem.npz --target {name} --out circuit", ""]
    where = f"`biselect run circuit --on {entry['submit']}`" if "submit" in entry else "not from here"
    lines += [f"Submit: {where}. Noise model: `--on noisy:{name}`.", ""]
    if trap is None:
        lines += [f"Source: {source(entry['source'])}.", ""]
        lines += ["| gate | median time | median error |", "| --- | --- | --- |"]
        lines += [f"| {gate} | {number(time, 's')} | {number(error)} |" for gate, (time, error) in rows.items()]
        return [*lines, ""]
    lines += ["| figure | value | published by |", "| --- | --- | --- |"]
    for figure, (value, key) in trap.figures.items():
        unit = "s" if figure.endswith("seconds") or figure in ("t1", "t2") else ""
        lines.append(f"| {WORDS[figure]} | {number(value, unit)} | {source(key)} |")
    left = [WORDS[figure] for figure in OPEN if figure not in trap.figures]
    lines += ["", f"Open, since we found no published figure: {', '.join(left)}." if left else "Nothing is open."]
    return [*lines, ""]


def figures(target: Any, gate: str) -> tuple[float | None, float | None]:
    """Median time and error of a gate over its places."""
    entries = [entry for entry in target[gate].values() if entry is not None]
    found = [
        [value for value in values if value is not None]
        for values in ([entry.duration for entry in entries], [entry.error for entry in entries])
    ]
    return (median(found[0]) if found[0] else None), (median(found[1]) if found[1] else None)


class NamedTargets(SphinxDirective):
    """The directive itself."""

    def run(self) -> list[nodes.Node]:
        """Every named target."""
        container = nodes.section()
        container.document = self.state.document
        self.state.nested_parse(StringList(page(), "targets"), 0, container, match_titles=True)
        return container.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive."""
    app.add_directive("named-targets", NamedTargets)
    return {"parallel_read_safe": True}
