"""Recorded errors of a device, simulated. A noise model is not hardware, and everything here says so."""

from biselect.hardware.noise.model import LABEL, NoisyCircuit, cut_noise
from biselect.hardware.noise.register_trees import register_shots
from biselect.hardware.noise.registers import RegisterMass, register_mass
from biselect.hardware.noise.trajectories import NoisyShots, mitigate, noisy_shots

__all__ = [
    "LABEL",
    "NoisyCircuit",
    "NoisyShots",
    "RegisterMass",
    "cut_noise",
    "mitigate",
    "noisy_shots",
    "register_mass",
    "register_shots",
]
