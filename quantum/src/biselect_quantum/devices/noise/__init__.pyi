from .chances import NoisyChances as NoisyChances
from .chances import noisy_chances as noisy_chances
from .figures import filled_in as filled_in
from .model import LABEL as LABEL
from .model import NoisyCircuit as NoisyCircuit
from .model import cut_noise as cut_noise
from .trajectories import NoisyShots as NoisyShots
from .trajectories import noisy_shots as noisy_shots
