"""Check an answer's folder: that its proofs hold, and that every file tells what they prove.

What the files tell is made again from the problem, the proofs and, where it is there, the table; it must be the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import Selection, SelectionProblem
from biselect.core.files import temporary_folder, write_file
from biselect.core.untrusted import json_of, read_arrays, refused_as
from biselect.errors import BiselectError
from biselect.large.check import FILE, Screens, light, refuse_other, weigh_again
from biselect.options import Compute
from biselect.pages.answer_files import told_files
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps
from biselect.reviews._view import WholeTable, summarise
from biselect.reviews.kinds import FILE as KINDS
from biselect.reviews.kinds import FORMAT, KindList, find_kinds
from biselect.solvers import check_proof
from biselect.solvers.representatives import of_kept_rows, with_stand_ins, without_stand_ins
from biselect.tables.row_rules import rules_in_words
from biselect.weights.evidence import WeighedPool

OF_TABLE = frozenset({"picture", "calibration", "tables", "sides", "shown", "values"})  # what only the table can tell
OF_PROBLEM = ("chosen", "of", "columns", "all_equal", "ties", "ladder")  # of the finding; the rest needs a reference


def check_answer(
    folder: str | Path,
    table: Any = None,
    *,
    part: int | None = None,
    id_column: str | None = None,
    compute: Compute = Compute(),
    progress: Steps | bool | None = None,
) -> list[str]:
    """Check an answer, and what it says of the table that it was found in.

    Args:
        folder: written with a proof, for instance by `Review.save`.
        table: the pool of a table that is not held, as it was given to `biselect.review`; None to leave it out.
        part: which of its parts to weigh again, from 0; None for all.
        id_column: the table's column of ids; None for the one that the calibration names.
        compute: where it is read.
        progress: as for `biselect.review`.

    Returns:
        In words: what was checked, which question is answered, and what was not checked.
    """
    folder, pool, kinds = Path(folder), None, None
    with refused_as(f"{folder}: not an answer with its proof"), _refused():
        words = check_proof.check(folder / "proof.json", folder / "problem.npz")
        proof, plain = check_proof.read_proof(folder / "proof.json", folder / "problem.npz")
        report = json_of((folder / "report.json").read_bytes(), halves=True)
        for name, text in told_files(report).items():  # they follow from the report to the letter
            ours, theirs = str(text).encode("utf-8", "backslashreplace"), (folder / name).read_bytes()
            own, other = ([b"", *content.splitlines(keepends=True)] for content in (ours, theirs))
            refuse_other(name, own, other, at="line")  # which people count from 1
        screen = check_proof.Screen(plain, proof) if "screen" in proof else None
        screens = [] if screen is None else [(list(range(plain["d"])), light(screen, screen.weights, screen.score))]
        problem = SelectionProblem.load(folder / "problem.npz")
        of_rows = problem if screen is None else without_stand_ins(problem)
        refuse_other("report.json", (folder / KINDS).exists(), report["kinds"] is not None, at="whether it has kinds")
        if report["kinds"] is not None:
            kinds, of_kinds = _checked_kinds(folder, of_rows, report["kinds"], screen)
            proven = sum(kind.selection.proven_optimal for kind in kinds)
            words = phrase("check.kinds", proven=proven, n=len(kinds), words=words)
            screens += of_kinds
        if table is not None:
            again = (folder, of_rows, screens, proof.get("screen"))
            pool, weighing = weigh_again(
                *again, table, part=part, id_column=id_column, compute=compute, progress=progress
            )
            words = f"{words if screen is None else words.rpartition('; ')[0]}; {weighing}"
            if kinds is not None and kinds.sides is not None:
                refuse_other(KINDS, pool.calibrator.directions(pool.weighed).tolist(), kinds.sides.tolist(), at="sides")
        answer = _told_selection(problem, report["selection"], proof)
        rows = of_rows.n_samples if screen is None else screen.rows
        expected = json.loads(json.dumps(_expected(answer, of_rows, rows, kinds, report, pool)))
        refuse_other("report.json", expected, report, abs(answer.score), OF_TABLE if pool is None else frozenset())
    rules = "; ".join((expected["rules"] or {"words": [phrase("check.no_rules")]})["words"])
    facts = {
        "k": of_rows.k,
        "rows": rows,
        "m": of_rows.m,
        "columns": of_rows.n_features,
        "weight": of_rows.coupling_weight,
    }
    trust = phrase("check.trust_weights") if pool is None else phrase("check.trust_reference", file=FILE)
    return [words, phrase("check.question", **facts, rules=rules), phrase("check.trust", what=trust)]


@contextmanager
def _refused(of: str = "") -> Iterator[None]:
    """An error of the checker in our words."""
    try:
        yield
    except check_proof.ProofError as error:
        raise BiselectError(f"refused: {of}{error}") from error


def _told_selection(
    problem: SelectionProblem, content: Mapping[str, Any], proof: Mapping[str, Any] | None
) -> Selection:
    """The choice that a proof is about, or the one that a report tells where there is none, with its score."""
    names, proven = (
        ("sample_indices", "feature_indices") if proof is None else ("samples", "features"),
        proof is not None,
    )
    samples, features = (np.array((proof or content)[name]) for name in names)
    refuse_other("report.json", True, problem.obeys(samples, features), at="whether the rules are kept")
    energy, bound = problem.energy(samples, features), -np.inf if content["bound"] is None else float(content["bound"])
    choice: Any = {"problem": problem, "samples": samples, "features": features, "energy": energy, "seconds": 0.0}
    return Selection(**choice, bound=energy if proven else bound, proven_optimal=proven, solver=content["solver"])


def _checked_kinds(
    folder: Path, problem: SelectionProblem, content: Mapping[str, Any], screen: check_proof.Screen | None
) -> tuple[KindList, Screens]:
    """The kinds that a report tells of, with every proof checked; and what must hold of rows that were not kept."""
    header, arrays = read_arrays(folder / KINDS, "the proofs of kinds")
    refuse_other(KINDS, FORMAT, header["format"], at="format")
    records = iter(list(zip(content["found"], header["proofs"], header["others"], strict=True)))
    screens = Screens()

    def answer(question: SelectionProblem, columns: list[int]) -> Selection:
        kind, proof, most = next(records)
        if screen is not None:
            screens.append((columns, light(screen, [0.0] * len(columns), most)))
        if proof is not None:
            with temporary_folder() as apart, _refused(f"kind {kind['number']}: "):
                (question if screen is None else with_stand_ins(question, most)).save(apart / "problem.npz")
                write_file(apart / "proof.json", json.dumps(proof, separators=(",", ":")))
                check_proof.check(apart / "proof.json", apart / "problem.npz")
        return _told_selection(question, kind["selection"], proof)

    scores = problem.sample_scores if header["own_scores"] else np.zeros(problem.n_samples)
    plain = replace(problem, sample_scores=scores, feature_scores=np.zeros(problem.n_features))
    null, number = np.array(content["null_scores"], dtype=float), len(content["found"])
    options: Any = {"kinds": number, "null_scores": null}  # each problem follows from the last
    return replace(
        find_kinds(plain, arrays.get("sides"), **options, answer=answer), stopped=content["stopped"]
    ), screens


def _expected(
    answer: Selection,
    problem: SelectionProblem,
    rows: int,
    kinds: KindList | None,
    content: Any,
    pool: WeighedPool | None,
) -> dict[str, Any]:
    """What report.json must tell, as far as problem, proofs and table say it."""
    options: dict[str, Any] = {
        "title": content["title"],
        "reproduce": content["reproduce"],
        "table": pool,
        "kinds": kinds,
    }
    if answer.problem is not problem or content["searched"] is not None:
        most = None if answer.problem is problem else float(answer.problem.sample_scores[-1])
        before = 0 if pool is None else pool.calibrator.facts.reference_rows
        facts: Any = {"rows": rows, "reference_rows": before, "most": most, "positives": None, "calibration": dict}
        options["whole"] = WholeTable(kept=problem, **facts)
    expected = summarise(answer, **options, view=_view(of_kept_rows(answer, problem), content["view"], pool))
    expected["how_many"] = None if content["how_many"] is None else {"m": problem.m}
    if pool is not None:
        expected["reproduce"]["seed"] = pool.calibrator.seed
        return expected
    limits = [
        re.match("at most [0-9]+ rows? per (.+)", text, re.DOTALL) for text in (content["rules"] or {}).get("words", ())
    ]
    expected["rules"] = rules_in_words(problem, next((limit[1] for limit in limits if limit), None))
    expected["finding"] = {name: expected["finding"][name] for name in OF_PROBLEM}
    expected["finding"]["words"] = words_of().finding(content["finding"])
    for row in expected["rows"]:
        row["stands_out"] = row["index"] in content["finding"]["rows"]
    return expected


def _view(selection: Selection, content: Mapping[str, Any], pool: WeighedPool | None) -> dict[str, Any]:
    """What the page's own numbers must be: all cells, and the answer among the budgets."""
    problem = selection.problem
    place = {problem.sample_name(i): i for i in range(problem.n_samples)}
    rows = np.array([place[row["name"]] for row in content["rows"]])
    place = {problem.feature_name(j): j for j in range(problem.n_features)}
    columns = np.array([place[column["name"]] for column in content["columns"]])
    budgets: list[dict[str, Any]] = [
        {"score": problem.score(rows[one["rows"]], columns[one["columns"]])} if len(one["rows"]) == one["k"] else {}
        for one in content["budgets"]  # of many rows, the page shows only some
    ]
    places = [
        np.flatnonzero(np.isin(*one)).tolist() for one in ((rows, selection.samples), (columns, selection.features))
    ]
    budgets[content["answer"]] = {"k": problem.k, "m": problem.m, "score": selection.score, "proven": True}
    budgets[content["answer"]] |= {"rows": places[0], "columns": places[1]}
    cells = problem.coupling_weight * problem.coupling[np.ix_(rows, columns)]
    evidence = () if pool is None else pool.evidence(rows, columns)
    return {
        "budgets": budgets,
        "rows": [{"own": float(problem.sample_scores[i])} for i in rows],
        "adds": [[float(f"{cell:.9g}") for cell in row] for row in cells.tolist()],
        "values": [[cell.value for cell in row] for row in evidence],
    }
