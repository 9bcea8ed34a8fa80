"""A dense cost routed on heavy-hex: shots read in the order of physical wires, and decoded."""

from __future__ import annotations

from dataclasses import replace

from biselect.hardware.compile import compile_circuit
from biselect.hardware.decode import decode_bits, parse_physical_order
from biselect.hardware.ideal import ideal_shots
from biselect.hardware.paths import OPT3_CZ
from biselect.qaoa import AnsatzSpec
from biselect_studies.experiments import by_seed
from biselect_studies.experiments.compile_case import angles, dense_problem, device
from biselect_studies.task import Cell


@by_seed
def work(cell: Cell, seed: int) -> dict[str, float]:
    """Exact-budget mass both ways, and the SWAPs behind it; a seed fixes start, transpiler and shots."""
    depth = cell["depth"]
    problem = replace(dense_problem(cell["N"], cell["D"]), k=cell["k"], m=cell["m"])
    program = AnsatzSpec(problem, depth, "bilinear", "ring", "random", seed=seed).program(angles(depth))
    made = compile_circuit(program, device(cell["device"]), None, OPT3_CZ, seed=seed)
    shots = ideal_shots(made, 4096, seed)
    return {
        "physical": parse_physical_order(shots, problem, made.final_layout).exact_budget_mass(problem),
        "decoded": decode_bits(shots, problem, made.clbits).exact_budget_mass(problem),
        "swaps": made.resources.swaps,
    }
