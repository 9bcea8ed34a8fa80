from ._tally import RoundFound as RoundFound
from .queue import Reviewed as Reviewed
from .session import Replay as Replay
from .session import ReviewSession as ReviewSession
from .store import AskedRow as AskedRow
from .store import GivenAnswer as GivenAnswer
from .store import Round as Round
from .store import Standing as Standing
