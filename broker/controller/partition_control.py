"""Partitions that change: elections, brokers that go and come back, replicas that move."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from odradek.broker.controller.elections import Election, PartitionChange, Rules, without
from odradek.broker.controller.machine import Decision, MetadataState, PartitionKey, each_by_itself
from odradek.broker.controller.topic_control import check_replicas
from odradek.broker.metadata.image import (
    ELR_VERSION,
    LOST_DIRECTORY,
    NO_LEADER,
    PartitionRegistration,
    ResourceType,
    TopicImage,
    directory_of,
)
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.metadata_records.partition_change_record import PartitionChangeRecord
from odradek.protocol.message import MetadataRecord
from odradek.storage.log_config import LogConfig

MAX_ELECTIONS = 1000
"""Elections that the controller holds in one go; the others follow at once."""
_Place = tuple[TopicImage, int, PartitionRegistration]


# -- what clients ask for


def elect_leaders(
    state: MetadataState, partitions: Sequence[PartitionKey], *, unclean: bool = False
) -> Decision[list[KafkaError | None]]:
    """Elect the preferred replicas, or (`unclean`) any live ones where there is no leader; replies for each."""
    election = Election.UNCLEAN if unclean else Election.PREFERRED
    return each_by_itself(partitions, lambda key: [_elected(state, key, election)])


def _elected(state: MetadataState, key: PartitionKey, election: Election) -> PartitionChangeRecord:
    name, index = key
    topic = state.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    before = topic.partitions[index]
    unclean = election is Election.UNCLEAN
    if before.leader >= 0 if unclean else before.leader == before.replicas[0]:
        raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition.")
    change = _change(state, topic, before)
    change.election = election
    change.rejoin = unclean and not state.replicas_differ(topic.topic_id, index)
    record = change.record(topic.topic_id, index)
    if record is not None:
        return record
    if unclean:
        text = "Eligible topic partition leaders are not available."
        raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
    raise KafkaError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "The preferred leader was not available.")


def move_leader(
    state: MetadataState, partition: PartitionKey, node_id: int, *, unclean: bool = False
) -> Decision[None]:
    """Let `node_id`, which is in sync, lead a partition.

    `unclean`: a partition without a leader also takes one that is not in sync. KafkaError if it cannot lead.
    """
    name, index = partition
    before = state.image.partition(name, index)
    if before is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"no partition {name}-{index}")
    topic = state.image.topics[name]
    broker = state.image.brokers.get(node_id)
    may = before.replicas if unclean else before.isr
    if node_id not in may or broker is None or not broker.is_active or before.is_lost(node_id):
        text = f"node {node_id} is no live {'' if unclean else 'in-sync '}replica of {name}-{index}: {list(may)}"
        raise KafkaError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, text)
    if unclean and node_id not in before.isr:
        if before.leader != NO_LEADER:
            text = f"{name}-{index} is led by node {before.leader}: an unclean election needs a partition without"
            raise KafkaError(ErrorCode.ELECTION_NOT_NEEDED, text + " a leader")
        change = _change(state, topic, before)
        change.wanted = node_id
        return change.records(topic.topic_id, index), None
    if before.leader == node_id:
        return [], None
    return [PartitionChangeRecord(index, topic.topic_id, leader=node_id)], None


class NewIsr(NamedTuple):
    """The replicas in sync, as the leader that knows `partition_epoch` sees them."""

    topic_id: bytes
    partition: int
    partition_epoch: int
    isr: Sequence[int]


def change_isr(state: MetadataState, changes: Sequence[NewIsr]) -> Decision[None]:
    """Leaders report the replicas in sync. A report of an older epoch, or of a deleted topic, is ignored."""
    records: list[MetadataRecord] = []
    rules = _rules(state)
    for topic_id, index, partition_epoch, isr in changes:
        topic = state.image.topics_by_id.get(topic_id)
        before = topic.partitions[index] if topic is not None else None
        if topic is None or before is None or before.partition_epoch != partition_epoch:
            continue
        change = _change(state, topic, before, rules)
        able = [node for node in isr if rules.may_lead(node) and not before.is_lost(node)]
        change.isr = tuple(node for node in able if node in before.replicas)
        change.recovered = True
        if _unclean(state, topic):
            change.election = Election.UNCLEAN
        records += change.records(topic_id, index)
    return records, None


def assign_replicas(state: MetadataState, node_id: int, replicas: Sequence[tuple[bytes, int, bytes]]) -> Decision[None]:
    """A broker says in which of its log directories replicas are: (topic id, index, directory id).

    No records for replicas that are recorded so, or are the broker's no more.
    """
    records: list[MetadataRecord] = []
    for topic_id, index, directory in replicas:
        topic = state.image.topics_by_id.get(topic_id)
        before = topic.partitions[index] if topic is not None and index < len(topic.partitions) else None
        if before is None or node_id not in before.replicas:
            continue
        directories = list(before.directories)
        place = before.replicas.index(node_id)
        if directories[place] != directory:
            was_lost = directories[place] == LOST_DIRECTORY
            directories[place] = directory
            records.append(PartitionChangeRecord(index, topic_id, directories=directories))
            if was_lost or directory == LOST_DIRECTORY:
                assert topic is not None
                now = before._replace(directories=tuple(directories))
                records += _after_disk(state, topic, index, now, node_id)
    return records, None


def _after_disk(
    state: MetadataState, topic: TopicImage, index: int, now: PartitionRegistration, node: int
) -> list[PartitionChangeRecord]:
    """The records when the disk of a replica fails or comes back: a new leader and ISR."""
    change = _change(state, topic, now)
    if now.is_lost(node):
        change.isr = without(now.isr, frozenset({node}))
    else:
        change.rejoin = not state.replicas_differ(topic.topic_id, index)
    if _unclean(state, topic) and (now.is_lost(node) or now.leader == NO_LEADER):
        change.election = Election.UNCLEAN
    return change.records(topic.topic_id, index)


# -- elections by the controller itself


def balance_leaders(state: MetadataState) -> Decision[bool]:
    """Hand partitions to their preferred replicas where those are in sync; replies whether there may be more."""
    return _elections(state, Election.PREFERRED, lambda _, partition: partition.leader != partition.replicas[0])


def elect_uncleanly(state: MetadataState) -> Decision[bool]:
    """Elect a live replica for each partition without a leader whose topic permits it.

    The reply says whether there may be more.
    """
    return _elections(
        state, Election.UNCLEAN, lambda topic, partition: partition.leader == NO_LEADER and _unclean(state, topic)
    )


def _elections(
    state: MetadataState, election: Election, needed: Callable[[TopicImage, PartitionRegistration], bool]
) -> Decision[bool]:
    """At most `MAX_ELECTIONS` elections of partitions that need one; whether there may be more."""
    records: list[MetadataRecord] = []
    rules = _rules(state)
    for topic, index, before in _partitions(state):
        if not needed(topic, before):
            continue
        change = _change(state, topic, before, rules)
        change.election = election
        records += change.records(topic.topic_id, index)
        if len(records) >= MAX_ELECTIONS:
            break
    return records, len(records) >= MAX_ELECTIONS


# -- brokers that go and come


def after_loss(state: MetadataState, nodes: frozenset[int], *, crashed: bool = False) -> list[MetadataRecord]:
    """The records when brokers go: their partitions get other leaders, and ISRs without them.

    `crashed`: they register again after a crash, and may have lost records (KIP-966).
    """
    records: list[MetadataRecord] = []
    rules = _rules(state, gone=nodes)
    suspected = nodes if crashed and rules.elr_enabled else frozenset()
    for topic, index, before in _partitions(state):
        if nodes.isdisjoint(before.isr) and suspected.isdisjoint(before.elr):
            continue
        change = _change(state, topic, before, rules)
        change.isr = without(before.isr, nodes)
        change.crashed = suspected
        if _unclean(state, topic):
            change.election = Election.UNCLEAN
        records += change.records(topic.topic_id, index)
    return records


def after_return(state: MetadataState, nodes: frozenset[int]) -> list[MetadataRecord]:
    """The records when brokers come back: leaders for partitions without one, and their replicas in sync."""
    records: list[MetadataRecord] = []
    rules = _rules(state, back=nodes)
    for topic, index, before in _partitions(state):
        if nodes.isdisjoint(before.replicas):
            continue
        change = _change(state, topic, before, rules)
        change.rejoin = not state.replicas_differ(topic.topic_id, index)
        if before.leader == NO_LEADER and _unclean(state, topic):
            change.election = Election.UNCLEAN
        records += change.records(topic.topic_id, index)
    return records


# -- inside


def _partitions(state: MetadataState) -> Iterator[_Place]:
    for topic in state.image.topics.values():
        for index, registration in enumerate(topic.partitions):
            yield topic, index, registration


def _change(
    state: MetadataState, topic: TopicImage, before: PartitionRegistration, rules: Rules | None = None
) -> PartitionChange:
    min_isr = min(_log_config(state, topic).min_insync_replicas, topic.replication_factor)
    return PartitionChange(before, rules or _rules(state), min_isr)


def _unclean(state: MetadataState, topic: TopicImage) -> bool:
    """Whether a replica that is not in sync may lead if no other one can."""
    return _log_config(state, topic).unclean_leader_election_enable


def _log_config(state: MetadataState, topic: TopicImage) -> LogConfig:
    return state.config.log_config(state.image.configs_of(ResourceType.TOPIC, topic.name))


def _rules(state: MetadataState, gone: Iterable[int] = (), back: Sequence[int] | frozenset[int] = ()) -> Rules:
    live = {broker.id for broker in state.image.active_brokers()}
    live = (live | set(back)) - set(gone)
    directories = {node: directory_of(state.image, node) for node in state.image.brokers}
    return Rules(live.__contains__, state.image.feature(ELR_VERSION) > 0, directories)


# -- Replicas that move: what becomes of a partition when a reassignment begins or is cancelled (KIP-455).


class Reassignment(NamedTuple):
    """New replicas for a partition; None cancels what is under way."""

    partition: PartitionKey
    replicas: Sequence[int] | None


def reassign_partitions(
    state: MetadataState, reassignments: Sequence[Reassignment], *, allow_factor_change: bool = True
) -> Decision[list[KafkaError | None]]:
    """Give partitions other replicas; replies for each in order.

    A reassignment is under way until all replicas that it adds are in sync; who completes it is whatever changes the
    replicas in sync.
    """
    return each_by_itself(reassignments, lambda asked: _reassigned(state, asked, allow_factor_change))


def _reassigned(state: MetadataState, asked: Reassignment, allow_factor_change: bool) -> list[PartitionChangeRecord]:
    (name, index), replicas = asked
    topic = state.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {name}.")
    if not 0 <= index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {name}:{index}.")
    before = topic.partitions[index]
    if replicas is None:
        return _cancelled(state, topic, index, before)
    check_replicas(state.image.brokers, replicas, None)
    if not allow_factor_change:
        _check_factor(before, replicas)
    change = _change(state, topic, before)
    removing = sorted(set(before.replicas) - set(replicas))
    change.replicas = (*replicas, *removing)
    # As on Kafka: what an earlier reassignment adds or removes is kept where the new one does nothing of that kind.
    change.removing = tuple(removing) or before.removing
    change.adding = tuple(sorted(set(replicas) - set(before.replicas))) or before.adding
    return change.records(topic.topic_id, index)


def _cancelled(
    state: MetadataState, topic: TopicImage, index: int, before: PartitionRegistration
) -> list[PartitionChangeRecord]:
    """Back to the replicas before the reassignment."""
    if not before.is_reassigned:
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    added = frozenset(before.adding)
    change = _change(state, topic, before)
    change.replicas = without(before.replicas, added)
    change.isr = without(before.isr, added)
    change.adding = change.removing = ()
    if _unclean(state, topic):
        change.election = Election.UNCLEAN
    if not change.replicas:
        text = "Invalid replica assignment: addingReplicas contains all replicas."
        raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text)
    if not change.isr:
        if not _unclean(state, topic):
            text = f"Unable to revert partition assignment for {topic.name}:{index} because it would require an "
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, text + "unclean leader election.")
        change.isr = change.replicas[:1]
    return change.records(topic.topic_id, index)


def _check_factor(before: PartitionRegistration, replicas: Sequence[int]) -> None:
    count = len((set(before.replicas) | set(before.adding)) - set(before.removing))
    if count != len(replicas):
        text = f"The replication factor is changed from {count} to {len(replicas)}"
        raise KafkaError(ErrorCode.INVALID_REPLICATION_FACTOR, text)
