"""The samplers, by name: `sector`, `wide`, `aer`, `noisy:DEVICE`, `local:DEVICE`, `ibm:DEVICE` or `iqm:ADDRESS`."""

from __future__ import annotations

import re

from biselect.errors import InputError
from biselect.hardware.execute.remote import Service
from biselect.hardware.execute.samplers import EXACT, HARDWARE, NOISE_MODEL, Sampler, SectorSampling, WideSampling
from biselect.hardware.execute.scrub import plain_address

KINDS = {"sector": EXACT, "wide": EXACT, "aer": EXACT}
KINDS_OF_DEVICES = {"noisy": NOISE_MODEL, "local": NOISE_MODEL, "ibm": HARDWARE, "iqm": HARDWARE}
FORMS = "sector, wide, aer, noisy:DEVICE, local:DEVICE, ibm:DEVICE or iqm:ADDRESS"
DEVICE = re.compile(r"[A-Za-z0-9_.-]+")


def kind_of(on: str) -> str:
    """What shots from there are: an exact simulation, a noise model, or hardware; refuses a name that is none."""
    kind, _, where = on.partition(":")
    known = KINDS_OF_DEVICES if where else KINDS
    if kind not in known:
        shown = kind if kind in KINDS | KINDS_OF_DEVICES else "that"  # an unknown name may hold a credential
        raise InputError(f"{shown} is not where circuits can be run as given; choose {FORMS}")
    if kind == "iqm":
        plain_address(where)
    elif where and not DEVICE.fullmatch(where):  # not repeated either
        raise InputError(f"{kind} takes a device by its name, of letters, digits, '_', '.' and '-' alone")
    return known[kind]


def foreign_device(on: str, compiled_for: str) -> str | None:
    """A warning where the names say that a circuit was compiled for another device than it is to run on."""
    kind, _, where = on.partition(":")
    if kind not in ("noisy", "local", "ibm") or _bare(where) == _bare(compiled_for):
        return None
    return f"the circuit was compiled for {compiled_for!r}, not for {where}, whose gates and layout may be others"


def _bare(device: str) -> str:
    return device.lower().removeprefix("fake").strip("_-").removeprefix("ibm").strip("_-").removesuffix("v2")


def sampler_for(on: str) -> Sampler | Service:
    """The sampler of a name: `sector`, `wide`, `aer`, `noisy:DEVICE`, `local:DEVICE`, `ibm:DEVICE` or `iqm:ADDRESS`.

    Hardware is connected to by the service's own account.
    """
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
