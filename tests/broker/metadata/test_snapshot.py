"""Snapshots: the records of an image make the same image again."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.metadata.snapshot import records_between, records_of
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records import decode_metadata_record, encode_metadata_record
from tests.fakes.configs import set_configs
from tests.fakes.images import picture
from tests.fakes.nodes import set_node_up


def rebuilt(image: MetadataImage) -> MetadataImage:
    """What the snapshot of an image says, by way of its bytes."""
    writer = ImageWriter()
    for record in records_of(image):
        decoded, _ = decode_metadata_record(encode_metadata_record(record))
        writer.replay(decoded, 0, 1)
    return writer.image


def test_snapshot_of_an_empty_image_has_no_records() -> None:
    assert list(records_of(ImageWriter().image)) == []


def test_snapshot_has_everything_there_is() -> None:
    cluster = Cluster(nodes=3)
    cluster.nodes[2].rack = "r"
    cluster.create_topic("a.b", partitions=3, replication_factor=2, configs={"retention.ms": "5"})
    cluster.ensure_topic("__consumer_offsets")
    set_configs(cluster, 32, "g", {"consumer.session.timeout.ms": "50000"})
    cluster.controller.producer_ids.allocate(1)
    acl = AccessControlEntryRecord(id=b"i" * 16, resource_name="t", principal="User:a")
    scram = UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096)
    quota = ClientQuotaRecord([EntityData("user", None)], "producer_byte_rate", 5.0, False)
    cluster.controller.ask(adopt, [acl, scram, quota])
    for node in (3, 2, 1):
        set_node_up(cluster, node, False)
    set_node_up(cluster, 2, True)
    before, after = picture(cluster.image), picture(rebuilt(cluster.image))
    for kind in ("acls", "scram"):
        records = [list(each.pop(kind).values()) for each in (before, after)]
        shown = [[(type(record), record.principal if kind == "acls" else record.name) for record in r] for r in records]
        assert shown[0] == shown[1]
        assert len(shown[0]) == 1
    assert after == before


def test_the_metadata_version_comes_first() -> None:
    first = next(records_of(Cluster().image))
    assert getattr(first, "name", None) == "metadata.version"


# -- the records that lead from one image to another


def _never(topic_id: bytes, index: int) -> int:
    return 0


def _go(cluster: Cluster, then: MetadataImage) -> list[MetadataRecord]:
    records = list(records_between(cluster.image, then, _never))
    if records:
        cluster.controller.ask(adopt, records)
    return records


def _seen(image: MetadataImage) -> dict[str, object]:
    """What two images must have in common: not how often anything has changed, nor who runs."""
    seen = picture(image)
    for kind in ("brokers", "controllers", "next_producer_id", "offset", "epoch", "topics_version"):
        seen.pop(kind, None)
    return seen


def _fill(cluster: Cluster, mark: int) -> None:
    """One of each kind of thing, and one that only this mark has."""
    name = f"only-{mark}"
    cluster.create_topic(name, partitions=2, configs={"retention.ms": str(mark)})
    set_configs(cluster, 4, "", {"min.insync.replicas": "1", "log.retention.ms": str(1000 + mark)})
    set_configs(cluster, 32, name, {"consumer.session.timeout.ms": "50000"})
    user = [EntityData("user", name)]
    cluster.controller.ask(
        adopt,
        [
            AccessControlEntryRecord(id=bytes([mark]) * 16, resource_name=name, principal="User:a"),
            UserScramCredentialRecord(name, 1, b"salt", b"stored", b"server", 4096 + mark),
            DelegationTokenRecord(owner="User:a", requester="User:a", token_id=name),
            ClientQuotaRecord(user, "producer_byte_rate", 5.0 + mark, False),
            ClientQuotaRecord([EntityData("user", "both")], "producer_byte_rate", 5.0 + mark, False),
            FeatureLevelRecord("group.version", mark % 2),
        ],
    )


def test_an_image_leads_to_itself_by_nothing() -> None:
    cluster = Cluster()
    _fill(cluster, 1)
    assert _go(cluster, cluster.controller.image_copied()) == []


def test_everything_that_was_is_again_and_nothing_else() -> None:
    cluster = Cluster(nodes=2)
    cluster.create_topic("both")
    _fill(cluster, 1)
    then = cluster.controller.image_copied()
    before = _seen(then)
    _fill(cluster, 2)
    cluster.delete_topic("only-1")
    cluster.create_topic("only-1", partitions=1)
    assert _seen(cluster.image) != before
    _go(cluster, then)
    assert _seen(cluster.image) == before
    assert _go(cluster, then) == []


def test_a_topic_that_has_grown_is_made_anew_with_its_id() -> None:
    cluster = Cluster()
    topic_id = cluster.create_topic("t", configs={"retention.ms": "5"}).topic_id
    then = cluster.controller.image_copied()
    cluster.controller.create_partitions("t", 3)
    _go(cluster, then)
    assert cluster.image.topics["t"].topic_id == topic_id
    assert len(cluster.topics.by_name("t").partitions) == 1
    assert cluster.image.configs_of(2, "t") == {"retention.ms": "5"}


def test_a_partition_that_changes_gets_an_epoch_that_nobody_has_seen() -> None:
    cluster = Cluster(nodes=2)
    topic = cluster.create_topic("t", assignments={0: [1, 2], 1: [1, 2]})
    then = cluster.controller.image_copied()
    cluster.membership.lose(1)
    cluster.nodes[1].up = False
    moved = cluster.image.topics["t"].partitions[0]
    _go(cluster, then)
    after = cluster.image.topics["t"].partitions[0]
    assert (moved.leader, moved.leader_epoch) == (2, 1)
    assert (after.leader, after.leader_epoch) == (1, 2)
    assert topic.partitions[0].leader_epoch == 2
    cut = list(records_between(cluster.image, then, lambda _, index: 7 if index else 0))
    assert [getattr(record, "leader_epoch", None) for record in cut] == [7]


def test_snapshot_keeps_the_next_producer_id() -> None:
    cluster = Cluster()
    then = cluster.controller.image_copied()
    cluster.controller.producer_ids.allocate(1)
    assert _go(cluster, then) == []
    assert cluster.image.next_producer_id == 1000
    other = Cluster()
    _go(other, cluster.controller.image_copied())
    assert other.image.next_producer_id == 1000


def test_another_cluster_has_directories_of_its_own() -> None:
    one, other = Cluster(), Cluster()
    one.create_topic("t")
    _go(other, one.image)
    (own,) = other.image.brokers[1].directories
    assert other.image.topics["t"].partitions[0].directories == (own,)
    assert other.image.topics["t"].topic_id == one.image.topics["t"].topic_id
