"""Pictures as functions: matplotlib axes in, axes out, from the objects at hand.

Each function draws on `ax`, or on a new figure where none is given, and gives the axes back to be changed or saved:
`bs.plot.block(review).figure.savefig("block.svg")`. matplotlib loads when something is drawn.
"""

from biselect.plot.angles import landscape, schedule
from biselect.plot.change import drift
from biselect.plot.circuit_figures import depths, energies, trade
from biselect.plot.heat import block
from biselect.plot.scores import budgets, reasons

__all__ = ["block", "budgets", "depths", "drift", "energies", "landscape", "reasons", "schedule", "trade"]
