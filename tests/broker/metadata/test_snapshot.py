"""Snapshots: the records of an image make the same image again."""

from __future__ import annotations

from odradek.broker.cluster import Cluster
from odradek.broker.controller.machine import adopt
from odradek.broker.metadata.image import MetadataImage
from odradek.broker.metadata.snapshot import records_of
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
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


def test_an_empty_image() -> None:
    assert list(records_of(ImageWriter().image)) == []


def test_everything_there_is() -> None:
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
