"""The compiled circuit itself, gate by gate: on Aer without errors, or under a noise model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.errors import MissingDependencyError
from biselect_quantum.devices.execution.samplers import EXACT, NOISE_MODEL, RawShots, Sampler, fixed_name
from biselect_quantum.devices.qiskit_circuits import check_gates, cut
from biselect_quantum.devices.targets import load_target

if TYPE_CHECKING:
    from biselect_quantum.devices.device_circuit import DeviceCircuit
    from biselect_quantum.devices.noise.noisy_circuit import NoisyCircuit

try:
    from qiskit_aer import AerSimulator
except ImportError as error:
    raise MissingDependencyError("Aer is missing: pip install ./quantum") from error

STATEVECTOR_QUBITS = 24
MEMORY_MB = 1 << 20  # Aer guesses from the number of qubits, which is not what a matrix product state takes


class AerSampling(Sampler):
    """Shots of the compiled gates without errors."""

    name = "aer"
    kind = EXACT

    def check(self, circuit: DeviceCircuit) -> None:
        """Aer takes any gate; beyond a state vector it may take long."""

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure the compiled gates on the qubits that they use."""
        gates = cut(circuit.gates)
        method = "statevector" if gates.num_qubits <= STATEVECTOR_QUBITS else "matrix_product_state"
        simulator = AerSimulator(method=method, max_memory_mb=MEMORY_MB, max_parallel_threads=1)
        result = simulator.run(gates, shots=shots, seed_simulator=seed).result()
        return RawShots.of(result.get_counts(), gates.num_clbits)


class NoisySampling(Sampler):
    """Shots of the compiled gates under a recorded device's errors."""

    kind = NOISE_MODEL

    def __init__(self, device: str) -> None:
        self.name = fixed_name(f"noisy:{device}")
        self._target = load_target(self.name.partition(":")[2])
        self._made: tuple[DeviceCircuit, NoisyCircuit] | None = None

    def _noisy(self, circuit: DeviceCircuit) -> NoisyCircuit:
        """The circuit with its errors, made once for all repeats."""
        from biselect_quantum.devices.noise.device_noise import cut_noise

        if self._made is None or self._made[0] is not circuit:
            self._made = circuit, cut_noise(circuit, self._target)
        return self._made[1]

    def check(self, circuit: DeviceCircuit) -> None:
        """The device must have every gate where it is used, and must have recorded its errors."""
        check_gates(circuit.gates, circuit.target.description, self._target, repr(self._target.description))
        self._noisy(circuit)

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure; every shot in which something goes wrong takes a simulation of its own."""
        from biselect_quantum.devices.noise.sampling import noisy_table

        noisy = self._noisy(circuit)
        table, flawless = noisy_table(noisy, shots, seed)
        _, _, device = self.name.partition(":")
        source = f"errors from the snapshot file {device}; " if ".json" in device else ""
        remark = source + noisy.twirled_label.removeprefix(f"{NOISE_MODEL}; ")
        self.remark = f"{remark}; no gate erred in {100 * flawless:.0f} % of the last repeat's shots"
        return RawShots.of_variables(circuit, table)
