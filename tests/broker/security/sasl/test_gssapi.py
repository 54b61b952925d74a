"""Principals and the rules that make users of them, as Kafka's KerberosShortNamer reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

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


# -- The same conversations with a library that says what the test wants, where there is no Kerberos.


class GSSError(Exception):
    min_code = 0


def refused(code: int) -> GSSError:
    error = GSSError("no  such\nticket")
    error.min_code = code
    return error


class Context:
    """A security context that is complete after so many steps, each of which answers with a text."""

    def __init__(
        self, answers: Sequence[bytes | None], target: str = "kafka/host@HERE", who: str = "alice@HERE"
    ) -> None:
        self.left = list(answers)
        self.target_name, self.initiator_name = target, who
        self.offered: list[tuple[bytes, bool]] = []

    @property
    def complete(self) -> bool:
        return not self.left

    def step(self, token: bytes) -> bytes | None:
        if token == b"bad":
            raise refused(-1765328384 + 34)
        if token == b"worse":
            raise refused(-1765328384 + 35)
        return self.left.pop(0)

    def wrap(self, message: bytes, encrypt: bool) -> Any:
        self.offered.append((message, encrypt))
        return SimpleNamespace(message=b"wrapped")

    def unwrap(self, token: bytes) -> Any:
        return SimpleNamespace(message=token)


class Library:
    """The package `gssapi`, of which the keytab has the keys of `kafka/host` alone."""

    exceptions = SimpleNamespace(GSSError=GSSError)
    NameType = SimpleNamespace(user="user", kerberos_principal="principal")
    MechType = SimpleNamespace(kerberos="kerberos")
    realm: str | None = "HERE"
    context = Context([b""])

    def Name(self, text: str, kind: str) -> Any:  # noqa: N802 (the names of gssapi)
        def canonicalize(mechanism: str) -> str:
            if self.realm is None:
                raise GSSError
            return f"{text}@{self.realm}"

        return SimpleNamespace(text=text, canonicalize=canonicalize)

    def Credentials(self, *, usage: str, name: Any, mechs: list[str], store: dict[str, str]) -> str:  # noqa: N802
        if name.text != "kafka/host":
            raise GSSError("no  keys")
        return f"{usage} {store['keytab']}"

    def SecurityContext(self, *, creds: str, usage: str) -> Context:  # noqa: N802
        assert creds.startswith("accept FILE:")
        assert usage == "accept"
        return self.context


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setitem(sys.modules, "gssapi", made)
    return made


@pytest.fixture
def keytab(tmp_path: Path) -> Path:
    made = tmp_path / "keys"
    made.touch()
    return made


def accepting(library: Library, keytab: Path, context: Context) -> GssapiServer:
    library.context = context
    server = mechanism(jaas(keytab, "kafka/host"))()
    assert isinstance(server, GssapiServer)
    return server


OFFER = (b"\x01\x01\x00\x00", False)
CHOICE = b"\x01\0\0\0"


@pytest.mark.parametrize(
    ("answers", "messages"),
    [
        ([b"one"], [(b"ticket", b"one"), (b"", b"wrapped"), (CHOICE, b"")]),
        ([b"one", b"two"], [(b"ticket", b"one"), (b"more", b"two"), (b"", b"wrapped"), (CHOICE, b"")]),
        ([b""], [(b"ticket", b"wrapped"), (CHOICE + b"alice", b"")]),
        ([None], [(b"ticket", b"wrapped"), (CHOICE, b"")]),
    ],
)
def test_gssapi_log_in_accepts_a_ticket_and_offers_no_layer(
    library: Library, keytab: Path, answers: Sequence[bytes | None], messages: Sequence[tuple[bytes, bytes]]
) -> None:
    context = Context(answers)
    server = accepting(library, keytab, context)
    for sent, answer in messages:
        assert not server.complete
        assert trio.run(server.evaluate_async, sent) == answer
    assert context.offered == [OFFER]
    assert (server.complete, server.principal) == (True, Principal("User", "alice"))


@pytest.mark.parametrize(
    ("target", "who", "last", "error"),
    [
        ("kafka/host@HERE", "alice@HERE", CHOICE, None),
        ("KAFKA@host", "alice@HERE", CHOICE, None),
        ("kafka/host@HERE", "alice@HERE", CHOICE[:3], InvalidCredentials),
        ("kafka/host@HERE", "alice@HERE", b"\x02\0\0\0", InvalidCredentials),
        ("other/host@HERE", "alice@HERE", CHOICE, InvalidCredentials),
        ("kafka/host@HERE", "alice@THERE", CHOICE, MalformedToken),
    ],
)
def test_gssapi_log_in_looks_at_the_layer_the_service_and_the_user(
    library: Library, keytab: Path, target: str, who: str, last: bytes, error: type[Exception] | None
) -> None:
    server = accepting(library, keytab, Context([b""], target, who))
    server.evaluate(b"ticket")
    with nullcontext() if error is None else pytest.raises(error):
        server.evaluate(last)
    assert server.complete is (error is None)


def test_gssapi_log_in_expects_nothing_before_its_offer(library: Library, keytab: Path) -> None:
    server = accepting(library, keytab, Context([b"one"]))
    server.evaluate(b"ticket")
    with pytest.raises(InvalidCredentials, match="expecting no response"):
        server.evaluate(b"x")


@pytest.mark.parametrize(("token", "error"), [(b"bad", MalformedToken), (b"worse", InvalidCredentials)])
def test_a_ticket_that_may_be_taken_later_closes_the_connection(
    library: Library, keytab: Path, token: bytes, error: type[Exception]
) -> None:
    with pytest.raises(error, match="no such ticket"):
        accepting(library, keytab, Context([b""])).evaluate(token)


@pytest.mark.parametrize("code", [7, 21, 33, 34])
def test_these_errors_of_kerberos_may_pass(library: Library, keytab: Path, code: int) -> None:
    context = Context([b""])
    context.step = Mock(side_effect=refused(code - 1765328384))  # type: ignore[method-assign]
    with pytest.raises(MalformedToken):
        accepting(library, keytab, context).evaluate(b"ticket")


def test_gssapi_listener_says_what_it_lacks(library: Library, keytab: Path, tmp_path: Path) -> None:
    options = f'{LOGIN_MODULE} required useKeyTab={{}} keyTab="{keytab}" principal="{{}}";'
    for text, service, why in (
        (jaas(keytab, "kafka/host"), "", "No serviceName defined"),
        (jaas(tmp_path / "none", "kafka/host"), "kafka", "none is not there"),
        (jaas(keytab, "other/host"), "kafka", "cannot be used for other/host: no keys"),
        (options.format("false", "kafka/host"), "kafka", "logs in with useKeyTab=true"),
        (f"{LOGIN_MODULE} required useKeyTab=true principal=x;", "kafka", "logs in with useKeyTab=true"),
        (f'{LOGIN_MODULE} required useKeyTab=true keyTab="{keytab}";', "kafka", "logs in with useKeyTab=true"),
    ):
        with pytest.raises(ConfigError, match=why):
            mechanism(text, service)
    mechanism(options.format("TRUE", "kafka/host"))


def test_without_a_default_realm_there_is_none(library: Library, keytab: Path) -> None:
    library.realm = None
    server = accepting(library, keytab, Context([b""], who="alice@"))
    server.evaluate(b"ticket")
    server.evaluate(CHOICE)
    assert server.principal == Principal("User", "alice")
