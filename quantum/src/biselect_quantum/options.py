"""Every option of the commands about circuits once: its name, what it means, and what it is unless set."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from biselect.options import Flag, Options

DEVICES = ("boston", "pittsburgh", "aachen", "iqm-54")
PATHS = (
    *("y-frame", "y-frame-quiet", "opt3-cz", "opt3-fractional", "complete-cz", "complete-fractional"),
    "strongest-qiskit",
)
STARTS = ("auto", "reach", "random", "canonical", "dicke")
SCHEDULES = ("tied", "layerwise", "bilinear", "fixed-transport", "fully-grouped")


def _share(text: str) -> float | str:
    """A share, or a name."""
    try:
        return float(text)
    except ValueError:
        return text


def _named(help: str, choices: Sequence[str], value: str = "NAME", **more: Any) -> Flag:
    return Flag(help, value=value, choices=choices, **more)


@dataclass(frozen=True, kw_only=True)
class CircuitOptions(Options, heading="Circuit", parameter="circuit"):
    """Which circuit; what is None is left to the library, and differs with the device."""

    depth: Annotated[
        int | None, Flag("p, the layers of the circuit; 3 unless given.", least=1, value="NUMBER", first=True)
    ] = None
    schedule: Annotated[
        str | None,
        _named("tied, layerwise, bilinear, fixed-transport or fully-grouped, the last unless given.", SCHEDULES),
    ] = None
    mixer: Annotated[str | None, Flag("On a device, its edges.", choices=("ring", "path", "complete", "grover"))] = None
    start: Annotated[
        str | None,
        _named("dicke, canonical, random or a selection.json; dicke, or on a device reach.", STARTS, "NAME|FILE"),
    ] = None
    target: Annotated[
        str | None,
        _named(f"{', '.join(DEVICES)}, another recorded device, or a snapshot (.json).", DEVICES, "DEVICE", first=True),
    ] = None
    path: Annotated[
        str | None,
        _named(f"With --target: {', '.join(PATHS)}.".replace("quiet,", "quiet (by recorded errors),"), PATHS),
    ] = None
    registers: Annotated[
        str | None,
        Flag(
            "With --target: trees (more couplings), paths (shorter circuits), or where all pairs are joined rings or "
            "complete.",
            choices=("auto", "trees", "paths", "rings", "complete"),
        ),
    ] = None
    keep: Annotated[
        Any,
        Flag(
            "With --target: edges (couplings on hardware edges); the share of their mass to keep at least, by a SWAP "
            "network, such as 0.5 or 1.",
            value="SHARE",
            choices=("edges", "0.5", "1"),
            parse=_share,
        ),
    ] = None
    seed: Annotated[int, Flag("Fixes every random draw.", least=0)] = 0


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(Options, heading="Training", parameter="training"):
    """What is sought, how, and for how long."""

    objective: Annotated[
        Any,
        _named(
            "shots (CVaR, then hits of the best of its own shots), energy, cvar, hit-rate (of a threshold), optimum "
            "(known beforehand: for studies), or a blend such as energy=1,cvar=0.5. In Python an Observable too.  "
            "[default: shots; hit-rate with a threshold]",
            ("shots", "energy", "cvar", "hit-rate", "optimum"),
        ),
    ] = None
    strategy: Annotated[
        str,
        _named(
            "multistart, ladder, continuation, polish, or the paper's depth-frontier or threshold.",
            ("multistart", "ladder", "continuation", "polish", "depth-frontier", "threshold"),
        ),
    ] = "multistart"
    threshold: Annotated[
        Any, Flag("For hit-rate: an energy, or a manifest that holds one for this problem.", value="ENERGY|FILE")
    ] = None
    share: Annotated[float, Flag("For cvar: the share of lowest energies.")] = 0.05
    start_from: Annotated[
        Any,
        Flag("Angles to begin with: numbers, or a file of `biselect train`, also of another problem.", value="ANGLES"),
    ] = None
    evaluations: Annotated[int | None, Flag("Evaluations of the objective at most.", least=1)] = None
    seconds: Annotated[
        float | None, Flag("Seconds after which the best so far is taken, with all that goes before.", value="SECONDS")
    ] = None
    seeds: Annotated[int, Flag("Trainings from as many seeds; the best is taken, and their spread shown.", least=1)] = 1
    nulls: Annotated[
        int | None,
        Flag(
            "Trainings of each control that hit rates are held against; 0 for none, and then no hit rate is printed.  "
            "[default: 8, where that takes minutes at most]",
            least=0,
            value="SEEDS",
        ),
    ] = None
    workers: Annotated[int, Flag("Descents that run at the same time.", least=1)] = 1
    dtype: Annotated[
        str, Flag("Precision of the simulator; complex64 takes half the memory.", choices=("complex128", "complex64"))
    ] = "complex128"


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options, heading="Shots", parameter="run"):
    """What a run measures and what its figures are held against; a run that goes on has them fixed."""

    shots: Annotated[int | None, Flag("Of each repeat.  [default: 4096]", least=1, first=True)] = None
    repeats: Annotated[int | None, Flag("How many.  [default: 1]", least=1)] = None
    seed: Annotated[int | None, Flag("Fixes simulated shots.  [default: 0]", least=0)] = None
    threshold: Annotated[
        Any, Flag("E_BK: an energy, or a manifest that holds it; else the classical reference.", value="ENERGY|FILE")
    ] = None
    readout: Annotated[
        int | None, Flag("Correct the readout by so many calibration shots.", value="SHOTS", least=2)
    ] = None
    alone: Annotated[
        bool, Flag("Do not measure the controls that hits are held against; then no hit rate is printed.")
    ] = False
    wait: Annotated[float | None, Flag("Seconds to wait for each job of a service.", value="SECONDS", least=0)] = None
    resubmit: Annotated[bool, Flag("Hand jobs in again that give no shots.")] = False
    dry_run: Annotated[bool, Flag("Say what would be run and how long; run nothing.")] = False
