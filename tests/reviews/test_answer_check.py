"""Honest answers are accepted and forged ones refused, however much of them was made consistent again.

A forger here has the whole library: hashes are sealed anew, forged problems are solved and proven, and every text is
told again from them. `FILES` are refused without the table; `TABLE` hold together by themselves, and only the table
shows it. Every entry of a report is changed once by itself: what then passes is named in `TRUSTED`.
"""

import csv
import hashlib
import io
import json
import shutil
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biselect as bs
from biselect.core import Rules, SelectionProblem
from biselect.core.proof import Screen
from biselect.core.untrusted import csv_text, packed_arrays, read_arrays
from biselect.errors import BiselectError, InputError
from biselect.large import _collecting as collecting
from biselect.large import _survey as survey
from biselect.large import dataset as parts
from biselect.large import gathering, opening
from biselect.options import Columns, Kinds, RowRules, Search, Split, Weighing
from biselect.pages.answer_files import EXPLAINED, told_files
from biselect.pages.words import phrase, words_of
from biselect.reviews import answer_check
from biselect.reviews._view import WholeTable, report_data
from biselect.reviews.answer_check import check_answer
from biselect.reviews.caveats import Caveats
from biselect.reviews.kinds import find_kinds, kinds_bytes
from biselect.reviews.result import review_problem
from biselect.solvers.representatives import of_kept_rows, solve_for_whole, with_stand_ins, without_stand_ins

ROWS, K, M = 1500, 6, 2
MADE = {}  # the review in each folder
SHAPES = {
    "plain": {},
    "kinds": {"kinds": Kinds(kinds=3), "search": Search(neighbours=(1, 1))},
    "rules": {"rules": RowRules(must=["r7"], never="r9,r11", at_most=1, per="group")},
    "rules and kinds": {"kinds": Kinds(kinds=2), "rules": RowRules(never=["r9"], at_most=2, per="group")},
    "must columns": {"rules": RowRules(must_columns=["x0"])},
    "no ids": {"kinds": Kinds(kinds=2)},
    "keep": {"weighing": Weighing(drift="keep", missing="median", map="ecdf")},
    "own reference": {"kinds": Kinds(kinds=2)},
}
OTHER_SHAPES = [shape for shape in SHAPES if shape != "plain"]
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
        content = {name: rng.standard_t(6, rows) for name in ("x0", "x1", "x2", "x3", "labels")}
        if rows == ROWS:
            at = rng.choice(rows, 30, replace=False)
            for j in (1, 3):
                content[f"x{j}"][at] += 7 + rng.random(30)
            content["labels"] += 0.6  # a column that is called like a part of the report
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
    home = tmp_path_factory.mktemp("answers")
    pool, reference = tables()
    pq.write_table(pool, home / "pool.parquet", row_group_size=500)
    pq.write_table(reference, home / "reference.parquet")

    def answer(shape):
        folder = home / shape
        if folder not in MADE:
            asked = {"k": K, "m": M, "kinds": Kinds(kinds=1), "search": Search(neighbours=(0, 0)), "progress": False}
            table = bs.table(str(home / "pool.parquet"), columns=COLUMNS[shape])
            normal = None if shape == "own reference" else str(home / "reference.parquet")
            MADE[folder] = bs.review(table, normal, **{**asked, **SHAPES[shape]})
            assert MADE[folder].selection.proof is not None and MADE[folder].problem.n_samples < ROWS / 2
            MADE[folder].save(folder, proof=True)
        return folder

    return answer


class UnchangedError(Exception):
    """This answer has nothing that could be forged so."""


class Forger:
    """An answer's folder, taken apart; what is changed is written with all hashes right."""

    def __init__(self, folder, kinds):
        self.folder, self.kinds = folder, kinds
        self.report = json.loads((folder / "report.json").read_text())
        self.proof = json.loads((folder / "proof.json").read_text())
        self.problem = SelectionProblem.load(folder / "problem.npz")
        self.screen = self.proof.get("screen")
        self.kept = self.problem if self.screen is None else without_stand_ins(self.problem)

    @property
    def most(self):
        """What any other row adds at most."""
        return None if self.screen is None else float(self.problem.sample_scores[-1])

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

    def solved(
        self, kept, *, positions=None, most=None, heavy="same", following=lambda question: question, others=None
    ):
        """Solve and prove another problem with its further kinds, and tell everything anew, as a table would be told.

        `following` changes the question of a further kind, `others` what other rows add to it.
        """
        most = self.most if most is None else most
        found = solve_for_whole(kept, most, "exact")
        assert found.proven_optimal and found.proof is not None
        if self.screen is not None:
            positions = self.screen["kept"] if positions is None else positions
            heavy = self.screen["heavy"] if heavy == "same" else heavy
            screen = Screen(rows=self.screen["rows"], kept_rows=list(positions), heavy=heavy)
            found = replace(found, proof=replace(found.proof, screen=screen))
        found.problem.save(self.folder / "problem.npz")
        found.save_proof(self.folder / "proof.json")
        others, first = most if others is None else others, of_kept_rows(found, kept)
        kinds = find_kinds(
            first,
            kinds=len(self.report["kinds"]["list"]),
            solved=found,
            answer=lambda question: solve_for_whole(following(question), others, "exact"),
        )
        if len(kinds) > 1:
            (self.folder / "kinds.npz").write_bytes(kinds_bytes(kinds))
        whole = None
        if most is not None:
            facts = {"rows": self.screen["rows"], "reference_rows": 0, "positives": None, "missing": 0}
            whole = WholeTable(kept=kept, most=most, **facts)
        asked = {"title": self.report["title"], "reproduce": self.report["reproduce"], "whole": whole}
        told = json.loads(json.dumps(report_data(kinds, [first], Caveats(), **asked)))
        part = self.report["kinds"]["list"][0]["rows"][0]["parts"][0]
        for kind in told["kinds"]["list"]:
            for row in kind["rows"]:  # what a row is worth as a whole goes to the first column
                cells = {one["column"]: one["part"] for one in row["parts"]}
                alone = cells.pop(words_of().alone, 0.0)
                row["parts"] = [
                    part | {"column": name, "part": cells.get(name, 0.0) + alone * (at == 0)}
                    for at, name in enumerate(kept.column_names)
                ]
        if self.report["finding"] is not None:
            told["finding"] = self.report["finding"] | {"pool_rows": [], "traits": []}
        names = ("noun", "reference", "false_share", "calibration", "tables", "warnings")
        self.report = told | {name: self.report[name] for name in names}
        self.retell(kinds)

    def retell(self, kinds=None):
        """Let everything follow from the report that follows from it, as the checker has it."""
        kinds = self.kinds if kinds is None else kinds
        screen = None if self.screen is None else SimpleNamespace(score=kinds[0].solved.problem.sample_scores[-1])
        rows = kinds[0].selection.problem.n_samples if self.screen is None else self.screen["rows"]
        self.report = json.loads(json.dumps(answer_check._expected(kinds, rows, self.report, None, screen)))
        self.told()


def text(name, old, new, count=1):
    """Change one text, and nothing else."""

    def forge(it):
        content = (it.folder / name).read_text()
        assert old(it) in content
        (it.folder / name).write_text(content.replace(old(it), new, count))

    return forge


def tale(*key, to, follows=False):
    """Change one entry of report.json, and tell every text from it; whatever `follows` from it is told anew, too."""

    def forge(it):
        at = it.report
        for part in key[:-1]:
            at = at[part]
        before = deepcopy(at.get(key[-1]) if isinstance(at, dict) else at[key[-1]])
        at[key[-1]] = to(before) if callable(to) else to
        if at[key[-1]] == before:
            raise UnchangedError
        it.retell() if follows else it.told()

    return forge


def screen(**changes):
    """Change what the proof says of the rows that are not in the problem."""
    return lambda it: it.sealed(screen={**it.screen, **{name: change(it.screen) for name, change in changes.items()}})


def other(**changes):
    """Another problem, solved and proven; each change is what a function of the problem gives."""
    return lambda it: it.solved(replace(it.kept, **{name: change(it.kept) for name, change in changes.items()}))


def at(numbers, places, change):
    """Numbers, changed at some places."""
    numbers = numbers.copy()
    numbers[places] = change(numbers[places])
    return numbers


def at_best(problem):
    """What each cell weighs in the best of its column's directions."""
    columns = range(len(problem.column_names))
    return np.column_stack([problem.coupling[:, problem.column_of == j].max(axis=1) for j in columns])


def rows_left_out(it, gone, heavy):
    """The problem without some rows; those that stand for others must be as good as they are."""
    if it.kept.sample_rules or not len(gone):
        raise UnchangedError
    left = np.setdiff1d(np.arange(it.kept.n_samples), gone)
    tops = np.sort(at_best(it.kept)[gone], axis=1)[:, -it.kept.m :].sum(axis=1) * it.kept.coupling_weight
    most = max(it.most, float(tops.max()) * (1 + 1e-9))
    names = [it.kept.sample_names[i] for i in left]
    scores = it.kept.sample_scores[left]
    smaller = replace(it.kept, coupling=it.kept.coupling[left], sample_scores=scores, sample_names=names)
    it.solved(smaller, positions=[it.screen["kept"][i] for i in left], most=most, heavy=heavy)


def light_blocks(it):
    """Rows that add less than the weakest chosen one, if they have no own score; the highest own scores first."""
    tops = np.sort(at_best(it.kept), axis=1)[:, -it.kept.m :].sum(axis=1) * it.kept.coupling_weight
    fine = np.flatnonzero((tops < it.report["searched"]["least_chosen"]) & (it.kept.sample_scores > 0))
    return fine[np.argsort(-it.kept.sample_scores[fine])]


def lightest_heavy_row_left_out(it):
    totals = np.where(it.kept.sample_scores > 0, at_best(it.kept).sum(axis=1), np.inf)
    rows_left_out(it, [int(np.argmin(totals))], float(np.sort(totals)[1]))


def best_row_forbidden(it):
    rules = it.kept.sample_rules
    out = [*rules.forced_out, it.proof["samples"][-1]]
    it.solved(replace(it.kept, sample_rules=Rules(forced_in=rules.forced_in, forced_out=out)))


def other_groups(it):
    """The strongest rows are put into one group, under the name of the column."""
    rules = it.kept.sample_rules
    groups = [{"members": sorted({*it.proof["samples"]} - {*rules.forced_in, *rules.forced_out}), "at_most": 1}]
    it.solved(replace(it.kept, sample_rules=Rules(**vars(rules) | {"groups": groups})))


def renamed(names):
    """Columns under other names."""

    def changed(kept):
        new = dict(zip(kept.column_names, names([*kept.column_names]), strict=True))
        return [new[name] for name in kept.feature_names]

    return other(feature_names=changed)


def turned(**new):
    """Some directions under other names."""
    return other(directions=lambda kept: [new.get(one, one) for one in kept.directions])


def closed_ends(it):
    """No column may be chosen whatever its direction."""
    if it.kept.feature_rules.forced_in:
        raise UnchangedError
    out = [f for f, one in enumerate(it.kept.directions) if one == "either"]
    it.solved(replace(it.kept, feature_rules=replace(it.kept.feature_rules, forced_out=out)))


def without_screen(it):
    """The kept rows are passed off as all there are."""
    best = bs.solve(it.kept, "exact")
    it.kept.save(it.folder / "problem.npz")
    best.save_proof(it.folder / "proof.json")
    it.report["selection"] = best.to_dict()
    it.report["searched"] = None
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


def another_proof(it):
    """The proof and problem of another question, which is proven too."""
    small = with_stand_ins(replace(it.kept, k=K - 1), it.most)
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


def csv_cell(column):
    def forge(it):
        place = it.folder / "explanation.csv"
        rows = list(csv.DictReader(io.StringIO(place.read_text())))
        rows[1][column] = "99.5"
        place.write_text(csv_text(rows, list(rows[0])))

    return forge


def moved(one, other, *parts):
    return [one | {"part": one["part"] + other["part"]}, other | {"part": 0.0}, *parts]


FIRST, ROW = ("kinds", "list", 0), ("kinds", "list", 0, "rows", 0)
FILES = {
    # one text alone
    "selection: a score told twice": text("selection.json", lambda it: "{\n", '{\n  "score": 1e9,\n'),
    **{f"explanation: {column}": csv_cell(column) for column in EXPLAINED},
    "explanation: a line less": lambda it: (it.folder / "explanation.csv").write_bytes(
        b"".join((it.folder / "explanation.csv").read_bytes().splitlines(keepends=True)[:-1])
    ),
    "page: an id": text("report.html", lambda it: it.report["selection"]["samples"][0], "r99999", -1),
    "page: a sentence more": text("report.html", lambda it: "</body>", "<p>Approved.</p></body>"),
    "report: an id": text("report.json", lambda it: it.report["selection"]["samples"][0], "r99999", -1),
    "report: an entry told twice": text("report.json", lambda it: "{\n", '{\n "title": "x",\n'),
    "report: a number that is none": text("report.json", lambda it: '"score": ', '"score": NaN, "x": '),
    "page is gone": lambda it: (it.folder / "report.html").unlink(),
    "selection is gone": lambda it: (it.folder / "selection.json").unlink(),
    # the report, and all texts told from it
    "tale: ids in another order": tale("selection", "samples", to=lambda ids: ids[::-1]),
    "tale: nothing beside": tale("searched", to=None),
    "tale: a rule": tale("rules", to={"words": ["rows that must not be chosen: r3"], "k": [1, 9], "m": [1, 9]}),
    "tale: parts moved": tale(*ROW, "parts", to=lambda parts: moved(*parts)),
    "tale: parts swapped": tale(*ROW, "parts", to=lambda parts: parts[::-1]),
    "tale: a row less": tale(*FIRST, "rows", to=lambda rows: rows[1:]),
    "tale: rows the other way round": tale(*FIRST, "rows", to=lambda rows: rows[::-1]),
    "tale: columns swapped": tale(*FIRST, "columns", to=lambda columns: columns[::-1]),
    "tale: all columns": tale("columns", to=lambda columns: columns[::-1]),
    "tale: no room for more kinds": tale("kinds", "stopped", to=phrase("kinds.no_room")),
    "tale: no weight for more kinds": tale("kinds", "stopped", to=phrase("kinds.no_weight", n=1)),
    "tale: the answer is none of its neighbours": tale("neighbours", to=[]),
    "tale: the answer's neighbours": tale("neighbours", to=lambda near: [one | {"score": 1e6} for one in near]),
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
    "tale: a kind less": tale("kinds", "list", to=lambda kinds: kinds[:-1]),
    "tale: the first kind alone": tale("kinds", "list", to=lambda kinds: kinds[:1]),
    "tale: kinds the other way round": tale("kinds", "list", to=lambda kinds: [kinds[0], *kinds[:0:-1]]),
    "kinds: gone": lambda it: (it.folder / "kinds.npz").unlink(),
    "kinds: a proof less": header("kinds.npz", "proofs", 1, to=None),
    "kinds: no proofs": header("kinds.npz", "proofs", to=[]),
    "kinds: proofs swapped": header("kinds.npz", "proofs", to=lambda proofs: proofs[::-1]),
    "kinds: another choice": header("kinds.npz", "proofs", 0, "samples", to=[*range(K)]),
    "kinds: what other rows add": header("kinds.npz", "others", 1, to=0.0),
    "kinds: format": header("kinds.npz", "format", to="biselect-kinds-9"),
    "kinds: with columns twice": lambda it: it.solved(
        it.kept, following=lambda one: replace(one, feature_rules=replace(one.feature_rules, overlapping=()))
    ),
    "kinds: with rows twice": lambda it: it.solved(
        it.kept, following=lambda one: replace(one, sample_rules=it.kept.sample_rules)
    ),
}
TABLE = {
    "own scores": other(sample_scores=lambda kept: at(kept.sample_scores, slice(30, 30 + K), lambda one: one + 1e3)),
    "one own score": other(
        sample_scores=lambda kept: at(kept.sample_scores, kept.sample_scores.argmax(), lambda one: one * (1 - 1e-4))
    ),
    "no own scores": other(sample_scores=lambda kept: 0 * kept.sample_scores),
    "weights": other(coupling=lambda kept: at(kept.coupling, slice(K), lambda one: one + 3)),
    "column scores": other(feature_scores=lambda kept: np.linspace(0, 60, kept.n_features)),
    "best rows left out, nothing heavy": lambda it: rows_left_out(it, light_blocks(it)[:4], None),
    "best rows left out, heavy raised": lambda it: rows_left_out(it, light_blocks(it)[:4], 1e6),
    "best rows left out, heavy as it was": lambda it: rows_left_out(it, light_blocks(it)[:4], "same"),
    "the lightest heavy row left out": lightest_heavy_row_left_out,
    "coupling weight": other(coupling_weight=lambda kept: 2 * kept.coupling_weight),
    "best row forbidden": best_row_forbidden,
    "column renamed": renamed(lambda names: ["other", *names[1:]]),
    "columns permuted": renamed(lambda names: names[::-1]),
    "low called high": turned(low="high", high="low"),
    "a category's value": turned(it="fr", fr="it"),
    "no open ends": closed_ends,
    "several directions of a column": other(feature_rules=lambda kept: replace(kept.feature_rules, groups=())),
    "ids permuted": other(sample_names=lambda kept: kept.sample_names[::-1]),
    "one id": other(sample_names=lambda kept: ["r99999", *kept.sample_names[1:]]),
    "a row less": other(k=lambda kept: kept.k - 1),
    "a column more": other(m=lambda kept: kept.m + 1),
    "stand-ins lowered": lambda it: it.solved(it.kept, most=it.most * 0.5),
    "proof: positions shifted": screen(kept=lambda one: [place - 1 for place in one["kept"]]),
    "proof: nothing heavy": screen(heavy=lambda one: None),
    "proof: heavy raised": screen(heavy=lambda one: 2 * one["heavy"]),
    "proof: heavy lowered": screen(heavy=lambda one: one["heavy"] / 2),
    "proof: heavy is no number": screen(heavy=lambda one: "many"),
    "calibration: no shifts": header("calibration.npz", "shifted", to=None),
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
    "tale: a value": tale(*ROW, "parts", 0, "value", to=99.5),
    "tale: a reason": tale(*ROW, "parts", 1, "against", to=", which nobody has", follows=True),
    "tale: a reason less": tale(*ROW, "parts", 1, "is_reason", to=lambda flag: not flag, follows=True),
    "tale: a record": tale(*ROW, "record", "x0", to="99"),
    "tale: a record longer": tale(*ROW, "record", "approved", to="yes"),
    "tale: the finding's case": tale("finding", "case", to="more", follows=True),
    "tale: the finding's p-value": tale("finding", "p", to=0.001, follows=True),
    "tale: more rows found": tale("finding", "pool_rows", to=lambda rows: [*rows, 0], follows=True),
    "tale: normal rows of the kind": tale("finding", "expected", to=lambda rows: rows + 1, follows=True),
    "tale: what the rows share": tale(*FIRST, "shared", 0, "text", to="x1 7 or more", follows=True),
    "tale: rows that hold": tale("false_share", to={"level": 0.1, "chosen": K, "pool": ROWS}),
    "tale: a cell beside the chosen ones": tale("block", "weights", 0, M, to=lambda weight: weight + 1, follows=True),
    "tale: the noun": tale("noun", to={"row": "fraud", "rows": "frauds"}, follows=True),
    "tale: the seed": tale("reproduce", "seed", to=77),
    "tale: the reference": tale("reference", to="self", follows=True),
}
NOT_IN_A_PART = {"stand-ins lowered"}  # rows that show it may stand elsewhere; what a part leaves on trust, it says
OF_SHAPE = {
    "rules": {"without rules": other(sample_rules=lambda kept: Rules()), "other groups": other_groups},
    "must columns": {
        "without rules": other(feature_rules=lambda kept: replace(kept.feature_rules, forced_in=())),
        "tale: no rows hold": tale("false_share", to=None),
    },
    "no ids": {"tale: what is shown": tale(*ROW, "shown", "group", to="99")},
    "kinds": {"kinds: lighter rows": lambda it: it.solved(it.kept, others=0.0)},
}


def forged(folder, tmp_path, forge):
    """A copy of an honest answer, forged."""
    shutil.copytree(folder, tmp_path / "answer")
    try:
        forge(Forger(tmp_path / "answer", MADE[folder].kinds))
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
    assert f"{K} of 1,500 rows and {M} of {7 - (shape == 'kinds')} columns" in question  # one of these is the label
    assert "0 of 1,500 rows" in words and "problem.npz" in trust
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
    folder = forged(honest("plain"), tmp_path, FILES[way])
    refused(folder)
    refused(folder, honest("plain").parent / "pool.parquet")


@pytest.mark.parametrize("way", OF_KINDS)
def test_forged_kinds_are_refused(honest, tmp_path, way):
    refused(forged(honest("kinds"), tmp_path, OF_KINDS[way]))


@pytest.mark.parametrize("way", TABLE)
def test_an_answer_that_the_table_does_not_give_is_refused(honest, tmp_path, way):
    pool = honest("plain").parent / "pool.parquet"
    folder = forged(honest("plain"), tmp_path, TABLE[way])
    check_answer(folder)  # it holds together: only the table shows that it is forged
    refused(folder, pool)
    if way not in NOT_IN_A_PART:
        refused(folder, pool, part=2)


@pytest.mark.parametrize("shape, way", [(shape, way) for shape, ways in OF_SHAPE.items() for way in ways])
def test_what_only_some_answers_have_is_held_against_the_table_too(honest, tmp_path, shape, way):
    folder = forged(honest(shape), tmp_path, OF_SHAPE[shape][way])
    refused(folder, honest(shape).parent / "pool.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "plain"])
@pytest.mark.parametrize("way", [*FILES, *TABLE])
def test_every_shape_is_refused_when_forged(honest, tmp_path, shape, way):
    folder = forged(honest(shape), tmp_path, {**FILES, **TABLE}[way])
    refused(folder, honest(shape).parent / "pool.parquet")


def changes(content):
    """Every entry of a JSON text once, the last of its like: where it is, and what it is changed to."""
    last = {}

    def look(at, path):
        name = ".".join("#" if type(step) is int else step for step in path)
        if isinstance(at, dict):
            last[f"{name} more".strip()] = path, at | {"more": "x"}
        elif isinstance(at, list):
            last[f"{name} less"] = path, at[:-1] or ["x"]
        else:
            last[name] = path, not at if type(at) is bool else f"{at}x" if type(at) is str else (at or 0) + 1
        for step, value in at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ():
            look(value, (*path, step))

    look(content, ())
    return last


def put(content, path, value):
    """The content with another value at one place."""
    if not path:
        return value
    other = copy(content)
    other[path[0]] = put(content[path[0]], path[1:], value)
    return other


def accepted(honest_folder, tmp_path, name, *table):
    """The entries of a JSON text that can be changed and no check notices; texts follow from the report."""
    folder = shutil.copytree(honest_folder, tmp_path / f"{name} {len(table)}")
    content, passing = json.loads((folder / name).read_text()), set()
    for entry, (path, value) in {"nothing": ((), content), **changes(content)}.items():
        story = put(content, path, value)
        (folder / name).write_text(json.dumps(story, indent=1 + (name == "selection.json"), ensure_ascii=False) + "\n")
        with suppress(Exception):  # what cannot be told
            for file, told in told_files(story).items() if name == "report.json" else ():
                (folder / file).write_text(told, encoding="utf-8")
        with suppress(BiselectError):
            check_answer(folder, *table, progress=False)
            passing.add(entry)
    return passing - {"nothing"} if "nothing" in passing else {"nothing passes"}


def once(compute):
    """A function that gives what it gave first."""
    results = []
    return lambda *arguments, **options: (results or [results.append(compute(*arguments, **options))]) and results[0]


TRUSTED = {"title", "version", "reference", "neighbours", "calibration.missing_pool", "warnings", "reproduce.command"}
TRUSTED |= {"reproduce.inputs", "labels.positives", "labels.attainable"}
TRUSTED |= {"tables.reference.times", "tables.pool.times", "kinds.list.#.selection.solver"}
TRUSTED |= {"selection.proof_checked", "kinds.list.#.selection.proof_checked"}
"""What a report tells and nobody can check; `neighbours` are answers of other problems."""
NEEDS_TABLE = {"calibration", "false_share", "finding", "noun", "tables", "reproduce.seed", "labels"}
NEEDS_TABLE |= {f"block.{part}" for part in ("columns", "values", "weights", "highest")}
NEEDS_TABLE |= {f"kinds.list.#.{part}" for part in ("p", "shared", "rows.#.shares", "rows.#.shown", "rows.#.record")}
NEEDS_TABLE |= {"kinds.list.#.rows.#.parts", "rules.words"}


def beyond(passing, *allowed):
    """Entries that are not below any of those allowed."""
    roots = tuple(f"{one}." for one in set().union(*allowed))
    return {one for one in passing if not f"{one}.".replace(" ", ".").startswith(roots)}


@pytest.mark.parametrize("shape", ["plain", *(pytest.param(one, marks=pytest.mark.slow) for one in OTHER_SHAPES)])
def test_every_entry_of_a_report_is_held_against_the_table(honest, tmp_path, shape, monkeypatch):
    folder = honest(shape)
    monkeypatch.setattr(answer_check, "weigh_again", once(answer_check.weigh_again))  # does not look at the report
    monkeypatch.setattr(answer_check.Null, "of", once(answer_check.Null.of))
    assert accepted(folder, tmp_path, "selection.json") == set()
    assert beyond(accepted(folder, tmp_path, "report.json"), TRUSTED, NEEDS_TABLE) == set()
    assert beyond(accepted(folder, tmp_path, "report.json", folder.parent / "pool.parquet"), TRUSTED) == set()


def changed_cell(pool, row, name, value):
    cells = pool[name].to_pylist()
    cells[row] = value
    return pool.set_column(pool.column_names.index(name), name, pa.array(cells))


OTHER_TABLES = {
    "a cell of a kept row": lambda pool, kept: changed_cell(pool, kept[3], "x2", 0.123),
    "a label of a kept row": lambda pool, kept: changed_cell(pool, kept[3], "land", "xx"),
    "a cell of another row": lambda pool, kept: changed_cell(pool, min({*range(ROWS)} - {*kept}), "x2", 90.0),
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


def test_a_table_of_which_every_row_was_kept_is_checked_too(honest, tmp_path, monkeypatch):
    pool, folder = honest("plain").parent / "pool.parquet", tmp_path / "honest"
    monkeypatch.setattr(gathering, "KEPT_ROWS", 10**5)
    table = bs.table(str(pool), columns=COLUMNS["plain"])
    found = MADE[folder] = bs.review(table, str(pool.parent / "reference.parquet"), k=K, m=M, progress=False)
    found.save(folder, proof=True)
    assert found.problem.n_samples == ROWS and "all 1,500 rows" in check_answer(folder, pool, progress=False)[0]
    refused(forged(folder, tmp_path, FILES["tale: nothing beside"]), pool)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of an answer about a table that is held, with a reference or alone, or about weights."""
    home = tmp_path_factory.mktemp("small")

    def answer(about):
        folder = home / about
        if folder not in MADE:
            pool, reference = tables()
            number = 3 if about == "held" else 2
            asked = {"k": K, "m": M, "kinds": Kinds(kinds=number), "search": Search(neighbours=(1, 0))}
            asked |= {"rules": RowRules(per="group", at_most=2), "progress": False}
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(opening, "POOL_CELLS", 10**6)
                table = bs.table(pool.slice(0, 300), id="order_id")
                MADE[folder] = bs.review(table, None if about == "alone" else reference, **asked)
            if about == "weights":
                problem = replace(MADE[folder].problem, feature_scores=np.arange(MADE[folder].problem.n_features) / 9)
                MADE[folder] = review_problem(problem, search=asked["search"], progress=False)
            MADE[folder].save(folder, proof=True)
        return folder

    return answer


@pytest.mark.parametrize("about", ["alone", "weights", pytest.param("held", marks=pytest.mark.slow)])
def test_a_table_that_is_held_is_checked_without_it(small, tmp_path, about):
    words = check_answer(small(about))[0]
    assert {"held": "3 of 3 kinds proven", "alone": "2 of 2 kinds proven", "weights": ""}[about] in words
    pq.write_table(tables()[0].slice(0, 300), tmp_path / "pool.parquet")
    with pytest.raises(InputError, match=r"calibration\.npz"):
        check_answer(small(about), tmp_path / "pool.parquet", progress=False)
    assert accepted(small(about), tmp_path, "selection.json") == set()
    needs_table = {"reproduce.seed"} if about == "weights" else NEEDS_TABLE
    assert beyond(accepted(small(about), tmp_path, "report.json"), TRUSTED, needs_table) == set()


OF_TABLES_NOT_HELD = ("proof: a kept", "proof: more", "proof: fewer", "proof: kept", "proof: of another", "kinds: what")
OF_HELD = [way for way in [*FILES, *OF_KINDS] if not way.startswith(OF_TABLES_NOT_HELD)]


@pytest.mark.parametrize("way", OF_HELD)
def test_forged_answers_about_a_table_that_is_held_are_refused(small, tmp_path, way):
    refused(forged(small("held"), tmp_path, {**FILES, **OF_KINDS}[way]))


def test_why_there_are_no_further_kinds_is_checked(tmp_path):
    (pool, reference), folder = tables(), tmp_path / "honest"
    found = MADE[folder] = bs.review(pool.slice(0, 10), reference.slice(0, 60), k=K, m=M, progress=False)
    assert len(found.kinds) == 1 and found.kinds.stopped
    found.save(folder, proof=True)
    check_answer(folder)
    refused(forged(folder, tmp_path, FILES["tale: no weight for more kinds"]))
