from ._monitor import monitor as monitor
from ._review import review as review
from .caveats import Caveat as Caveat
from .kinds import Kind as Kind
from .kinds import KindList as KindList
from .kinds import find_kinds as find_kinds
from .result import Review as Review
