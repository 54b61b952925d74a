"""A broker in a thread of its own.

Generated from facade/verbs/broker.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.generated.blocking.coordinators import CoordinatorVerbs
from odradek.broker.facade.generated.blocking.nodes import NodeVerbs
from odradek.broker.facade.generated.blocking.topics import TopicVerbs
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled
from odradek.broker.facade.topics import config_texts

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.transcript import Transcript
    from odradek.broker.facade.state.snapshot import Snapshot
    from odradek.broker.faults.fault import Fault


class BlockingBroker(TopicVerbs, CoordinatorVerbs, NodeVerbs):
    """All verbs. Each blocks; those that can be taken back may be used in ``with``."""

    _transcript: Transcript | None = None

    @property
    def requests(self) -> Transcript:
        """Requests and their responses: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.generated.blocking.transcript import Transcript

        if self._transcript is None:
            self._transcript = Transcript(self)
        return self._transcript

    def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        """Replace all faults by these. Without arguments, remove all faults.

        Raises TypeError for anything but faults and lists of them, ValueError for a fault at a node that does not
        exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults(faults, self._cluster.nodes)
        self._call(lambda: self._cluster.set_faults(chosen))

    def add_fault(self, fault: Fault) -> None:
        """Add a fault. Those that are set stay, and are tried first.

        Raises TypeError for anything but a fault, ValueError for a fault at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults([fault], self._cluster.nodes)
        self._call(lambda: self._cluster.set_faults([*self.faults, *chosen]))

    def wait(self, fault: Fault, count: int = 1, *, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until ``count`` requests have met a fault. Raises TimeoutError, with the number so far."""
        from odradek.broker.faults.fault import check_waited

        check_waited(fault)
        if not blocking_settled(fault.when_hit(count), timeout):
            raise fault.late(count, timeout)

    def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Subscribe to client metrics, as ``kafka-client-metrics.sh`` does.

        The subscription is a CLIENT_METRICS resource of this name. ``config`` takes ``metrics`` (prefixes, or ``*``),
        ``interval.ms`` and ``match`` (``selector=pattern``, ...); an empty one ends the subscription. Clients that
        connect later push metrics. Raises KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.config.changes import Assignment, Change
        from odradek.broker.controller.config_control import alter_configs
        from odradek.broker.metadata.image import ResourceType

        assignments = [Assignment(key, text) for key, text in config_texts(config).items()]
        change = Change(ResourceType.CLIENT_METRICS, name, assignments, replaces=True)

        def subscribe() -> None:
            [refused] = self._cluster.controller.ask(alter_configs, [change], self._cluster.controller_id)
            if refused is not None:
                raise refused

        self._call(subscribe)

    def snapshot(self) -> Snapshot:
        """Take a snapshot for ``restore``: topics, records, groups, transactions, timers, clock, nodes and users.

        The cost does not depend on the number of records, because a snapshot shares them with the broker, on disk too.
        Faults are not part of it. Raises ValueError for a broker with a data directory while replicas differ.
        """
        from odradek.broker.facade.state.snapshot import take

        return self._call(lambda: take(self._cluster))

    def restore(self, snapshot: Snapshot) -> None:
        """Return to a snapshot, any number of times. The addresses stay the same; clients reconnect.

        The clock goes back, too. Leader epochs and producer ids keep growing, so that clients notice the change. Raises
        ValueError for a snapshot of another broker.
        """
        from odradek.broker.facade.state.restore import restore

        self._call(lambda: restore(self._cluster, snapshot))

    def reset(self, *, data: bool = True) -> None:
        """Reset the broker to how it started: its initial topics, empty and with new ids, and nothing else.

        Groups, transactions, and topics, configs, users and ACLs that were added later are gone. Faults, holds and bad
        links end, all nodes are up, and the clock follows the machine's. The addresses stay the same; clients
        reconnect. ``data=False`` only undoes what a test has set, and keeps the data of clients.
        """
        from odradek.broker.facade.state.restore import reset

        self._call(lambda: reset(self._cluster, data=data))
