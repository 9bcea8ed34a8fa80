"""IonQ's own service through qiskit-ionq. No real device was reached so far: tests answer as its client does."""

from typing import Any, Self

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.execute import remote
from biselect.hardware.execute.ionq_gates import characterized, in_native_gates, refuse_other_gates
from biselect.hardware.execute.scrub import scrubbed
from biselect.hardware.published import Published, ion_traps
from biselect.hardware.targets import from_published, snapshot

FAMILIES = {"aria": "ionq-aria", "forte": "ionq-forte"}
FAILED = {"IonQJobFailureError", "IonQJobStateError"}
TIMEOUT, AGAIN = "IonQJobTimeoutError", "IonQRetriableError"


class IonqSampling(remote.Service):
    """Shots of an IonQ device, of exactly the compiled gates, as they were counted: nothing is averaged over variants.

    A job carries its tag, but IonQ's client cannot list jobs, so none can be found by it.
    """

    def __init__(self, backend: Any, device: str) -> None:
        self._backend = backend
        self._trap = _family(device)
        self.name = f"ionq:{device}"

    @classmethod
    def connect(cls, device: str) -> Self:
        """A device by IonQ's name for it, such as qpu.forte-1; the key comes from IONQ_API_KEY."""
        _family(device)
        try:
            from qiskit_ionq import IonQProvider
        except ImportError as error:
            raise MissingDependencyError("IonQ devices need qiskit-ionq: pip install 'biselect[ionq]'") from error
        try:
            backend = IonQProvider().get_backend(device, gateset="native")
            _ = backend.client  # asks for the key
        except Exception as error:
            raise InputError(f"no access to ionq:{device}: {scrubbed(error)}; set IONQ_API_KEY") from None
        return cls(backend, device)

    def check(self, compiled: Compiled) -> None:
        """The gates must be those of the device."""
        refuse_other_gates(compiled, self._trap.pair, self.name)

    def snapshot(self) -> dict[str, Any]:
        """The device's latest characterization, with what it leaves out as it was published."""
        with self._guarded("reading the calibration"):
            found = self._backend.calibration()
            return snapshot(from_published(characterized(self._trap, found.qubits, found.fidelity, found.timing)))

    def _run(self, circuit: Any, shots: int, tag: str) -> Any:
        from qiskit_ionq import ErrorMitigation

        return self._backend.run(
            in_native_gates(circuit),
            shots=shots,
            name=tag,
            extra_metadata={"biselect": tag},
            error_mitigation=ErrorMitigation.NO_DEBIASING,
        )

    def _measured(self, job: str, wait: float | None) -> Any:
        return self._backend.retrieve_job(job).result(timeout=wait).get_counts()

    def _meaning(self, error: Exception) -> type[remote.ServiceError]:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if TIMEOUT in kinds:
            return remote.StillWaitingError
        if kinds & FAILED:
            return remote.JobFailedError
        lost = AGAIN in kinds or remote.is_lost(error, getattr(error, "status_code", None))
        return remote.ConnectionLostError if lost else remote.ServiceError

    def _secrets(self) -> list[str]:
        token = getattr(getattr(self._backend, "client", None), "_token", None)
        return [token] if token else []


def _family(device: str) -> Published:
    """The published device of the same family, whose gates it has."""
    for word, name in FAMILIES.items():
        if device.startswith(f"qpu.{word}"):
            return ion_traps()[name]
    raise InputError(
        f"ionq:{device} is none of IonQ's devices that circuits are made for: qpu.aria-…, qpu.forte-…; "
        "for a simulation take noisy:ionq-forte"
    )
