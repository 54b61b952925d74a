"""Verbs of what clients send: the transcript, faults in the answers, client metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, trio_settled
from odradek.broker.facade.verb_base import TrioVerbs

if TYPE_CHECKING:
    from odradek.broker.facade.verbs.transcript import TrioTranscript
    from odradek.broker.faults.fault import Fault


class RequestVerbs(TrioVerbs):
    """The transcript of requests."""

    _transcript: TrioTranscript | None = None

    @property
    def requests(self) -> TrioTranscript:
        """Requests and their responses: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.verbs.transcript import TrioTranscript

        if self._transcript is None:
            self._transcript = TrioTranscript(self)
        return self._transcript


class FaultVerbs(TrioVerbs):
    """Faults: requests that the broker answers wrongly, late or never."""

    async def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        """Replace all faults by these. Without arguments, remove all faults.

        Raises TypeError for anything but faults and lists of them, ValueError for a fault at a node that does not
        exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults(faults, self._cluster.nodes)
        await self._call(lambda: self._cluster.set_faults(chosen))

    async def add_fault(self, fault: Fault) -> None:
        """Add a fault. Those that are set stay, and are tried first.

        Raises TypeError for anything but a fault, ValueError for a fault at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults([fault], self._cluster.nodes)
        await self._call(lambda: self._cluster.set_faults([*self.faults, *chosen]))

    async def wait(self, fault: Fault, count: int = 1, *, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until ``count`` requests have met a fault. Raises TimeoutError, with the number so far."""
        from odradek.broker.faults.fault import check_waited

        check_waited(fault)
        if not await trio_settled(fault.when_hit(count), timeout):
            raise fault.late(count, timeout)


class ClientMetricVerbs(TrioVerbs):
    """Subscriptions to client metrics."""

    async def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Subscribe to client metrics, as ``kafka-client-metrics.sh`` does.

        The subscription is a CLIENT_METRICS resource of this name. ``config`` takes ``metrics`` (prefixes, or ``*``),
        ``interval.ms`` and ``match`` (``selector=pattern``, ...); an empty one ends the subscription. Clients that
        connect later push metrics. Raises KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.facade.client_metrics import subscribe

        await self._call(lambda: subscribe(self._cluster, name, config))
