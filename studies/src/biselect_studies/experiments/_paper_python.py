"""The side of the paper's Python: experiments of `compile_case` by Qiskit 2.1.2, asked for line by line.

Qiskit 2.1 knows no bounds of a gate's angles, which our targets have. `_teach_bounds` makes it take them: compilation
does not see them, and folding and the last check do, as they did in the paper.
"""

import json
import sys
from collections.abc import Mapping
from math import pi
from typing import Any

from biselect_studies.paper_environment import VERSION

ROUNDING = 1e-9  # of an angle at a bound


def main() -> None:
    """Answer every line of stdin on stdout."""
    import qiskit
    from threadpoolctl import threadpool_limits

    if qiskit.__version__ != VERSION:
        raise SystemExit(f"{sys.executable} has Qiskit {qiskit.__version__}, not {VERSION}: run make paper-env")
    _teach_bounds()
    _mend_layouts()
    from biselect_quantum.devices.targets import from_snapshot
    from biselect_studies.experiments import compile_case

    devices = json.loads(sys.stdin.readline())
    targets: dict[str, Any] = {name: from_snapshot(content) for name, content in devices.items()}
    compile_case.recorded = targets.__getitem__
    for line in sys.stdin:
        asked = json.loads(line)
        with threadpool_limits(limits=1, user_api="blas"):
            found = getattr(compile_case, asked["experiment"])(asked["cell"], asked["seeds"])
        print(json.dumps(found), flush=True)


def _teach_bounds() -> None:
    """Let Qiskit 2.1 take targets with bounds of RZZ, which later ones know themselves."""
    from qiskit.transpiler import Target

    plain: Any = Target.add_instruction

    def add_instruction(self: Any, *args: Any, angle_bounds: Any = None, **options: Any) -> None:
        plain(self, *args, **options)

    lessons = {
        "add_instruction": add_instruction,
        "has_angle_bounds": lambda self: False,
        "gate_has_angle_bounds": lambda self, name: name == "rzz",
        "supported_angle_bound": lambda self, name, angles: -ROUNDING <= angles[0] <= pi / 2 + ROUNDING,
    }
    _teach(Target, lessons)


def _mend_layouts() -> None:
    """Let Qiskit 2.1 leave ancillas out of an initial layout by what they are, not by where they are listed."""
    from qiskit.transpiler import TranspileLayout

    whole: Any = TranspileLayout.initial_index_layout

    def initial_index_layout(self: Any, filter_ancillas: bool = False) -> list[int]:
        found: list[int] = whole(self)
        return found[: self._input_qubit_count] if filter_ancillas else found

    _teach(TranspileLayout, {"initial_index_layout": initial_index_layout})


def _teach(pupil: type, lessons: Mapping[str, Any]) -> None:
    for name, lesson in lessons.items():
        setattr(pupil, name, lesson)


if __name__ == "__main__":
    main()
