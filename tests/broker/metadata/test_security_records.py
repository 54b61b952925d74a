"""ACLs, SCRAM credentials, delegation tokens and quotas in the image."""

from __future__ import annotations

from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.generated.metadata_records.access_control_entry_record import AccessControlEntryRecord
from odradek.protocol.generated.metadata_records.client_quota_record import ClientQuotaRecord, EntityData
from odradek.protocol.generated.metadata_records.delegation_token_record import DelegationTokenRecord
from odradek.protocol.generated.metadata_records.remove_access_control_entry_record import (
    RemoveAccessControlEntryRecord,
)
from odradek.protocol.generated.metadata_records.remove_delegation_token_record import RemoveDelegationTokenRecord
from odradek.protocol.generated.metadata_records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from odradek.protocol.message import MetadataRecord

ID = b"i" * 16


def replay(writer: ImageWriter, *records: MetadataRecord) -> None:
    for record in records:
        writer.replay(record, writer.image.offset + 1, 1)


def test_each_kind_comes_and_goes() -> None:
    writer = ImageWriter()
    acl = AccessControlEntryRecord(id=ID, resource_name="t", principal="User:a")
    scram = UserScramCredentialRecord("alice", 1, b"salt", b"stored", b"server", 4096)
    token = DelegationTokenRecord("User:a", token_id="t1")
    replay(writer, acl, scram, token)
    image = writer.image
    assert (image.acls, image.scram, image.delegation_tokens) == ({ID: acl}, {("alice", 1): scram}, {"t1": token})
    assert writer.take_delta().security
    replay(writer, RemoveAccessControlEntryRecord(ID), RemoveUserScramCredentialRecord("alice", 1))
    replay(writer, RemoveDelegationTokenRecord("t1"))
    assert (image.acls, image.scram, image.delegation_tokens) == ({}, {}, {})


def test_quotas_belong_to_an_entity_in_any_order_of_its_parts() -> None:
    writer = ImageWriter()
    user, client = EntityData("user", "alice"), EntityData("client-id", None)
    replay(writer, ClientQuotaRecord([user, client], "producer_byte_rate", 5.0, False))
    replay(writer, ClientQuotaRecord([client, user], "consumer_byte_rate", 6.0, False))
    entity = (("client-id", None), ("user", "alice"))
    assert writer.image.quotas == {entity: {"producer_byte_rate": 5.0, "consumer_byte_rate": 6.0}}
    replay(writer, ClientQuotaRecord([user, client], "producer_byte_rate", 0.0, True))
    assert writer.image.quotas == {entity: {"consumer_byte_rate": 6.0}}
    replay(writer, ClientQuotaRecord([user, client], "consumer_byte_rate", 0.0, True))
    assert writer.image.quotas == {}
