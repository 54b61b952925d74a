"""A broker in the caller's trio run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.verbs.groups import GroupVerbs
from odradek.broker.facade.verbs.nodes import NodeVerbs, ReplicationVerbs, WireVerbs
from odradek.broker.facade.verbs.requests import ClientMetricVerbs, FaultVerbs, RequestVerbs
from odradek.broker.facade.verbs.topics import RecordVerbs, SchemaVerbs, TopicVerbs
from odradek.broker.facade.verbs.transactions import TransactionVerbs

if TYPE_CHECKING:
    from odradek.broker.facade.state.snapshot import Snapshot


class StateVerbs(TrioFlavour):
    """The whole state, taken and gone back to."""

    async def snapshot(self) -> Snapshot:
        """The state as it is now, for ``restore``: topics, records, groups, transactions, timers, clock, nodes, users.

        It costs the same however many records there are: a snapshot shares them with the broker, on disk too. Faults
        are no part of it. ValueError for a broker with a data directory while a test keeps replicas apart.
        """
        from odradek.broker.facade.state.snapshot import take

        return await self._call(lambda: take(self._cluster))

    async def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, as often as you like. The addresses stay; clients connect again and go on.

        The clock goes back too. Leader epochs and producer ids go on, so that clients notice. ValueError for a snapshot
        of another broker.
        """
        from odradek.broker.facade.state.restore import restore

        await self._call(lambda: restore(self._cluster, snapshot))

    async def reset(self, *, data: bool = True) -> None:
        """Make the broker like new: the topics that it was started with, empty and with new ids, and nothing else.

        Groups, transactions and later topics, configs, users and rights are gone; faults, holds and bad links end, all
        nodes are up, the clock runs with the machine's. The addresses stay; clients connect again. ``data=False`` ends
        what a test has set and leaves what clients have.
        """
        from odradek.broker.facade.state.reset import reset

        await self._call(lambda: reset(self._cluster, data=data))


class TrioBroker(
    TopicVerbs,
    RecordVerbs,
    SchemaVerbs,
    GroupVerbs,
    TransactionVerbs,
    FaultVerbs,
    NodeVerbs,
    ReplicationVerbs,
    WireVerbs,
    StateVerbs,
    RequestVerbs,
    ClientMetricVerbs,
):
    """All verbs. Each is awaited; those that can be taken back may be used in ``async with`` instead."""
