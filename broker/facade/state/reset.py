"""Resets a broker: undoes what a test has set, and drops what clients have left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from odradek.broker.controller.machine import adopt
from odradek.broker.facade.state.restore import forget_clients
from odradek.broker.metadata.image import MetadataImage, TopicImage
from odradek.broker.metadata.image_diff import records_between
from odradek.broker.nodes.added_nodes import keep_nodes
from odradek.broker.nodes.node_life import start_node, start_with, thaw_all
from odradek.broker.nodes.upgrades import go_back
from odradek.protocol.uuids import new_uuid

if TYPE_CHECKING:
    from odradek.broker.cluster import Cluster


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
    from odradek.broker.nodes.links import mend_all

    thaw_all(cluster)
    cluster.heal_wires()
    if cluster.disks is not None or cluster.durability is not None:
        from odradek.broker.nodes.disks import mend_disk

        mend_disk(cluster)
    if cluster.server.has_bad_links:
        mend_all(cluster)
    cluster.replicator.heal()
    for node in cluster.nodes.values():
        if not node.up and node.id in cluster.image.brokers:
            start_node(cluster, node.id)


def _release_holds(cluster: Cluster) -> None:
    services = cluster.services
    if services.transactions.made is not None:
        for hold in services.transactions.made.holds.active():
            hold.release()
    for service in (services.groups.made, services.transactions.made, services.share_states.made):
        if service is not None:
            service.release_loads()


def _forget_data(cluster: Cluster) -> None:
    start = cluster.start_image or cluster.image
    with cluster.replicator.replaced():
        records = list(records_between(cluster.image, _with_new_topics(start), lambda topic_id, index: 0))
        if records:
            cluster.controller.ask(adopt, records)
    cluster.replicator.go_on_with((), cluster.replicator.snapshot)
    services = cluster.services
    for service in (services.groups.made, services.transactions.made, services.share_states.made):
        if service is not None:
            service.close()
    if services.telemetry.made is not None:
        services.telemetry.made.go_on_with(())
    if services.groups.made is not None:
        for watcher in list(services.groups.made.watchers.values()):
            watcher()


def _with_new_topics(start: MetadataImage) -> MetadataImage:
    """The image of the start with its topics made anew: clients see that they are others. Kafka's own come by use."""
    topics = [
        TopicImage(topic.name, new_uuid(), topic.partitions) for topic in start.topics.values() if not topic.internal
    ]
    image = MetadataImage(
        topics={topic.name: topic for topic in topics},
        topics_by_id={topic.topic_id: topic for topic in topics},
        colliding_names=start.colliding_names,
        configs=start.configs,
        brokers=start.brokers,
        controllers=start.controllers,
        features=start.features,
        acls=start.acls,
        acl_ids=start.acl_ids,
        scram=start.scram,
        delegation_tokens=start.delegation_tokens,
        quotas=start.quotas,
    )
    image.next_producer_id = start.next_producer_id
    return image


def _set_clock(cluster: Cluster, *, kept: bool) -> None:
    """Show the machine's time. Sessions and rounds of maintenance keep their end."""
    before_ms = cluster.clock.now_ms()
    cluster.clock.set_ms(None)
    step_ms = cluster.clock.now_ms() - before_ms
    cluster.maintenance.go_on_from([last_ms + step_ms for last_ms in cluster.maintenance.last_rounds()])
    cluster.quota_switch.forget_usage(cluster.image)
    services = cluster.services
    if not kept:
        return
    for service in (services.groups.made, services.transactions.made, services.share_states.made):
        for shard in () if service is None else service.running():
            shard.shift_timers(step_ms)
    if services.share_partitions.made is not None:
        services.share_partitions.made.forget_all()
