"""A short vector as a numba value: load, store, multiply-add, and the mixer's hypercubes of vectors.

LLVM's loop vectoriser gives up on butterflies over many rows of one array, since it cannot rule out that they
overlap. With an explicit vector there is nothing to guess, and less to compile. A vector holds 64 bytes, one
cache line: 8 doubles or 16 floats.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model
from numpy.typing import NDArray

BYTES = 64


def aligned_lines(count: int, real: Any) -> NDArray[Any]:
    """So many zeroed cache lines of float32 or float64."""
    lanes = BYTES // np.dtype(real).itemsize
    raw = np.zeros((count + 1) * lanes, dtype=real)
    offset = -raw.ctypes.data % BYTES // raw.itemsize
    return raw[offset : offset + count * lanes]


class Vector(types.Type):
    """One cache line of floats."""

    def __init__(self, element: types.Float) -> None:
        self.element = element
        self.lanes = 8 * BYTES // element.bitwidth
        super().__init__(name=f"Vector({element} x {self.lanes})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector) -> None:
        element = ir.FloatType() if vector.element.bitwidth == 32 else ir.DoubleType()
        super().__init__(manager, vector, ir.VectorType(element, vector.lanes))


def _address(context: Any, builder: Any, array_type: Any, array: Any, line: Any) -> Any:
    """Pointer to the line-th cache line of a contiguous, 64-byte aligned array."""
    data = context.make_array(array_type)(context, builder, array).data
    vector = context.get_value_type(Vector(array_type.dtype))
    return builder.gep(builder.bitcast(data, vector.as_pointer()), [line])


@intrinsic
def load(typing: Any, array: Any, line: Any) -> Any:
    """The line-th vector of a flat array."""
    signature = Vector(array.dtype)(array, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *arguments), align=BYTES)

    return signature, generate


@intrinsic
def store(typing: Any, array: Any, line: Any, value: Any) -> Any:
    """Write the line-th vector of a flat array."""
    signature = types.void(array, types.intp, value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, line, value = arguments
        builder.store(value, _address(context, builder, signature.args[0], array, line), align=BYTES)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def splat(typing: Any, array: Any, scalar: Any) -> Any:
    """A vector of one number, in the precision of the array."""
    own = scalar == array.dtype
    signature = Vector(array.dtype)(array, scalar if own else types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        scalar = arguments[1]
        if signature.return_type.element.bitwidth == 32 and not own:
            scalar = builder.fptrunc(scalar, ir.FloatType())
        zero = ir.Constant(ir.IntType(32), 0)
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), scalar, zero)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), mask)

    return signature, generate


@intrinsic
def mul(typing: Any, a: Any, b: Any) -> Any:
    """a·b."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fmul(*arguments, flags=("contract",))

    return a(a, b), generate


@intrinsic
def add(typing: Any, a: Any, b: Any) -> Any:
    """A + b."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fadd(*arguments, flags=("contract",))

    return a(a, b), generate


@intrinsic
def sub(typing: Any, a: Any, b: Any) -> Any:
    """A - b."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fsub(*arguments, flags=("contract",))

    return a(a, b), generate


@intrinsic
def muladd(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b + c, fused where the machine can."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c = arguments
        return builder.fadd(builder.fmul(a, b, flags=("contract",)), c, flags=("contract",))

    return a(a, b, c), generate


@intrinsic
def mulsub(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a·b - c."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c = arguments
        return builder.fsub(builder.fmul(a, b, flags=("contract",)), c, flags=("contract",))

    return a(a, b, c), generate


@intrinsic
def where_less(typing: Any, a: Any, b: Any, yes: Any, no: Any) -> Any:
    """`yes` where a < b, else `no`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, yes, no = arguments
        return builder.select(builder.fcmp_ordered("<", a, b), yes, no)

    return a(a, b, yes, no), generate


@intrinsic
def one_up_to(typing: Any, a: Any, b: Any) -> Any:
    """1 where a ≤ b, else 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        one, zero = (ir.Constant(kind, [value] * kind.count) for value in (1.0, 0.0))
        return builder.select(builder.fcmp_ordered("<=", *arguments), one, zero)

    return a(a, b), generate


class _Cube:
    """The rows of one hypercube in a tile: row c of the cube begins at line base + step·cubes[at + c]."""

    def __init__(self, context: Any, builder: Any, power: int, base: Any, step: Any, cubes: Any, at: Any) -> None:
        self.context, self.builder, self.power, self.rows = context, builder, power, range(2**power)
        cubes_type, cubes = cubes
        data = context.make_array(cubes_type)(context, builder, cubes).data
        self.lines = []
        for row in self.rows:
            entry = builder.load(builder.gep(data, [builder.add(at, ir.Constant(at.type, row))]))
            self.lines.append(builder.add(base, builder.mul(step, builder.sext(entry, step.type))))

    def addresses(self, array: Any) -> list[Any]:
        """Where the real part of each row of an array lies; the imaginary part is the line behind it."""
        array_type, array = array
        return [_address(self.context, self.builder, array_type, array, line) for line in self.lines]

    def load(self, array: Any) -> list[tuple[Any, Any]]:
        b, one = self.builder, ir.Constant(ir.IntType(64), 1)
        return [(b.load(p, align=BYTES), b.load(b.gep(p, [one]), align=BYTES)) for p in self.addresses(array)]

    def fma(self, a: Any, b: Any, c: Any, sign: int = 1) -> Any:
        """C ± a·b."""
        product = self.builder.fmul(a, b, flags=("contract",))
        return (self.builder.fadd if sign > 0 else self.builder.fsub)(c, product, flags=("contract",))

    def rotate(self, array: Any, scale: Any, tangent: Any, sign: int) -> None:
        """Each edge e joins the rows that differ in bit e: (a, b) → (a ∓ i t b, b ∓ i t a), times the scale."""
        b, one = self.builder, ir.Constant(ir.IntType(64), 1)
        rows = [tuple(b.fmul(scale, part, flags=("contract",)) for part in row) for row in self.load(array)]
        for edge in range(self.power):
            for low in self.rows:
                if not low >> edge & 1:
                    high = low | 1 << edge
                    (ar, ai), (br, bi) = rows[low], rows[high]
                    rows[low] = self.fma(tangent, bi, ar, sign), self.fma(tangent, br, ai, -sign)
                    rows[high] = self.fma(tangent, ai, br, sign), self.fma(tangent, ar, bi, -sign)
        for (real, imag), place in zip(rows, self.addresses(array), strict=True):
            b.store(real, place, align=BYTES)
            b.store(imag, b.gep(place, [one]), align=BYTES)

    def slope(self, x: Any, y: Any, plus: Any, minus: Any) -> tuple[Any, Any]:
        """Add Σ_rows Re(ȳ·(-i)·(the sum of a row's neighbours in x)) to plus - minus."""
        near, far = self.load(x), self.load(y)
        for row in self.rows:
            real, imag = near[row ^ 1]
            for edge in range(1, self.power):
                other = near[row ^ 1 << edge]
                real = self.builder.fadd(real, other[0], flags=("contract",))
                imag = self.builder.fadd(imag, other[1], flags=("contract",))
            plus, minus = self.fma(far[row][0], imag, plus), self.fma(far[row][1], real, minus)
        return plus, minus


def _rotation(power: int) -> Any:
    """A mixer's edges on one hypercube of 2^power rows of x, in vector registers."""

    def rotate_cube(typing: Any, x: Any, base: Any, step: Any, cubes: Any, at: Any, scale: Any, tangent: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, base, step, cubes, at, scale, tangent = arguments
            cube = _Cube(context, builder, power, base, step, (signature.args[3], cubes), at)
            cube.rotate((signature.args[0], x), scale, tangent, 1)
            return context.get_dummy_value()

        return types.void(x, types.intp, types.intp, cubes, types.intp, scale, tangent), generate

    return intrinsic(rotate_cube)


def _unrotation(power: int) -> Any:
    """Undo the edges of one hypercube on x and y, and add Σ Re⟨y|-i hop|x⟩ over them to plus - minus.

    The edges commute, so it does not matter when the sum is taken: here while the rows are near.
    """

    def unrotate_cube(
        typing: Any,
        x: Any,
        y: Any,
        base: Any,
        step: Any,
        cubes: Any,
        at: Any,
        scale: Any,
        tangent: Any,
        plus: Any,
        minus: Any,
    ) -> Any:
        result = types.UniTuple(plus, 2)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, y, base, step, cubes, at, scale, tangent, plus, minus = arguments
            cube = _Cube(context, builder, power, base, step, (signature.args[4], cubes), at)
            x, y = (signature.args[0], x), (signature.args[1], y)
            sums = cube.slope(x, y, plus, minus)
            cube.rotate(x, scale, tangent, -1)
            cube.rotate(y, scale, tangent, -1)
            return context.make_tuple(builder, signature.return_type, sums)

        return result(x, y, types.intp, types.intp, cubes, types.intp, scale, tangent, plus, minus), generate

    return intrinsic(unrotate_cube)


rotate_2, rotate_4, rotate_8 = (_rotation(power) for power in (1, 2, 3))
unrotate_2, unrotate_4, unrotate_8 = (_unrotation(power) for power in (1, 2, 3))


@intrinsic
def transpose(typing: Any, source: Any, line: Any, step: Any, target: Any, target_line: Any, target_step: Any) -> Any:
    """Copy a square of vectors, rows to lanes; both sides are given by their first line and the step between lines.

    Recursive halving: each round swaps one bit of the row number with the same bit of the lane number.
    """
    signature = types.void(source, types.intp, types.intp, target, types.intp, types.intp)
    lanes = Vector(source.dtype).lanes

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, line, step, target, target_line, target_step = arguments

        def nth(first: Any, step: Any, number: int) -> Any:
            return builder.add(first, builder.mul(step, ir.Constant(step.type, number)))

        def picked(a: Any, b: Any, lane_of: Any) -> Any:
            mask = ir.VectorType(ir.IntType(32), lanes)
            return builder.shuffle_vector(a, b, ir.Constant(mask, [lane_of(lane) for lane in range(lanes)]))

        rows = [
            builder.load(_address(context, builder, signature.args[0], source, nth(line, step, r)), align=BYTES)
            for r in range(lanes)
        ]
        bit = 1
        while bit < lanes:
            for r in range(lanes):
                if not r & bit:
                    a, b = rows[r], rows[r | bit]
                    rows[r] = picked(a, b, lambda lane, bit=bit: lane if not lane & bit else lanes + (lane ^ bit))
                    rows[r | bit] = picked(a, b, lambda lane, bit=bit: lane | bit if not lane & bit else lanes + lane)
            bit *= 2
        for r in range(lanes):
            place = _address(context, builder, signature.args[3], target, nth(target_line, target_step, r))
            builder.store(rows[r], place, align=BYTES)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def arrive(typing: Any, counter: Any) -> Any:
    """Add one to the first entry of an int64 array, atomically; gives the value before."""
    signature = types.int64(counter)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", data, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return signature, generate


@intrinsic
def arrived(typing: Any, counter: Any) -> Any:
    """The first entry of an int64 array, read atomically."""
    signature = types.int64(counter)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(data, "seq_cst", 8)

    return signature, generate
