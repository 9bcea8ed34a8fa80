"""Writing a compiled circuit: QPY, OpenQASM, manifest, snapshot, problem, angles and a picture; all appear whole."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from biselect.core.files import check_folder, write_folder

if TYPE_CHECKING:
    from biselect.hardware.bundle import Bundle

NAMES = ("circuit.qpy", "circuit.qasm", "target.json", "problem.npz", "patch.svg", "manifest.json")


def write_circuit(folder: str | Path, made: Bundle) -> list[Path]:
    """Write all files of a bundle; the manifest, which holds the hashes of the others, comes last."""
    from biselect.hardware.execute.circuit_files import circuit_contents

    check_folder(Path(folder), NAMES)
    return write_folder(folder, circuit_contents(made, {"patch.svg": _picture(made)}))


def _picture(made: Bundle) -> bytes:
    from matplotlib import rc_context

    from biselect.report.patch import draw_patch
    from biselect.report.style import house_style

    picture = io.BytesIO()
    with house_style(), rc_context({"svg.hashsalt": "biselect"}):  # the same bytes every time
        draw_patch(made.patch, made.target, made.compiled.program).savefig(
            picture, format="svg", metadata={"Date": None}
        )
    return picture.getvalue()
