"""Check a proof file against its problem: `python check_proof.py proof.json problem.npz`.

This file stands alone: it needs nothing but Python, shares no code with the solver, and computes with whole numbers only,
so nothing is rounded. docs/reference/proof-format.md describes what it reads and why that is a proof.
"""

import ast
import csv
import hashlib
import json
import sys
import zipfile
from array import array


class Refused(Exception):
    """Why the file proves nothing."""


def read_problem(path, proof, id_column=None):
    """The problem as a dictionary: `rows` gives the weights, row by row; names, scores, budgets and rules as stored."""
    if str(path).endswith(".npz"):
        with zipfile.ZipFile(path) as stored:
            arrays = {name: _npy(stored.read(name + ".npy")) for name in ("coupling", "sample_scores", "feature_scores")}
            problem = json.loads(bytes(_npy(stored.read("header.npy"))[1]))
        (n, d), cells = arrays["coupling"]
        problem.update(a=list(arrays["sample_scores"][1]), b=list(arrays["feature_scores"][1]))
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


def _npy(data):
    """Shape and numbers, row by row, of an array as NumPy stores it."""
    size = int.from_bytes(data[8:10], "little") if data[6] == 1 else int.from_bytes(data[8:12], "little")
    begin = 10 if data[6] == 1 else 12
    header = ast.literal_eval(data[begin : begin + size].decode("latin1"))
    kind, shape = header["descr"], header["shape"]
    numbers = array({"f4": "f", "f8": "d", "u1": "B"}[kind[1:]])
    numbers.frombytes(data[begin + size :])
    if kind[0] in "<>" and (kind[0] == "<") != (sys.byteorder == "little"):
        numbers.byteswap()
    if kind[1:] == "f4":
        numbers = array("d", numbers)
    if header["fortran_order"] and len(shape) == 2:
        rows, columns = shape
        ordered = array("d", bytes(8 * len(numbers)))
        for j in range(columns):
            ordered[j::columns] = numbers[j * rows : (j + 1) * rows]
        numbers = ordered
    return shape, numbers


def digest(problem):
    """SHA-256 of all that defines the problem."""
    found = hashlib.sha256(b"biselect-problem-1")
    n, d = problem["n"], problem["d"]
    for shape, numbers in (((n, d), problem["cells"]), ((n,), problem["a"]), ((d,), problem["b"])):
        found.update(repr(shape).encode())
        numbers = array("d", numbers)
        if sys.byteorder == "big":
            numbers.byteswap()
        found.update(numbers.tobytes())
    rest = [problem[name] for name in ("k", "m", "coupling_weight", "sample_names", "feature_names")]
    rules = [problem["sample_rules"], problem["feature_rules"]]
    if any(part for side in rules for part in side.values()):
        rest += rules
    found.update(json.dumps(rest).encode())
    return found.hexdigest()


class Side:
    """One side of the problem: what is still free to be chosen once the forced items are in."""

    def __init__(self, rules, length, budget):
        self.forced, self.budget = sorted(rules["forced_in"]), budget - len(rules["forced_in"])
        self.group, self.room = [None] * length, {}
        for number, group in enumerate(rules["groups"]):
            self.room[number] = group["at_most"] - len(set(group["members"]) & set(self.forced))
            for item in group["members"]:
                self.group[item] = number
        barred = {*rules["forced_in"], *rules["forced_out"]}
        self.free = [i for i in range(length) if i not in barred and self.room.get(self.group[i], 1) > 0]
        self.rules, self.length, self.whole_budget = rules, length, budget

    def check(self, chosen, what):
        """Refuse a choice that breaks the budget or a rule."""
        items = set(chosen)
        fine = len(items) == len(chosen) == self.whole_budget and all(0 <= i < self.length for i in items)
        fine = fine and items.issuperset(self.forced) and items.isdisjoint(self.rules["forced_out"])
        if not fine or any(len(items & set(g["members"])) > g["at_most"] for g in self.rules["groups"]):
            raise Refused(f"the {what} chosen break the budget or a rule")

    def fits(self, item, others):
        """Whether an item has room in its group beside others."""
        group = self.group[item]
        return group is None or sum(self.group[other] == group for other in others) < self.room[group]


class Numbers:
    """The problem in whole numbers: everything times 2^bits, with λ multiplied in."""

    def __init__(self, problem, exponent):
        def places(values):
            return max((x.as_integer_ratio()[1].bit_length() - 1 for x in set(values)), default=0)

        weight = float(problem["coupling_weight"])
        cell_bits, weight_bits = places(problem["cells"]), places([weight])
        self.bits = max(cell_bits + weight_bits, places(problem["a"]), places(problem["b"]), -exponent, 0)
        self.scale = self._whole(weight, weight_bits) << (self.bits - cell_bits - weight_bits)
        self.cell_bits, self.d, self.cells = cell_bits, problem["d"], problem["cells"]
        self.a = [self._whole(x, self.bits) for x in problem["a"]]
        self.b = [self._whole(x, self.bits) for x in problem["b"]]

    @staticmethod
    def _whole(value, bits):
        numerator, denominator = value.as_integer_ratio()
        return (numerator << bits) // denominator

    def row(self, i):
        """λW of one sample."""
        return [self._whole(x, self.cell_bits) * self.scale for x in self.cells[i * self.d : (i + 1) * self.d]]

    def column(self, j):
        """λW of one feature."""
        return [self._whole(x, self.cell_bits) * self.scale for x in self.cells[j :: self.d]]


def filled(values, keep, tau):
    """Sum of the `keep` largest values, with any number of τ beside them, and the smallest of those counted."""
    above = [x for x in values if x > tau]
    if len(above) <= keep:
        return sum(above) + (keep - len(above)) * tau, tau
    above.sort(reverse=True)
    return sum(above[:keep]), above[keep - 1]


class Checker:
    """Follows the search tree of a proof, and bounds everything that it leaves closed."""

    def __init__(self, problem, proof):
        numbers = Numbers(problem, proof["exponent"])
        sides = {
            "samples": Side(problem["sample_rules"], problem["n"], problem["k"]),
            "features": Side(problem["feature_rules"], problem["d"], problem["m"]),
        }
        for name, side in sides.items():
            side.check(proof[name], name)
        by_features = proof["lines"] == "features"
        self.lines, self.rows = (sides["features"], sides["samples"]) if by_features else (
            sides["samples"],
            sides["features"],
        )
        self.row = numbers.row if by_features else numbers.column
        row_scores, line_scores = (numbers.a, numbers.b) if by_features else (numbers.b, numbers.a)
        self.choose, self.keep = self.lines.budget, self.rows.budget
        free = self.lines.free
        if len(proof["prices"]) != len(free) or not set(proof["order"]) <= set(free):
            raise Refused("the prices or the order do not belong to this problem's lines")
        unit = numbers.bits + proof["exponent"]
        beta = [price << unit for price in proof["prices"]]
        self.tau, self.order, self.nodes = proof["tau"] << unit, proof["order"], proof["nodes"]
        # what is forced adds to the scores of what is free, and is taken off the score that is to be beaten
        self.base = {i: row_scores[i] for i in self.rows.free}
        self.line_scores = {j: line_scores[j] for j in free}
        chosen_rows, chosen_lines = (proof["samples"], proof["features"]) if by_features else (
            proof["features"],
            proof["samples"],
        )
        forced_rows, taken = set(self.rows.forced), set(chosen_rows)
        self.target = sum(row_scores[i] for i in taken - forced_rows)
        self.target += sum(line_scores[j] for j in set(chosen_lines) - set(self.lines.forced))
        for i in forced_rows | taken:
            row = self.row(i)
            if i in forced_rows:
                for j in free:
                    self.line_scores[j] += row[j]
            self.target += sum(row[j] for j in chosen_lines if i not in forced_rows or j not in self.lines.forced)
        self.prices = {j: self.line_scores[j] + self.keep * price for j, price in zip(free, beta)}
        self.beta = dict(zip(free, beta))
        self.position = 0

    def check(self):
        """Say what was checked; refuse what proves nothing."""
        free, choose, keep, target = self.lines.free, self.choose, self.keep, self.target
        falling = sorted(self.prices.values(), reverse=True)
        values = {}
        for i in self.rows.free:
            row = self.row(i)
            self.base[i] += sum(row[j] for j in self.lines.forced)
            priced = sorted((row[j] - self.beta[j] for j in free), reverse=True)
            values[i] = self.base[i] + sum(priced[:choose])
        largest = sorted(values.values(), reverse=True)[:keep]
        total = sum(largest) + sum(falling[:choose])
        if total <= target:
            return "the root bound meets the score"
        if choose == 0 or keep == 0:  # one side is given: the other side's best response, limits included
            if self._full([]) > target:
                raise Refused("the best response to what is forced scores more")
            return "one side is forced"
        lowest = max(self.tau, target - total + largest[-1])
        kept = [i for i in self.rows.free if values[i] > lowest]
        table = [[x - self.beta[j] for j, x in zip(free, map(self.row(i).__getitem__, free))] for i in kept]
        place = {j: q for q, j in enumerate(free)}
        self._drop_lines(kept, table, place, falling)
        columns = [place[j] for j in self.order]
        self.weights = [[row[q] for row in table] for q in columns]  # one list per column, in search order
        self.column_prices = [self.prices[j] for j in self.order]
        self.reach = [self._reach(row) for row in zip(*self.weights)]
        self.price_reach = self._reach(self.column_prices)
        self.names = kept
        self.opened = 0
        if len(columns) >= choose:
            self._open([], list(range(len(kept))), [self.base[i] for i in kept], 0)
        if self.nodes is not None and self.position != len(self.nodes):
            raise Refused("the list holds nodes that do not belong to the tree")
        return f"{self.opened} nodes opened, everything else closed by a bound"

    def _drop_lines(self, kept, table, place, falling):
        """Lines outside the search order must be worthless: forced in, they must bound the score."""
        choose = self.choose
        tops = [sorted(row, reverse=True)[:choose] for row in table]
        sums = [self.base[i] + sum(top) for i, top in zip(kept, tops)]
        for j in set(self.lines.free) - set(self.order):
            q = place[j]
            reached = (s - max(top[-1] - row[q], 0) for s, top, row in zip(sums, tops, table))
            bound = filled(reached, self.keep, self.tau)[0]
            if bound + sum(falling[: choose - 1]) + min(self.prices[j], falling[choose - 1]) > self.target:
                raise Refused(f"line {j} was left out of the search, but could be part of a better choice")

    def _reach(self, row):
        """[left][j]: the value of column j and the left - 1 largest beyond it."""
        tables, held = [[0] * len(row) for _ in range(self.choose + 1)], []
        for j in range(len(row) - 1, -1, -1):
            total = row[j]
            for left in range(1, self.choose + 1):
                tables[left][j] = total
                total += held[left - 1] if left <= len(held) else 0
            held = sorted([*held, row[j]], reverse=True)[: self.choose]
        return tables

    def _open(self, path, rows, sums, paid):
        """Every child of a node must be closed by a bound, or be listed and opened in turn."""
        self.opened += 1
        left, first, count = self.choose - len(path), path[-1] + 1 if path else 0, len(self.order)
        taken = [self.order[column] for column in path]
        means = self._averages(left, first, rows, sums, paid) if left > 1 else {}
        for j in range(first, count - left + 1):
            listed = self.nodes is not None and self.position < len(self.nodes)
            listed = listed and self.nodes[self.position] == [len(path) + 1, j]
            values = [s + self.reach[i][left][j] for i, s in zip(rows, sums)]
            price = paid + self.price_reach[left][j]
            closed = not self.lines.fits(self.order[j], taken) or means.get(j, self.target + 1) <= self.target
            if not closed:
                total, smallest = filled(values, self.keep, self.tau)
                total += price
                closed = total <= self.target
            if not closed and self.rows.room:
                closed = self._limited(rows, values) + price <= self.target
            if not closed and left == 1:
                closed = self._full([*taken, self.order[j]]) <= self.target
                if not closed:
                    raise Refused("a choice in the tree scores more than the one that is claimed to be the best")
            if closed:
                self.position += listed
                while listed and self.position < len(self.nodes) and self.nodes[self.position][0] > len(path) + 1:
                    self.position += 1
                continue
            if self.nodes is not None:
                if not listed:
                    raise Refused(f"a node is neither closed nor listed: columns {[*path, j]} of the order")
                self.position += 1
            lowest = max(self.tau, self.target - total + smallest)
            column = self.weights[j]
            kept = [(i, s + column[i]) for i, s, x in zip(rows, sums, values) if x > lowest]
            self._open([*path, j], [i for i, _ in kept], [s for _, s in kept], paid + self.column_prices[j])

    def _averages(self, left, first, rows, sums, paid):
        """For each child the mean of its own value and the largest values beyond it, rounded down."""
        means, held = {}, []
        for j in range(len(self.order) - 1, first - 1, -1):
            column = self.weights[j]
            value = filled([s + left * column[i] for i, s in zip(rows, sums)], self.keep, self.tau)[0]
            value += paid + left * self.column_prices[j]
            if len(held) >= left - 1:
                means[j] = (value + sum(held)) // left
            held = sorted([*held, value], reverse=True)[: left - 1]
        return means

    def _limited(self, rows, values):
        """The same as `filled`, with no more of a group than it has room for."""
        total, taken = 0, []
        for x, i in sorted(((x, i) for x, i in zip(values, rows) if x > self.tau), reverse=True):
            if len(taken) < self.keep and self.rows.fits(self.names[i], taken):
                total += x
                taken.append(self.names[i])
        return total + (self.keep - len(taken)) * self.tau

    def _full(self, lines):
        """The exact score of lines with their best response, whatever the bounds say."""
        values, taken, total = [], [], sum(self.line_scores[j] for j in lines)
        if self.choose == 0 or self.keep > 0:
            for i in self.rows.free:
                row = self.row(i)
                values.append((self.base[i] + sum(row[j] for j in lines), i))
        for x, i in sorted(values, reverse=True):
            if len(taken) < self.keep and self.rows.fits(i, taken):
                total += x
                taken.append(i)
        return total


def check(proof_path, problem_path, id_column=None):
    """What was checked, in words; raises Refused where the file does not prove that its choice is the best."""
    with open(proof_path, encoding="utf-8") as file:
        proof = json.load(file)
    if proof.get("format") != "biselect-proof-1":
        raise Refused("this is not a proof of format biselect-proof-1")
    body = json.dumps({name: value for name, value in proof.items() if name != "sha256"}, separators=(",", ":"))
    if hashlib.sha256(body.encode()).hexdigest() != proof.get("sha256"):
        raise Refused("the file was changed after it was written")
    problem = read_problem(problem_path, proof, id_column)
    if digest(problem) != proof["problem"]:
        raise Refused("the proof is of another problem")
    return Checker(problem, proof).check()


def main(arguments):
    """Print the verdict; the exit code is 0 for a proof and 1 for anything else."""
    try:
        words = check(*arguments)
    except (Refused, KeyError, ValueError, IndexError, TypeError) as error:
        print(f"REFUSED: {error}")
        return 1
    print(f"CHECKED: no choice scores higher ({words})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
