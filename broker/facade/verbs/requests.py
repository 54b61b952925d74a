"""Verbs of what clients send: the transcript, faults in the answers, client metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, trio_settled

if TYPE_CHECKING:
    from odradek.broker.facade.verbs.transcript import TrioTranscript
    from odradek.broker.faults.fault import Fault


class RequestVerbs(TrioFlavour):
    """What clients asked."""

    _transcript: TrioTranscript | None = None

    @property
    def requests(self) -> TrioTranscript:
        """What clients asked and were answered: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.verbs.transcript import TrioTranscript

        if self._transcript is None:
            self._transcript = TrioTranscript(self)
        return self._transcript


class FaultVerbs(TrioFlavour):
    """A broker that misbehaves."""

    async def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        """Make the broker misbehave as told, instead of as told before; no argument = behave again.

        TypeError for anything but faults and lists of them, ValueError for a fault at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults(faults, self._cluster.nodes)
        await self._call(lambda: self._cluster.set_faults(chosen))

    async def add_fault(self, fault: Fault) -> None:
        """Make the broker misbehave in one more way; those in force go on, and are tried first.

        TypeError for anything but a fault, ValueError for one at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults([fault], self._cluster.nodes)
        await self._call(lambda: self._cluster.set_faults([*self.faults, *chosen]))

    async def wait_hit(self, fault: Fault, count: int = 1, *, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until ``count`` requests have met a fault; TimeoutError, with the number that have, after seconds."""
        if not await trio_settled(fault.when_hit(count), timeout):
            raise fault.late(count, timeout)


class ClientMetricVerbs(TrioFlavour):
    """Metrics that clients are asked for."""

    async def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Ask clients for metrics, as ``kafka-client-metrics.sh`` does: a CLIENT_METRICS resource of this name.

        ``config``: ``metrics`` (prefixes, or ``*``), ``interval.ms``, ``match`` (``selector=pattern``, ...). None at
        all ends the subscription. Clients that connect later push. KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.facade.client_metrics import subscribe

        await self._call(lambda: subscribe(self._cluster, name, config))
