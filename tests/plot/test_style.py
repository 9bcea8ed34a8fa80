"""Colours that people with any colour vision tell apart, and figures that need no colour at all."""

from itertools import combinations

import numpy as np
import pytest

from biselect.plot.style import COLOURS, MARKERS

# What the three kinds of dichromats see of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1)
VISIONS = {
    "full": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)


def linear(colour):
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    f = np.cbrt(np.maximum(TO_XYZ @ np.clip(rgb, 0, 1) / WHITE, 0.008856))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_told_apart_with_any_colour_vision(vision):
    seen = [lab(np.array(VISIONS[vision]) @ linear(colour)) for colour in COLOURS]
    nearest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    assert nearest > 10  # CIE76; about 2 is the least that can be seen side by side


def test_every_colour_stands_out_from_the_page():
    ratios = [1.05 / (0.05 + float(TO_XYZ[1] @ linear(colour))) for colour in COLOURS]
    assert min(ratios) > 2 and min(ratios[:3]) > 3  # the first three carry most figures


def test_shapes_go_with_colours():
    assert len(set(MARKERS)) == len(COLOURS)
