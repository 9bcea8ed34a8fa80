"""Honest answers are accepted and forged ones refused, however much of them was made consistent again.

A forger here has the whole library: hashes are sealed anew, forged problems are solved and proven, and every text is
told again from them. `FILES` are refused without the table; `TABLE` hold together by themselves, and only the table
shows it.
"""

import csv
import hashlib
import io
import json
import shutil
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.core import Rules, SelectionProblem
from biselect.core.proof import Screen
from biselect.core.untrusted import packed_arrays, read_arrays
from biselect.errors import BiselectError, InputError
from biselect.large import _collecting as collecting
from biselect.large import _survey as survey
from biselect.large import dataset as parts
from biselect.large import gathering, opening
from biselect.options import Columns, Kinds, RowRules, Search, Split, Weighing
from biselect.pages.answer_files import told_files
from biselect.reviews import answer_check
from biselect.reviews.answer_check import check_answer
from biselect.reviews.kinds import find_kinds, kinds_bytes
from biselect.solvers.representatives import solve_for_whole, with_stand_ins, without_stand_ins

ROWS, K, M = 1500, 6, 2
SHAPES = {
    "plain": {},
    "kinds": {"kinds": Kinds(kinds=3), "search": Search(neighbours=(1, 1))},
    "rules": {"rules": RowRules(must=["r7"], never="r9,r11", at_most=1, per="group")},
    "rules and kinds": {
        "kinds": Kinds(kinds=2),
        "rules": RowRules(never=["r9"], at_most=2, per="group"),
        "search": Search(neighbours=(1, 0)),
    },
    "must columns": {"rules": RowRules(must_columns=["x0"])},
    "no ids": {"kinds": Kinds(kinds=2)},
    "keep": {"weighing": Weighing(drift="keep", missing="median", map="ecdf")},
    "own reference": {"kinds": Kinds(kinds=2)},
}
COLUMNS = dict.fromkeys(SHAPES, Columns(id="order_id", exclude=["group"])) | {
    "kinds": Columns(id="order_id", label="land=it", show=["group", "order_id"]),
    "rules": Columns(id="order_id"),
    "rules and kinds": Columns(id="order_id"),
    "no ids": Columns(exclude=["order_id"], show=["group"]),
}


def tables():
    """A pool and a reference with labels, gaps, a column that moved and one that is a date's neighbour: a flag."""
    rng = np.random.default_rng(5)
    made = []
    for rows in (ROWS, 800):
        content = {f"x{j}": rng.standard_t(6, rows) for j in range(5)}
        if rows == ROWS:
            at = rng.choice(rows, 30, replace=False)
            for j in (1, 3):
                content[f"x{j}"][at] += 7 + rng.random(30)
            content["x4"] += 0.6
        content["x0"][rng.random(rows) < 0.01] = np.nan
        content["land"] = rng.choice(["de", "fr", "it"], rows, p=[0.6, 0.39, 0.01])
        content["open"] = rng.random(rows) < 0.97
        content["order_id"] = [f"r{i}" for i in range(rows)]
        content["group"] = rng.integers(0, 12, rows).astype(str)
        made.append(pa.table(content))
    return made


@pytest.fixture(scope="module", autouse=True)
def tiny():
    """Tables of a few thousand cells are treated as if no memory held them, and so are parts."""
    sizes = {
        (opening, "POOL_CELLS"): 1000,
        (survey, "SAMPLE"): 500,
        (gathering, "EXACT_CELLS"): 100,
        (gathering, "LOOKED_UP"): 50,
        (gathering, "KEPT_ROWS"): 60,
        (gathering, "MOST_KEPT"): 300,
        (collecting, "CHUNK"): 256,
        (parts, "FEWEST_PART_ROWS"): 500,
    }
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in sizes.items():
            patch.setattr(module, name, value)
        yield


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """The folder of an honest answer of each shape, made when it is first asked for."""
    home, made = tmp_path_factory.mktemp("answers"), {}
    pool, reference = tables()
    pq.write_table(pool, home / "pool.parquet", row_group_size=500)
    pq.write_table(reference, home / "reference.parquet")

    def answer(shape):
        if shape not in made:
            asked = {"k": K, "m": M, "kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
            table = bs.table(str(home / "pool.parquet"), columns=COLUMNS[shape])
            normal = None if shape == "own reference" else str(home / "reference.parquet")
            found = bs.review(table, normal, **{**asked, **SHAPES[shape]})
            assert found.selection.proof is not None and found.problem.n_samples < ROWS / 2
            found.save(home / shape, proof=True)
            made[shape] = found
        return home / shape

    return answer


class UnchangedError(Exception):
    """This answer has nothing that could be forged so."""


class Forger:
    """An answer's folder, taken apart; what is changed is written with all hashes right."""

    def __init__(self, folder):
        self.folder = folder
        self.report = json.loads((folder / "report.json").read_text())
        self.proof = json.loads((folder / "proof.json").read_text())
        self.problem = SelectionProblem.load(folder / "problem.npz")
        self.screen = self.proof.get("screen")
        self.kept = self.problem if self.screen is None else without_stand_ins(self.problem)

    def told(self):
        """Write all texts as report.json tells them."""
        for name, text in told_files(self.report).items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def sealed(self, **changes):
        """Write the proof with changes."""
        content = {**{name: value for name, value in self.proof.items() if name != "sha256"}, **changes}
        body = json.dumps(content, separators=(",", ":"))
        content["sha256"] = hashlib.sha256(body.encode()).hexdigest()
        (self.folder / "proof.json").write_text(json.dumps(content, separators=(",", ":")) + "\n")

    def archive(self, name, change):
        """Change the header and the arrays of an archive."""
        header, arrays = read_arrays(self.folder / name, "an archive")
        arrays = {key: array.copy() for key, array in arrays.items()}
        change(header, arrays)
        (self.folder / name).write_bytes(packed_arrays(header, arrays))

    def solved(self, kept, *, positions=None, most=None, heavy="same"):
        """Solve and prove another problem, and tell everything anew, as far as it follows from the problem."""
        most = float(self.problem.sample_scores[-1]) if most is None else most
        found = solve_for_whole(kept, most, "exact")
        assert found.proven_optimal and found.proof is not None
        positions = self.screen["kept"] if positions is None else positions
        heavy = self.screen["heavy"] if heavy == "same" else heavy
        screen = Screen(rows=self.screen["rows"], kept_rows=list(positions), heavy=heavy)
        found = replace(found, proof=replace(found.proof, screen=screen))
        found.problem.save(self.folder / "problem.npz")
        found.save_proof(self.folder / "proof.json")
        told = found.to_dict()
        self.report["selection"] = told | {"solver": self.report["selection"]["solver"]}
        self.report["budgets"] |= {"k": kept.k, "m": kept.m}
        self.retell(found, kept)

    def retell(self, found, kept, kinds=None):
        """Let the report say what the checker expects of it."""
        view = self.report["view"]
        view["rows"] = [{**view["rows"][0], "name": name} for name in found.sample_names]
        view["columns"] = [{**view["columns"][0], "name": name} for name in found.feature_names]
        block = [list(range(kept.k)), list(range(kept.m))]
        view["budgets"] = [{**view["budgets"][view["answer"]], "rows": block[0], "columns": block[1]}]
        view |= {"answer": 0, "values": [[1.0] * kept.m] * kept.k, "words": [[0] * kept.m] * kept.k}
        view |= {"sides": ["h" * kept.m] * kept.k} | {key: [[1] * kept.m] * kept.k for key in ("below", "above")}
        positions = json.loads((self.folder / "proof.json").read_text())["screen"]["kept"]
        ours = answer_check._expected(found, kept, self.screen["rows"], kinds, self.report, self.pool(positions))
        self.report = merged(self.report, json.loads(json.dumps(ours)))
        self.told()

    def pool(self, positions):
        """These rows of the table, so that values and reasons can be told of them."""
        weighing, rows = large_weighing.Weighing.load(self.folder / "calibration.npz"), tables()[0].take(positions)
        pool = pool_of(rows, np.array(positions), weighing.roles, weighing.features, rows)
        weighed = moved_back(weighing.features.matrix(rows, np.array(positions)), weighing.shifts)
        per = weighing.question["rules"]["per"]
        return WeighedPool(pool=pool, calibrator=weighing.calibrator, per=per, weighed=weighed)


def merged(told, ours):
    """What is told, with everything that we know in its place."""
    if isinstance(ours, dict) and isinstance(told, dict):
        known = {name: value for name, value in ours.items() if value or name not in ()}
        known = {name: value for name, value in known.items() if name not in ("warnings", "guarantee", "labels")}
        return {**told, **{name: merged(told[name], value) if name in told else value for name, value in known.items()}}
    if isinstance(ours, list) and isinstance(told, list) and told and isinstance(told[0], dict):
        pattern = [told[min(at, len(told) - 1)] for at in range(len(ours))]
        return [merged(one, other) for one, other in zip(pattern, ours, strict=True)]
    return ours


def text(name, old, new, count=1):
    """Change one text, and nothing else."""

    def forge(it):
        content = (it.folder / name).read_text()
        before, after = old(it), new(it)
        assert before in content and before != after
        (it.folder / name).write_text(content.replace(before, after, count))

    return forge


def field(name, key, value):
    """Change one entry of a JSON text, and nothing else."""

    def forge(it):
        content = json.loads((it.folder / name).read_text())
        at = content
        for part in key[:-1]:
            at = at[part]
        at[key[-1]] = value(at[key[-1]]) if callable(value) else value
        (it.folder / name).write_text(json.dumps(content, indent=2 if name == "selection.json" else 1) + "\n")

    return forge


def tale(*key, to):
    """Change one entry of report.json, and tell every text from it."""

    def forge(it):
        at = it.report
        for part in key[:-1]:
            at = at[part]
        before = deepcopy(at[key[-1]])
        at[key[-1]] = to(at[key[-1]]) if callable(to) else to
        if at[key[-1]] == before:
            raise UnchangedError
        it.told()

    return forge


def swapped_names(it):
    it.report["selection"]["samples"] = it.report["selection"]["samples"][::-1]
    it.told()


def screen(**changes):
    """Change what the proof says of the rows that are not in the problem."""
    return lambda it: it.sealed(screen={**it.screen, **{name: change(it.screen) for name, change in changes.items()}})


def own_scores(it):
    """Rows in the middle of the list are given the highest own scores."""
    scores = it.kept.sample_scores.copy()
    scores[scores.size // 2 : scores.size // 2 + K] = 1000.0
    it.solved(replace(it.kept, sample_scores=scores))


def one_own_score(it):
    """The one that stands apart most does so a little less."""
    scores = it.kept.sample_scores.copy()
    scores[np.argmax(scores)] *= 1 - 1e-4
    it.solved(replace(it.kept, sample_scores=scores))


def no_own_scores(it):
    it.solved(replace(it.kept, sample_scores=np.zeros(it.kept.n_samples)))


def weights(it):
    W = it.kept.coupling.copy()
    W[:K] += 3
    it.solved(replace(it.kept, coupling=W))


def column_scores(it):
    it.solved(replace(it.kept, feature_scores=np.linspace(0, 60, it.kept.n_features)))


def rows_left_out(it, gone, heavy):
    """The problem without some rows; those that stand for others must be as good as they are."""
    if it.kept.sample_rules or not len(gone):
        raise UnchangedError
    left = np.setdiff1d(np.arange(it.kept.n_samples), gone)
    tops = np.sort(it.kept.coupling[gone], axis=1)[:, -M:].sum(axis=1) * it.kept.coupling_weight
    most = max(float(it.problem.sample_scores[-1]), float(tops.max()) * (1 + 1e-9))
    names = [it.kept.sample_names[i] for i in left]
    smaller = replace(
        it.kept, coupling=it.kept.coupling[left], sample_scores=it.kept.sample_scores[left], sample_names=names
    )
    it.solved(smaller, positions=[it.screen["kept"][i] for i in left], most=most, heavy=heavy)


def light_blocks(it):
    """Kept rows that add little by their cells, those with the highest own scores first."""
    tops = np.sort(it.kept.coupling, axis=1)[:, -M:].sum(axis=1)
    adds = it.kept.sample_scores[it.proof["samples"]].min()
    fine = np.flatnonzero((tops * it.kept.coupling_weight < adds) & (it.kept.sample_scores > 0))
    return fine[np.argsort(-it.kept.sample_scores[fine])]


def best_rows_left_out(heavy):
    return lambda it: rows_left_out(it, light_blocks(it)[:4], heavy(it))


def lightest_heavy_row_left_out(it):
    totals = np.where(it.kept.sample_scores > 0, it.kept.coupling.sum(axis=1), np.inf)
    rows_left_out(it, [int(np.argmin(totals))], float(np.sort(totals)[1]))


def coupling_weight(it):
    it.solved(replace(it.kept, coupling_weight=2 * it.kept.coupling_weight))


def without_rules(it):
    it.solved(replace(it.kept, sample_rules=Rules(), feature_rules=Rules()))


def best_row_forbidden(it):
    rules = it.kept.sample_rules
    never = Rules(forced_in=rules.forced_in, forced_out=[*rules.forced_out, it.proof["samples"][-1]])
    it.solved(replace(it.kept, sample_rules=never))


def other_groups(it):
    """The strongest rows are put into one group, under the name of the column."""
    rules = it.kept.sample_rules
    groups = [{"members": sorted({*it.proof["samples"]} - {*rules.forced_in, *rules.forced_out}), "at_most": 1}]
    it.solved(
        replace(it.kept, sample_rules=Rules(forced_in=rules.forced_in, forced_out=rules.forced_out, groups=groups))
    )


def column_renamed(it):
    names = [*it.kept.feature_names]
    names[it.proof["features"][0]] = "other"
    it.solved(replace(it.kept, feature_names=names))


def columns_permuted(it):
    it.solved(replace(it.kept, feature_names=it.kept.feature_names[::-1]))


def ids_permuted(it):
    it.solved(replace(it.kept, sample_names=it.kept.sample_names[::-1]))


def one_id(it):
    names = [*it.kept.sample_names]
    names[it.proof["samples"][0]] = "r99999"
    it.solved(replace(it.kept, sample_names=names))


def budget(**changes):
    return lambda it: it.solved(replace(it.kept, **{name: change(it.kept) for name, change in changes.items()}))


def stand_ins_lowered(it):
    it.solved(it.kept, most=float(it.problem.sample_scores[-1]) * 0.5)


def positions_shifted(it):
    """Every kept row is said to stand one row before."""
    if it.screen["kept"][0] == 0:
        raise UnchangedError
    it.sealed(screen={**it.screen, "kept": [at - 1 for at in it.screen["kept"]]})


def without_screen(it):
    """The kept rows are passed off as all there are."""
    best = bs.solve(it.kept, "exact")
    it.kept.save(it.folder / "problem.npz")
    best.save_proof(it.folder / "proof.json")
    it.report["selection"] = best.to_dict()
    it.told()


def header(file, *key, to):
    """Change one entry of an archive's header."""

    def forge(it):
        def change(content, arrays):
            at = content
            for part in key[:-1]:
                at = at[part]
            before = deepcopy(at[key[-1]])
            at[key[-1]] = to(at[key[-1]]) if callable(to) else to
            if at[key[-1]] == before:
                raise UnchangedError

        it.archive(file, change)

    return forge


def array(file, name, to):
    """Change one array of an archive."""
    return lambda it: it.archive(file, lambda content, arrays: arrays.update({name: to(arrays[name])}))


def other_sides(it):
    """Low is called high and the other way round; kinds are found, proven and told anew."""
    kinds_anew(it, lambda sides: np.where(sides < 2, 1 - sides, sides))


def lighter_kinds(it):
    """Rows that stand for others in kinds are said to add nothing."""
    kinds_anew(it, lambda sides: sides, most=lambda most: 0.0)


def kinds_anew(it, change, most=lambda most: most):
    content, arrays = read_arrays(it.folder / "kinds.npz", "proofs")
    claims = iter(content["others"])
    plain = replace(it.kept, sample_scores=np.zeros(it.kept.n_samples))
    sides = change(arrays["sides"])
    number = len(content["others"])
    kinds = find_kinds(
        plain, sides, kinds=number, answer=lambda one, _: solve_for_whole(one, most(next(claims)), "exact")
    )
    (it.folder / "kinds.npz").write_bytes(kinds_bytes(kinds))
    found = answer_check._told_selection(it.problem, it.report["selection"], it.proof)
    it.retell(found, it.kept, kinds)


def another_proof(it):
    """The proof and problem of another question, which is proven too."""
    small = with_stand_ins(replace(it.kept, k=K - 1), float(it.problem.sample_scores[-1]))
    best = bs.solve(small, "exact")
    rows, kept, heavy = (it.screen[name] for name in ("rows", "kept", "heavy"))
    found = replace(best, proof=replace(best.proof, screen=Screen(rows=rows, kept_rows=kept, heavy=heavy)))
    found.save_proof(it.folder / "proof.json")


def problem_number(it):
    content = it.problem.to_dict()
    content["coupling"][0][0] = float("nan")
    arrays = {name: np.array(content.pop(name)) for name in ("coupling", "sample_scores", "feature_scores")}
    text = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    np.savez(it.folder / "problem.npz", header=text, **arrays)


def csv_cell(column, value):
    def forge(it):
        place = it.folder / "explanation.csv"
        rows = list(csv.DictReader(io.StringIO(place.read_text())))
        rows[1][column] = value(rows[1][column])
        stream = io.StringIO()
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        place.write_text(stream.getvalue())

    return forge


def first_id(it):
    return it.report["selection"]["samples"][0]


FILES = {
    # one text alone
    "selection: an id": field("selection.json", ("samples", 0), "r99999"),
    "selection: a column": field("selection.json", ("features", 0), "other"),
    "selection: the score": field("selection.json", ("score",), lambda score: score * 1.01),
    "selection: the energy": field("selection.json", ("energy",), lambda energy: energy * 1.01),
    "selection: the bound": field("selection.json", ("bound",), lambda bound: bound * 1.01),
    "selection: the gap": field("selection.json", ("gap",), 0.1),
    "selection: the verdict": field("selection.json", ("proven_optimal",), False),
    "selection: a position": field("selection.json", ("sample_indices", 0), lambda at: at + 1),
    "selection: a part of the score": field("selection.json", ("components", "coupling"), 0.0),
    "selection: the hash": field("selection.json", ("problem_hash",), "0" * 64),
    "selection: the number of columns": field("selection.json", ("how_many", "m"), 9),
    "selection: a score told twice": text("selection.json", lambda it: "{\n", lambda it: '{\n  "score": 1e9,\n'),
    "explanation: an id": csv_cell("sample", lambda name: "r99999"),
    "explanation: a column": csv_cell("feature", lambda name: "other"),
    "explanation: what a cell adds": csv_cell("adds", lambda adds: "99.5"),
    "explanation: a value": csv_cell("value", lambda value: "99.5"),
    "explanation: a kind": csv_cell("kind", lambda kind: "7"),
    "explanation: a line less": lambda it: (it.folder / "explanation.csv").write_bytes(
        b"".join((it.folder / "explanation.csv").read_bytes().splitlines(keepends=True)[:-1])
    ),
    "page: an id": text("report.html", first_id, lambda it: "r99999", -1),
    "page: a sentence more": text("report.html", lambda it: "</body>", lambda it: "<p>Approved.</p></body>"),
    "report: an id": text("report.json", first_id, lambda it: "r99999", -1),
    "report: an entry told twice": text("report.json", lambda it: "{\n", lambda it: '{\n "title": "x",\n'),
    "report: a number that is none": field("report.json", ("selection", "score"), float("nan")),
    "page is gone": lambda it: (it.folder / "report.html").unlink(),
    "selection is gone": lambda it: (it.folder / "selection.json").unlink(),
    # the report, and all texts told from it
    "tale: an id": tale("selection", "samples", 0, to="r99999"),
    "tale: ids in another order": swapped_names,
    "tale: a column": tale("selection", "features", 0, to="other"),
    "tale: the score": tale("selection", "score", to=lambda score: score * 1.001),
    "tale: the energy": tale("selection", "energy", to=lambda energy: energy * 1.001),
    "tale: the bound": tale("selection", "bound", to=lambda bound: bound * 1.001),
    "tale: the verdict": tale("selection", "proven_optimal", to=False),
    "tale: a position": tale("selection", "sample_indices", 0, to=lambda at: at + 1),
    "tale: k": tale("budgets", "k", to=K + 1),
    "tale: m": tale("budgets", "m", to=M + 1),
    "tale: rows": tale("budgets", "samples", to=10 * ROWS),
    "tale: rows searched": tale("searched", "rows", to=10 * ROWS),
    "tale: what other rows add": tale("searched", "most", to=0.0),
    "tale: a rule": tale("rules", to={"words": ["rows that must not be chosen: r3"], "k": [1, 9], "m": [1, 9]}),
    "tale: how many choices": tale("choices", to="2"),
    "tale: a row's id": tale("rows", 0, "name", to="r99999"),
    "tale: what a row adds": tale("rows", 0, "value", to=lambda value: value + 1),
    "tale: a row's own score": tale("rows", 0, "marginal", to=lambda value: value + 1),
    "tale: what a cell adds": tale("rows", 0, "cells", 0, "adds", to=lambda value: value + 1),
    "tale: cells swapped": tale(
        "rows",
        0,
        "cells",
        to=lambda cells: [{**one, "feature": cells[1 - at]["feature"]} for at, one in enumerate(cells)],
    ),
    "tale: a row less": tale("rows", to=lambda rows: rows[1:]),
    "tale: columns swapped": tale("columns", to=lambda columns: columns[::-1]),
    "tale: parts of the score": tale("parts", "coupling", "share", to=0.1),
    "tale: coverage": tale("coverage", "share", to=0.99),
    "tale: a row left out": tale("near_samples", 0, "enters", to="r99999"),
    "tale: the picture": tale("heatmap", "rows", 0, "name", to="r99999"),
    "tale: a row of the page": tale("view", "rows", 0, "name", to="r99999"),
    "tale: a score of the page": tale("view", "budgets", 0, "score", to=1e6),
    "tale: a cell of the page": tale("view", "adds", 0, 0, to=99.0),
    "tale: an own score of the page": tale("view", "rows", 0, "own", to=99.0),
    "tale: the finding's columns": tale("finding", "columns", 0, to="other"),
    "tale: the finding": tale("finding", "words", to="All rows stand out."),
    "tale: the number of columns": tale("how_many", "m", to=9),
    "tale: the hash": tale("reproduce", "problem_hash", to="0" * 64),
    # the proof, sealed anew
    "proof: another choice": lambda it: it.sealed(samples=[*range(K)]),
    "proof: a choice twice": lambda it: it.sealed(samples=[it.proof["samples"][0]] * K),
    "proof: a position out of range": lambda it: it.sealed(samples=[*it.proof["samples"][:-1], 10**6]),
    "proof: other prices": lambda it: it.sealed(
        prices=[(-1) ** j * 10**14 for j, _ in enumerate(it.proof["prices"])], nodes=[], order=[]
    ),
    "proof: no prices": lambda it: it.sealed(prices=[]),
    "proof: an exponent that is none": lambda it: it.sealed(exponent=float("nan")),
    "proof: other lines": lambda it: it.sealed(lines="samples" if it.proof["lines"] == "features" else "features"),
    "proof: of another problem": another_proof,
    "proof: a kept row twice": screen(kept=lambda one: [one["kept"][0], *one["kept"][:-1]]),
    "proof: a kept row out of range": screen(kept=lambda one: [*one["kept"][:-1], one["rows"]]),
    "proof: a kept row before the first": screen(kept=lambda one: [-1, *one["kept"][1:]]),
    "proof: a kept row less": screen(kept=lambda one: one["kept"][1:]),
    "proof: more rows": screen(rows=lambda one: 10 * one["rows"]),
    "proof: fewer rows": screen(rows=lambda one: one["kept"][-1]),
    "proof: kept rows as all there are": without_screen,
    "problem: a number that is none": problem_number,
}
OF_KINDS = {
    "selection: a kind's score": field("selection.json", ("kinds", 1, "score"), lambda score: score * 1.01),
    "tale: a kind's score": tale("kinds", "found", 1, "selection", "score", to=lambda score: score * 1.01),
    "tale: a kind's id": tale("kinds", "found", 1, "selection", "samples", 0, to="r99999"),
    "tale: a kind's row": tale("kinds", "found", 1, "rows", 0, "name", to="r99999"),
    "tale: a kind's position": tale("kinds", "found", 1, "selection", "sample_indices", 0, to=lambda at: at + 1),
    "tale: a kind's columns": tale("kinds", "found", 1, "columns", 0, to="other"),
    "tale: a kind's name": tale("kinds", "found", 1, "name", to="high other"),
    "tale: a kind's verdict": tale("kinds", "found", 1, "selection", "proven_optimal", to=False),
    "tale: a kind less": tale("kinds", "found", to=lambda found: found[:1]),
    "tale: kinds the other way round": tale("kinds", "found", to=lambda found: found[::-1]),
    "tale: no kinds": tale("kinds", to=None),
    "kinds: gone": lambda it: (it.folder / "kinds.npz").unlink(),
    "kinds: a proof less": header("kinds.npz", "proofs", 1, to=None),
    "kinds: no proofs": header("kinds.npz", "proofs", to=[]),
    "kinds: proofs swapped": header("kinds.npz", "proofs", to=lambda proofs: proofs[::-1]),
    "kinds: another choice": header("kinds.npz", "proofs", 0, "samples", to=[*range(K)]),
    "kinds: what other rows add": header("kinds.npz", "others", 1, to=0.0),
    "kinds: own scores": header("kinds.npz", "own_scores", to=lambda flag: not flag),
    "kinds: format": header("kinds.npz", "format", to="biselect-kinds-9"),
}
TABLE = {
    "own scores": own_scores,
    "one own score": one_own_score,
    "no own scores": no_own_scores,
    "weights": weights,
    "column scores": column_scores,
    "best rows left out, nothing heavy": best_rows_left_out(lambda it: None),
    "best rows left out, heavy raised": best_rows_left_out(lambda it: 1e6),
    "best rows left out, heavy as it was": best_rows_left_out(lambda it: it.screen["heavy"]),
    "the lightest heavy row left out": lightest_heavy_row_left_out,
    "coupling weight": coupling_weight,
    "best row forbidden": best_row_forbidden,
    "column renamed": column_renamed,
    "columns permuted": columns_permuted,
    "ids permuted": ids_permuted,
    "one id": one_id,
    "a row less": budget(k=lambda kept: kept.k - 1),
    "a column more": budget(m=lambda kept: kept.m + 1),
    "stand-ins lowered": stand_ins_lowered,
    "proof: positions shifted": positions_shifted,
    "proof: nothing heavy": screen(heavy=lambda one: None),
    "proof: heavy raised": screen(heavy=lambda one: 2 * one["heavy"]),
    "proof: heavy lowered": screen(heavy=lambda one: one["heavy"] / 2),
    "proof: heavy is no number": screen(heavy=lambda one: "many"),
    "calibration: no marginals": header("calibration.npz", "question", "marginals", to="none"),
    "calibration: other marginals": header("calibration.npz", "question", "marginals", to="paper"),
    "calibration: unknown marginals": header("calibration.npz", "question", "marginals", to="mine"),
    "calibration: k": header("calibration.npz", "question", "k", to=K + 1),
    "calibration: m": header("calibration.npz", "question", "m", to=M + 1),
    "calibration: rules": header("calibration.npz", "question", "rules", "never", to=["r3"]),
    "calibration: ids": header("calibration.npz", "roles", "id_column", to="group"),
    "calibration: no ids": header("calibration.npz", "roles", "id_column", to=None),
    "calibration: cap": header("calibration.npz", "settings", "cap", to=3.0),
    "calibration: map": header("calibration.npz", "settings", "map", to="ecdf"),
    "calibration: seed": header("calibration.npz", "settings", "seed", to=5),
    "calibration: missing": header("calibration.npz", "settings", "missing", to="median"),
    "calibration: columns": header("calibration.npz", "features", "kept", to=lambda kept: kept[:-1]),
    "calibration: neighbours": array("calibration.npz", "sample", lambda sample: sample + 1),
    "calibration: a column": array("calibration.npz", "values 1", lambda values: values * 1.5),
    "calibration: gone": lambda it: (it.folder / "calibration.npz").unlink(),
    "tale: a value": tale("rows", 0, "cells", 0, "value", to=99.5),
    "tale: a reason": tale("rows", 0, "cells", 0, "words", to="higher than all reference rows"),
    "tale: a value of the page": tale("view", "values", 0, 0, to=99.5),
    "tale: the seed": tale("reproduce", "seed", to=77),
    "tale: reference rows": tale("calibration", "reference_rows", to=10**6),
}
NOT_IN_A_PART = {"stand-ins lowered"}  # rows that show it may stand elsewhere; what a part leaves on trust, it says
OF_SHAPE = {
    "rules": {"without rules": without_rules, "other groups": other_groups},
    "must columns": {"without rules": without_rules},
    "no ids": {"tale: what is shown": tale("rows", 0, "shown", "group", to="99")},
    "kinds": {"kinds: other sides": other_sides, "kinds: lighter rows": lighter_kinds},
}


def forged(honest, shape, tmp_path, forge):
    """A copy of an honest answer, forged."""
    shutil.copytree(honest(shape), tmp_path / "answer")
    try:
        forge(Forger(tmp_path / "answer"))
    except UnchangedError:
        pytest.skip("nothing to forge")
    return tmp_path / "answer"


def refused(folder, *table, **options):
    with pytest.raises(BiselectError):
        check_answer(folder, *table, progress=False, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_an_honest_answer_is_accepted(honest, shape):
    folder = honest(shape)
    pool = folder.parent / "pool.parquet"
    words, question, trust = check_answer(folder)
    assert (
        "0 of 1,500 rows" in words and "problem.npz" in trust and f"{K} of 1,500 rows and {M} of 7 columns" in question
    )
    words, question, trust = check_answer(folder, pool, progress=False)
    assert "all 1,500 rows" in words and "calibration.npz" in trust
    assert ("no rules" in question) == (shape not in ("rules", "rules and kinds", "must columns"))
    words = check_answer(folder, pool, part=1, progress=False)[0]
    assert "500 of 1,500 rows" in words and "the others taken on trust" in words
    if (folder / "kinds.npz").exists():
        number = SHAPES[shape]["kinds"].kinds
        assert f"{number} of {number} kinds proven, each given" in words


@pytest.mark.parametrize("way", FILES)
def test_files_that_do_not_tell_the_same_are_refused(honest, tmp_path, way):
    folder = forged(honest, "plain", tmp_path, FILES[way])
    refused(folder)
    refused(folder, honest("plain").parent / "pool.parquet")


@pytest.mark.parametrize("way", OF_KINDS)
def test_forged_kinds_are_refused(honest, tmp_path, way):
    refused(forged(honest, "kinds", tmp_path, OF_KINDS[way]))


@pytest.mark.parametrize("way", TABLE)
def test_an_answer_that_the_table_does_not_give_is_refused(honest, tmp_path, way):
    pool = honest("plain").parent / "pool.parquet"
    folder = forged(honest, "plain", tmp_path, TABLE[way])
    check_answer(folder)  # it holds together: only the table shows that it is forged
    refused(folder, pool)
    if way not in NOT_IN_A_PART:
        refused(folder, pool, part=2)


@pytest.mark.parametrize("shape, way", [(shape, way) for shape, ways in OF_SHAPE.items() for way in ways])
def test_what_only_some_answers_have_is_held_against_the_table_too(honest, tmp_path, shape, way):
    folder = forged(honest, shape, tmp_path, OF_SHAPE[shape][way])
    refused(folder, honest(shape).parent / "pool.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "plain"])
@pytest.mark.parametrize("way", [*FILES, *TABLE])
def test_every_shape_is_refused_when_forged(honest, tmp_path, shape, way):
    folder = forged(honest, shape, tmp_path, {**FILES, **TABLE}[way])
    refused(folder, honest(shape).parent / "pool.parquet")


def changed_cell(pool, row, name, value):
    cells = pool[name].to_pylist()
    cells[row] = value
    return pool.set_column(pool.column_names.index(name), name, pa.array(cells))


OTHER_TABLES = {
    "a cell of a kept row": lambda pool, kept: changed_cell(pool, kept[3], "x2", 0.123),
    "a label of a kept row": lambda pool, kept: changed_cell(pool, kept[3], "land", "xx"),
    "a cell of another row": lambda pool, kept: changed_cell(
        pool, next(row for row in range(ROWS) if row not in kept), "x2", 90.0
    ),
    "an id": lambda pool, kept: changed_cell(pool, kept[3], "order_id", "r99999"),
    "ids permuted": lambda pool, kept: pool.set_column(
        pool.column_names.index("order_id"), "order_id", pa.array(pool["order_id"].to_pylist()[::-1])
    ),
    "a row less": lambda pool, kept: pool.slice(0, ROWS - 1),
    "a row more": lambda pool, kept: pa.concat_tables([pool, pool.slice(0, 1)]),
    "another order": lambda pool, kept: pool.take(np.arange(ROWS)[::-1]),
    "columns swapped": lambda pool, kept: pool.rename_columns(
        [{"x1": "x2", "x2": "x1"}.get(name, name) for name in pool.column_names]
    ),
    "a column less": lambda pool, kept: pool.drop_columns(["x1"]),
    "no ids": lambda pool, kept: pool.drop_columns(["order_id"]),
}


@pytest.mark.parametrize("way", OTHER_TABLES)
def test_another_table_is_refused(honest, tmp_path, way):
    folder = honest("plain")
    kept = json.loads((folder / "proof.json").read_text())["screen"]["kept"]
    pq.write_table(OTHER_TABLES[way](tables()[0], kept), tmp_path / "pool.parquet")
    refused(folder, tmp_path / "pool.parquet")


def test_other_columns_and_other_parts_are_the_same_table(honest, tmp_path):
    pool = tables()[0].append_column("more", pa.array(np.arange(ROWS)))
    pq.write_table(pool, tmp_path / "pool.parquet", row_group_size=123)
    assert "all 1,500 rows" in check_answer(honest("kinds"), tmp_path / "pool.parquet", progress=False)[0]
    with pytest.raises(InputError, match="part 99"):
        check_answer(honest("plain"), tmp_path / "pool.parquet", part=99, progress=False)


def test_rows_cut_out_of_a_table_are_known_by_their_place_in_it(tmp_path):
    """Without ids, such rows are called by where they stood, which a column of the pool has to tell."""
    pool, reference = tables()
    order = np.random.default_rng(0).permutation(ROWS + 800)
    both = pa.concat_tables([reference, pool]).append_column("when", pa.array(np.arange(ROWS + 800))).take(order)
    pq.write_table(both, tmp_path / "both.parquet")
    table = bs.table(str(tmp_path / "both.parquet"), time="when", columns=Columns(exclude=["order_id", "group"]))
    asked = {"kinds": Kinds(kinds=1), "split": Split(until=799), "search": Search(neighbours=(0, 0))}
    found = bs.review(table, k=K, m=M, **asked, progress=False)
    found.save(tmp_path / "answer", proof=True)
    later = np.flatnonzero(both["when"].to_numpy() > 799)
    cut = both.take(later).append_column("row", pa.array(later))
    pq.write_table(cut, tmp_path / "pool.parquet")
    refused(tmp_path / "answer", tmp_path / "pool.parquet")
    words = check_answer(tmp_path / "answer", tmp_path / "pool.parquet", id_column="row", progress=False)[0]
    assert "all 1,500 rows" in words


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """An answer about a table that is held."""
    pool, reference = tables()
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "POOL_CELLS", 10**6)
        asked = {"kinds": Kinds(kinds=3), "search": Search(neighbours=(1, 1))}
        asked |= {"rules": RowRules(per="group", at_most=2), "progress": False}
        table = bs.table(pool.slice(0, 300), id="order_id")
        bs.review(table, reference, k=K, m=M, **asked).save(folder, proof=True)
    return folder


def test_a_table_that_is_held_is_checked_without_it(small, tmp_path):
    assert "3 of 3 kinds proven" in check_answer(small)[0]
    pq.write_table(tables()[0].slice(0, 300), tmp_path / "pool.parquet")
    with pytest.raises(InputError, match=r"calibration\.npz"):
        check_answer(small, tmp_path / "pool.parquet", progress=False)


OF_TABLES_NOT_HELD = {
    "proof: a kept",
    "proof: more",
    "proof: fewer",
    "proof: kept",
    "proof: of another",
    "tale: what other",
}
OF_HELD = {
    name: forge
    for name, forge in {**FILES, **OF_KINDS}.items()
    if not name.startswith(tuple(OF_TABLES_NOT_HELD))
    and name not in ("tale: rows searched", "kinds: what other rows add")
}


@pytest.mark.parametrize("way", OF_HELD)
def test_forged_answers_about_a_table_that_is_held_are_refused(small, tmp_path, way):
    refused(forged(lambda shape: small, "", tmp_path, OF_HELD[way]))
