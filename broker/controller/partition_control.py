"""Partitions that change: elections, brokers that go and come back, replicas that move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.commands import ElectLeaders, MoveLeader, PartitionKey, Reassignment, ReassignPartitions
from odradek.broker.controller.elections import Election, PartitionChange, Rules, without
from odradek.broker.controller.placement import check_replicas
from odradek.broker.metadata.image import ELR_VERSION, MetadataImage, ResourceType, TopicImage, directory_of
from odradek.broker.metadata.registrations import NO_LEADER, PartitionRegistration
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.storage.log_config import LogConfig

_Place = tuple[TopicImage, int, PartitionRegistration]


class PartitionControl:
    """Decides about leaders, ISR and replicas. Reads image and configuration; changes neither.

    One log serves all replicas of a partition, so live replicas are in sync at once, and a reassignment is over with
    the record that begins it.
    """

    def __init__(self, image: MetadataImage, config: BrokerConfig) -> None:
        self._image = image
        self._config = config

    # -- what clients ask for

    def elect(self, command: ElectLeaders) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of ElectLeaders."""
        election = Election.UNCLEAN if command.unclean else Election.PREFERRED
        records: list[MetadataRecord] = []
        results: list[KafkaError | None] = []
        for key in command.partitions:
            try:
                records.append(self._elected(key, election))
            except KafkaError as error:
                results.append(error)
            else:
                results.append(None)
        return records, results

    def _elected(self, key: PartitionKey, election: Election) -> PartitionChangeRecord:
        name, index = key
        topic = self._image.topics.get(name)
        if topic is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
        if not 0 <= index < len(topic.partitions):
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
        before = topic.partitions[index]
        unclean = election is Election.UNCLEAN
        if before.leader >= 0 if unclean else before.leader == before.replicas[0]:
            raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
        change = self._change(topic, before)
        change.election = election
        change.rejoin = unclean
        record = change.record(topic.topic_id, index)
        if record is not None:
            return record
        if unclean:
            text = "Eligible topic partition leaders are not available."
            raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
        raise KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")

    def move_leader(self, command: MoveLeader) -> tuple[list[MetadataRecord], None]:
        """Records of `MoveLeader`."""
        name, index = command.partition
        before = self._image.partition(name, index)
        if before is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no partition {name}-{index}")
        node = command.node_id
        broker = self._image.brokers.get(node)
        if node not in before.isr or broker is None or not broker.is_active:
            text = f"node {node} is no live replica of {name}-{index}: {list(before.isr)}"
            raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
        if before.leader == node:
            return [], None
        topic_id = self._image.topics[name].topic_id
        return [PartitionChangeRecord(index, topic_id, leader=node)], None

    def reassign(self, command: ReassignPartitions) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of AlterPartitionReassignments."""
        records: list[MetadataRecord] = []
        results: list[KafkaError | None] = []
        for asked in command.reassignments:
            try:
                record = self._reassigned(asked, command.allow_factor_change)
            except KafkaError as error:
                results.append(error)
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
        if replicas is None:
            raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        check_replicas(self._image.brokers, replicas, None)
        before = topic.partitions[index]
        if not allow_factor_change and len(replicas) != len(before.replicas):
            text = f"The replication factor is changed from {len(before.replicas)} to {len(replicas)}"
            raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
        change = self._change(topic, before)
        change.replicas = tuple(replicas)
        change.rejoin = True
        live = tuple(node for node in replicas if change.rules.may_lead(node))
        change.isr = live
        return change.record(topic.topic_id, index) if change.replicas != before.replicas else None

    # -- brokers that go and come

    def after_loss(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        """What brokers that go leave behind: their partitions get other leaders, and ISRs without them."""
        records: list[MetadataRecord] = []
        rules = self._rules(gone=nodes)
        for topic, index, before in self._partitions():
            if nodes.isdisjoint(before.isr):
                continue
            change = self._change(topic, before, rules)
            change.isr = without(before.isr, nodes)
            if self._log_config(topic).unclean_leader_election_enable:
                change.election = Election.UNCLEAN
            record = change.record(topic.topic_id, index)
            if record is not None:
                records.append(record)
        return records

    def after_return(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        """What brokers that are back bring: leaders where there were none, and their replicas in sync."""
        records: list[MetadataRecord] = []
        rules = self._rules(back=nodes)
        for topic, index, before in self._partitions():
            if nodes.isdisjoint(before.replicas):
                continue
            change = self._change(topic, before, rules)
            change.rejoin = True
            if before.leader == NO_LEADER and self._log_config(topic).unclean_leader_election_enable:
                change.election = Election.UNCLEAN
            record = change.record(topic.topic_id, index)
            if record is not None:
                records.append(record)
        return records

    # -- inside

    def _partitions(self) -> Iterator[_Place]:
        for topic in self._image.topics.values():
            for index, registration in enumerate(topic.partitions):
                yield topic, index, registration

    def _change(self, topic: TopicImage, before: PartitionRegistration, rules: Rules | None = None) -> PartitionChange:
        min_isr = min(self._log_config(topic).min_insync_replicas, topic.replication_factor)
        return PartitionChange(before, rules or self._rules(), min_isr)

    def _log_config(self, topic: TopicImage) -> LogConfig:
        return self._config.log_config(self._image.configs_of(ResourceType.TOPIC, topic.name))

    def _rules(self, gone: Iterable[int] = (), back: Sequence[int] | frozenset[int] = ()) -> Rules:
        live = {broker.id for broker in self._image.active_brokers()}
        live = (live | set(back)) - set(gone)
        directories = {node: directory_of(self._image, node) for node in self._image.brokers}
        return Rules(live.__contains__, self._image.feature(ELR_VERSION) > 0, directories)
