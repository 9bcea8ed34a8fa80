"""A short vector as a numba value: load, store, multiply-add.

LLVM's loop vectoriser gives up on butterflies over many rows of one array, since it cannot rule out that they
overlap. With an explicit vector there is nothing to guess, and less to compile. A vector holds 64 bytes, one
cache line: 8 doubles or 16 floats.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

BYTES = 64


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
    signature = Vector(array.dtype)(array, types.float64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        scalar = arguments[1]
        if signature.return_type.element.bitwidth == 32:
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
