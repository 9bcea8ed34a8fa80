"""Which mitigation a run takes, as people write it and as manifests keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from biselect.core.checks import whole
from biselect.errors import InputError

SEQUENCES = ("xx", "xy4")
RANDOMISATIONS = 8
FORMS = "readout, readout:SHOTS, twirl, twirl:RANDOMISATIONS, decouple, decouple:xy4 and repair, joined by commas"


@dataclass(frozen=True, kw_only=True)
class Mitigation:
    """What is done about errors; nothing by default.

    Attributes:
        readout: calibration shots by which readout is corrected, of two circuits together; none for 0.
        twirl: randomly framed circuits that each repeat is divided among; 0 for the circuit as compiled.
        decouple: pulses in waiting times, `xx` or `xy4`; none if empty.
        repair: whether strings near the budgets are repaired, apart from all other figures.
    """

    readout: int = 0
    twirl: int = 0
    decouple: str = ""
    repair: bool = False

    def __bool__(self) -> bool:
        return self != Mitigation()

    def __str__(self) -> str:
        parts = [
            f"readout:{self.readout}" if self.readout else "",
            f"twirl:{self.twirl}" if self.twirl else "",
            f"decouple:{self.decouple}" if self.decouple else "",
            "repair" if self.repair else "",
        ]
        return ",".join(filter(None, parts))

    @classmethod
    def of(cls, asked: Self | str | None, shots: int) -> Self:
        """As people write it; as many calibration shots as a repeat has `shots`, unless they say how many.

        >>> str(Mitigation.of("readout,twirl,repair", 4096))
        'readout:4096,twirl:8,repair'
        """
        if asked is not None and not isinstance(asked, str):
            return cls.from_dict(asked.to_dict())
        usual = {"readout": shots, "twirl": RANDOMISATIONS, "decouple": SEQUENCES[0], "repair": True}
        found: dict[str, Any] = {}
        for part in filter(None, (part.strip().lower() for part in (asked or "").split(","))):
            name, _, value = part.partition(":")
            if name in found or name not in usual or (name == "repair" and value):
                raise InputError(f"mitigation {part!r} is not known or stands twice; give {FORMS}")
            found[name] = usual[name] if not value else value if name == "decouple" else _number(part, value)
        return cls.from_dict({**cls().to_dict(), **found})

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Build from the JSON form, which is checked."""
        found = cls(**content)
        readout = whole("calibration shots", found.readout, least=0)
        whole("randomisations", found.twirl, least=0)
        if readout == 1:
            raise InputError("readout needs 2 calibration shots at least, one for each of its circuits")
        if found.decouple not in ("", *SEQUENCES):
            raise InputError(f"decoupling by {found.decouple!r} is not known; give {' or '.join(SEQUENCES)}")
        if not isinstance(found.repair, bool):
            raise InputError("repair must be true or false")
        return found


def _number(part: str, value: str) -> int:
    if not (value.isascii() and value.isdigit()) or len(value) > 12:
        raise InputError(f"mitigation {part!r} needs a whole number after the colon; give {FORMS}")
    return whole(part.partition(":")[0], int(value))
