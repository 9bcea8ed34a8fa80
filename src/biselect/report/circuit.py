"""Writing a compiled circuit: QPY, OpenQASM, manifest, snapshot, problem and a picture; all files appear whole."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError
from biselect.report.files import check_folder

if TYPE_CHECKING:
    from biselect.hardware.bundle import Bundle

NAMES = ("circuit.qpy", "circuit.qasm", "target.json", "problem.npz", "patch.svg", "manifest.json")


def write_circuit(folder: str | Path, made: Bundle) -> list[Path]:
    """Write all files of a bundle; the manifest, which holds the hashes of the others, comes last."""
    from matplotlib import rc_context

    from biselect.hardware.circuits import qasm3_text, qpy_bytes
    from biselect.hardware.seal import seal
    from biselect.hardware.targets import snapshot
    from biselect.report.patch import draw_patch
    from biselect.studies.style import house_style

    folder = Path(folder)
    check_folder(folder, NAMES)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as name:
            staging = Path(name)
            circuit = made.compiled.circuit.copy(name="biselect")  # Qiskit numbers circuits as they are made
            (staging / "circuit.qpy").write_bytes(qpy_bytes(circuit))
            (staging / "circuit.qasm").write_text(qasm3_text(circuit), encoding="utf-8")
            (staging / "target.json").write_text(_json(snapshot(made.target)), encoding="utf-8")
            made.problem.save(staging / "problem.npz")
            with house_style(), rc_context({"svg.hashsalt": "biselect"}):  # the same bytes every time
                figure = draw_patch(made.patch, made.target, made.compiled.program)
                figure.savefig(staging / "patch.svg", metadata={"Date": None})
            hashes = {each: hashlib.sha256((staging / each).read_bytes()).hexdigest() for each in NAMES[:-1]}
            (staging / "manifest.json").write_text(_json(seal({**made.manifest(), "files": hashes})), encoding="utf-8")
            for each in NAMES:
                os.replace(staging / each, folder / each)
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
    return [folder / each for each in NAMES]


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
