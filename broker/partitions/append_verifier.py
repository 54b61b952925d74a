"""Produce's question to the transaction coordinator: may it append to these partitions (KIP-890)?"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from odradek.protocol.errors import KafkaError

Refused = dict[tuple[str, int], KafkaError]
"""Why partitions must not be written."""


class AppendVerifier(Protocol):
    """The transaction coordinators, as Produce uses them."""

    def verify_append(
        self,
        *,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        partitions: Sequence[tuple[str, int]],
        api_version: int,
        node_id: int,
    ) -> Refused | Coroutine[Any, Any, Refused]:
        """Verify (Produce up to v11) or register (v12 and later) `(topic, partition)` pairs in the transaction.

        This is one attempt. CONCURRENT_TRANSACTIONS (from v12 on) means that `wait_to_retry` may help. `node_id`: the
        leader that asks. Returns an error for each partition that must not be written, with the code and the message
        that the Produce answer carries in this version; an empty mapping lets all pass. Asked only for partitions whose
        log has no transaction of this producer open. A coroutine of it where the coordinator waits for its replicas.
        """
        ...

    async def wait_to_retry(self, began_ms: int) -> bool:
        """Wait a moment for a transaction that ends. False: `began_ms` is so long ago that one attempt is left."""
        ...
