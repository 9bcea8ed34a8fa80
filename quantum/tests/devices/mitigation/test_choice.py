"""Mitigation by name."""

import pytest

from biselect.errors import InputError
from biselect_quantum.devices.mitigation.choice import Mitigation


@pytest.mark.parametrize(
    ("asked", "means"),
    [
        (None, {}),
        ("", {}),
        ("readout", {"readout": 500}),
        (" Readout:64 , twirl:3,decouple:xy4,repair", {"readout": 64, "twirl": 3, "decouple": "xy4", "repair": True}),
    ],
)
def test_names_and_numbers(asked, means):
    found = Mitigation.of(asked, 500)
    assert found == Mitigation(**means) == Mitigation.of(str(found), 7) == Mitigation.of(found, 7)
    assert Mitigation.from_dict(found.to_dict()) == found and bool(found) == bool(means)


@pytest.mark.parametrize(
    "asked", ["m3", "readout,readout", "twirl:many", "twirl:0", "readout:1", "decouple:z", "repair:2", "readout:-5"]
)
def test_what_is_not_known_is_refused(asked):
    with pytest.raises(InputError):
        Mitigation.of(asked, 500)
