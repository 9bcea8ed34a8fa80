"""Every public name, listed: a new one is added here on purpose, and one that goes away is told in the changelog."""

import runpy
from importlib import import_module
from pathlib import Path

EXTENSION = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "extensions" / "public_names.py"))
MOST = 168
NAMES = {
    "biselect": (
        "JointSelector Review ReviewSession Rules Selection SelectionProblem Table inspect monitor review solve table"
    ),
    "biselect.core": "Components Group Ising Sector groups_by",
    "biselect.errors": (
        "AlteredWarning BiselectError InfeasibleError InputError MissingDataError MissingDependencyError"
    ),
    "biselect.options": "Columns Compute Csv Flag Kinds Options Reviewing RowRules Search Split Watch Weighing",
    "biselect.reviews": "Caveat Kind KindList find_kinds",
    "biselect.sessions": "Ahead Found GivenAnswer QueuedRow ShownRow StaleAnswerError Standing",
    "biselect.weights": "WeighingFacts Weigher Reference WeightMap map_names",
    "biselect.estimators": "CellWeigher",
    "biselect.solvers": "Answer Run SOLVERS Solver certified keeps_limits neighbours solver_names solver_options",
    "biselect.solvers.other_formats": "fill_quadratic_program from_values penalties to_bqm to_cqm",
    "biselect.tables.readers": "read_table",
    "biselect.tables.problem_files": "read_problem",
    "biselect.plot": "block budgets couplings depths drift energies landscape reasons schedule",
    "biselect.extensions": "Registry",
    "biselect.columns": "register_column_type",
    "biselect.testing": "all_selections assert_map_api assert_solver_api brute_force",
    "biselect.pages": "render_html render_inspection render_monitor",
    "biselect_quantum": (
        "Ansatz AnsatzSpec Nulls Observable Program Schedule SectorSampler Threshold Training compile_problem "
        "execute load_circuit load_target nulls pipeline place_circuit plan table_problem take_shots train "
        "y_frame_pass_manager"
    ),
    "biselect_quantum.options": "CircuitOptions RunOptions TrainingOptions",
    "biselect_quantum.circuits": (
        "CostGroup SCHEDULES STRATEGIES components load_thresholds save_thresholds split_terms surrogate"
    ),
    "biselect_quantum.circuits.starts": "start_choice",
    "biselect_quantum.circuits.angle_selection": (
        "AngleSelection WideShots fixed_angles select_by_paper select_by_rounds warm_starts"
    ),
    "biselect_quantum.circuits.metrics": "DepthFigures by_depth",
    "biselect_quantum.uniform": "uniform_energy",
    "biselect_quantum.shots": "Samples Shots",
    "biselect_quantum.simulate.wide": "BondLimitError WideSampler",
    "biselect_quantum.devices": (
        "DeviceCircuit Layout NetworkPath PATHS Patch PauliOperators Placement QiskitPath "
        "YFramePath build_circuit choose_patch compile_circuit compile_open hardware_mask "
        "make_patch masked pauli_operators place qasm3_text qpy_bytes retained_mass "
        "to_qiskit"
    ),
    "biselect_quantum.devices.execution": "freeze load_run outcome sampler_for",
    "biselect_quantum.devices.noise": (
        "NoisyProbabilities NoisyCircuit NoisyShots cut_noise filled_in noisy_probabilities noisy_shots"
    ),
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
