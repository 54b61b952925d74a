"""A broker in the caller's trio run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.facade.verb_base import TrioVerbs
from odradek.broker.facade.verbs.coordinators import GroupVerbs, TransactionVerbs
from odradek.broker.facade.verbs.nodes import NodeVerbs, WireVerbs
from odradek.broker.facade.verbs.requests import ClientMetricVerbs, FaultVerbs, RequestVerbs
from odradek.broker.facade.verbs.topics import RecordVerbs, SchemaVerbs, TopicVerbs

if TYPE_CHECKING:
    from odradek.broker.facade.state.snapshot import Snapshot


class StateVerbs(TrioVerbs):
    """The state of the broker as a whole."""

    async def snapshot(self) -> Snapshot:
        """Take a snapshot for ``restore``: topics, records, groups, transactions, timers, clock, nodes and users.

        The cost does not depend on the number of records, because a snapshot shares them with the broker, on disk too.
        Faults are not part of it. Raises ValueError for a broker with a data directory while a test keeps replicas
        apart.
        """
        from odradek.broker.facade.state.snapshot import take

        return await self._call(lambda: take(self._cluster))

    async def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, any number of times. The addresses stay the same; clients reconnect.

        The clock goes back, too. Leader epochs and producer ids keep growing, so that clients notice the change. Raises
        ValueError for a snapshot of another broker.
        """
        from odradek.broker.facade.state.restore import restore

        await self._call(lambda: restore(self._cluster, snapshot))

    async def reset(self, *, data: bool = True) -> None:
        """Reset the broker to how it started: its initial topics, empty and with new ids, and nothing else.

        Groups, transactions, and topics, configs, users and ACLs that were added later are gone. Faults, holds and bad
        links end, all nodes are up, and the clock follows the machine's. The addresses stay the same; clients
        reconnect. ``data=False`` only undoes what a test has set, and keeps the data of clients.
        """
        from odradek.broker.facade.state.restore import reset

        await self._call(lambda: reset(self._cluster, data=data))


class TrioBroker(
    TopicVerbs,
    RecordVerbs,
    SchemaVerbs,
    GroupVerbs,
    TransactionVerbs,
    FaultVerbs,
    NodeVerbs,
    WireVerbs,
    StateVerbs,
    RequestVerbs,
    ClientMetricVerbs,
):
    """All verbs. Each is awaited; those that can be taken back may be used in ``async with`` instead."""
