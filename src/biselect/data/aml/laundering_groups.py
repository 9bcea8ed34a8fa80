"""Which laundering payments belong together: the independent units of evidence in an AML table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biselect.data.aml.schema import Transactions


def laundering_groups(transactions: Transactions) -> NDArray[np.int64]:
    """The group of every laundering payment, named by the row of its first one; -1 for all others.

    Payments of one pattern resemble one another, so they are not new evidence one by one. The published files do not
    say which pattern a payment is part of; accounts that laundering connects, over the whole file, are one group.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    labels, sender, receiver = (transactions.frame[name].to_numpy() for name in ("label", "sender", "receiver"))
    accounts, ends = np.unique(np.concatenate([sender[labels], receiver[labels]]), return_inverse=True)
    first, second = np.split(ends, 2)
    edges = coo_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(accounts.size, accounts.size))
    _, component = connected_components(edges, directed=False)
    _, begin, group = np.unique(component[first], return_index=True, return_inverse=True)
    found = np.full(labels.size, -1, dtype=np.int64)
    found[labels] = np.flatnonzero(labels)[begin][group]
    return found
