"""Verbs of client metrics (KIP-714)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.broker.facade.flavours import TrioFlavour


class ClientMetricVerbs(TrioFlavour):
    """Metrics that clients are asked for."""

    async def subscribe_client_metrics(self, name: str, config: Mapping[str, Any]) -> None:
        """Ask clients for metrics, as ``kafka-client-metrics.sh`` does: a CLIENT_METRICS resource of this name.

        ``config``: ``metrics`` (prefixes, or ``*``), ``interval.ms``, ``match`` (``selector=pattern``, ...). None at
        all ends the subscription. Clients that connect later push. KafkaError for configs that Kafka refuses.
        """
        from odradek.broker.facade.client_metrics import subscribe

        await self._call(lambda: subscribe(self._cluster, name, config))
