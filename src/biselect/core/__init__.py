"""The problem, its energy in every form, the sector it lives in, and the answer."""

from biselect.core.ising import Components, Ising
from biselect.core.problem import SelectionProblem
from biselect.core.rules import Group, Rules, groups_by
from biselect.core.sector import Sector
from biselect.core.selection import Selection

__all__ = ["Components", "Group", "Ising", "Rules", "Sector", "Selection", "SelectionProblem", "groups_by"]
