"""A Dask cluster: its scheduler places shares, and computes those of a lost worker again."""

from collections.abc import Generator, Sequence
from itertools import islice
from typing import Any

from biselect.engines.clusters import cluster_package
from biselect.engines.shares import AHEAD, Cluster, Share, named
from biselect.errors import BiselectError
from biselect.partitions.table_pass import Arrays, Pass, over


class DaskCluster(Cluster):
    """Runs shares as tasks of a Dask client."""

    def __init__(self, name: str, client: Any):
        super().__init__()
        self.name, self.client = name, client
        self.workers = sum(client.nthreads().values())
        self.dumps = cluster_package("distributed.protocol.pickle").dumps

    def found_in(self, asked: Pass, shares: Sequence[Share]) -> Generator[tuple[int, Arrays], None, None]:
        """See `Cluster`."""
        distributed = cluster_package("distributed")
        # A task that gives the pass: unlike scattered data, a lost worker can take no copy of it away for good.
        there = self.client.submit(_itself, asked, pure=False)
        waiting, places = iter(enumerate(shares)), dict[Any, int]()
        done = distributed.as_completed(loop=self.client.loop, with_results=True)

        def hand_out(number: int) -> None:
            for at, share in islice(waiting, number):
                future = self.client.submit(over, there, share, pure=False)
                places[future] = at
                done.add(future)

        try:
            hand_out(AHEAD * self.workers)
            for future, arrays in done:
                at = places.pop(future)
                future.release()
                hand_out(1)
                yield at, arrays
        except distributed.KilledWorker as error:
            lost = ", ".join(named(shares[at]) for future, at in places.items() if future.status == "error")
            raise BiselectError(f"{self.name}: each worker that read {lost} died; give workers more memory") from error
        finally:
            self.client.cancel([*places])


def _itself(asked: Pass) -> Pass:
    return asked
