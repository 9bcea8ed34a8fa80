"""Check a proof file against its problem: `python check_proof.py proof.json problem.npz` (or a CSV, and its id column).

Of a large table the problem holds some rows, and rows that stand for all others. Whether they may is checked part by
part: `python check_proof.py proof.json problem.npz 0=weights.npy 5000=more.csv` looks at the rows from position 0 on
and from position 5000 on, given by their weights.

This file stands alone: it needs nothing but Python, shares no code with the solver, and computes with whole numbers,
so nothing is rounded. docs/reference/proof-format.md describes what it reads and why that is a proof.
"""

# ruff: noqa: B905 (zip strict= costs a third of the time in the loops below)

import ast
import csv
import hashlib
import json
import sys
import zipfile
from array import array
from fractions import Fraction
from math import fsum, inf, prod
from operator import add, itemgetter, sub
from typing import Any

FREE, RATIO = 1 << 28, 100  # bytes that any problem may unpack to, and beyond them so many times its size
ROUNDED = 2.0**-40  # by which weights may differ where another machine computed them; far more than any rounds
A_CELL = 10  # sums that take as long as reading a number
MOST_BITS = 1 << 13  # float64 reaches from 2⁻¹⁰⁷⁴ to 2¹⁰²⁴, and so do its products from twice as far


class ProofError(Exception):
    """Why the file proves nothing."""


def read_problem(path: Any, proof: Any, id_column: str | None = None) -> dict[str, Any]:
    """The problem: sizes `n` and `d`, all `cells` row by row, scores `a` and `b`, and what the header holds."""
    if str(path).endswith(".npz"):
        with zipfile.ZipFile(path) as npz:
            packed, unpacked = (sum(getattr(m, of) for m in npz.infolist()) for of in ("compress_size", "file_size"))
            if unpacked > max(FREE, RATIO * packed):
                raise ProofError("the problem unpacks to far more than its size")
            parts = {name: _npy(npz.read(f"{name}.npy")) for name in ("coupling", "sample_scores", "feature_scores")}
            problem: dict[str, Any] = json.loads(bytes(_npy(npz.read("header.npy"))[1]))
        (n, d), cells = parts["coupling"]
        problem.update(a=list(parts["sample_scores"][1]), b=list(parts["feature_scores"][1]))
    else:
        with open(path, newline="", encoding="utf-8") as file:
            names, *lines = csv.reader(file)
        key = names.index(id_column) if id_column else None
        cells = array("d", (float(x) for line in lines for j, x in enumerate(line) if j != key))
        n, d = len(lines), len(names) - (key is not None)
        problem = {"k": len(proof["samples"]), "m": len(proof["features"]), "coupling_weight": 1.0}
        problem["sample_names"] = None if key is None else [line[key] for line in lines]
        problem["feature_names"] = [name for j, name in enumerate(names) if j != key]
        problem.update(a=[0.0] * n, b=[0.0] * d)
    problem.update(n=n, d=d, cells=cells)
    for side in ("sample_rules", "feature_rules"):
        problem.setdefault(side, {"forced_in": [], "forced_out": [], "groups": []})
    return problem


def _npy(data: bytes) -> tuple[Any, Any]:
    """Shape and numbers, row by row, of an array as NumPy stores it."""
    begin = 10 if data[6] == 1 else 12
    end = begin + int.from_bytes(data[8:begin], "little")
    header = ast.literal_eval(data[begin:end].decode("latin1"))
    kind, shape = header["descr"], header["shape"]
    numbers: Any = array({"f4": "f", "f8": "d", "u1": "B"}[kind[1:]])
    numbers.frombytes(data[end:])
    if prod(shape) != len(numbers):
        raise ProofError("an array of the problem does not have the shape that it says")
    if kind[0] in "<>" and (kind[0] == "<") != (sys.byteorder == "little"):
        numbers.byteswap()
    if kind[1:] == "f4":
        numbers = array("d", numbers)
    if header["fortran_order"] and len(shape) == 2:
        rows, columns = shape
        ordered: Any = array("d", bytes(8 * len(numbers)))
        for j in range(columns):
            ordered[j::columns] = numbers[j * rows : (j + 1) * rows]
        numbers = ordered
    return shape, numbers


def digest(problem: dict[str, Any]) -> str:
    """SHA-256 of all that defines the problem."""
    sha = hashlib.sha256(b"biselect-problem-1")
    n, d = problem["n"], problem["d"]
    for shape, numbers in (((n, d), problem["cells"]), ((n,), problem["a"]), ((d,), problem["b"])):
        sha.update(repr(shape).encode())
        doubles = array("d", numbers)
        if sys.byteorder == "big":
            doubles.byteswap()
        sha.update(doubles.tobytes())
    rest = [problem[name] for name in ("k", "m", "coupling_weight", "sample_names", "feature_names")]
    rest += [problem["directions"]] if problem.get("directions") is not None else []
    rules = [problem["sample_rules"], problem["feature_rules"]]
    rest += rules if any(part for side in rules for part in side.values()) else []
    sha.update(json.dumps(rest).encode())
    return sha.hexdigest()


class Side:
    """One side of the problem: what is still free to be chosen once the forced items are in."""

    def __init__(self, rules: Any, length: int, budget: int, choice: list[int]) -> None:
        members, self.forced = set(choice), set(rules["forced_in"])
        limits = rules["groups"] + rules.get("overlapping", [])
        fine = len(members) == len(choice) == budget and all(0 <= i < length for i in members)
        fine = fine and members >= self.forced and members.isdisjoint(rules["forced_out"])
        if not fine or any(len(members & set(limit["members"])) > limit["at_most"] for limit in limits):
            raise ProofError("the choice breaks a budget or a rule")
        self.chosen, self.budget = members, budget - len(self.forced)
        self.room = [limit["at_most"] - len(self.forced.intersection(limit["members"])) for limit in limits]
        self.limits: list[list[int]] = [[] for _ in range(length)]  # that an item counts towards
        self.group = [-1 - item for item in range(length)]  # of which one item can be chosen, or none but itself
        for number, limit in enumerate(limits):
            for item in limit["members"]:
                self.limits[item].append(number)
                if number < len(rules["groups"]) and self.room[number] == 1:
                    self.group[item] = number
        barred = self.forced.union(rules["forced_out"])
        self.free = [i for i in range(length) if i not in barred and all(self.room[q] > 0 for q in self.limits[i])]
        free, shared = set(self.free), list(zip(limits, self.room))[len(rules["groups"]) :]
        self.overlap = any(min(self.budget, len(free.intersection(q["members"]))) > room for q, room in shared)

    def fits(self, item: int, others: list[int]) -> bool:
        """Whether an item has room in all its limits beside others."""
        return all(sum(q in self.limits[other] for other in others) < self.room[q] for q in self.limits[item])

    def tops(self, items: list[int], values: Any) -> list[int]:
        """The largest value of each group of these items, falling."""
        if max(self.group) < 0:
            return sorted(values, reverse=True)
        best = dict[int, int]()
        for i, x in zip(items, values):
            if best.get(self.group[i], x) <= x:
                best[self.group[i]] = x
        return sorted(best.values(), reverse=True)

    def best(self, values: Any, tau: int | None = None) -> int:
        """Sum of the best (value, item) pairs that the budget and the groups allow, τ in place of what is missing."""
        total, best_items = 0, list[int]()
        for x, i in sorted(values, reverse=True):
            if len(best_items) < self.budget and self.fits(i, best_items):
                total, best_items = total + x, [*best_items, i]
        return total + (self.budget - len(best_items)) * (tau or 0)


def wholes(values: Any, bits: int) -> list[int]:
    """Numbers times 2^bits, which are whole ones."""
    try:
        return list(map(int, map((2.0**bits).__mul__, values)))  # exact, as only exponents change
    except OverflowError:  # beyond float64
        return [(x.as_integer_ratio()[0] << bits) // x.as_integer_ratio()[1] for x in values]


def filled(values: Any, keep: int, tau: int) -> tuple[int, int]:
    """Sum of the `keep` largest values, with any number of τ beside them, and the smallest of those counted."""
    above = [x for x in values if x > tau]
    if len(above) <= keep:
        return sum(above) + (keep - len(above)) * tau, tau
    above.sort()
    return sum(above[-keep:]), above[-keep]


def among(largest: list[tuple[int, int]], value: int, group: int, most: int) -> list[tuple[int, int]]:
    """The largest values with their groups, falling, once this one is among them; one of each group."""
    if len(largest) == most and value <= largest[-1][0]:
        return largest
    value = max([value, *(x for x, g in largest if g == group)])
    return sorted([*(pair for pair in largest if pair[1] != group), (value, group)], reverse=True)[:most]


class Checker:
    """Follows the search tree of a proof, and bounds everything that it leaves closed."""

    def __init__(self, problem: dict[str, Any], proof: dict[str, Any], spend: Any = lambda sums: None) -> None:
        def places(values: Any) -> int:
            quick = all(map(float.is_integer, map((2.0**96).__mul__, values)))  # more than most numbers need
            return 96 if quick else max(x.as_integer_ratio()[1].bit_length() - 1 for x in set(values))

        spend(A_CELL * len(problem["cells"]))  # told how many sums come next, so that it can end what takes too long
        cells, weight, exponent = problem["cells"], float(problem["coupling_weight"]), proof["exponent"]
        if type(exponent) is not int or abs(exponent) > MOST_BITS:
            raise ProofError("the exponent is that of no number")
        cell_bits, weight_bits = places(cells), places([weight])
        bits = max(cell_bits + weight_bits, places(problem["a"]), places(problem["b"]), -exponent, 0)
        scale = wholes([weight], weight_bits)[0] << (bits - cell_bits - weight_bits)
        samples = Side(problem["sample_rules"], problem["n"], problem["k"], proof["samples"])
        features = Side(problem["feature_rules"], problem["d"], problem["m"], proof["features"])
        by_features, d = proof["lines"] == "features", problem["d"]
        self.rows, self.lines = (samples, features) if by_features else (features, samples)
        if self.rows.overlap:
            raise ProofError("with overlapping limits of the features these must be the lines")
        part: Any = (lambda i: cells[i * d : (i + 1) * d]) if by_features else (lambda i: cells[i::d])
        self.row: Any = lambda i: [x * scale for x in wholes(part(i), cell_bits)]  # λW, everything times 2^bits
        scores = [wholes(problem[side], bits) for side in ("ab" if by_features else "ba")]
        free, self.choose, self.keep = self.lines.free, self.lines.budget, self.rows.budget
        if len(proof["prices"]) != len(free) or not set(proof["order"]) <= set(free):
            raise ProofError("the prices or the order do not belong to this problem's lines")
        self.beta = {j: price << (bits + exponent) for j, price in zip(free, proof["prices"])}
        self.tau, self.order, self.nodes = proof["tau"] << (bits + exponent), proof["order"], proof["nodes"]
        # what is forced adds to the scores of what is free, and is taken off the score that is to be beaten
        self.base, self.line_scores = {i: scores[0][i] for i in self.rows.free}, {j: scores[1][j] for j in free}
        self.target = sum(scores[0][i] for i in self.rows.chosen - self.rows.forced)
        self.target += sum(scores[1][j] for j in self.lines.chosen - self.lines.forced)
        for i in self.rows.chosen:
            row, forced = self.row(i), i in self.rows.forced
            self.target += sum(row[j] for j in self.lines.chosen if not (forced and j in self.lines.forced))
            for j in free if forced else ():
                self.line_scores[j] += row[j]
        self.prices = {j: self.line_scores[j] + self.keep * self.beta[j] for j in free}
        self.position, self.opened, self.spend, self.bits = 0, 0, spend, bits
        self.excess: int | None = None  # of the root bound over the score, times 2^bits

    def check(self) -> str:
        """Say what was checked; refuse what proves nothing."""
        free, choose, keep, target = self.lines.free, self.choose, self.keep, self.target
        falling = self.lines.tops(free, map(self.prices.__getitem__, free))
        values, offsets = {}, [self.beta[j] for j in free]
        for i in self.rows.free:
            row = self.row(i)
            self.base[i] += sum(row[j] for j in self.lines.forced)
            own = row if len(free) == len(row) else [row[j] for j in free]
            values[i] = self.base[i] + sum(self.lines.tops(free, map(sub, own, offsets))[:choose])
        largest = sorted(values.values(), reverse=True)[:keep]
        total = sum(largest) + sum(falling[:choose])
        self.excess = total - target
        if total <= target:
            return "the root bound meets the score"
        if choose == 0 or (keep == 0 and not self.lines.overlap):  # one side is given, so the other one answers it
            best = self._full([]) if choose == 0 else self.lines.best((self.line_scores[j], j) for j in free)
            if best > target:
                raise ProofError("the best answer to what is forced scores more")
            return "one side is forced"
        lowest = max(self.tau, target - total + largest[-1]) if keep else inf
        self.names = [i for i in self.rows.free if values[i] > lowest]
        self.spend(len(self.names) * len(free) * (A_CELL + choose))
        table = [[row[j] - self.beta[j] for j in free] for row in map(self.row, self.names)]
        place = {j: q for q, j in enumerate(free)}
        self._drop_lines(table, place, falling)
        self.weights = [[row[place[j]] for row in table] for j in self.order]  # one list per column, in search order
        self.groups = [self.lines.group[j] for j in self.order]
        self.beyond = [len({*self.groups[j:]}) - 1 for j in range(len(self.order))]  # groups that can follow
        self.column_prices = [self.prices[j] for j in self.order]
        self.times = [[[left * x for x in column] for column in self.weights] for left in range(choose + 1)]
        reach = [self._reach([column[q] for column in self.weights]) for q in range(len(table))]
        self.reach = [[[of[left][j] for of in reach] for j in range(len(self.order))] for left in range(choose + 1)]
        self.price_reach = self._reach(self.column_prices)
        if len(self.order) >= choose:
            self._open([], list(range(len(table))), [self.base[i] for i in self.names], 0)
        if self.nodes is not None and self.position != len(self.nodes):
            raise ProofError("the list holds nodes that do not belong to the tree")
        return f"{self.opened} nodes opened, everything else closed by a bound"

    def _drop_lines(self, table: list[list[int]], place: dict[int, int], falling: list[int]) -> None:
        """A line outside the search order must be useless: forced in, it must bound the score."""
        tops = [self.lines.tops(self.lines.free, row)[: self.choose] for row in table]
        sums = [self.base[i] + sum(top) for i, top in zip(self.names, tops)]
        for j in set(self.lines.free) - set(self.order):
            reached = [s - max(top[-1] - row[place[j]], 0) for s, top, row in zip(sums, tops, table)]
            price = sum(falling[: self.choose - 1]) + min(self.prices[j], falling[self.choose - 1])
            if filled(reached, self.keep, self.tau)[0] + price > self.target:
                raise ProofError(f"line {j} was left out of the search, but could be part of a better choice")

    def _reach(self, row: list[int]) -> list[list[int]]:
        """[left][j]: the value of column j and the left - 1 largest beyond it, one of each group."""
        tables, largest = [[0] * len(row) for _ in range(self.choose + 1)], list[tuple[int, int]]()
        for j in range(len(row) - 1, -1, -1):
            total, others = row[j], [x for x, group in largest if group != self.groups[j]]
            for size in range(1, self.choose + 1):
                tables[size][j] = total
                total += others[size - 1] if size <= len(others) else 0
            largest = among(largest, row[j], self.groups[j], self.choose)
        return tables

    def _open(self, path: list[int], rows: list[int], sums: list[int], paid: int) -> None:
        """Every child of a node must be closed by a bound, or be listed and opened in turn."""
        self.opened += 1
        self.spend(2 * (len(rows) + 1) * len(self.order))
        depth, first, target = len(path) + 1, path[-1] + 1 if path else 0, self.target
        while path and first < len(self.order) and self.groups[first] == self.groups[path[-1]]:
            first += 1
        missing, lines = self.choose - len(path), [self.order[column] for column in path]
        pick: Any = itemgetter(*rows) if len(rows) > 1 else lambda column: [column[i] for i in rows]
        means = self._averages(missing, first, pick, sums, paid) if missing > 1 else {}
        for j in range(first, len(self.order) - missing + 1):
            listed = self.nodes is not None and self.nodes[self.position : self.position + 1] == [[depth, j]]
            self.position += listed
            closed = means.get(j, target + 1) <= target or self.beyond[j] < missing - 1
            closed = closed or not self.lines.fits(self.order[j], lines)
            total, smallest, values = 0, 0, list[int]()
            if not closed:
                values = list(map(add, sums, pick(self.reach[missing][j])))
                price = paid + self.price_reach[missing][j]
                total, smallest = filled(values, self.keep, self.tau)
                total += price
                closed = total <= target
                if not closed and self.rows.room:
                    above = ((x, self.names[i]) for x, i in zip(values, rows) if x > self.tau)
                    closed = self.rows.best(above, self.tau) + price <= target
            if not closed and missing == 1:
                if self._full([*lines, self.order[j]]) > target:
                    raise ProofError("a choice in the tree scores more than the one that is claimed to be the best")
                closed = True
            if closed:
                while listed and self.position < len(self.nodes) and self.nodes[self.position][0] > depth:
                    self.position += 1
                continue
            if self.nodes is not None and not listed:
                raise ProofError(f"a node is neither closed nor listed: columns {[*path, j]} of the order")
            lowest, column = max(self.tau, target - total + smallest), self.weights[j]
            open_rows = [(i, s + column[i]) for i, s, x in zip(rows, sums, values) if x > lowest]
            self._open([*path, j], [i for i, _ in open_rows], [s for _, s in open_rows], paid + self.column_prices[j])

    def _averages(self, missing: int, first: int, pick: Any, sums: list[int], paid: int) -> dict[int, int]:
        """For each child the mean of its own value and the largest beyond it, one of each group, rounded down."""
        means, largest, times = dict[int, int](), list[tuple[int, int]](), self.times[missing]
        for j in range(len(self.order) - 1, first - 1, -1):
            value = missing * self.column_prices[j] + filled(map(add, sums, pick(times[j])), self.keep, self.tau)[0]
            others = [x for x, group in largest if group != self.groups[j]][: missing - 1]
            if len(others) == missing - 1:
                means[j] = paid + (value + sum(others)) // missing
            largest = among(largest, value, self.groups[j], missing)
        return means

    def _full(self, lines: list[int]) -> int:
        """The exact score of lines with their best response, whatever the bounds say."""
        self.spend(A_CELL * len(self.lines.limits) * len(self.rows.free))
        values = ((self.base[i] + sum(map(self.row(i).__getitem__, lines)), i) for i in self.rows.free)
        return sum(self.line_scores[j] for j in lines) + self.rows.best(values)


class Screen:
    """The last k rows of a problem, which stand for all rows of a larger table that are not in it.

    Each of them is alike, and no worse than any of those for any choice of columns. So whatever a choice takes of the
    other rows can be replaced by them, and what bounds the problem bounds the whole table.
    """

    def __init__(self, problem: dict[str, Any], proof: dict[str, Any]) -> None:
        kept_rows, self.rows, self.heavy = (proof["screen"][name] for name in ("kept", "rows", "heavy"))
        own, d, rules = problem["n"] - problem["k"], problem["d"], problem["sample_rules"]
        self.cells = [problem["cells"][i * d : (i + 1) * d] for i in range(problem["n"])]
        self.place = {position: i for i, position in enumerate(kept_rows)}
        self.m, self.weight = problem["m"], float(problem["coupling_weight"])
        self.weights, self.score = self.cells[-1], problem["a"][-1]  # of one that stands for others
        exclusive = [group["members"] for group in problem["feature_rules"]["groups"] if group["at_most"] == 1]
        grouped = {j for members in exclusive for j in members}
        self.columns = exclusive + [[j] for j in range(d) if j not in grouped]  # at most one of each is chosen
        distinct = kept_rows == sorted(self.place)
        if len(kept_rows) != own or not distinct or not 0 <= kept_rows[0] <= kept_rows[-1] < self.rows:
            raise ProofError("the rows that were kept are not those of the problem")
        rows_of_rules = {*proof["samples"], *rules["forced_in"], *rules["forced_out"]}
        rows_of_rules.update(*(group["members"] for group in rules["groups"]))
        alike = all(x == y for x, y in zip(self.cells[own:], [self.weights] * problem["k"]))
        if not alike or {*problem["a"][own:]} != {self.score} or max(rows_of_rules) >= own:
            raise ProofError("the last rows of the problem cannot stand for others")

    def row(self, position: int, weights: Any) -> float:
        """What a row of the table has at most over one that stands for it, never more than 0; -inf for a kept row."""
        if len(weights) != len(self.weights):
            raise ProofError(f"row {position:,} has {len(weights)} weights, but there are {len(self.weights)} columns")
        if (own := self.place.get(position)) is not None:
            if not all(abs(x - w) <= ROUNDED * abs(x) for x, w in zip(self.cells[own], weights)):
                raise ProofError(f"row {position:,} does not weigh what the problem says")
            return -inf
        total = fsum(max(weights[j] for j in column) for column in self.columns)
        if self.heavy is not None and not total * (1 - ROUNDED) < self.heavy:
            raise ProofError(f"row {position:,} is so heavy that it was to be kept")
        gains = [self.weight * (w - u) for w, u in zip(weights, self.weights)]
        over = sorted((max(gains[j] for j in column) for column in self.columns), reverse=True)
        size = abs(self.weight) * fsum(map(abs, [*weights, *self.weights])) + abs(self.score)
        most = fsum(over[: self.m]) - self.score + 2.0**-50 * size  # each weight is rounded twice, by 2⁻⁵³ of itself
        if not most <= 0:  # in doubt
            exact = [Fraction(self.weight) * (Fraction(w) - Fraction(u)) for w, u in zip(weights, self.weights)]
            best = sorted((max(exact[j] for j in column) for column in self.columns), reverse=True)
            if sum(best[: self.m]) > Fraction(self.score):
                raise ProofError(f"row {position:,} was not kept, but scores more than what stands for it")
        return min(most, 0.0)

    def part(self, first: int, table: Any) -> dict[str, Any]:
        """Check consecutive rows of the table, given by their weights; what they contribute."""
        surpluses = [self.row(position, weights) for position, weights in enumerate(table, first)]
        in_problem = sum(position in self.place for position in range(first, first + len(surpluses)))
        return {"first": first, "rows": len(surpluses), "kept": in_problem, "highest": max(surpluses, default=-inf)}

    def whole(self, parts: list[dict[str, Any]]) -> str:
        """Say which rows these parts are; refuse parts that overlap or are not of this table."""
        end = 0
        for part in sorted(parts, key=itemgetter("first")):
            if part["first"] < end or part["first"] + part["rows"] > self.rows:
                raise ProofError(f"the part at row {part['first']:,} repeats rows, or has more than the table")
            end = part["first"] + part["rows"]
        checked = sum(part["rows"] for part in parts)
        if checked == self.rows and sum(part["kept"] for part in parts) != len(self.place):
            raise ProofError("the parts do not hold all rows that were kept")
        if checked == self.rows:
            return f"all {self.rows:,} rows of the table checked"
        return f"{checked:,} of {self.rows:,} rows of the table checked, the others taken on trust"


def read_weights(path: Any) -> list[Any]:
    """The weights of some rows, in the order of the problem's columns: an array, or a CSV with a line of names."""
    if str(path).endswith(".npy"):
        with open(path, "rb") as file:
            (n, d), cells = _npy(file.read())
        return [cells[i * d : (i + 1) * d] for i in range(n)]
    with open(path, newline="", encoding="utf-8") as file:
        return [[float(x) for x in line] for line in list(csv.reader(file))[1:]]


def check(proof_path: Any, problem_path: Any, id_column: str | None = None, parts: Any = ()) -> str:
    """What was checked, in words; raises ProofError where the file does not prove that its choice is the best.

    Of a large table also its parts, given as pairs: the position of the first row, and a file of weights.
    """
    try:
        proof, problem = read_proof(proof_path, problem_path, id_column)
        words = Checker(problem, proof).check()
        if "screen" in proof:
            screen = Screen(problem, proof)
            words += f"; {screen.whole([screen.part(int(first), read_weights(path)) for first, path in parts])}"
        return words
    except (ProofError, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # whatever a damaged file runs into
        raise ProofError(f"a file is damaged: {type(error).__name__}: {error}") from error


def read_proof(proof_path: Any, problem_path: Any, id_column: str | None = None) -> tuple[Any, dict[str, Any]]:
    """A proof that is as it was written, and the problem that it is about."""
    with open(proof_path, encoding="utf-8") as file:
        proof = json.load(file)
    if not isinstance(proof, dict) or proof.get("format") != "biselect-proof-1":
        raise ProofError("this is not a proof of format biselect-proof-1")
    body = json.dumps({name: value for name, value in proof.items() if name != "sha256"}, separators=(",", ":"))
    if hashlib.sha256(body.encode()).hexdigest() != proof.get("sha256"):
        raise ProofError("the file was changed after it was written")
    problem = read_problem(problem_path, proof, id_column)
    if digest(problem) != proof["problem"]:
        raise ProofError("the proof is of another problem")
    return proof, problem


if __name__ == "__main__":
    proof_file, problem_file, *more = sys.argv[1:]
    parts = [text.split("=", 1) for text in more if text.partition("=")[0].isdigit()]
    try:
        words = check(proof_file, problem_file, more[0] if more and not parts else None, parts)
        print(f"CHECKED: no choice scores higher ({words})")
    except (ProofError, OSError) as error:
        sys.exit(f"REFUSED: {error}")
