"""Producer ids: unique in the cluster, never given twice (KIP-98, blocks per broker as in KIP-730)."""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.metadata.image import MetadataImage
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.producer_ids_record import ProducerIdsRecord
from odradek.protocol.message import MetadataRecord

BLOCK_SIZE = 1000
MAX_PRODUCER_ID = (1 << 63) - 1


def next_block(image: MetadataImage, node_id: int) -> tuple[list[MetadataRecord], int]:
    """The record that gives a block to a broker, and the first id of the block."""
    first = image.next_producer_id
    if first > MAX_PRODUCER_ID - BLOCK_SIZE:
        text = f"Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit {first}"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    broker = image.brokers.get(node_id)
    epoch = -1 if broker is None else broker.epoch
    return [ProducerIdsRecord(node_id, epoch, first + BLOCK_SIZE)], first


class ProducerIdBlocks:
    """The blocks that the brokers of this process hand out from, one for each. The rest of the block ends with it.

    `allocate_block(node_id)` asks the controller for the first id of a new block.
    """

    __slots__ = ("_allocate_block", "_blocks")

    def __init__(self, allocate_block: Callable[[int], int]) -> None:
        self._allocate_block = allocate_block
        self._blocks: dict[int, tuple[int, int]] = {}

    def allocate(self, node_id: int) -> int:
        """A new producer id for a client of this node. Ids of one node grow; raises when all 2^63 are used up."""
        following, end = self._blocks.get(node_id, (0, 0))
        if following >= end:
            following = self._allocate_block(node_id)
            end = following + BLOCK_SIZE
        self._blocks[node_id] = (following + 1, end)
        return following
