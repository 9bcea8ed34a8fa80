from .outcomes import outcome as outcome
from .run import freeze as freeze
from .run import load_run as load_run
from .run import plan as plan
from .runner import execute as execute
from .runner import take_shots as take_shots
from .samplers import sampler_for as sampler_for
from .sector_sampler import SectorSampler as SectorSampler
