from .circuit_files import load_circuit as load_circuit
from .manifest import freeze as freeze
from .manifest import load_run as load_run
from .manifest import plan as plan
from .outcomes import outcome as outcome
from .primitive import SectorSampler as SectorSampler
from .runner import execute as execute
from .samplers import sampler_for as sampler_for
