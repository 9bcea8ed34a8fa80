"""IQM devices through IQM's own client, which needs an environment of its own."""

from typing import Any, Self
from urllib.parse import urlsplit

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.devices.execution import remote
from biselect_quantum.devices.execution.scrub import plain_address, scrubbed

# IQM's error classes go by name, for they cannot be imported beside IBM's.
TIMEOUT = "OperationTimeoutError"
BROKEN_DOWN = {"InternalSystemError", "BadGatewayError", "SystemUnavailableError"}  # its client's for 5xx


class IqmSampling(remote.Service):
    """Shots of an IQM device, whose jobs carry no tags; the address of its server holds no credentials."""

    def __init__(self, backend: Any, address: str) -> None:
        self._backend = backend
        self.name = f"iqm:{plain_address(address)}"

    @classmethod
    def connect(cls, address: str) -> Self:
        """A device by https://SERVER/NAME, or by the server alone, which has a default.

        The token comes from IQM_TOKEN or from the file that IQM_TOKENS_FILE names.
        """
        parts = urlsplit(plain_address(address))
        try:
            from iqm.qiskit_iqm import IQMProvider
        except ImportError as error:
            raise MissingDependencyError(
                "IQM devices need IQM's client: pip install 'biselect[iqm]' in an environment of its own, without the "
                "'quantum' extra; IQM's client holds Qiskit below 2.2, IBM's needs 2.3 or newer"
            ) from error
        try:
            provider = IQMProvider(f"{parts.scheme}://{parts.netloc}", quantum_computer=parts.path.strip("/") or None)
            return cls(provider.get_backend(), address)
        except Exception as error:
            raise InputError(f"no access to iqm:{address}: {scrubbed(error)}; set IQM_TOKEN") from None

    def _run(self, circuit: Any, shots: int, tag: str) -> Any:
        return self._backend.run(circuit, shots=shots)

    def _measured(self, job: str, wait: float | None) -> Any:
        handle = self._backend.retrieve_job(job)
        result = handle.result(timeout=remote.WAIT if wait is None else wait)
        if not result.success:
            raise remote.JobFailedError(f"job {job} failed: {scrubbed(handle.error_message())}")
        return result.get_counts()

    def _meaning(self, error: Exception) -> type[remote.ServiceError]:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if TIMEOUT in kinds:
            return remote.StillWaitingError
        status = getattr(getattr(error, "response", None), "status_code", None)
        lost = (status is None and kinds & BROKEN_DOWN) or remote.is_lost(error, status)
        return remote.ConnectionLostError if lost else remote.ServiceError
