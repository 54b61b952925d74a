"""Replicas that move: what becomes of a partition when a reassignment begins or is cancelled (KIP-455)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from odradek.broker.controller.commands import Reassignment, ReassignPartitions
from odradek.broker.controller.elections import Election, PartitionChange, without
from odradek.broker.controller.placement import check_replicas
from odradek.broker.metadata.image import MetadataImage, TopicImage
from odradek.broker.metadata.registrations import PartitionRegistration
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.message import MetadataRecord

NewChange = Callable[[TopicImage, PartitionRegistration], PartitionChange]


class ReassignmentControl:
    """Decides about reassignments. `change` makes an empty change of a partition.

    A reassignment is under way until all replicas that it adds are in sync; who completes it is whatever changes the
    replicas in sync. `unclean(topic)`: whether a replica that is not in sync may lead.
    """

    def __init__(self, image: MetadataImage, change: NewChange, unclean: Callable[[TopicImage], bool]) -> None:
        self._image = image
        self._change = change
        self._unclean = unclean

    def reassign(self, command: ReassignPartitions) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of AlterPartitionReassignments."""
        records: list[MetadataRecord] = []
        results: list[KafkaError | None] = []
        for asked in command.reassignments:
            try:
                record = self._reassigned(asked, command.allow_factor_change)
            except KafkaError as error:
                results.append(as_value(error))
                continue
            results.append(None)
            if record is not None:
                records.append(record)
        return records, results

    def _reassigned(self, asked: Reassignment, allow_factor_change: bool) -> PartitionChangeRecord | None:
        (name, index), replicas = asked
        topic = self._image.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
        if not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
        before = topic.partitions[index]
        if replicas is None:
            return self._cancelled(topic, index, before)
        check_replicas(self._image.brokers, replicas, None)
        if not allow_factor_change:
            _check_factor(before, replicas)
        change = self._change(topic, before)
        removing = sorted(set(before.replicas) - set(replicas))
        change.replicas = (*replicas, *removing)
        # As on Kafka: what an earlier reassignment adds or removes is kept where the new one does nothing of that kind.
        change.removing = tuple(removing) or before.removing
        change.adding = tuple(sorted(set(replicas) - set(before.replicas))) or before.adding
        return change.record(topic.topic_id, index)

    def _cancelled(self, topic: TopicImage, index: int, before: PartitionRegistration) -> PartitionChangeRecord | None:
        """Back to the replicas before the reassignment."""
        if not before.is_reassigned:
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        added = frozenset(before.adding)
        change = self._change(topic, before)
        change.replicas = without(before.replicas, added)
        change.isr = without(before.isr, added)
        change.adding = change.removing = ()
        if self._unclean(topic):
            change.election = Election.UNCLEAN
        if not change.replicas:
            text = "Invalid replica assignment: addingReplicas contains all replicas."
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
        if not change.isr:
            if not self._unclean(topic):
                text = f"Unable to revert partition assignment for {topic.name}:{index} because it would require an "
                raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text + "unclean leader election.")
            change.isr = change.replicas[:1]
        return change.record(topic.topic_id, index)


def _check_factor(before: PartitionRegistration, replicas: Sequence[int]) -> None:
    count = len((set(before.replicas) | set(before.adding)) - set(before.removing))
    if count != len(replicas):
        text = f"The replication factor is changed from {count} to {len(replicas)}"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
