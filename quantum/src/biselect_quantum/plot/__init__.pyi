from .angles import landscape as landscape
from .angles import schedule as schedule
from .circuit_figures import depths as depths
from .circuit_figures import energies as energies
