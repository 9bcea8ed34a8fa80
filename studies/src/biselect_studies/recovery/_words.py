"""What a certificate means, in plain words, and where the theory stops."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from biselect.core import SelectionProblem
from biselect_studies.extensions.drift import feature_first_margin_loss, joint_margin_loss
from biselect_studies.recovery.structure import Estimate, RankOneCheck

if TYPE_CHECKING:
    from biselect_studies.recovery.certificate import Assumptions, Condition


def findings(
    problem: SelectionProblem,
    given: Assumptions,
    conditions: Sequence[Condition],
    separability: RankOneCheck | None,
) -> list[str]:
    """One sentence for each thing a reader should know."""
    words = [_recovery(given, conditions, selector) for selector in ("joint", "feature-first")]
    words += _separations(conditions)
    if given.error > 0:
        words.append(_error(problem, given))
    words.append(
        "The conditions are sufficient, not necessary: where none holds, recovery is unproven and may still succeed."
    )
    words.append(
        "The feature-first conditions are on ranking columns by their sums and cover the features only; which samples "
        "the second step then takes is not covered. The sub-Gaussian one is printed in the paper a factor √2 too "
        "strict; the `tight` row is the same proof with the right variance."
    )
    if given.half_range > 0:
        words.append(
            "The clipped condition takes noise that is clipped before the signal is added. Where the observed weights "
            "themselves are capped, the signal lost at the cap belongs into the clipping bias."
        )
    if separability is not None:
        words.append(_separability(problem, separability))
    return words


def estimate_in_words(seen: Estimate, delta: float, known: Container[str]) -> list[str]:
    """How signal and noise were estimated, as far as they were not known."""
    words = []
    if "signal" not in known:
        words.append(
            f"Signal: the best block stands {seen.observed_signal:.3g} above {seen.source}. It was chosen for its "
            f"weight; allowing for that, the signal is at least {seen.signal:.3g}. Were σ and the level known, this "
            f"bound would fail with probability {delta:g}, beside what the conditions allow; they are estimates."
        )
    if "sigma" not in known:
        words.append(
            f"Noise: σ = {seen.deviation:.3g} is an estimate, what the background's deviation and tails ask for; the "
            f"bounded condition needs only that the background stays within ±{seen.half_range:.3g} of a centre."
        )
    words.append(
        f"Background means of the features differ from the overall mean by up to {seen.unevenness:.3g}; that acts "
        "like a calibration error η of this size."
    )
    if seen.at_cap >= 0.01:
        words.append(f"{100 * seen.at_cap:.0f} % of the chosen cells hold the largest weight there is.")
    return words


def _recovery(given: Assumptions, conditions: Sequence[Condition], selector: str) -> str:
    mine = [c for c in conditions if c.selector == selector]
    full = [c for c in mine if "full" in c.statement]
    mine = full or mine  # with marginals only the full-score conditions speak of what is solved
    best = min(mine, key=lambda c: c.needed)
    what = "the planted samples and features" if selector == "joint" else "the planted features"
    sure = f"with probability at least {1 - given.delta:g}"
    basis = f"({best.statement}, {best.noise} noise)"
    if best.holds:
        return (
            f"{selector.capitalize()}: certified. A planted block that stands {given.signal:.3g} above the rest needs "
            f"{best.needed:.3g} {basis}; {what} are recovered {sure}, and would be with errors of up to "
            f"{best.tolerated_error:.3g} in every weight."
        )
    return (
        f"{selector.capitalize()}: not certified. The signal of {given.signal:.3g} is short of the {best.needed:.3g} "
        f"that the weakest sufficient condition asks {basis}."
    )


def _separations(conditions: Sequence[Condition]) -> list[str]:
    """Where the joint condition is no weaker than the feature-first one, the paper's separation does not show."""
    words = []
    for noise in dict.fromkeys(c.noise for c in conditions):
        joint = [c for c in conditions if c.noise == noise and c.selector == "joint" and "full" not in c.statement]
        columns = min(c.needed for c in conditions if c.noise == noise and c.selector == "feature-first")
        paper, tighter = joint[0].needed, joint[1].needed
        if paper < columns:
            continue
        rescued = "; the class-wise bound does separate" if tighter < columns else ", class-wise bound or not"
        words.append(
            f"No separation under {noise} noise: the paper's joint condition asks {paper:.3g}, feature-first "
            f"{columns:.3g}{rescued} ({tighter:.3g})."
        )
    return words


def _error(problem: SelectionProblem, given: Assumptions) -> str:
    joint = joint_margin_loss(given.error)
    columns = feature_first_margin_loss(given.error, problem.n_samples) / problem.k
    return (
        f"A calibration error of η = {given.error:g} in every weight takes {joint:.3g} from the joint margin and "
        f"{columns:.3g} from the feature-first margin."
    )


def _separability(problem: SelectionProblem, check: RankOneCheck) -> str:
    share = f"{100 * check.separable_share:.0f} % of the squared weight is separable (row effect × column effect)"
    most = problem.coupling_weight * problem.k * problem.m * float(problem.coupling.max())
    if check.largest_gain >= most:
        return (
            f"{share}; the rank-one bound on what joint choice gains exceeds any block's score and says nothing here."
        )
    return (
        f"{share}; choosing rows and columns apart by these effects loses at most {check.largest_gain:.3g} of the "
        "block's score."
    )
