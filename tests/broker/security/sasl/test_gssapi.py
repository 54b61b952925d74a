"""Principals and the rules that make users of them, as Kafka's KerberosShortNamer reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.credentials import Credentials
from odradek.broker.security.sasl.gssapi import LOGIN_MODULE, GssapiServer, KerberosNames, NoRule, gssapi
from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken, NewSaslServer
from odradek.client_security.login import Gssapi
from odradek.client_security.options import ClientSecurity
from tests.broker.security.sasl.listener_configs import listener_config
from tests.scenarios.kdc import REALM
from tests.scenarios.test_kerberos import RULES, running_kdc


@pytest.mark.parametrize(
    ("rules", "principal", "user"),
    [
        ("DEFAULT", "alice@HERE", "alice"),
        ("DEFAULT", "kafka/host@HERE", "kafka"),
        ("DEFAULT", "alice", "alice"),
        ("RULE:[1:$1]", "alice@THERE", "alice"),
        ("RULE:[2:$1.$2]", "kafka/host@THERE", "kafka.host"),
        ("RULE:[1:$1](App.*)s/App/service-/", "App1@HERE", "service-1"),
        ("RULE:[1:$1@$0](.*@THERE)s/@.*//", "alice@THERE", "alice"),
        ("RULE:[1:$1]s/a/b/g", "banana@HERE", "bbnbnb"),
        ("RULE:[1:$1]s/a/b/", "banana@HERE", "bbnana"),
        ("RULE:[1:$1]s/(.)(.)/$2$1/", "alice@HERE", "laice"),
        ("RULE:[1:$1]/L", "ALICE@HERE", "alice"),
        ("RULE:[1:$1]s/A/B//U", "Ali@HERE", "BLI"),
        ("RULE:[2:$2](x.*);DEFAULT", "kafka/host@HERE", "kafka"),
    ],
)
def test_a_rule_makes_a_user(rules: str, principal: str, user: str) -> None:
    assert KerberosNames(rules.split(";"), "HERE").user(principal) == user


@pytest.mark.parametrize(
    ("rules", "principal"),
    [
        ("DEFAULT", "alice@THERE"),
        ("DEFAULT", "a/b/c@HERE"),
        ("RULE:[2:$1]", "alice@HERE"),
        ("RULE:[1:$1@$0]", "alice@HERE"),
        ("RULE:[1:$3]", "alice@HERE"),
        ("RULE:[1:$1](b.*)", "alice@HERE"),
        ("RULE:[1:$1]s/a/$5/", "alice@HERE"),
    ],
)
def test_kerberos_principal_without_a_rule_is_refused(rules: str, principal: str) -> None:
    with pytest.raises(NoRule):
        KerberosNames(rules.split(";"), "HERE").user(principal)


@pytest.mark.parametrize(
    "rule", ["", "default", "RULE:[x:$1]", "RULE:[1:$1](a", "RULE:[1:$1]s/a/b/x", "RULE:[1:$1]([)"]
)
def test_kerberos_rule_that_is_malformed_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="Invalid rule"):
        KerberosNames([rule], "HERE")


Keytabs = dict[str, Path]


@pytest.fixture(scope="module")
def keytabs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keytabs]:
    with running_kdc(tmp_path_factory.mktemp("kerberos") / "kdc") as (_, made):
        yield made


def mechanism(jaas: str, service: str = "kafka") -> NewSaslServer:
    values = {
        "listener.name.sasl.gssapi.sasl.jaas.config": jaas,
        "sasl.kerberos.principal.to.local.rules": RULES,
        "sasl.kerberos.service.name": service,
    }
    config = listener_config({name: value for name, value in values.items() if value}).for_mechanism("GSSAPI")
    return gssapi(config, Credentials(ImageWriter().image, lambda: None), BrokerClock())


def jaas(keytab: Path, principal: str = f"kafka/localhost@{REALM}") -> str:
    return f'{LOGIN_MODULE} required useKeyTab=true keyTab="{keytab}" principal="{principal}";'


@pytest.fixture(scope="module")
def new_server(keytabs: Keytabs) -> NewSaslServer:
    return mechanism(jaas(keytabs["kafka/localhost"]))


def client(keytab: Path, name: str) -> Gssapi:
    given = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "GSSAPI", "sasl.kerberos.keytab": str(keytab)}
    sasl = ClientSecurity.parse(given | {"sasl.kerberos.principal": f"{name}@{REALM}"}).sasl
    assert sasl is not None
    return Gssapi(sasl, "localhost")


def logged_in(new_server: NewSaslServer, keytabs: Keytabs, name: str) -> GssapiServer:
    server, mine = new_server(), client(keytabs[name], name)
    assert isinstance(server, GssapiServer)
    assert server.waits
    message: bytes | None = mine.first()
    while message is not None:
        message = mine.answer(trio.run(server.evaluate_async, message))
    return server


@pytest.mark.parametrize(("name", "user"), [("alice", "alice"), ("svc/host.test", "service")])
def test_a_ticket_makes_a_user_by_the_rules(new_server: NewSaslServer, keytabs: Keytabs, name: str, user: str) -> None:
    server = logged_in(new_server, keytabs, name)
    assert server.complete
    assert server.principal == Principal("User", user)


def test_a_principal_that_no_rule_takes_is_cut_as_in_kafka(new_server: NewSaslServer, keytabs: Keytabs) -> None:
    with pytest.raises(MalformedToken, match=f"No rules apply to svc/a/b@{REALM}|Malformed Kerberos name"):
        logged_in(new_server, keytabs, "svc/a/b")


def test_gssapi_ticket_serves_once(new_server: NewSaslServer, keytabs: Keytabs) -> None:
    first = client(keytabs["alice"], "alice").first()
    new_server().evaluate(first)
    with pytest.raises(MalformedToken, match="replay"):
        new_server().evaluate(first)


@pytest.mark.parametrize("token", [b"", b"nonsense", b"\x60\x03abc", b"\0" * 1000])
def test_gssapi_token_that_is_no_ticket_is_refused(new_server: NewSaslServer, token: bytes) -> None:
    server = new_server()
    with pytest.raises(InvalidCredentials):
        server.evaluate(token)
    assert not server.complete


def test_gssapi_messages_out_of_order_are_refused(new_server: NewSaslServer, keytabs: Keytabs) -> None:
    for odd in (b"x", b"\0" * 40):
        server, mine = new_server(), client(keytabs["alice"], "alice")
        mine.answer(server.evaluate(mine.first()))
        with pytest.raises(InvalidCredentials, match="expecting no response"):
            server.evaluate(odd)
        assert not server.complete


def test_a_security_layer_is_not_given(new_server: NewSaslServer, keytabs: Keytabs) -> None:
    server, mine = new_server(), client(keytabs["alice"], "alice")
    assert mine.answer(server.evaluate(mine.first())) == b""
    mine._context.unwrap(server.evaluate(b""))
    with pytest.raises(InvalidCredentials, match="unsupported protection"):
        server.evaluate(mine._context.wrap(b"\x04\0\0\0", False).message)
    assert not server.complete


def test_what_cannot_be_served_is_refused_at_the_start(keytabs: Keytabs, tmp_path: Path) -> None:
    keytab = keytabs["kafka/localhost"]
    rubbish = tmp_path / "rubbish"
    rubbish.write_bytes(b"rubbish")
    for text, service, message in (
        (jaas(keytab), "", "No serviceName defined"),
        (jaas(tmp_path / "none"), "kafka", "none is not there"),
        (jaas(keytab, f"other/localhost@{REALM}"), "kafka", "cannot be used for other/localhost"),
        (jaas(rubbish), "kafka", "cannot be used"),
        (f"{LOGIN_MODULE} required useTicketCache=true;", "kafka", "logs in with useKeyTab=true"),
    ):
        with pytest.raises(ConfigError, match=message):
            mechanism(text, service)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ConfigError, match=r"odradek\[gssapi\]"):
        mechanism(jaas(Path("/none")))
