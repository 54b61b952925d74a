"""Restores a snapshot, or the state of the start, in a running broker. The addresses stay the same.

Connections are closed first, so that no request in flight reaches the restored state; clients reconnect. The metadata
is restored by records (`metadata.changes`), so every publisher follows. Then partitions get copies of the logs of the
snapshot, and coordinators its machines.

A partition whose log changes gets a higher leader epoch. A client that has read further sees that records are gone, as
after an unclean election, and resets instead of skipping what is written next. Producer ids grow: none is assigned
twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy as shallow_copy
from typing import TYPE_CHECKING, Any

from odradek.broker.controller import machine
from odradek.broker.controller.machine import MAX_BATCH_RECORDS
from odradek.broker.facade.state.snapshot import PartitionKey, Snapshot, forked_into, opened
from odradek.broker.metadata.image import MetadataImage, TopicImage
from odradek.broker.metadata.snapshot import records_between
from odradek.broker.nodes.added_nodes import add_node, go_back, keep_nodes, unregister
from odradek.broker.nodes.links import mend_all
from odradek.broker.nodes.node_life import crash, start_node, start_with, stop_node, take_down, thaw_all, thaw_if_frozen
from odradek.protocol.generated.metadata_records.begin_transaction_record import BeginTransactionRecord
from odradek.protocol.generated.metadata_records.end_transaction_record import EndTransactionRecord
from odradek.protocol.generated.metadata_records.no_op_record import NoOpRecord
from odradek.protocol.generated.metadata_records.partition_record import PartitionRecord
from odradek.protocol.uuids import new_uuid
from odradek.storage.backend import StorageError

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster
    from odradek.broker.controller.snapshot_files import RestoredLogs
    from odradek.broker.coordinator.service import CoordinatorService
    from odradek.broker.partitions.partition import Partition
    from odradek.protocol.message import MetadataRecord


_WHY = "the broker goes back to a snapshot"


def restore(cluster: Cluster, snapshot: Snapshot) -> None:
    """Return to a snapshot of this cluster. Raises TypeError for anything else, ValueError for that of another one."""
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"restore({snapshot!r}): expected what broker.snapshot() returned")
    if not snapshot.is_of(cluster):
        raise ValueError("this snapshot is of another broker: fork() takes a state to another one")
    apply_snapshot(cluster, snapshot)


def apply_snapshot(cluster: Cluster, snapshot: Snapshot) -> None:
    """Restore a snapshot of this cluster, or of another one with the same nodes."""
    _mend(cluster)
    for service in _coordinators_made(cluster):
        service.release_loads()
    for link in snapshot.client_links if snapshot.is_of(cluster) else ():
        cluster.server.links.add(link)
    forget_clients(cluster)
    cluster.set_faults([fault for fault in cluster.faults if fault in snapshot.faults])
    cluster.clock.set_ms(snapshot.now_ms, frozen=snapshot.clock_frozen)
    added = _same_nodes(cluster, snapshot) if snapshot.is_of(cluster) else []
    go_back(cluster, snapshot.releases)
    cluster.controller.set_kraft_version(snapshot.kraft_version)
    cluster.quorum.start_with(snapshot.voters)
    _nodes(cluster, snapshot)
    cluster.coordinators.resting = True
    try:
        with cluster.replicator.replaced():
            files = _metadata(cluster, snapshot)
    finally:
        cluster.coordinators.resting = False
    cluster.membership.listening(added)
    _logs(cluster, snapshot, files)
    _coordinators(cluster, snapshot)
    cluster.maintenance.go_on_from(snapshot.maintained_ms)
    cluster.quota_switch.forget_usage(cluster.image)


def _mend(cluster: Cluster) -> None:
    """Repair disks, and links to clients."""
    if cluster.disks is not None or cluster.durability is not None:
        from odradek.broker.nodes.disks import mend_disks

        mend_disks(cluster)
    if cluster.server.has_bad_links:
        mend_all(cluster)


def _coordinators_made(cluster: Cluster) -> list[CoordinatorService[Any]]:
    services = cluster.services
    made = (services.groups.made, services.transactions.made, services.share_states.made)
    return [service for service in made if service is not None]


def forget_clients(cluster: Cluster) -> None:
    """Close all connections, and drop the state that exists only while clients are connected."""
    cluster.server.cut_all(_WHY)
    cluster.fetch_sessions.clear()
    shared = cluster.services.share_partitions.made
    if shared is not None:
        shared.forget_all()
    for service in _coordinators_made(cluster):
        service.close()


def _same_nodes(cluster: Cluster, snapshot: Snapshot) -> list[int]:
    """Restore the nodes and their own configs. Returns the nodes that had left since."""
    config = snapshot.config
    keep_nodes(cluster, config.node_ids)
    gone = [node_id for node_id in config.later_ids if node_id not in cluster.nodes]
    for node_id in gone:
        add_node(cluster, node_id, config.static_nodes.get(node_id, {}))
    start_with(cluster, config)
    return gone


def _nodes(cluster: Cluster, snapshot: Snapshot) -> None:
    """Start, stop and thaw nodes. Nodes are started first, because there must be leaders."""
    for node_id in set(cluster.frozen):
        if node_id not in snapshot.frozen_nodes or not cluster.nodes[node_id].up:
            thaw_if_frozen(cluster, node_id)
    for node in cluster.nodes.values():
        goes_on = node.id in snapshot.stopped_nodes and node.controls_alone == (node.id in snapshot.controllers_alone)
        if not node.up and not goes_on:
            start_node(cluster, node.id)
    for node_id, in_order in snapshot.stopped_nodes.items():
        if not cluster.nodes[node_id].up:
            continue
        if node_id in snapshot.controllers_alone:
            stop_node(cluster, node_id, broker_only=True)
        else:
            (take_down if in_order else crash)(cluster, cluster.nodes[node_id])
        if node_id not in snapshot.image.brokers:
            unregister(cluster, node_id)
    if cluster.members[snapshot.controller_id].controls:
        cluster.controller.take_over(snapshot.controller_id)


def _metadata(cluster: Cluster, snapshot: Snapshot) -> RestoredLogs | None:
    """Restore the image. Partitions whose log changes get a new leader epoch.

    Returns the files to put in place, if the snapshot has files.
    """
    live = dict(opened(cluster.topics))

    def least_epoch(topic_id: bytes, index: int) -> int:
        key = topic_id, index
        if topic_id not in cluster.image.topics_by_id:
            known = snapshot.image.topics_by_id[topic_id].partitions[index].leader_epoch
            return max(cluster.rewound_epochs.get(key, 0), known) + 1 if snapshot.is_of(cluster) else 0
        return 1 if key in live and _differs(live[key], key, snapshot) else 0

    records = list(records_between(cluster.image, snapshot.image, least_epoch))
    if cluster.directory is None or snapshot.kept is None:
        if records:
            cluster.controller.ask(machine.adopt, records)
        return None

    return adopt(cluster, snapshot, records)


def _differs(partition: Partition, key: PartitionKey, snapshot: Snapshot) -> bool:
    copy = snapshot.partitions.get(key)
    if copy is None:
        return bool(partition.log.log_end_offset)
    return not copy.matches(partition)


def _logs(cluster: Cluster, snapshot: Snapshot, files: RestoredLogs | None) -> None:
    """Give each partition its log of the snapshot, unless it has the same content."""
    differing = []
    copied = forked_into(cluster.topics.backend, snapshot.now_ms)
    for key, partition in list(opened(cluster.topics)):
        if key not in snapshot.partitions and _differs(partition, key, snapshot):
            partition.go_on_with(None, None, cluster.replicator)
            cluster.rewound_epochs[key] = partition.leader_epoch
    if files is not None:
        put_in_place(cluster, snapshot, files)
        copied = files.take
    for key, copy in snapshot.partitions.items():
        partition = cluster.partition(*key)
        if copy.matches(partition):
            continue
        log, replicas = copy.put_into(partition, copied)
        partition.go_on_with(log, replicas, cluster.replicator)
        copy.restored_in(partition)
        cluster.rewound_epochs[key] = partition.leader_epoch
        if replicas is not None:
            differing.append(partition)
    cluster.replicator.go_on_with(differing, snapshot.replication)


def _coordinators(cluster: Cluster, snapshot: Snapshot) -> None:
    services = cluster.services
    if snapshot.transactions or services.transactions.made is not None:
        services.transactions().holds.go_on_with(snapshot.holds)
        services.transactions().go_on_with(snapshot.transactions)
    if snapshot.share_states or services.share_states.made is not None:
        services.share_states().go_on_with(snapshot.share_states)
    if snapshot.groups or services.groups.made is not None:
        groups = services.groups()
        groups.go_on_with(snapshot.groups)
        for watcher in list(groups.watchers.values()):
            watcher()
    if snapshot.share_partitions or services.share_partitions.made is not None:
        services.share_partitions().go_on_with(snapshot.share_partitions, cluster.partition)
    if snapshot.pushes or services.telemetry.made is not None:
        services.telemetry().go_on_with(snapshot.pushes)


def whole(records: Sequence[MetadataRecord]) -> list[MetadataRecord]:
    """The records as one atomic unit: a batch, or a metadata transaction. A NoOpRecord if there are none."""
    if len(records) <= MAX_BATCH_RECORDS:
        return list(records) or [NoOpRecord()]
    return [BeginTransactionRecord("Restore"), *records, EndTransactionRecord()]


def adopt(cluster: Cluster, snapshot: Snapshot, records: Sequence[MetadataRecord]) -> RestoredLogs:
    """Lay out the files, and append the records that commit them. Returns the files to put in place."""
    files = _laid_out(cluster, snapshot, records)
    if records or not files.is_empty:
        written = whole(records)
        try:
            files.begin(len(written))
            cluster.controller.ask(machine.adopt, written)
        except BaseException:
            files.give_up()
            raise
    return files


def _laid_out(cluster: Cluster, snapshot: Snapshot, records: Sequence[MetadataRecord]) -> RestoredLogs:
    """Lay out files for the partitions that differ from the snapshot, or that the records change."""
    assert cluster.directory is not None
    cluster.directory.open_all(cluster.topics)
    logs = cluster.directory.new_restored_logs()
    live = dict(opened(cluster.topics))
    changed = {(each.topic_id, each.partition_id) for each in records if isinstance(each, PartitionRecord)}
    try:
        for key, copy in snapshot.partitions.items():
            if key in changed or key not in live or not copy.matches(live[key]):
                logs.add(copy.log, key[0], snapshot.image.topics_by_id[key[0]].partitions[key[1]])
        for key, partition in _without_copy(cluster, snapshot):
            if key in snapshot.partitions or (key in live and not partition.log.log_end_offset):
                continue
            logs.drop((partition.topic.name, partition.index))
    except BaseException:
        logs.give_up()
        raise
    return logs


def _without_copy(cluster: Cluster, snapshot: Snapshot) -> Iterable[tuple[PartitionKey, Partition]]:
    """Partitions that exist in the snapshot and were empty in it."""
    for topic in cluster.topics.all():
        for partition in topic.partitions:
            key = topic.topic_id, partition.index
            if topic.topic_id in snapshot.image.topics_by_id and key not in snapshot.partitions:
                yield key, partition


def put_in_place(cluster: Cluster, snapshot: Snapshot, logs: RestoredLogs) -> None:
    """Close the replaced logs and rename the new folders, after the metadata was written.

    Raises StorageError if that fails half-way. These partitions are then offline until the next start, which completes
    the change.
    """
    gone = []
    for key, partition in opened(cluster.topics):
        copy = snapshot.partitions.get(key)
        if copy is not None and not copy.matches(partition):
            gone.append(partition)
            partition.let_go()
    try:
        logs.execute()
    except StorageError as error:
        for partition in gone:
            partition.fail(error)
        raise


def reset(cluster: Cluster, *, data: bool) -> None:
    """End faults, holds and everything else that a test has set.

    The clock follows the machine's; all nodes and the schema registry are up. With `data`, connections are cut, nodes
    have the releases and configs of the start, and topics, groups, transactions and changed configs, users and ACLs are
    dropped.
    The topics of the start are created again, empty and with new ids.
    """
    cluster.set_faults([])
    if cluster.schema_registry is not None:
        cluster.schema_registry.resume()
    if data:
        keep_nodes(cluster, cluster.config_at_start.node_ids)
        start_with(cluster, cluster.config_at_start)
    heal(cluster)
    for node in cluster.nodes.values():
        if data and not node.up:  # it was unregistered
            start_node(cluster, node.id)
    _release_holds(cluster)
    if data:
        forget_clients(cluster)
        go_back(cluster, cluster.releases_at_start)
        cluster.controller.set_kraft_version(cluster.kraft_version_at_start)
        cluster.quorum.start_with(cluster.members)
        _forget_data(cluster)
    _set_clock(cluster, kept=not data)


def heal(cluster: Cluster) -> None:
    """Undo everything that a test did to nodes, links, disks and replicas; thaw and start all nodes."""
    thaw_all(cluster)
    cluster.heal_wires()
    _mend(cluster)
    cluster.replicator.heal()
    for node in cluster.nodes.values():
        if not node.up and node.id in cluster.image.brokers:
            start_node(cluster, node.id)


def _release_holds(cluster: Cluster) -> None:
    transactions = cluster.services.transactions.made
    for hold in () if transactions is None else transactions.holds.active():
        hold.release()
    for service in _coordinators_made(cluster):
        service.release_loads()


def _forget_data(cluster: Cluster) -> None:
    start = cluster.start_image or cluster.image
    with cluster.replicator.replaced():
        records = list(records_between(cluster.image, _with_new_topics(start), lambda topic_id, index: 0))
        if records:
            cluster.controller.ask(machine.adopt, records)
    cluster.replicator.go_on_with((), cluster.replicator.snapshot)
    for service in _coordinators_made(cluster):
        service.close()
    services = cluster.services
    if services.telemetry.made is not None:
        services.telemetry.made.go_on_with(())
    if services.groups.made is not None:
        for watcher in list(services.groups.made.watchers.values()):
            watcher()


def _with_new_topics(start: MetadataImage) -> MetadataImage:
    """The image of the start with new topic ids. Internal topics are left out: they are created on first use."""
    topics = [
        TopicImage(topic.name, new_uuid(), topic.partitions) for topic in start.topics.values() if not topic.internal
    ]
    image = shallow_copy(start)
    image.topics = {topic.name: topic for topic in topics}
    image.topics_by_id = {topic.topic_id: topic for topic in topics}
    return image


def _set_clock(cluster: Cluster, *, kept: bool) -> None:
    """Follow the machine's clock. Session timeouts and maintenance rounds keep their remaining time."""
    before_ms = cluster.clock.now_ms()
    cluster.clock.set_ms(None)
    step_ms = cluster.clock.now_ms() - before_ms
    cluster.maintenance.go_on_from([last_ms + step_ms for last_ms in cluster.maintenance.last_rounds()])
    cluster.quota_switch.forget_usage(cluster.image)
    if not kept:
        return
    for service in _coordinators_made(cluster):
        for shard in service.running():
            shard.timers.shift(step_ms)
    shared = cluster.services.share_partitions.made
    if shared is not None:
        shared.forget_all()
