"""Verbs of topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odradek.broker.facade.flavours import TrioFlavour
from odradek.broker.facade.topic_changes import delete_records, delete_topic
from odradek.broker.facade.topic_spec import TopicSpec, config_texts, create_topic
from odradek.broker.facade.topics import TopicInfo, topic_info


class TopicVerbs(TrioFlavour):
    """Topics that come, go and are emptied."""

    async def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        config: Mapping[str, Any] | None = None,
    ) -> TopicInfo:
        """Create a topic, ready when the call returns; KafkaError if Kafka would refuse it."""
        spec = TopicSpec(partitions, replication_factor, config_texts(config or {}))
        return await self._call(lambda: topic_info(create_topic(self._cluster, name, spec), self._cluster.image))

    async def delete_topic(self, name: str) -> None:
        """Delete a topic with its records and what groups have committed in it; KafkaError if there is none."""
        await self._call(lambda: delete_topic(self._cluster, name))

    async def delete_records(self, topic: str, partition: int | None = None, *, before: int = -1) -> dict[int, int]:
        """Delete what lies before an offset, of one partition or of each; -1 is all that there is.

        Returns the first offset that is left, by partition. KafkaError as Kafka refuses it.
        """
        return await self._call(lambda: delete_records(self._cluster, topic, partition, before))
