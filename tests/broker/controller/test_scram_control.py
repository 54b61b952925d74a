"""What a change of SCRAM users writes; tests/vectors/credential_conversations.json.gz has Kafka's answers."""

from __future__ import annotations

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.scram_control import ScramDeletion, ScramUpsertion, alter_scram_users
from odradek.broker.controller.state import MetadataState
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.metadata_records.remove_user_scram_credential_record import (
    RemoveUserScramCredentialRecord,
)
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from tests.scenarios.scram_client import salted_password


def test_a_credential_is_stored_as_the_keys_of_rfc_5802() -> None:
    salted = salted_password("pencil", b"salt", 4096)
    state = MetadataState(ImageWriter().image, BrokerConfig({}), 1)
    (record,), (outcome,) = alter_scram_users(state, [], [ScramUpsertion("alice", 1, 4096, b"salt", salted)])
    assert outcome == ("alice", None)
    assert isinstance(record, UserScramCredentialRecord)
    assert (record.name, record.mechanism, record.salt, record.iterations) == ("alice", 1, b"salt", 4096)
    assert salted not in (record.stored_key, record.server_key)
    assert len(record.stored_key) == len(record.server_key) == 32


def test_what_is_deleted_has_to_be_there() -> None:
    writer = ImageWriter()
    writer.replay(UserScramCredentialRecord("alice", 2, b"s", b"k", b"k", 4096), 0, 1)
    state = MetadataState(writer.image, BrokerConfig({}), 1)
    records, outcomes = alter_scram_users(state, [ScramDeletion("alice", 2), ScramDeletion("bob", 1)], [])
    (record,) = records
    assert isinstance(record, RemoveUserScramCredentialRecord)
    assert (record.name, record.mechanism) == ("alice", 2)
    assert {name: None if error is None else error.code for name, error in outcomes} == {
        "alice": None,
        "bob": ErrorCode.RESOURCE_NOT_FOUND,
    }


def test_a_user_who_occurs_twice_is_not_changed() -> None:
    state = MetadataState(ImageWriter().image, BrokerConfig({}), 1)
    rows = [ScramUpsertion("alice", mechanism, 4096, b"salt", b"p" * 32) for mechanism in (1, 2, 1)]
    records, (outcome,) = alter_scram_users(state, [], rows)
    assert records == []
    assert outcome.error is not None
    assert outcome.error.code == ErrorCode.DUPLICATE_RESOURCE


def test_a_credential_to_set_does_not_show_its_secrets() -> None:
    assert repr(ScramUpsertion("alice", 1, 4096, b"salt", b"secret")) == "ScramUpsertion('alice', 1)"
