"""A Ray cluster: it places shares, and computes those of a lost worker or node again."""

import io
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from biselect.engines.shares import AHEAD, RETRIES, Cluster, Share, named
from biselect.errors import BiselectError
from biselect.partitions.table_pass import Arrays, Pass, over


class RayCluster(Cluster):
    """Runs shares as tasks of a Ray runtime."""

    def __init__(self, name: str, ray: Any):
        super().__init__()
        self.name, self.ray = name, ray
        self.workers = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.dumps = _measuring(ray)

    def found_in(self, asked: Pass, shares: Sequence[Share]) -> Generator[tuple[int, Arrays], None, None]:
        """See `Cluster`."""
        ray = self.ray
        there, task = ray.put(asked), ray.remote(max_retries=RETRIES)(_over_from)
        here = os.getcwd()
        waiting, places = iter(enumerate(shares)), dict[Any, int]()

        def hand_out(number: int) -> None:
            places.update((task.remote(here, there, share), at) for at, share in islice(waiting, number))

        try:
            hand_out(AHEAD * self.workers)
            while places:
                (done,), _ = ray.wait([*places])
                at = places[done]
                arrays = ray.get(done)
                del places[done]
                hand_out(1)
                yield at, arrays
        except ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, BiselectError) else error from None
        except ray.exceptions.RayError as error:
            raise BiselectError(f"{self.name}: each worker that read {named(shares[at])} died: {error}") from error
        finally:
            for running in places:
                ray.cancel(running)


def _over_from(folder: str, asked: Pass, share: Share) -> Arrays:
    """What a share holds, with paths that count from a folder; a runtime of ours begins elsewhere."""
    with suppress(OSError):  # another machine may not have it
        os.chdir(folder)
    return over(asked, share)


def _measuring(ray: Any) -> Callable[..., bytes]:
    """Ray's way to serialise; a reference to what Ray holds counts as its name, or Ray would keep that for good."""

    class Pickler(ray.cloudpickle.CloudPickler):
        def persistent_id(self, thing: object) -> str | None:
            return thing.hex() if isinstance(thing, ray.ObjectRef) else None

    def dumps(thing: object, **given: Any) -> bytes:
        file = io.BytesIO()
        Pickler(file, **given).dump(thing)
        return file.getvalue()

    return dumps
