"""What a change of SCRAM users writes; tests/vectors/credential_conversations.json.gz has Kafka's answers."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.controller.machine import MetadataState
from odradek.broker.controller.scram_control import ScramDeletion, ScramUpsertion, alter_scram_users
from odradek.broker.metadata.writer import ImageWriter
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.metadata_records.feature_level_record import FeatureLevelRecord
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


def test_scram_deletion_of_an_unknown_credential_is_refused() -> None:
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


@pytest.mark.parametrize(
    ("changed", "code", "text"),
    [
        ({"iterations": 4096}, None, None),
        ({"iterations": 16384}, None, None),
        ({"iterations": 4095}, ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        ({"iterations": 16385}, ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        ({"name": ""}, ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        ({"mechanism": 0}, ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        ({"mechanism": 3}, ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        ({"salted_password": b""}, ErrorCode.UNKNOWN_SERVER_ERROR, None),
    ],
)
def test_alter_user_scram_credentials_takes_4096_to_16384_iterations_and_what_a_key_is_made_of(
    changed: dict[str, Any], code: ErrorCode | None, text: str | None
) -> None:
    state = MetadataState(ImageWriter().image, BrokerConfig({}), 1)
    asked = ScramUpsertion("alice", 2, 5000, b"salt", b"p" * 64)._replace(**changed)
    records, ((name, error),) = alter_scram_users(state, [], [asked])
    assert (name, len(records)) == (asked.name, 1 if code is None else 0)
    assert (error and error.code, error and error.message) == (code, text)


@pytest.mark.parametrize(
    ("removed", "code"),
    [(ScramDeletion("", 1), ErrorCode.UNACCEPTABLE_CREDENTIAL), (ScramDeletion("alice", 3), 33)],
)
def test_alter_user_scram_credentials_looks_at_a_deletion_first(removed: ScramDeletion, code: int) -> None:
    writer = ImageWriter()
    writer.replay(UserScramCredentialRecord("alice", 1, b"s", b"k", b"k", 4096), 0, 1)
    state = MetadataState(writer.image, BrokerConfig({}), 1)
    records, ((_, error),) = alter_scram_users(state, [removed], [])
    assert records == []
    assert error is not None
    assert error.code == code
    records, outcomes = alter_scram_users(state, [removed, removed], [])
    assert [each.error and each.error.code for each in outcomes] == [code], "told once, with the first error"


def test_a_user_who_is_deleted_and_set_in_one_request_is_not_changed() -> None:
    writer = ImageWriter()
    writer.replay(UserScramCredentialRecord("alice", 1, b"s", b"k", b"k", 4096), 0, 1)
    state = MetadataState(writer.image, BrokerConfig({}), 1)
    set_again = ScramUpsertion("alice", 2, 4096, b"salt", b"p")
    for removed, added in (([ScramDeletion("alice", 1)], [set_again]), ([ScramDeletion("alice", 1)] * 2, [])):
        records, (outcome,) = alter_scram_users(state, removed, added)
        assert records == []
        assert outcome.error is not None
        assert outcome.error.code == ErrorCode.DUPLICATE_RESOURCE


@pytest.mark.parametrize(("level", "refused"), [(10, True), (11, False)])
def test_scram_users_need_metadata_version_3_5_iv2(level: int, refused: bool) -> None:
    writer = ImageWriter()
    writer.replay(FeatureLevelRecord("metadata.version", level), 0, 1)
    state = MetadataState(writer.image, BrokerConfig({}), 1)
    rows = [ScramUpsertion("alice", 1, 4096, b"salt", b"p" * 32)]
    records, (outcome,) = alter_scram_users(state, [], rows)
    assert bool(records) is not refused
    assert (outcome.error is not None and outcome.error.code is ErrorCode.UNSUPPORTED_VERSION) is refused


def test_a_user_who_occurs_twice_is_not_changed() -> None:
    state = MetadataState(ImageWriter().image, BrokerConfig({}), 1)
    rows = [ScramUpsertion("alice", mechanism, 4096, b"salt", b"p" * 32) for mechanism in (1, 2, 1)]
    records, (outcome,) = alter_scram_users(state, [], rows)
    assert records == []
    assert outcome.error is not None
    assert outcome.error.code == ErrorCode.DUPLICATE_RESOURCE


def test_a_credential_to_set_does_not_show_its_secrets() -> None:
    assert repr(ScramUpsertion("alice", 1, 4096, b"salt", b"secret")) == "ScramUpsertion('alice', 1)"
