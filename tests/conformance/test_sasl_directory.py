"""Directories with users of SCRAM, tokens and quotas go both ways between odradek and a real Kafka; log-ins go on."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import odradek
from odradek.client_security.options import ClientSecurity
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from odradek.protocol.generated.messages.describe_client_quotas import DescribeClientQuotasRequest
from odradek.protocol.generated.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from odradek.protocol.generated.messages.expire_delegation_token import ExpireDelegationTokenRequest
from odradek.protocol.generated.messages.renew_delegation_token import RenewDelegationTokenRequest
from odradek.wire_client import WireClient
from tests.conformance.real_kafka import RealKafka, free_ports
from tests.scenarios.sasl_broker import jaas, sasl_properties
from tests.scenarios.sasl_targets import accepts
from tests.scenarios.scram_client import salted_password
from tests.scenarios.target import wait_until

pytestmark = pytest.mark.jdk
MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
Ports = dict[str, int]
Quotas = set[tuple[tuple[tuple[str, str | None], ...], str, float]]


@dataclass(frozen=True)
class Token:
    """A delegation token as its owner has it, and its times (ms since 1970)."""

    name: str
    hmac: bytes
    issued_ms: int
    longest_ms: int

    @property
    def password(self) -> str:
        return base64.b64encode(self.hmac).decode()


@pytest.fixture
def ports() -> Ports:
    return dict(zip(("PLAINTEXT", "SASL", "CONTROLLER"), free_ports(3), strict=True))


def _config(ports: Ports, *, controller: bool) -> dict[str, str]:
    others = {name: port for name, port in ports.items() if name != "CONTROLLER"}
    return sasl_properties(others, ("CONTROLLER", ports["CONTROLLER"]) if controller else None)


@contextmanager
def ours(folder: Path, ports: Ports) -> Iterator[None]:
    with odradek.KafkaBroker(
        data_dir=folder / "data", config={"node.id": 0, **_config(ports, controller=False)}
    ) as one:
        yield
        assert not one.bugs


@contextmanager
def kafkas(folder: Path, ports: Ports) -> Iterator[None]:
    kafka = RealKafka(folder=folder, port=ports["PLAINTEXT"], config=_config(ports, controller=True))
    with kafka.running():
        yield


def logged_in(ports: Ports, user: str) -> WireClient:
    login = {
        "sasl.mechanism": MECHANISMS[0],
        "sasl.jaas.config": jaas(MECHANISMS[0], username=user, password=_secret(user)),
    }
    security = ClientSecurity.parse({"security.protocol": "SASL_PLAINTEXT", **login})
    return WireClient("127.0.0.1", ports["SASL"], timeout_s=60, security=security)


def _secret(user: str) -> str:
    return f"{user}'s secret"


def add_user(ports: Ports, user: str) -> None:
    with WireClient("127.0.0.1", ports["PLAINTEXT"], timeout_s=60) as client:
        for number, hash_name in ((1, "sha256"), (2, "sha512")):
            salt = os.urandom(16)
            salted = salted_password(_secret(user), salt, 5000, hash_name)
            upsertion = ScramCredentialUpsertion(user, number, 5000, salt, salted)
            answer = client.request(AlterUserScramCredentialsRequest([], [upsertion]))
            assert [result.error_code for result in answer.results] == [0]
        quota = EntryData(
            [EntityData("user", user), EntityData("client-id", None)], [OpData("producer_byte_rate", 1e6)]
        )
        assert [entry.error_code for entry in client.request(AlterClientQuotasRequest([quota])).entries] == [0]
    for mechanism in MECHANISMS:
        wait_until(user, lambda each=mechanism: accepts(ports["SASL"], each, user, _secret(user)))  # type: ignore[misc]


def drop_user(ports: Ports, user: str) -> None:
    with WireClient("127.0.0.1", ports["PLAINTEXT"], timeout_s=60) as client:
        for number in (1, 2):
            answer = client.request(AlterUserScramCredentialsRequest([ScramCredentialDeletion(user, number)], []))
            assert [result.error_code for result in answer.results] == [0]
        gone = EntryData(
            [EntityData("user", user), EntityData("client-id", None)], [OpData("producer_byte_rate", 0.0, remove=True)]
        )
        assert [entry.error_code for entry in client.request(AlterClientQuotasRequest([gone])).entries] == [0]


def new_token(ports: Ports, user: str) -> Token:
    with logged_in(ports, user) as client:
        answer = client.request(CreateDelegationTokenRequest(renewers=[CreatableRenewers("User", "renewer")]))
    assert answer.error_code == 0
    return Token(answer.token_id, bytes(answer.hmac), answer.issue_timestamp_ms, answer.max_timestamp_ms)


def expect(ports: Ports, tokens: dict[str, Token], gone: tuple[str, ...] = ()) -> None:
    """Each user and its token may log in, is described, and has a quota; a wrong password is none."""
    for user, token in tokens.items():
        for mechanism in MECHANISMS:

            def let_in(name: str, password: str, *, token: bool = False, mechanism: str = mechanism) -> bool:
                options = {"tokenauth": "true"} if token else {}
                return accepts(ports["SASL"], mechanism, name, password, **options)

            wait_until("the user", lambda let_in=let_in, user=user: let_in(user, _secret(user)))  # type: ignore[misc]
            wait_until("the token", lambda let_in=let_in, it=token: let_in(it.name, it.password, token=True))  # type: ignore[misc]
            assert not let_in(user, "guess")
            assert not let_in(token.name, "guess", token=True)
        with logged_in(ports, user) as client:
            (row,) = client.request(DescribeDelegationTokenRequest([DescribeDelegationTokenOwner("User", user)])).tokens
        assert Token(row.token_id, bytes(row.hmac), row.issue_timestamp, row.max_timestamp) == token
        assert [(each.principal_type, each.principal_name) for each in row.renewers] == [("User", "renewer")]
    for user in gone:
        assert not accepts(ports["SASL"], MECHANISMS[0], user, _secret(user))
    wanted = {((("client-id", None), ("user", user)), "producer_byte_rate", 1e6) for user in tokens}
    wait_until("the quotas", lambda: _quotas(ports) == wanted)


def _quotas(ports: Ports) -> Quotas:
    with WireClient("127.0.0.1", ports["PLAINTEXT"], timeout_s=60) as client:
        entries = client.request(DescribeClientQuotasRequest([], False)).entries
    return {
        (tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)), value.key, value.value)
        for entry in entries or ()
        for value in entry.values
    }


def test_users_and_tokens_go_there_and_back(tmp_path: Path, ports: Ports) -> None:
    with ours(tmp_path, ports):
        for user in ("ann", "bob"):
            add_user(ports, user)
        ann, bob = new_token(ports, "ann"), new_token(ports, "bob")
    with kafkas(tmp_path, ports):
        expect(ports, {"ann": ann, "bob": bob})
        add_user(ports, "cho")
        cho = new_token(ports, "cho")
        with logged_in(ports, "bob") as client:
            assert client.request(ExpireDelegationTokenRequest(bob.hmac, -1)).error_code == 0
        drop_user(ports, "bob")
    with ours(tmp_path, ports):
        expect(ports, {"ann": ann, "cho": cho}, gone=("bob",))
        assert not accepts(ports["SASL"], MECHANISMS[0], bob.name, bob.password, tokenauth="true")
        with logged_in(ports, "cho") as client:
            assert client.request(RenewDelegationTokenRequest(cho.hmac, -1)).error_code == 0
    with ours(tmp_path, ports):
        expect(ports, {"ann": ann, "cho": cho}, gone=("bob",))


def test_a_directory_of_kafka_is_taken_over_and_given_back(tmp_path: Path, ports: Ports) -> None:
    with kafkas(tmp_path, ports):
        add_user(ports, "ann")
        ann = new_token(ports, "ann")
    with ours(tmp_path, ports):
        expect(ports, {"ann": ann})
        add_user(ports, "bob")
        bob = new_token(ports, "bob")
    with kafkas(tmp_path, ports):
        expect(ports, {"ann": ann, "bob": bob})
