"""Secrets in no repr: requests, records, configs."""

from __future__ import annotations

from importlib.resources import files

import pytest

from odradek.protocol.generated.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from odradek.protocol.generated.messages.create_delegation_token import CreateDelegationTokenResponse
from odradek.protocol.generated.messages.incremental_alter_configs import AlterableConfig
from odradek.protocol.generated.messages.renew_delegation_token import RenewDelegationTokenRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.metadata_records.config_record import ConfigRecord
from odradek.protocol.generated.metadata_records.user_scram_credential_record import UserScramCredentialRecord
from odradek.protocol.message import Message
from odradek.protocol.secrets import is_secret_config

SECRET = b"hunter2-of-alice"


@pytest.mark.parametrize(
    "message",
    [
        SaslAuthenticateRequest(SECRET),
        ScramCredentialUpsertion("alice", 1, 4096, SECRET, SECRET),
        UserScramCredentialRecord("alice", 1, SECRET, SECRET, SECRET, 4096),
        CreateDelegationTokenResponse(hmac=SECRET),
        RenewDelegationTokenRequest(hmac=SECRET),
        AlterableConfig("listener.name.sasl.plain.sasl.jaas.config", 0, SECRET.decode()),
        ConfigRecord(4, "", "ssl.keystore.password", SECRET.decode()),
    ],
)
def test_a_repr_says_that_there_is_a_secret_and_not_which(message: Message) -> None:
    assert "hunter2" not in repr(message)
    assert "[hidden]" in repr(message)


def test_what_is_no_secret_is_shown() -> None:
    assert repr(AlterableConfig("retention.ms", 0, "1000")).count("1000") == 1
    assert "[hidden]" not in repr(SaslAuthenticateRequest(b""))


def test_every_config_of_type_password_is_a_secret() -> None:
    lines = (files("odradek.broker.config") / "definitions" / "broker.txt").read_text().splitlines()
    names = [line.split("|")[0] for line in lines if "|password|" in line]
    assert len(names) >= 10
    assert [name for name in names if not is_secret_config(f"listener.name.x.{name}")] == []
