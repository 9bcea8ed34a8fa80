"""A dense cost routed on heavy-hex: shots read in the order of physical wires, and decoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from biselect.hardware.compile import compile_circuit
from biselect.hardware.decode import decode_bits, parse_physical_order
from biselect.hardware.ideal import ideal_shots
from biselect.hardware.paths import OPT3_CZ
from biselect.qaoa import AnsatzSpec
from biselect_studies.experiments.compile_case import angles, dense_problem, device
from biselect_studies.task import Cell, Values

SHOTS = 4096


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """Exact-budget mass both ways, and the SWAPs behind it; a seed fixes start, transpiler and shots."""
    problem = replace(dense_problem(cell["N"], cell["D"]), k=cell["k"], m=cell["m"])
    values: Values = {"physical": [], "decoded": [], "swaps": []}
    for seed in seeds:
        spec = AnsatzSpec(problem, cell["depth"], "bilinear", "ring", "random", seed=seed)
        program = spec.program(angles(cell["depth"]))
        made = compile_circuit(program, device(cell["device"]), None, OPT3_CZ, seed=seed)
        shots = ideal_shots(made, SHOTS, seed)
        physical = parse_physical_order(shots, problem, made.final_layout)
        values["physical"].append(physical.exact_budget_mass(problem))
        values["decoded"].append(decode_bits(shots, problem, made.clbits).exact_budget_mass(problem))
        values["swaps"].append(made.resources.swaps)
    return values
