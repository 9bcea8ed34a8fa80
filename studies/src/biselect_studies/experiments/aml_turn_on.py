"""How many labelled positives each stage-1 trigger keeps among its first N, window by window."""

from __future__ import annotations

from collections.abc import Iterable

from biselect.data.candidates import caught
from biselect.errors import InputError
from biselect_studies import aml_fields as fields
from biselect_studies.task import Cell, Values


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """By test window (`seed`): its positives, and those that each trigger keeps. Nothing is drawn."""
    scene = fields.scene(cell["source"], cell["transactions"])
    found = scene.windows("test")
    values: Values = {}
    for seed in seeds:
        if seed >= len(found):
            raise InputError(
                f"{cell['source']}: the test part holds {len(found)} windows and window {seed} was asked for; it is "
                "shorter than the published file. Give it another name, or download it again"
            )
        rows = found[seed]
        labels = scene.labels[rows]
        values.setdefault("positives", []).append(int(labels.sum()))
        triggers = {"logistic": scene.trigger.scores(scene.X[rows]), "robust-z": scene.robust(rows)}
        for name, scores in triggers.items():
            for number in cell["numbers"]:
                values.setdefault(f"{name} {number}", []).append(caught(scores, labels, number))
    return values
