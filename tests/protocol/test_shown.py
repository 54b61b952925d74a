"""Text of clients as logs, reports and terminals show it."""

from __future__ import annotations

import json
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
from odradek.protocol.shown import counted, is_secret_config, one_line, place_name, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("User:alice \u00e9 \u4f8b", "User:alice \u00e9 \u4f8b"),
        ("a\n2026 INFO all is well\r\t", "a\\n2026 INFO all is well\\r\\t"),
        ("\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"),
        ("\x9b2J\x85", "\\u009b2J\\u0085"),
        ("\u202eevil\u2066\u200b\u2028", "\\u202eevil\\u2066\\u200b\\u2028"),
        ("\ud800\x00\x7f", "\\ud800\\u0000\\u007f"),
        ("\U000e0041\U0001f600", "\\udb40\\udc41\U0001f600"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, shown: str) -> None:
    assert one_line(text) == shown
    assert one_line(shown) == shown


def test_the_line_breaks_of_a_text_stay() -> None:
    assert printable("a\x1b\n\n\u202eb\r\n") == "a\\u001b\n\n\\u202eb\\r\n"


def test_json_stays_what_it_is() -> None:
    value = {"a\x9b\x7f": ["\u202e\ud800", "\U000e0041\n"]}
    assert json.loads(one_line(json.dumps(value, ensure_ascii=False))) == value
    assert json.loads(printable(json.dumps(value, ensure_ascii=False, indent=2))) == value


def test_numbers_and_places_read_as_words() -> None:
    assert [counted(number, "record") for number in (0, 1, 2)] == ["0 records", "1 record", "2 records"]
    assert (place_name("orders", None), place_name("orders", 0)) == ("topic 'orders'", "partition orders-0")


# -- Which fields of messages are secrets: they are in no repr, dump or report.


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
