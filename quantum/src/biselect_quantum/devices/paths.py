"""Paths: the ways from a logical circuit to a device, as plain options."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any


@dataclass(frozen=True, kw_only=True)
class QiskitPath:
    """Qiskit's optimisation level 3 on our gates: the 16 conditions of Table implementation_path_factorial, and more.

    Level 3 writes two-qubit blocks anew to within a fidelity of 1 - 1e-9, whatever its approximation degree, so a
    rotation by less than some 1e-4 may be lost: these paths are exact to about 1e-4 in total variation only.

    Attributes:
        fractional: whether RX and RZZ of any angle may be used, else the CZ target.
        fused: XXPlusYY for each mixer edge, else RXX and RYY.
        coloured: mixer edges in classes of disjoint edges, else in the order of the program. Another order is another
            circuit, not a better way to write the same one.
        late: angles are bound after transpilation, else before. Huge angles then lose digits, for Qiskit adds them up.
        clean: single-qubit gates are merged once more at the very end; no condition of the paper does that.
    """

    fractional: bool
    fused: bool
    coloured: bool
    late: bool
    clean: bool = False

    @property
    def name(self) -> str:
        """For people and files."""
        gates, mixer = ("cz", "fractional")[self.fractional], ("unfused", "fused")[self.fused]
        order, binding = ("recorded", "coloured")[self.coloured], ("early", "late")[self.late]
        return "-".join([gates, mixer, order, binding, *["clean"] * self.clean])


@dataclass(frozen=True, kw_only=True)
class YFramePath:
    """Our own: mixer edges as CZ · RX ⊗ RX · CZ in a rotated frame; bound angles only, no routing.

    Attributes:
        coloured: as in `QiskitPath`.
        propagate: use what is known of the start and of the measurement: known bits, phases that nobody sees.
            Without it the unitary is the program's; with it only the output distribution is.
        quiet: take RZZ(π/2) for a CZ where the device recorded less error for it. Virtual rotations come in, so the
            circuit counts as deeper, and takes no longer.
    """

    coloured: bool = True
    propagate: bool = True
    quiet: bool = False

    @property
    def name(self) -> str:
        """For people and files."""
        order = ["coloured"] * self.coloured
        return "-".join(["y-frame", *order, *["unitary"] * (not self.propagate), *["quiet"] * self.quiet])


@dataclass(frozen=True, kw_only=True)
class NetworkPath:
    """Our own for couplings beyond the device's edges: the Y-frame on a line, whose registers are exchanged.

    Only the output distribution is the program's. Which layout it needs, and what it does there: `swap_network`.

    Attributes:
        coloured: as in `QiskitPath`.
        quiet: as in `YFramePath`.
        line: the logical qubits in the order in which they stand on the line, samples first; empty for their own order.
    """

    coloured: bool = True
    quiet: bool = False
    line: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """For people and files."""
        return "-".join(["network", ("recorded", "coloured")[self.coloured], *["quiet"] * self.quiet])


CompilationPath = QiskitPath | YFramePath | NetworkPath

OPT3_CZ = QiskitPath(fractional=False, fused=False, coloured=False, late=False)
OPT3_FRACTIONAL = QiskitPath(fractional=True, fused=False, coloured=False, late=False)
COMPLETE_CZ = QiskitPath(fractional=False, fused=True, coloured=True, late=True)
COMPLETE_FRACTIONAL = QiskitPath(fractional=True, fused=True, coloured=True, late=True)
STRONGEST_QISKIT = QiskitPath(fractional=True, fused=True, coloured=True, late=False, clean=True)
Y_FRAME = YFramePath()
QUIET = YFramePath(quiet=True)
IN_ORDER = YFramePath(coloured=False, quiet=True)  # the order of a patch's classes kept: another is another ansatz

PATHS: dict[str, CompilationPath] = {
    "opt3-cz": OPT3_CZ,
    "opt3-fractional": OPT3_FRACTIONAL,
    "complete-cz": COMPLETE_CZ,
    "complete-fractional": COMPLETE_FRACTIONAL,
    "strongest-qiskit": STRONGEST_QISKIT,
    "y-frame": Y_FRAME,
    "y-frame-quiet": QUIET,
}
"""Paths that have a name."""


def path_of(content: Mapping[str, Any]) -> CompilationPath:
    """A path from its name and options, as manifests have them.

    >>> path_of({"name": "network-coloured", "coloured": True, "quiet": False})
    NetworkPath(coloured=True, quiet=False, line=())
    """
    kinds: dict[str, type[CompilationPath]] = {"network": NetworkPath, "y": YFramePath}
    options: dict[str, Any] = {name: value for name, value in content.items() if name != "name"}
    if "line" in options:
        options["line"] = tuple(options["line"])
    return kinds.get(str(content["name"]).split("-")[0], QiskitPath)(**options)


def factorial() -> tuple[QiskitPath, ...]:
    """The 16 conditions.

    >>> len(factorial()), factorial()[0].name, factorial()[-1].name
    (16, 'cz-unfused-recorded-early', 'fractional-fused-coloured-late')
    """
    options = ("fractional", "fused", "coloured", "late")
    return tuple(QiskitPath(**dict(zip(options, sides, strict=True))) for sides in product((False, True), repeat=4))


def compared() -> dict[str, CompilationPath]:
    """What studies and benchmarks hold against each other: the 16 conditions, Qiskit's strongest and the Y-frame."""
    paths: tuple[CompilationPath, ...] = (*factorial(), STRONGEST_QISKIT, Y_FRAME, YFramePath(coloured=False))
    return {path.name: path for path in paths}
