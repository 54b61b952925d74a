"""Partitions that change: elections, brokers that go and come back, replicas that move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.commands import (
    AssignReplicas,
    ChangeIsr,
    ElectLeaders,
    MoveLeader,
    PartitionKey,
    Reassignment,
    ReassignPartitions,
)
from odradek.broker.controller.elections import Election, PartitionChange, Rules, without
from odradek.broker.controller.topic_control import check_replicas
from odradek.broker.metadata.image import ELR_VERSION, MetadataImage, ResourceType, TopicImage, directory_of
from odradek.broker.metadata.registrations import LOST_DIRECTORY, NO_LEADER, PartitionRegistration
from odradek.protocol.errors import ErrorCode, KafkaError, as_value
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.message import MetadataRecord
from odradek.storage.log_config import LogConfig

MAX_ELECTIONS = 1000
"""Elections that the controller holds in one go; the others follow at once."""
_Place = tuple[TopicImage, int, PartitionRegistration]


class PartitionControl:
    """Decides about leaders, ISR and replicas. Reads image and configuration; changes neither.

    Where all replicas of a partition have the same log, live ones are in sync at once. `replicas_differ(topic_id,
    index)` says where they have not: there, leaders tell who is in sync (`ChangeIsr`).
    """

    def __init__(
        self, image: MetadataImage, config: BrokerConfig, replicas_differ: Callable[[bytes, int], bool]
    ) -> None:
        self._image = image
        self._config = config
        self._replicas_differ = replicas_differ

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
                results.append(as_value(error))
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
        change.rejoin = unclean and not self._replicas_differ(topic.topic_id, index)
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
        topic = self._image.topics[name]
        broker = self._image.brokers.get(node)
        may = before.replicas if command.unclean else before.isr
        if node not in may or broker is None or not broker.is_active or before.is_lost(node):
            text = (
                f"node {node} is no live {'' if command.unclean else 'in-sync '}replica of {name}-{index}: {list(may)}"
            )
            raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
        if command.unclean and node not in before.isr:
            if before.leader != NO_LEADER:
                text = f"{name}-{index} is led by node {before.leader}: an unclean election needs a partition without"
                raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, text + " a leader")
            change = self._change(topic, before)
            change.wanted = node
            record = change.record(topic.topic_id, index)
            return [] if record is None else [record], None
        if before.leader == node:
            return [], None
        return [PartitionChangeRecord(index, topic.topic_id, leader=node)], None

    def change_isr(self, command: ChangeIsr) -> tuple[list[MetadataRecord], None]:
        """Records of `ChangeIsr`."""
        records: list[MetadataRecord] = []
        rules = self._rules()
        for topic_id, index, partition_epoch, isr in command.changes:
            topic = self._image.topics_by_id.get(topic_id)
            before = topic.partitions[index] if topic is not None else None
            if topic is None or before is None or before.partition_epoch != partition_epoch:
                continue
            change = self._change(topic, before, rules)
            able = [node for node in isr if rules.may_lead(node) and not before.is_lost(node)]
            change.isr = tuple(node for node in able if node in before.replicas)
            change.recovered = True
            if self._unclean(topic):
                change.election = Election.UNCLEAN
            record = change.record(topic_id, index)
            if record is not None:
                records.append(record)
        return records, None

    def assign(self, command: AssignReplicas) -> tuple[list[MetadataRecord], None]:
        """Records of `AssignReplicas`; none for replicas that are recorded so, or are the broker's no more."""
        records: list[MetadataRecord] = []
        for topic_id, index, directory in command.replicas:
            topic = self._image.topics_by_id.get(topic_id)
            before = topic.partitions[index] if topic is not None and index < len(topic.partitions) else None
            if before is None or command.node_id not in before.replicas:
                continue
            directories = list(before.directories)
            place = before.replicas.index(command.node_id)
            if directories[place] != directory:
                was_lost = directories[place] == LOST_DIRECTORY
                directories[place] = directory
                records.append(PartitionChangeRecord(index, topic_id, directories=directories))
                if was_lost or directory == LOST_DIRECTORY:
                    assert topic is not None
                    now = before._replace(directories=tuple(directories))
                    record = self._after_disk(topic, index, now, command.node_id)
                    records += [] if record is None else [record]
        return records, None

    def _after_disk(
        self, topic: TopicImage, index: int, now: PartitionRegistration, node: int
    ) -> PartitionChangeRecord | None:
        """The records when the disk of a replica fails or comes back: a new leader and ISR."""
        change = self._change(topic, now)
        if now.is_lost(node):
            change.isr = without(now.isr, frozenset({node}))
        else:
            change.rejoin = not self._replicas_differ(topic.topic_id, index)
        if self._unclean(topic) and (now.is_lost(node) or now.leader == NO_LEADER):
            change.election = Election.UNCLEAN
        return change.record(topic.topic_id, index)

    def reassign(self, command: ReassignPartitions) -> tuple[list[MetadataRecord], list[KafkaError | None]]:
        """Records and results of AlterPartitionReassignments."""
        return ReassignmentControl(self._image, self._change, self._unclean).reassign(command)

    # -- elections by the controller itself

    def balance(self) -> tuple[list[MetadataRecord], bool]:
        """Records of `BalanceLeaders`; whether there may be more to do."""
        return self._elections(Election.PREFERRED, lambda _, partition: partition.leader != partition.replicas[0])

    def elect_uncleanly(self) -> tuple[list[MetadataRecord], bool]:
        """Records of `ElectUncleanly`; whether there may be more to do."""
        return self._elections(
            Election.UNCLEAN, lambda topic, partition: partition.leader == NO_LEADER and self._unclean(topic)
        )

    def _elections(
        self, election: Election, needed: Callable[[TopicImage, PartitionRegistration], bool]
    ) -> tuple[list[MetadataRecord], bool]:
        """At most `MAX_ELECTIONS` elections of partitions that need one; whether there may be more."""
        records: list[MetadataRecord] = []
        rules = self._rules()
        for topic, index, before in self._partitions():
            if not needed(topic, before):
                continue
            change = self._change(topic, before, rules)
            change.election = election
            record = change.record(topic.topic_id, index)
            if record is not None:
                records.append(record)
            if len(records) >= MAX_ELECTIONS:
                break
        return records, len(records) >= MAX_ELECTIONS

    # -- brokers that go and come

    def after_loss(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        """The records when brokers go: their partitions get other leaders, and ISRs without them."""
        records: list[MetadataRecord] = []
        rules = self._rules(gone=nodes)
        for topic, index, before in self._partitions():
            if nodes.isdisjoint(before.isr):
                continue
            change = self._change(topic, before, rules)
            change.isr = without(before.isr, nodes)
            if self._unclean(topic):
                change.election = Election.UNCLEAN
            record = change.record(topic.topic_id, index)
            if record is not None:
                records.append(record)
        return records

    def after_crash(self, node: int) -> list[MetadataRecord]:
        """The records when a crashed broker registers again: it may have lost records (KIP-966)."""
        nodes = frozenset({node})
        records: list[MetadataRecord] = []
        rules = self._rules(gone=nodes)
        if not rules.elr_enabled:
            return self.after_loss(nodes)
        for topic, index, before in self._partitions():
            if node not in before.isr and node not in before.elr:
                continue
            change = self._change(topic, before, rules)
            change.isr = without(before.isr, nodes)
            change.crashed = nodes
            if self._unclean(topic):
                change.election = Election.UNCLEAN
            record = change.record(topic.topic_id, index)
            if record is not None:
                records.append(record)
        return records

    def after_return(self, nodes: frozenset[int]) -> list[MetadataRecord]:
        """The records when brokers come back: leaders for partitions without one, and their replicas in sync."""
        records: list[MetadataRecord] = []
        rules = self._rules(back=nodes)
        for topic, index, before in self._partitions():
            if nodes.isdisjoint(before.replicas):
                continue
            change = self._change(topic, before, rules)
            change.rejoin = not self._replicas_differ(topic.topic_id, index)
            if before.leader == NO_LEADER and self._unclean(topic):
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

    def _unclean(self, topic: TopicImage) -> bool:
        """Whether a replica that is not in sync may lead if no other one can."""
        return self._log_config(topic).unclean_leader_election_enable

    def _log_config(self, topic: TopicImage) -> LogConfig:
        return self._config.log_config(self._image.configs_of(ResourceType.TOPIC, topic.name))

    def _rules(self, gone: Iterable[int] = (), back: Sequence[int] | frozenset[int] = ()) -> Rules:
        live = {broker.id for broker in self._image.active_brokers()}
        live = (live | set(back)) - set(gone)
        directories = {node: directory_of(self._image, node) for node in self._image.brokers}
        return Rules(live.__contains__, self._image.feature(ELR_VERSION) > 0, directories)


# -- Replicas that move: what becomes of a partition when a reassignment begins or is cancelled (KIP-455).

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
