"""Long columns of decimals or of days in one form, read byte by byte; what is written otherwise is marked."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

EXACT = 1 << 53  # whole numbers up to this are floats as they are
POWERS = 10.0 ** np.arange(23)  # all of them exact
DAYS_BEFORE = np.array([0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365])
ZERO, NINE, MINUS, SPACE = ord("0"), ord("9"), ord("-"), ord(" ")


@njit(cache=True, nogil=True)
def read_decimals(
    data: NDArray[np.uint8],
    ends: NDArray[np.int32],
    decimal: int,
    thousands: int,
    unit: NDArray[np.uint8],
    always: bool,
    values: NDArray[np.float64],
    odd: NDArray[np.bool_],
) -> tuple[bool, bool]:
    """Fill in the number of each text, or mark it as odd; gives whether any has decimals, and whether any thousands.

    Args:
        data: the bytes of all texts, one behind the other.
        ends: where each text begins, and where the last one ends.
        decimal: the mark before decimals.
        thousands: the one between thousands.
        unit: what may stand behind the number.
        always: whether it must.
        values: of the texts.
        odd: which are no such numbers, or have more digits than a float.
    """
    fractions = groups = False
    for row in range(values.size):
        at, end = ends[row], ends[row + 1]
        while at < end and data[end - 1] == SPACE:
            end -= 1
        if unit.size and end - at > unit.size and np.array_equal(data[end - unit.size : end], unit):
            end -= unit.size
            while at < end and data[end - 1] == SPACE:
                end -= 1
        elif always:
            end = at
        while at < end and data[at] == SPACE:
            at += 1
        negative = at < end and data[at] == MINUS
        at += negative
        first, number, digits, group, decimals, right = at, 0, 0, -1, -1, True
        while at < end and right:
            byte = data[at]
            if ZERO <= byte <= NINE:
                number = number * 10 + (byte - ZERO)
                digits += 1
                if decimals >= 0:
                    decimals += 1
                elif group >= 0:
                    group += 1
                right = digits < 16
            elif byte == thousands and decimals < 0:
                right = group == 3 or (group < 0 and 1 <= digits <= 3 and data[first] != ZERO)
                group = 0
            else:
                right = byte == decimal and decimals < 0 and digits > 0 and (group < 0 or group == 3)
                decimals = 0
            at += 1
        right &= digits > 0 and decimals != 0 and number < EXACT and (decimals > 0 or group < 0 or group == 3)
        odd[row] = not right
        if not odd[row]:
            value = number / POWERS[max(decimals, 0)]
            values[row] = -value if negative else value
            fractions |= decimals > 0
            groups |= group >= 0
    return fractions, groups


@njit(cache=True, nogil=True)
def read_days(
    data: NDArray[np.uint8],
    ends: NDArray[np.int32],
    template: NDArray[np.uint8],
    places: NDArray[np.int64],
    values: NDArray[np.int64],
    odd: NDArray[np.bool_],
) -> int:
    """Fill in the second of each text since 1970, or mark it as odd; gives the largest day of the month.

    Args:
        data: the bytes of all texts, one behind the other.
        ends: where each text begins, and where the last one ends.
        template: a text with nines for digits, as all are written.
        places: where in it year, month, day, hour, minute and second begin; -1 for a part that is not there.
        values: of the texts.
        odd: which are written otherwise, or are no days.
    """
    parts, latest = np.zeros(6, np.int64), 0
    for row in range(values.size):
        begin = ends[row]
        right = ends[row + 1] - begin == template.size
        for at in range(template.size if right else 0):
            byte = data[begin + at]
            right &= ZERO <= byte <= NINE if template[at] == NINE else byte == template[at]
        odd[row] = True
        if not right:
            continue
        for part in range(6):
            at = places[part]
            parts[part] = 0
            for place in range(at, at + (4 if part == 0 else 2) if at >= 0 else at):
                parts[part] = parts[part] * 10 + (data[begin + place] - ZERO)
        year, month, day, hour, minute, second = parts
        if not (1 <= month <= 12 and 1 <= day and year > 0 and hour < 24 and minute < 60 and second < 60):
            continue
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if day > DAYS_BEFORE[month] - DAYS_BEFORE[month - 1] + (leap and month == 2):
            continue
        past = year - 1
        days = 365 * past + past // 4 - past // 100 + past // 400 - 719_162 + DAYS_BEFORE[month - 1] + day - 1
        values[row] = (((days + (leap and month > 2)) * 24 + hour) * 60 + minute) * 60 + second
        odd[row], latest = False, max(latest, int(day))
    return latest
