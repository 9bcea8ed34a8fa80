"""Who measures, by the name that `--on` takes."""

from __future__ import annotations

import re

from biselect.errors import InputError
from biselect.hardware.execute.remote import Service
from biselect.hardware.execute.samplers import (
    EXACT,
    HARDWARE,
    NOISE_MODEL,
    Sampler,
    SectorSampling,
    WideSampling,
)
from biselect.hardware.execute.scrub import plain_address

KINDS = {
    "sector": EXACT,
    "wide": EXACT,
    "aer": EXACT,
    "noisy": NOISE_MODEL,
    "local": NOISE_MODEL,
    "ibm": HARDWARE,
    "iqm": HARDWARE,
}
FORMS = "sector, wide, aer, noisy:DEVICE, local:DEVICE, ibm:DEVICE or iqm:ADDRESS"
DEVICE = re.compile(r"[A-Za-z0-9_.-]+")


def kind_of(on: str) -> str:
    """What shots from there are; refuses a name that nobody answers to."""
    kind, _, where = on.partition(":")
    alone = kind in ("sector", "wide", "aer")
    if kind not in KINDS or alone == bool(where):
        known = kind if kind in KINDS else "that"
        raise InputError(f"{known} is not where circuits can be run as given; choose {FORMS}")
    if kind == "iqm":
        plain_address(where)
    elif not alone and not DEVICE.fullmatch(where):  # not repeated: it may hold a credential
        raise InputError(f"{kind} takes a device by its name, of letters, digits, '_', '.' and '-' alone")
    return KINDS[kind]


def foreign_device(on: str, compiled_for: str) -> str | None:
    """What to say of a circuit that was compiled for another device than it is to be run on, as far as names tell."""
    kind, _, where = on.partition(":")
    if kind not in ("noisy", "local", "ibm") or _bare(where) == _bare(compiled_for):
        return None
    return f"the circuit was compiled for {compiled_for!r}, not for {where}, whose gates and layout may be others"


def _bare(device: str) -> str:
    return device.lower().removeprefix("fake").strip("_-").removeprefix("ibm").strip("_-").removesuffix("v2")


def sampler_for(on: str) -> Sampler | Service:
    """The sampler of that name; hardware is connected to by the service's own account."""
    kind_of(on)
    kind, _, where = on.partition(":")
    if kind == "sector":
        return SectorSampling()
    if kind == "wide":
        return WideSampling()
    if kind == "ibm":
        from biselect.hardware.execute.ibm import IbmSampling

        return IbmSampling.connect(where)
    if kind == "iqm":
        from biselect.hardware.execute.iqm import IqmSampling

        return IqmSampling.connect(where)
    from biselect.hardware.execute.aer import AerSampling, LocalSampling, NoisySampling

    if kind == "aer":
        return AerSampling()
    return NoisySampling(where) if kind == "noisy" else LocalSampling(where)
