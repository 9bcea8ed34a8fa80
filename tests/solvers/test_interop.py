import re
from itertools import product

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem
from biselect.errors import InfeasibleError, InputError, MissingDependencyError
from biselect.solvers import interop, linear_text
from biselect.testing import brute_force
from biselect.testing.strategies import problems, ruled_problems


@pytest.fixture
def ruled():
    rng = np.random.default_rng(0)
    return SelectionProblem(
        coupling=rng.normal(size=(6, 5)),
        sample_scores=rng.normal(size=6),
        feature_scores=rng.normal(size=5),
        coupling_weight=0.5,
        k=3,
        m=2,
        sample_rules=Rules(forced_in=[1], forced_out=[4], groups=[Group(members=(0, 2, 3), at_most=1)]),
        feature_rules=Rules(groups=[Group(members=(0, 1))]),
    )


@given(problems(max_samples=4, max_features=4))
@settings(max_examples=200)
def test_at_the_safe_penalties_every_ground_state_is_feasible(problem):
    sample_penalty, feature_penalty = interop.penalties(problem)
    bits = np.array(list(product([0, 1], repeat=problem.n_samples + problem.n_features)))
    off_s = bits[:, : problem.n_samples].sum(axis=1) - problem.k
    off_f = bits[:, problem.n_samples :].sum(axis=1) - problem.m
    energies = problem.bit_energies(bits) + sample_penalty * off_s**2 + feature_penalty * off_f**2
    feasible = (off_s == 0) & (off_f == 0)
    assert energies[~feasible].min(initial=np.inf) > energies[feasible].min()


def solve_mps(text):
    """The smallest reader that can check what `to_mps` writes, with HiGHS behind it."""
    section, integer = "", False
    senses, columns, integral, sides, low, high = {}, {}, {}, {}, {}, {}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith(" "):
            section = words[0]
        elif section == "ROWS":
            senses[words[1]] = words[0]
        elif section == "COLUMNS" and words[0] == "MARKER":
            integer = words[2] == "'INTORG'"
        elif section == "COLUMNS":
            columns.setdefault(words[0], {})[words[1]] = float(words[2])
            integral[words[0]] = integer
        elif section == "RHS":
            sides[words[1]] = float(words[2])
        elif section == "BOUNDS":
            high[words[2]] = float(words[3])
            low[words[2]] = float(words[3]) if words[0] == "FX" else 0.0
    names, rows = list(columns), [row for row in senses if row != "obj"]
    matrix = np.array([[columns[name].get(row, 0.0) for name in names] for row in rows])
    upper = np.array([sides.get(row, 0.0) for row in rows])
    lower = np.where([senses[row] == "E" for row in rows], upper, -np.inf)
    found = scipy.optimize.milp(
        [columns[name]["obj"] for name in names],
        integrality=[integral[name] for name in names],
        bounds=scipy.optimize.Bounds([low[name] for name in names], [high[name] for name in names]),
        constraints=scipy.optimize.LinearConstraint(matrix, lower, upper),
    )
    return dict(zip(names, found.x, strict=True))


@given(ruled_problems(max_samples=4, max_features=4))
@settings(max_examples=60)
def test_the_mps_text_is_the_problem(problem):
    solution = solve_mps(linear_text.to_mps(problem))
    answer = interop.from_values(problem, solution, solver="highs")
    assert answer.energy == pytest.approx(brute_force(problem), rel=1e-6, abs=1e-6)


def test_the_lp_text_holds_every_coefficient(ruled):
    text = linear_text.to_lp(ruled)
    for i, j in product(range(6), range(5)):
        sign, number = re.search(rf"([+-]) ([\d.e-]+) x{i}_{j}\b", text).groups()
        assert float(sign + number) == -0.5 * ruled.coupling[i, j]
    assert " s1 = 1\n" in text and " s4 = 0\n" in text
    assert re.search(r"c\d+: 1.0 s0 \+ 1.0 s2 \+ 1.0 s3 <= 1.0\n", text)
    assert text.index("Binaries") < text.index("End")


def test_the_mps_text_is_read_by_ortools(ruled):
    builder = pytest.importorskip("ortools.linear_solver.python.model_builder")
    model, solver = builder.Model(), builder.Solver("scip")
    assert model.import_from_mps_string(linear_text.to_mps(ruled))
    assert solver.solve(model) == builder.SolveStatus.OPTIMAL
    values = {variable.name: solver.value(variable) for variable in model.get_variables()}
    answer = interop.from_values(ruled, values, solver="scip")
    assert answer.energy == pytest.approx(bs.solve(ruled, "exact").energy)


@pytest.mark.parametrize("write", [linear_text.to_lp, linear_text.to_mps])
def test_gurobi_reads_both_and_its_solution_file_comes_back(ruled, write, tmp_path):
    gurobipy = pytest.importorskip("gurobipy")
    path = tmp_path / f"problem.{write.__name__.removeprefix('to_')}"
    path.write_text(write(ruled))
    with gurobipy.Env(params={"OutputFlag": 0}) as env, gurobipy.read(str(path), env) as model:
        model.optimize()
        model.write(str(tmp_path / "found.sol"))
    answer = interop.from_solution_file(ruled, tmp_path / "found.sol", solver="gurobi")
    assert answer.energy == pytest.approx(bs.solve(ruled, "exact").energy)


def test_a_solution_file_becomes_a_selection(ruled, tmp_path):
    best = bs.solve(ruled, "exact")
    lines = ["# Objective value = 1", "Columns 41", *(f"s{i} 1" for i in best.samples)]
    lines += [f"  {7 + j} f{j} 0.9999999" for j in best.features]
    (tmp_path / "found.sol").write_text("\n".join(lines))
    answer = interop.from_solution_file(ruled, tmp_path / "found.sol", solver="other")
    assert (answer.samples.tolist(), answer.features.tolist()) == (best.samples.tolist(), best.features.tolist())
    assert answer.energy == pytest.approx(best.energy)
    assert (answer.solver, answer.proven_optimal) == ("other", False)


def test_unusable_solutions_are_refused(ruled, tmp_path):
    with pytest.raises(InputError, match="lacks 11 variables, 's0' among them"):
        interop.from_values(ruled, {}, solver="x")
    values = {**{f"s{i}": 1 for i in range(6)}, **{f"f{j}": 0 for j in range(5)}}
    with pytest.raises(InfeasibleError, match="chooses 6 samples and 0 features"):
        interop.from_values(ruled, values, solver="x")
    (tmp_path / "empty.sol").write_text("status optimal\n")
    with pytest.raises(InputError, match="names none of the variables"):
        interop.from_solution_file(ruled, tmp_path / "empty.sol", solver="x")
    with pytest.raises(InputError, match="cannot be read"):
        interop.from_solution_file(ruled, tmp_path / "absent.sol", solver="x")


def test_a_bqm_has_no_place_for_rules_and_an_absent_package_is_named(ruled):
    with pytest.raises(InputError, match="to_cqm"):
        interop.to_bqm(ruled)
    with pytest.raises(MissingDependencyError, match="pip install no_such_package"):
        interop._import("no_such_package")


def test_dimod_finds_the_optimum_of_the_bqm():
    dimod = pytest.importorskip("dimod")
    rng = np.random.default_rng(1)
    problem = SelectionProblem(
        coupling=rng.normal(size=(6, 5)), sample_scores=rng.normal(size=6), feature_scores=rng.normal(size=5), k=3, m=2
    )
    best = bs.solve(problem, "exact")
    first = dimod.ExactSolver().sample(interop.to_bqm(problem)).first
    assert first.energy == pytest.approx(best.energy)
    assert interop.from_values(problem, first.sample, solver="dimod").energy == pytest.approx(best.energy)


def test_dimod_finds_the_optimum_of_the_cqm(ruled):
    dimod = pytest.importorskip("dimod")
    found = dimod.ExactCQMSolver().sample_cqm(interop.to_cqm(ruled))
    first = found.filter(lambda row: row.is_feasible).first
    assert first.energy == pytest.approx(bs.solve(ruled, "exact").energy)
    assert interop.from_values(ruled, first.sample, solver="dimod").energy == pytest.approx(first.energy)


def test_a_quadratic_program_has_the_same_energies(ruled):
    qiskit_optimization = pytest.importorskip("qiskit_optimization")
    program = interop.fill_quadratic_program(ruled, qiskit_optimization.QuadraticProgram())
    rng = np.random.default_rng(0)
    feasible = 0
    for _ in range(200):
        bits = rng.integers(0, 2, size=11)
        assert program.objective.evaluate(bits) == pytest.approx(float(ruled.bit_energies(bits)))
        samples, features = np.flatnonzero(bits[:6]), np.flatnonzero(bits[6:])
        obeys = ruled.obeys(samples, features)
        assert program.is_feasible(bits) == obeys
        feasible += obeys
    best = bs.solve(ruled, "exact")
    bits = np.isin(np.arange(11), [*best.samples, *(6 + best.features)]).astype(int)
    assert program.is_feasible(bits)
