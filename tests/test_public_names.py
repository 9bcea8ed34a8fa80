"""Every public name, listed: a new one is added here on purpose, and one that goes away is told in the changelog."""

import runpy
from importlib import import_module
from pathlib import Path

EXTENSION = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "extensions" / "public_names.py"))
MOST = 215
NAMES = {
    "biselect": (
        "Calibrator Group Inspection JointSelector Review ReviewSession Rules Selection SelectionProblem "
        "TailCalibrator groups_by inspect read_problem review review_problem solve solver_names"
    ),
    "biselect.core": "Components Ising Sector",
    "biselect_quantum.uniform": "uniform_energy",
    "biselect.reviews": (
        "AskedRow Finding GivenAnswer Kind Kinds NamedRules Replay Reviewed Round RoundFound Standing "
        "find_kinds monitor_drift"
    ),
    "biselect.calibrate": (
        "CalibrationFacts Drift Question ReferenceSummary compare decompose lag_sweep map_names marginal_scores "
        "measure parquet_blocks shrink_sweep"
    ),
    "biselect.calibrate.maps": "Reference TailMap",
    "biselect_studies.extensions.validity": "angle_bound coupling_bound ecdf_band tail_band",
    "biselect.solvers": "Answer Solver certified neighbours register solver_options",
    "biselect.solvers.interop": "fill_quadratic_program from_solution_file from_values penalties to_bqm to_cqm",
    "biselect.solvers.linear_text": "to_lp to_mps",
    "biselect_studies.recovery": (
        "Bernstein Burden Certificate Estimate SubGaussian certify classwise_threshold clipped "
        "biclique_problem covariance_threshold estimate feature_first_threshold joint_threshold rank_one_check "
        "sparsification_bound"
    ),
    "biselect_quantum.circuits": (
        "Ansatz AnsatzSpec CostGroup Observable Program SCHEDULES STRATEGIES Schedule Threshold Training "
        "components depth_efficiency grouping_gain grouping_suffices load_thresholds responses save_thresholds "
        "split_terms surrogate train"
    ),
    "biselect_quantum.circuits.starts": "start_choice",
    "biselect_quantum.circuits.angle_selection": (
        "AngleSelection WideShots fixed_angles select_by_paper select_by_rounds warm_starts"
    ),
    "biselect_studies.quantum.penalty_x": "PenaltyX candidate_search",
    "biselect_quantum.simulate.wide": "BondLimitError WideSampler",
    "biselect_quantum.devices": (
        "Bundle Compiled NetworkPath PATHS Patch PauliOperators PlacedCircuit Placement QiskitPath YFramePath "
        "build_circuit choose_patch compile_circuit compile_open compile_problem decode_counts "
        "hardware_mask layout_of load_target make_patch masked patch_objections pauli_operators place place_circuit "
        "qasm3_text qpy_bytes retained_mass to_qiskit trade"
    ),
    "biselect_studies.quantum.mean_field": "Agreement agreement low_energy_overlap sparse_optimum",
    "biselect_quantum.devices.execution": (
        "SectorSampler execute freeze load_circuit load_run outcome plan sampler_for take_shots"
    ),
    "biselect_quantum.devices.noise": (
        "LABEL NoisyChances NoisyCircuit NoisyShots RegisterMass cut_noise filled_in noisy_chances "
        "noisy_shots register_mass register_shots"
    ),
    "biselect.data.readers": "CsvForm read_table",
    "biselect.data.splits": "TimeSplit split_rows",
    "biselect_studies.data.candidates": "Candidates balanced ranked reservoir unbalanced",
    "biselect_studies.data.synthetic": (
        "Planted benchmark depth_problem gaussian_qubo panel_problem planted_block planted_problem"
    ),
    "biselect_studies.data.aml_schema": "Transactions find_transactions load_transactions",
    "biselect_studies.data.aml_features": "causal_features",
    "biselect_studies.data.aml_generator": "Market",
    "biselect.plot": "block budgets couplings depths drift energies landscape reasons schedule",
    "biselect.report": "render_html render_monitor",
    "biselect.testing": "all_selections assert_solver_api brute_force",
    "biselect.errors": "AlteredWarning BiselectError InfeasibleError InputError MissingDataError "
    "MissingDependencyError",
}


def offered() -> dict[str, set[str]]:
    """What each documented module of the library offers first; a name handed on from further up is told there."""
    seen: set[int] = set()
    found: dict[str, set[str]] = {}
    for place in EXTENSION["MODULES"]:
        if place.startswith("biselect_studies"):
            continue
        module = import_module(place)
        names = {name for name in EXTENSION["public_names"](module) if id(getattr(module, name)) not in seen}
        seen |= {id(getattr(module, name)) for name in names}
        found[place] = names
    return {place: names for place, names in found.items() if names}


def test_the_public_names_are_these():
    assert offered() == {place: set(names.split()) for place, names in NAMES.items()}


def test_no_name_stands_for_two_things():
    names = [name for listed in NAMES.values() for name in listed.split()]
    assert len(names) == len(set(names)) <= MOST
