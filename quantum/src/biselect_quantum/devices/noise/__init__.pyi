from .device_noise import cut_noise as cut_noise
from .noisy_circuit import NoisyCircuit as NoisyCircuit
from .probabilities import NoisyProbabilities as NoisyProbabilities
from .probabilities import noisy_probabilities as noisy_probabilities
from .recorded_errors import filled_in as filled_in
from .sampling import NoisyShots as NoisyShots
from .sampling import noisy_shots as noisy_shots
