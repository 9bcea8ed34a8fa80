"""Check an answer's folder: that its proofs hold, and that every file tells what they prove.

What the files tell is made again from the problem, the proofs and, where it is there, the table; it must be the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import Selection, SelectionProblem
from biselect.core.files import temporary_folder, write_file
from biselect.core.untrusted import json_of, read_arrays, refused_as
from biselect.errors import BiselectError
from biselect.large.check import FILE, ROUNDED, refuse_other, weigh_again
from biselect.options import Compute
from biselect.pages.answer_files import told_files
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps
from biselect.reviews._null import Null
from biselect.reviews._view import WholeTable, report_data
from biselect.reviews.caveats import Caveats
from biselect.reviews.finding import find, holding_rows
from biselect.reviews.kinds import FILE as KINDS
from biselect.reviews.kinds import FORMAT, KIND_SECONDS, Kind, KindList, find_kinds, only
from biselect.reviews.reasons import Part, reasons_of
from biselect.solvers import check_proof, solve
from biselect.solvers.representatives import of_kept_rows, with_stand_ins, without_stand_ins
from biselect.tables.row_rules import rules_in_words
from biselect.weights.weighed_tables import WeighedTables


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
    folder, tables = Path(folder), None
    with refused_as(f"{folder}: not an answer with its proof"), _refused():
        words = check_proof.check(folder / "proof.json", folder / "problem.npz")
        proof, plain = check_proof.read_proof(folder / "proof.json", folder / "problem.npz")
        report = json_of((folder / "report.json").read_bytes(), halves=True)
        for name, text in told_files(report).items():  # they follow from the report to the letter
            ours, theirs = str(text).encode("utf-8", "backslashreplace"), (folder / name).read_bytes()
            own, other = ([b"", *content.splitlines(keepends=True)] for content in (ours, theirs))
            refuse_other(name, own, other, at="line")  # which people count from 1
        screen = check_proof.Screen(plain, proof) if "screen" in proof else None
        problem = SelectionProblem.load(folder / "problem.npz")
        kept = problem if screen is None else without_stand_ins(problem)
        told = report["kinds"]["list"]
        refuse_other("report.json", len(told) > 1, (folder / KINDS).exists(), at="whether it has further kinds")
        solved = _answer(problem, told[0]["selection"], proof)
        kinds, most = only(of_kept_rows(solved, kept), solved), None if screen is None else screen.score
        if len(told) > 1 or report["kinds"]["stopped"]:
            kinds, others = _checked_kinds(folder, kinds, report["kinds"], screen is not None)
            most = None if most is None else min([most, *others])
            proven = sum(kind.selection.proven_optimal for kind in kinds)
            words = phrase("check.kinds", proven=proven, n=len(kinds), words=words)
        rows = kept.n_samples if screen is None else screen.rows
        if table is not None:
            options: Any = {"part": part, "id_column": id_column, "compute": compute, "progress": progress}
            tables, weighing = weigh_again(folder, kept, most, proof.get("screen"), table, **options)
            words = f"{words if screen is None else words.rpartition('; ')[0]}; {weighing}"
        expected = json.loads(json.dumps(_expected(kinds, rows, report, tables, screen)))
        refuse_other("report.json", expected, report, abs(solved.score))
        for kind, one in zip(kinds, told, strict=True):
            _refuse_parts(kind, one)
    rules = "; ".join((expected["rules"] or {"words": [phrase("check.no_rules")]})["words"])
    facts = {
        "k": kept.k,
        "rows": rows,
        "m": kept.m,
        "columns": len(kept.column_names),
        "weight": kept.coupling_weight,
    }
    trust = phrase("check.trust_weights") if tables is None else phrase("check.trust_reference", file=FILE)
    return [words, phrase("check.question", **facts, rules=rules), phrase("check.trust", what=trust)]


@contextmanager
def _refused(of: str = "") -> Iterator[None]:
    """An error of the checker in our words."""
    try:
        yield
    except check_proof.ProofError as error:
        raise BiselectError(f"refused: {of}{error}") from error


def _answer(problem: SelectionProblem, content: Mapping[str, Any], proof: Mapping[str, Any] | None) -> Selection:
    """The choice that a proof is about, or the one that a report tells where there is none, with its score."""
    if proof is None:
        pairs = {(problem.feature_name(j), problem.direction(j)): j for j in range(problem.n_features)}
        features = [pairs[pair] for pair in zip(content["features"], content["directions"], strict=True)]
        chosen = np.array(content["sample_indices"]), np.array(features)
    else:
        chosen = np.array(proof["samples"]), np.array(proof["features"])
    refuse_other("report.json", True, problem.obeys(*chosen), at="whether the rules are kept")
    energy, bound = problem.energy(*chosen), -np.inf if content["bound"] is None else float(content["bound"])
    choice: Any = {"problem": problem, "samples": chosen[0], "features": chosen[1], "energy": energy, "seconds": 0.0}
    proven = proof is not None
    return Selection(**choice, bound=energy if proven else bound, proven_optimal=proven, solver=content["solver"])


def _checked_kinds(
    folder: Path, first: KindList, content: Mapping[str, Any], has_stand_ins: bool
) -> tuple[KindList, list[float]]:
    """The kinds that a report tells of, with every proof checked; and what rows that were not kept add at most."""
    further = content["list"][1:]
    header: dict[str, Any] = {"format": FORMAT, "proofs": [], "others": []}
    if further:
        header, _ = read_arrays(folder / KINDS, "the proofs of kinds")
    refuse_other(KINDS, FORMAT, header["format"], at="format")
    records = list(zip(further, header["proofs"], header["others"], strict=True))[::-1]

    def answer(question: SelectionProblem) -> Selection:
        if not records:  # the report says why there is no further kind, so there must be none
            return solve(question, time_limit=KIND_SECONDS)
        kind, proof, most = records.pop()
        if proof is not None:
            with temporary_folder() as apart, _refused(f"kind {kind['number']}: "):
                (with_stand_ins(question, most) if has_stand_ins else question).save(apart / "problem.npz")
                write_file(apart / "proof.json", json.dumps(proof, separators=(",", ":")))
                check_proof.check(apart / "proof.json", apart / "problem.npz")
        return _answer(question, kind["selection"], proof)

    number = 1 + len(further) + bool(content["stopped"])
    kinds = find_kinds(first[0].selection, kinds=number, solved=first[0].solved, answer=answer)
    return kinds, [float(most) for most in header["others"]]


def _refuse_parts(kind: Kind, content: Mapping[str, Any]) -> None:
    """Refuse parts that do not add up to the score of their row, or hold less than its chosen cells."""
    problem, scores = kind.selection.problem, kind.row_scores
    for row in content["rows"]:
        at = f"parts of {row['name']}"
        total = fsum(part["part"] for part in row["parts"])
        refuse_other("report.json", float(scores[row["index"]]), total, abs(kind.selection.score), at=at)
        cells = {problem.feature_name(f): float(problem.coupling[row["index"], f]) for f in kind.features.tolist()}
        parts = {part["column"]: part["part"] for part in row["parts"]}
        least = all(parts[name] >= problem.coupling_weight * cell - ROUNDED for name, cell in cells.items())
        refuse_other("report.json", True, least, at=f"whether {at} hold the chosen cells")


def _expected(
    kinds: KindList,
    rows: int,
    content: Any,
    tables: WeighedTables | None,
    screen: check_proof.Screen | None,
) -> dict[str, Any]:
    """What report.json must tell, as far as problem, proofs and table say it; the rest as it tells it."""
    problem = kinds[0].selection.problem
    reproduce = {name: content["reproduce"][name] for name in ("command", "seed", "inputs")}
    options: dict[str, Any] = {"title": content["title"], "reproduce": reproduce, "table": tables}
    if any(one is not None for one in (screen, tables, content["searched"])):  # the table is not held
        most = None if screen is None else screen.score
        before = 0 if tables is None else tables.weigher.facts.reference_rows
        facts: Any = {"rows": rows, "reference_rows": before, "most": most, "positives": None, "missing": 0}
        options["whole"] = WholeTable(kept=problem, **facts)
    if tables is not None:
        scoring, features = tables.scoring, kinds[0].selection.features
        forced, null = np.array(problem.feature_rules.forced_in, dtype=np.int64), None
        if not tables.is_own_reference:
            null = Null.of(scoring, forced, seed=tables.weigher.seed)
            kinds = kinds.tested(scoring, null)
        finding = find(kinds[0].selection, scoring, null)
        options |= {"finding": finding, "holds": holding_rows(finding, tables, features)}
    expected = report_data(kinds, [kinds[0].selection], Caveats(), **options)
    own = expected["neighbours"][0]
    near = content["neighbours"]  # answers of other problems, which no proof is about
    places = [at for at, one in enumerate(near) if (one["k"], one["m"]) == (own["k"], own["m"])]
    refuse_other("report.json", 1, len(places), at="how many neighbours have this budget")
    expected["neighbours"] = [*near[: places[0]], own, *near[places[0] + 1 :]]
    expected |= {name: content[name] for name in ("version", "labels", "warnings")}
    expected["selection"]["proof_checked"] = content["selection"]["proof_checked"]
    for kind, told in zip(expected["kinds"]["list"], content["kinds"]["list"], strict=True):
        kind["selection"]["proof_checked"] = told["selection"]["proof_checked"]
        for row, other in zip(kind["rows"], told["rows"], strict=True):
            row["label"] = None if told["hits"] is None else bool(other["label"])
        kind["hits"] = None if told["hits"] is None else sum(row["label"] for row in kind["rows"])
    if content["labels"] is not None:
        positives, k = content["labels"]["positives"], problem.k
        hits = expected["kinds"]["list"][0]["hits"]
        expected["labels"] = {
            **{"positives": positives, "hits": hits, "chosen": k, "f1": 2 * hits / (k + positives), "rows": rows},
            **{"attainable": content["labels"]["attainable"], "by_chance": k * positives / rows},
        }
    if tables is not None:
        expected["reproduce"]["seed"] = tables.weigher.seed
        if content["reference"] not in (None, "self"):  # its name
            expected["reference"] = content["reference"]
        expected["calibration"]["missing_pool"] = content["calibration"]["missing_pool"]
        for name in ("reference", "pool"):
            expected["tables"][name]["times"] = content["tables"][name]["times"]
    elif content["reference"] is not None:
        _take_over(expected, content, kinds)
    return expected


def _take_over(expected: dict[str, Any], content: Any, kinds: KindList) -> None:
    """Let what only a table can tell stand as a report tells it, and what follows from that follow."""
    problem, finding, rows = kinds[0].selection.problem, content["finding"], expected["budgets"]["samples"]
    limits = [
        re.match("at most [0-9]+ rows? per (.+)", text, re.DOTALL) for text in (content["rules"] or {}).get("words", ())
    ]
    expected["rules"] = rules_in_words(problem, next((limit[1] for limit in limits if limit), None))
    for name in ("noun", "reference", "false_share", "calibration"):
        expected[name] = content[name]
    expected["tables"] = content["tables"] | {"pool": content["tables"]["pool"] | {"rows": rows}}
    for one, told in zip(expected["kinds"]["list"], content["kinds"]["list"], strict=True):
        directions = dict(zip(one["columns"], one["directions"], strict=True))
        one |= {name: told[name] for name in ("p", "shared")}
        shared = [trait["column"] for trait in one["shared"] if directions[trait["column"]] == trait["direction"]]
        refuse_other("report.json", len(one["shared"]), len({*shared}), at="whether rows share chosen columns")
        for row, other in zip(one["rows"], told["rows"], strict=True):
            row |= {name: other[name] for name in ("shares", "shown", "record")}
            parts = []
            for name, part in zip(problem.column_names, other["parts"], strict=True):
                facts = {key: value for key, value in part.items() if key != "text"}
                parts.append(Part(**facts | {"column": name, "direction": directions.get(name, "")}))
            row["parts"] = [part.to_dict() for part in parts]
            row["reasons"] = [parts.index(part) for part in reasons_of(parts)]
    if finding is not None:
        members = finding["pool_rows"]
        for row in expected["kinds"]["list"][0]["rows"]:
            row["shares"] = not members or row["index"] in members
        chosen = sum(i in members for i in kinds[0].selection.samples.tolist())
        expected["finding"] = finding | {"chosen": chosen, "shared": expected["kinds"]["list"][0]["shared"]}
        expected["finding"]["headline"] = words_of().headline(expected)
        expected["finding"]["text"] = words_of().finding(expected)
    block, told = expected["block"], content["block"]
    known = block["chosen"]
    pairs = zip(block["columns"], told["columns"][:known], strict=False)
    block["columns"] = [other | own for own, other in pairs] + told["columns"][known:]
    lines = zip(block["weights"], told["weights"], strict=True)
    block["weights"] = [own[:known] + other[known:] for own, other in lines]
    block |= {"values": told["values"], "highest": max(map(max, block["weights"]))}
