"""`expand` of `_tree.py`, compiled: the same families and choices, to the bit."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from biselect.core.threads import Stop
from biselect.solvers._tree import AT_ONCE, MOST_CHOICES, OWN_LEVEL, Expansion, Family, Tree
from biselect.solvers._tree import expand as expand_slowly
from biselect.solvers.kernels import top_sum

EXACT = {"reassoc", "contract", "nsz"}  # whole numbers: sums are exact in any order


def expand(tree: Tree, family: Family, *, closed: float, stop: Stop) -> Expansion | None:
    """As `_tree.expand`; None if `stop` turned to 1 on the way."""
    if family.path.size + 1 == tree.choose:
        return expand_slowly(tree, family, closed)
    found = _expand(tree, *family, closed, stop)
    if stop[0]:
        return None
    families, begin = [], 0
    for child, size in zip(found.children[: found.counts[1]].tolist(), found.sizes.tolist(), strict=False):
        own = slice(begin, begin + size)
        families.append(Family(np.append(family.path, child), found.lines[own].copy(), found.bounds[own].copy()))
        begin += size
    return families, list(found.choices[: min(found.counts[0], MOST_CHOICES + 1)].copy())


@njit(cache=True, nogil=True, fastmath=EXACT)
def _above(sums: Any, table: Any, members: Any, first: int, factor: float, level: float, free: int, out: Any) -> None:
    """Σ max(sum + factor · weight - level, 0) over the free rows, for these members of a table of lines."""
    for u in range(first, members.size):
        line, total = members[u], 0.0
        for i in range(free):
            x = sums[i] + factor * table[line, i] - level
            total += x if x > 0.0 else 0.0
        out[u] = total


@njit(cache=True, nogil=True)
def _contenders(sums: Any, line: Any, factor: float, free: int, groups: Any, room: Any, out: Any) -> int:
    """Values of free rows and the largest of each group, as many as it has room for, into `out`; how many."""
    for i in range(free):
        out[i] = sums[i] + factor * line[i]
    count, i = free, free
    while i < groups.size:
        group, first = groups[i], count
        while i < groups.size and groups[i] == group:
            x = sums[i] + factor * line[i]
            if count - first < room[group]:
                q = count
                count += 1
            elif x > out[count - 1]:
                q = count - 1
            else:
                i += 1
                continue
            while q > first and out[q - 1] < x:
                out[q] = out[q - 1]
                q -= 1
            out[q] = x
            i += 1
    return count


class _Rows(NamedTuple):
    """The rows of a node: the first `free` are in no group, those of a group stand side by side."""

    free: Any
    groups: Any
    room: Any
    keep: Any
    tau: Any
    space: Any


@njit(cache=True, nogil=True)
def _above_in_groups(sums: Any, line: Any, factor: float, level: float, rows: Any) -> float:
    """The same over the best rows of each group, for one line."""
    total, free = 0.0, rows.free
    for q in range(_contenders(sums[free:], line[free:], factor, 0, rows.groups[free:], rows.room, rows.space)):
        x = rows.space[q] - level
        total += x if x > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True)
def _level(sums: Any, line: Any, factor: float, rows: Any) -> float:
    """The smallest value in f(sums + factor · line), or τ."""
    count = _contenders(sums, line, factor, rows.free, rows.groups, rows.room, rows.space)
    return max(rows.tau, top_sum(rows.space, count, rows.keep)[1]) if count >= rows.keep else rows.tau


@njit(cache=True, nogil=True)
def _best(values: Any, added: Any, groups: Any, room: Any, keep: int, space: Any) -> Any:
    """f(values + added), and the smallest value in it."""
    free = 0
    while free < groups.size and groups[free] < 0:
        free += 1
    return top_sum(space, _contenders(values, added, 1.0, free, groups, room, space), keep)


@njit(cache=True, nogil=True)
def _scores(sums: Any, line: Any, rows: Any) -> Any:
    """f(sums + line), and the same without τ, -inf if there are too few rows."""
    count = _contenders(sums, line, 1.0, rows.free, rows.groups, rows.room, rows.space)
    if count >= rows.keep:
        plain, smallest = top_sum(rows.space, count, rows.keep)
        if smallest >= rows.tau:
            return plain, plain
    filled, plain = max(0, rows.keep - count) * rows.tau, -np.inf if count < rows.keep else 0.0
    for q in range(max(0, count - rows.keep), count):
        filled += max(rows.space[q], rows.tau)
        plain += rows.space[q]
    return filled, plain


@njit(cache=True, nogil=True)
def _add(values: Any, line: Any, out: Any) -> None:
    """out = values + line."""
    for i in range(out.size):
        out[i] = values[i] + line[i]


@njit(cache=True, nogil=True)
def _child(values: Any, line: Any, reach: Any, tau: float, out: Any) -> None:
    """What rows hold with one more line, -inf for those that no further lines lift above τ."""
    for i in range(out.size):
        x = values[i] + line[i]
        out[i] = x if x + reach[i] > tau else -np.inf


@njit(cache=True, nogil=True)
def _fits(line: int, limits: Any, used: Any, room: Any) -> bool:
    """Whether all limits of a line have room."""
    for q in range(limits.shape[1]):
        if limits[line, q] >= 0 and used[limits[line, q]] >= room[limits[line, q]]:
            return False
    return True


@njit(cache=True, nogil=True)
def _use(line: int, limits: Any, used: Any, number: int) -> None:
    """Count a line towards its limits, or off them."""
    for q in range(limits.shape[1]):
        if limits[line, q] >= 0:
            used[limits[line, q]] += number


@njit(cache=True, nogil=True)
def _insert(best: Any, count: int, size: int, value: float) -> int:
    """Keep the `size` largest values, falling; how many there are."""
    if count < size:
        count += 1
    elif size == 0 or value <= best[size - 1]:
        return count
    q = count - 1
    while q > 0 and best[q - 1] < value:
        best[q] = best[q - 1]
        q -= 1
    best[q] = value
    return count


@njit(cache=True, nogil=True)
def _child_bounds(averages: Any, ends: Any, left: int, paid: float, closed: float, top: Any, out: Any) -> None:
    """`child_bounds` of one node: the bounds, nan for a line that is of no use."""
    size = averages.size
    for u in range(size):
        out[u] = np.nan
    groups, j = 0, 0
    while j < size:
        best, end = -np.inf, ends[j]
        while j < size and ends[j] == end:
            best = max(best, averages[j])
            j += 1
        if best > -np.inf:
            groups = _insert(top, groups, left, best)
    if groups < left:
        return
    fewer, lowest, last = 0.0, top[left - 2], top[left - 1]
    for q in range(left - 1):
        fewer += top[q]
    needed, j = left * (closed - paid), 0
    while j < size:
        first, best, end = j, -np.inf, ends[j]
        while j < size and ends[j] == end:
            best = max(best, averages[j])
            j += 1
        others = fewer + last - best if best >= lowest else fewer
        for u in range(first, j):
            if averages[u] + others > needed:
                out[u] = 0.0
    groups, j = 0, size - 1
    while j >= 0:
        best, end, beyond = -np.inf, ends[j], 0.0
        for q in range(groups):
            beyond += top[q]
        while j >= 0 and ends[j] == end:
            if out[j] == 0.0:
                best = max(best, averages[j])
                out[j] = np.floor((averages[j] + beyond) / left) + paid if groups == left - 1 else -np.inf
            j -= 1
        if best > -np.inf:
            groups = _insert(top, groups, left - 1, best)


@njit(cache=True, nogil=True)
def _gathered(table: Any, lines: Any, rows: Any) -> Any:
    """These lines over these rows."""
    part = np.empty((lines.size, rows.size))
    for u in range(lines.size):
        source, target = table[lines[u]], part[u]
        for q in range(rows.size):
            target[q] = source[rows[q]]
    return part


class _Found(NamedTuple):
    """What is handed back: choices, and the families of children, side by side.

    Attributes:
        counts: how many choices, families, and lines of families there are so far.
    """

    counts: Any
    choices: Any
    children: Any
    sizes: Any
    lines: Any
    bounds: Any


class _View(NamedTuple):
    """A family's lines over its rows, and what all nodes below it share.

    Attributes:
        lines: of the tree; `ends` where the next group begins.
        weights: of these lines over these rows.
        added: [number of lines to choose], what a line adds to the rows in the bound; one table for averaging.
        reach: [number of lines to choose], the most that rows can still rise by.
    """

    lines: Any
    ends: Any
    weights: Any
    added: Any
    reach: Any


class _Found(NamedTuple):
    """What is handed back: choices, and the families of children, side by side.

    Attributes:
        counts: how many choices, families, and lines of families there are so far.
    """

    counts: Any
    choices: Any
    children: Any
    sizes: Any
    lines: Any
    bounds: Any


class _View(NamedTuple):
    """A family's lines over its rows, and what all nodes below it share.

    Attributes:
        lines: of the tree; `ends` where the next group begins.
        weights: of these lines over these rows.
        added: [number of lines to choose], what a line adds to the rows in the bound; one table for averaging.
        reach: [number of lines to choose], the most that rows can still rise by.
    """

    lines: Any
    ends: Any
    weights: Any
    added: Any
    reach: Any


@njit(cache=True, nogil=True)
def _note(choices: Any, number: int, path: Any, count: int, last: int) -> None:
    """Write a choice down."""
    for q in range(count):
        choices[number, q] = path[q]
    choices[number, count] = last


@njit(cache=True, nogil=True)
def _finish(
    tree: Any,
    view: Any,
    rows: Any,
    path: Any,
    members: Any,
    bounds: Any,
    values: Any,
    spent: float,
    used: Any,
    closed: float,
    stop: Any,
    found: Any,
) -> float:
    """The same where a child has one more line to choose: look for choices."""
    size, width, n = tree.choose - 2, members.size, values.size
    sums, reached = np.empty(n), np.empty(width)
    limited, has_level, level, known = tree.limits.shape[1] > 0, False, tree.tau, closed
    for place in range(width):
        if not bounds[place] > closed:
            continue
        if stop[0] or found.counts[0] > MOST_CHOICES:
            return known
        child, first = view.lines[members[place]], place + 1
        while first < width and view.lines[members[first]] < view.ends[members[place]]:
            first += 1
        path[size] = child
        _use(child, tree.limits, used, 1)
        _add(values, view.weights[members[place]], sums)
        u = first
        while u < width and not has_level:
            if _fits(view.lines[members[u]], tree.limits, used, tree.room):
                level, has_level = _level(sums, view.weights[members[u]], 1.0, rows), True
            u += 1
        _above(sums, view.weights, members, first, 1.0, level, rows.free, reached)
        paid = spent + tree.scores[child]
        for u in range(first, width):
            line = view.lines[members[u]]
            if limited and not _fits(line, tree.limits, used, tree.room):
                continue
            score = reached[u]
            if rows.free < rows.groups.size:
                score += _above_in_groups(sums, view.weights[members[u]], 1.0, level, rows)
            if score + (rows.keep * level + tree.scores[line]) + paid > closed and found.counts[0] <= MOST_CHOICES:
                filled, plain = _scores(sums, view.weights[members[u]], rows)
                if filled + tree.scores[line] + paid > closed:
                    for q in range(size + 1):
                        found.choices[found.counts[0], q] = path[q]
                    found.choices[found.counts[0], size + 1] = line
                    found.counts[0] += 1
                    known = max(known, plain + tree.scores[line] + paid - tree.loss)
        _use(child, tree.limits, used, -1)
    return known


@njit(cache=True, nogil=True)
def _open(
    tree: Any,
    view: Any,
    rows: Any,
    path: Any,
    size: int,
    members: Any,
    bounds: Any,
    values: Any,
    spent: float,
    used: Any,
    closed: float,
    stop: Any,
    found: Any,
) -> float:
    """Open the children of path[:size], some members of the view whose rows hold `values`; what is then closed."""
    left, width, averaging = tree.choose - size - 1, members.size, tree.tau > -np.inf
    factor, added = (float(left), view.added[0]) if averaging else (1.0, view.added[left])
    sums, reached, nexts, top = np.empty(values.size), np.empty(width), np.empty(width), np.empty(left + 1)
    ends, fits = np.empty(width, np.int64), np.empty(width, np.bool_)
    for u in range(width):
        ends[u] = view.ends[members[u]]
    level, has_level, known = tree.tau, False, closed
    for place in range(width):
        if not bounds[place] > known:
            continue
        if stop[0] or found.counts[0] > MOST_CHOICES:
            return known
        child, first = view.lines[members[place]], place + 1
        while first < width and view.lines[members[first]] < ends[place]:
            first += 1
        path[size] = child
        _use(child, tree.limits, used, 1)
        held = spent + tree.scores[child]
        paid = held
        for q in range(used.size):
            paid += (tree.room[q] - used[q]) * tree.limit_prices[q]
        _child(values, view.weights[members[place]], view.reach[left], tree.tau, sums)
        has_level = has_level and left < OWN_LEVEL
        for u in range(first, width):
            fits[u] = _fits(view.lines[members[u]], tree.limits, used, tree.room)
            if fits[u] and not has_level:
                level, has_level = _level(sums, added[members[u]], factor, rows), True
        _above(sums, added, members, first, factor, level, rows.free, reached)
        for u in range(first, width):
            line = view.lines[members[u]]
            if not fits[u]:
                reached[u] = -np.inf
                continue
            if rows.free < rows.groups.size:
                reached[u] += _above_in_groups(sums, added[members[u]], factor, level, rows)
            reached[u] += rows.keep * level
            if averaging:
                reached[u] += left * tree.prices[line]
            else:
                reached[u] += tree.prices[line] + tree.price_reach[left - 1, ends[u]]
        if averaging:
            _child_bounds(reached[first:], ends[first:], left, paid, closed, top, nexts[first:])
        else:
            for u in range(first, width):
                nexts[u] = reached[u] + paid if fits[u] else np.nan
        count, useful = 0, False
        for u in range(first, width):
            if not np.isnan(nexts[u]):
                nexts[u] = min(nexts[u], bounds[place])
                useful = useful or nexts[u] > known
                count += 1
        if useful and left > AT_ONCE:
            found.children[found.counts[1]], found.sizes[found.counts[1]] = child, count
            found.counts[1] += 1
            for u in range(first, width):
                if not np.isnan(nexts[u]):
                    found.lines[found.counts[2]] = view.lines[members[u]]
                    found.bounds[found.counts[2]] = nexts[u]
                    found.counts[2] += 1
        elif useful:
            inner, inner_bounds, q = np.empty(count, np.int64), np.empty(count), 0
            for u in range(first, width):
                if not np.isnan(nexts[u]):
                    inner[q], inner_bounds[q] = members[u], nexts[u]
                    q += 1
            if left == 2:
                known = _finish(tree, view, rows, path, inner, inner_bounds, sums, held, used, known, stop, found)
            else:
                known = _open(
                    tree, view, rows, path, size + 1, inner, inner_bounds, sums, held, used, known, stop, found
                )
        _use(child, tree.limits, used, -1)
    return known


@njit(cache=True, nogil=True)
def _expand(tree: Any, path: Any, lines: Any, bounds: Any, closed: float, stop: Any) -> Any:
    """Open a family; what was found, counts first."""
    size, width, n = path.size, lines.size, tree.base.size
    left, averaging = tree.choose - size - 1, tree.tau > -np.inf
    sums, spent, slack, used = np.empty(n), 0.0, 0.0, np.empty(tree.room.size, np.int64)
    for i in range(n):
        sums[i] = tree.base[i]
    for q in range(used.size):
        used[q] = 0
    for q in range(size):
        line = tree.weights[path[q]]
        for i in range(n):
            sums[i] += line[i]
        spent += tree.scores[path[q]]
        _use(path[q], tree.limits, used, 1)
    for q in range(used.size):
        slack += (tree.room[q] - used[q]) * tree.limit_prices[q]
    beyond = tree.ends[path[size - 1]] if size and not averaging else 0
    reach, lowest = tree.reach[left + 1, beyond], tree.tau
    if not averaging:
        total, smallest = _best(sums, reach, tree.row_groups, tree.row_room, tree.keep, np.empty(n))
        bound = total + spent + slack + tree.price_reach[left + 1, beyond]
        lowest = smallest - (bound - closed) if bound > closed else np.inf
    places, count, free = np.empty(n, np.int64), 0, 0
    for i in range(n):
        if sums[i] + reach[i] > lowest:
            places[count] = i
            count += 1
            free += 1 if tree.row_groups[i] < 0 else 0
    values, groups, reaches = np.empty(count), np.empty(count, np.int64), np.empty((left + 1, count))
    for q in range(count):
        values[q], groups[q] = sums[places[q]], tree.row_groups[places[q]]
        for r in range(left + 1):
            reaches[r, q] = tree.reach[r, 0, places[q]]
    weights, ends, members = np.empty((width, count)), np.empty(width, np.int64), np.empty(width, np.int64)
    added = np.empty((0 if averaging else left + 1, width, count))
    for u in range(width):
        ends[u], members[u] = tree.ends[lines[u]], u
        source, target = tree.weights[lines[u]], weights[u]
        for q in range(count):
            target[q] = source[places[q]]
        for r in range(1, added.shape[0]):
            if r == left or left <= AT_ONCE:  # otherwise children are families of their own
                source, sums_of_r = tree.reach[r - 1, ends[u]], added[r, u]
                for q in range(count):
                    sums_of_r[q] = target[q] + source[places[q]]
    if averaging:
        added = weights.reshape((1, width, count))
    view = _View(lines, ends, weights, added, reaches)
    rows = _Rows(free, groups, tree.row_room, tree.keep, tree.tau, np.empty(count + 1))
    full_path = np.empty(tree.choose, np.int64)
    for q in range(size):
        full_path[q] = path[q]
    room = width * width if left > AT_ONCE else 0
    counts = np.empty(3, np.int64)
    counts[0], counts[1], counts[2] = 0, 0, 0
    choices = np.empty((MOST_CHOICES + 2, tree.choose), np.int64)
    children, sizes = np.empty(width, np.int64), np.empty(width, np.int64)
    found = _Found(counts, choices, children, sizes, np.empty(room, np.int64), np.empty(room))
    if left == 1:
        _finish(tree, view, rows, full_path, members, bounds, values, spent, used, closed, stop, found)
    else:
        _open(tree, view, rows, full_path, size, members, bounds, values, spent, used, closed, stop, found)
    return found
