from .kinds import Kind as Kind
from .kinds import KindList as KindList
from .kinds import find_kinds as find_kinds
from .monitoring import monitor as monitor
from .result import Review as Review
from .reviewing import review as review
from .row_lists import Reviewed as Reviewed
from .warnings import Finding as Finding
