"""Producer ids: unique in the cluster, never given twice (KIP-98, blocks per broker as in KIP-730)."""

from __future__ import annotations

from collections.abc import Callable

from odradek.protocol.errors import ErrorCode, KafkaError

BLOCK_SIZE = 1000
MAX_PRODUCER_ID = (1 << 63) - 1


class ProducerIdAllocator:
    """Hands out producer ids from a block of 1,000 for each node, as Kafka's controller does.

    Owner: the cluster (one for all nodes). ``next_block`` is the first id of the block to be given next; ``on_block``
    is called before an id of a new block is handed out. Whoever
    persists or recovers a cluster calls :meth:`skip_past`, so that a restarted broker never repeats an id that its logs
    know.
    """

    __slots__ = ("_blocks", "next_block", "on_block")

    def __init__(self, next_block: int = 0) -> None:
        self.next_block = next_block
        self._blocks: dict[int, tuple[int, int]] = {}
        self.on_block: Callable[[], None] | None = None

    def allocate(self, node_id: int) -> int:
        """A new producer id for a client of this node. Ids of one node grow; raises when all 2^63 are used up."""
        following, end = self._blocks.get(node_id, (0, 0))
        if following >= end:
            following = self.next_block
            if following > MAX_PRODUCER_ID - BLOCK_SIZE:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids are used up")
            end = self.next_block = following + BLOCK_SIZE
            if self.on_block is not None:
                self.on_block()
        self._blocks[node_id] = (following + 1, end)
        return following

    def skip_past(self, producer_id: int) -> None:
        """Never give ``producer_id`` or a smaller id from now on (called for each id found in recovered logs)."""
        if producer_id >= self.next_block:
            self.next_block = (producer_id // BLOCK_SIZE + 1) * BLOCK_SIZE
        for node_id, (following, end) in list(self._blocks.items()):
            if following <= producer_id:
                self._blocks[node_id] = (min(producer_id + 1, end), end)
