from ._tally import Ahead as Ahead
from ._tally import Found as Found
from .session import QueuedRow as QueuedRow
from .session import ReviewSession as ReviewSession
from .store import GivenAnswer as GivenAnswer
from .store import ShownRow as ShownRow
from .store import StaleAnswerError as StaleAnswerError
from .store import Standing as Standing
