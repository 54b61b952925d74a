"""Verbs of what clients send: the transcript, faults in the answers, client metrics.

Generated from facade/verbs/requests.py: do not edit, run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from odradek.broker.facade.flavours import BlockingFlavour
from odradek.broker.facade.thread_bridge import WAIT_TIMEOUT_S, blocking_settled

if TYPE_CHECKING:
    from odradek.broker.facade.generated.blocking.transcript import Transcript
    from odradek.broker.faults.fault import Fault


class RequestVerbs(BlockingFlavour):
    """What clients asked."""

    _transcript: Transcript | None = None

    @property
    def requests(self) -> Transcript:
        """What clients asked and were answered: ``broker.requests.filter("Fetch", topic="orders")``."""
        from odradek.broker.facade.generated.blocking.transcript import Transcript

        if self._transcript is None:
            self._transcript = Transcript(self)
        return self._transcript


class FaultVerbs(BlockingFlavour):
    """A broker that misbehaves."""

    def set_faults(self, *faults: Fault | Sequence[Fault]) -> None:
        """Make the broker misbehave as told, instead of as told before; no argument = behave again.

        TypeError for anything but faults and lists of them, ValueError for a fault at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults(faults, self._cluster.nodes)
        self._call(lambda: self._cluster.set_faults(chosen))

    def add_fault(self, fault: Fault) -> None:
        """Make the broker misbehave in one more way; those in force go on, and are tried first.

        TypeError for anything but a fault, ValueError for one at a node that does not exist.
        """
        from odradek.broker.faults.fault import checked_faults

        chosen = checked_faults([fault], self._cluster.nodes)
        self._call(lambda: self._cluster.set_faults([*self.faults, *chosen]))

    def wait_hit(self, fault: Fault, count: int = 1, *, timeout: float = WAIT_TIMEOUT_S) -> None:
        """Wait until ``count`` requests have met a fault; TimeoutError, with the number that have, after seconds."""
        if not blocking_settled(fault.when_hit(count), timeout):
            raise fault.late(count, timeout)


class ClientMetricVerbs(BlockingFlavour):
    """Metrics that clients are asked for."""

    def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Ask clients for metrics, as ``kafka-client-metrics.sh`` does: a CLIENT_METRICS resource of this name.

        ``config``: ``metrics`` (prefixes, or ``*``), ``interval.ms``, ``match`` (``selector=pattern``, ...). None at
        all ends the subscription. Clients that connect later push. KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.facade.client_metrics import subscribe

        self._call(lambda: subscribe(self._cluster, name, config))
