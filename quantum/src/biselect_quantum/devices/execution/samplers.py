"""Sampler: one way to ask for shots, what it gives, and every sampler by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.devices.targets import name_with_hash
from biselect_quantum.shots import CountedBits, bit_table

if TYPE_CHECKING:
    from biselect_quantum.devices.device_circuit import DeviceCircuit

EXACT = "exact simulation, not hardware"
NOISE_MODEL = "noise model, not hardware"
HARDWARE = "hardware"
UNKNOWN = "shots of the caller's own sampler; whether it is hardware is not known here"
KINDS = (EXACT, NOISE_MODEL, HARDWARE, UNKNOWN)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where circuits can be run by name.

    Attributes:
        kind: what its shots are.
        made_by: what makes its sampler, as `file:name` of this package; it is given what stands after the colon.
        takes: what stands after the colon of its name: DEVICE or nothing.
        service: whether it must be connected to, so that nobody asks it before shots are wanted.
    """

    kind: str
    made_by: str
    takes: str = ""
    service: bool = False


PLACES = {
    "sector": Place(kind=EXACT, made_by="exact_shots:SectorSampling"),
    "wide": Place(kind=EXACT, made_by="exact_shots:WideSampling"),
    "aer": Place(kind=EXACT, made_by="_aer:AerSampling"),
    "noisy": Place(kind=NOISE_MODEL, made_by="_aer:NoisySampling", takes="DEVICE"),
    "ibm": Place(kind=HARDWARE, made_by="_ibm:IbmSampling.connect", takes="DEVICE", service=True),
}
*_FIRST, _LAST = (f"{name}:{place.takes}" if place.takes else name for name, place in PLACES.items())
FORMS = f"{', '.join(_FIRST)} or {_LAST}"
GIVEN = {name: Place(kind=UNKNOWN, made_by="", takes="NAME", service=True) for name in ("sampler", "backend")}
"""Samplers and backends that the caller holds: a run names them, and takes none by its name alone."""
GIVEN_BY = "_any_backend:as_sampler"
DEVICE = re.compile(r"[A-Za-z0-9_.-]+(\.json@[0-9a-f]+)?")


class RawShots(CountedBits):
    """Strings of classical bits, and how often each was seen; column c of `bits` is classical bit c."""

    @classmethod
    def of(cls, measured: Any, width: int = 1) -> Self:
        """From counts, a Qiskit BitArray or a table of shots × classical bits, as `bit_table` takes them."""
        bits, counts = bit_table(measured, width)
        if not counts.sum():
            raise InputError("there are no shots to read")
        return cls.of_table(bits, counts)

    @classmethod
    def of_variables(cls, circuit: DeviceCircuit, bits: NDArray[Any], counts: NDArray[np.int64] | None = None) -> Self:
        """From bits of the variables, as the classical bits of a compiled circuit would have shown them."""
        table = np.zeros((len(bits), circuit.gates.num_clbits), dtype=np.uint8)
        table[:, list(circuit.layout.read_into)] = bits
        return cls.of_table(table, counts)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: each string as the hex of its bytes, classical bit 0 the lowest bit of the first byte."""
        packed = np.packbits(self.bits, axis=1, bitorder="little")
        strings = [row.tobytes().hex() for row in packed]
        return {"width": self.bits.shape[1], "bits": strings, "counts": self.counts.tolist()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build from the JSON form."""
        width = int(content["width"])
        packed = np.frombuffer(bytes.fromhex("".join(content["bits"])), dtype=np.uint8)
        rows = packed.reshape(len(content["counts"]), -(-width // 8))
        bits = np.unpackbits(rows, axis=1, count=width, bitorder="little")
        return cls(bits=bits, counts=np.array(content["counts"], dtype=np.int64))


class Sampler(Protocol):
    """Whoever can measure a compiled circuit.

    Attributes:
        name: as `sampler_for` takes it, without anything secret.
        kind: what the shots are: an exact simulation, a noise model, or hardware. Every output says it.
        remark: what else is to be known of the last shots.
    """

    name: str
    kind: str
    remark: str = ""

    def check(self, circuit: DeviceCircuit) -> None:
        """Refuse a circuit that cannot be measured here, before a run is fixed for it."""

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure; one seed fixes the shots, except on hardware."""


def place_of(on: str) -> Place:
    """The place of a name such as `sector` or `ibm:DEVICE`; refuses a name that is none."""
    name, colon, where = on.partition(":")
    place = (PLACES | GIVEN).get(name)
    if place is None or bool(place.takes) != bool(where) or (colon and not where):
        label = "that" if place is None else name  # an unknown name may hold a credential
        raise InputError(f"{label} is not where circuits can be run as given; choose one of {FORMS}")
    if place.takes == "DEVICE" and not DEVICE.fullmatch(where):  # not repeated either
        raise InputError(f"{name} takes a device by its name, of letters, digits, '_', '.' and '-' alone")
    return place


def kind_of(on: str) -> str:
    """What shots from there are: an exact simulation, a noise model, or hardware; refuses a name that is none."""
    return place_of(on).kind


def fixed_name(on: str) -> str:
    """The name of a place as a manifest keeps it: a snapshot file with its hash, `noisy:boston.json@0123456789ab`."""
    kind, colon, where = on.partition(":")
    return f"{kind}{colon}{name_with_hash(where)}" if kind == "noisy" else on


def foreign_device(on: str, compiled_for: str) -> str | None:
    """A warning where the names say that a circuit was compiled for another device than it is to run on."""
    kind, _, where = on.partition(":")

    def bare(device: str) -> str:
        name = device.lower().partition(".json")[0]
        return name.removeprefix("fake").strip("_-").removeprefix("ibm").strip("_-").removesuffix("v2")

    if kind not in ("noisy", "ibm") or bare(where) == bare(compiled_for):
        return None
    return f"the circuit was compiled for {compiled_for!r}, not for {where}, whose gates and layout may be others"


def sampler_for(on: Any) -> Sampler:
    """Find the sampler of a place by name, or wrap one of the caller's own.

    Args:
        on: `sector`, `wide`, `aer`, `noisy:DEVICE`, `ibm:DEVICE` or another of `PLACES`; or any BaseSamplerV2 or
            BackendV2 of Qiskit, or a Session or Batch of Qiskit Runtime. Hardware is connected to by the service's own
            account.

    Raises:
        InputError: a name that is no place, or an object that takes no shots.
    """
    if hasattr(on, "sample") and hasattr(on, "kind"):
        return on
    if not isinstance(on, str):
        own_sampler: Sampler = resolve_name(f"{__package__}.{GIVEN_BY}")(on)
        return own_sampler
    place, where = place_of(on), on.partition(":")[2]
    if not place.made_by:
        raise InputError(f"{on} is a sampler of the caller's: give the object itself, as in execute(run, sampler)")
    made_by = resolve_name(f"{__package__}.{place.made_by}")
    sampler: Sampler = made_by(where) if where else made_by()
    return sampler
