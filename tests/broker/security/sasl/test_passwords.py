"""PLAIN by itself, and SCRAM by the vectors of RFC 7677 and by a client that is written from RFC 5802.

tests/vectors/login_conversations.json.gz has what a real Kafka says to odd tokens.
"""

from __future__ import annotations

import base64

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.principal import Principal
from odradek.broker.security.sasl.credentials import (
    SCRAM_HASHES,
    SCRAM_SHA_256,
    SCRAM_SHA_512,
    Credentials,
    ScramCredential,
    ScramHash,
    TokenCredential,
    credential_of,
    salted_password,
)
from odradek.broker.security.sasl.passwords import (
    PLAIN_MODULE,
    SCRAM_MODULE,
    PlainServer,
    ScramServer,
    plain,
    scram_sha_256,
    scram_sha_512,
)
from odradek.broker.security.sasl.server import InvalidCredentials, MalformedToken, SaslError
from tests.broker.security.sasl.listener_configs import with_jaas
from tests.scenarios.scram_client import ScramClient

# -- PLAIN

USERS = {"alice": b"secret", "ж": "пароль".encode()}


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b"\0alice\0secret", "alice"),
        (b"alice\0alice\0secret", "alice"),
        ("\0ж\0пароль".encode(), "ж"),
    ],
)
def test_the_right_password_logs_in(token: bytes, name: str) -> None:
    server = PlainServer(USERS)
    assert not server.complete
    assert server.evaluate(token) == b""
    assert server.complete
    assert server.principal == Principal("User", name)
    assert server.expires_ms is None


@pytest.mark.parametrize(
    ("token", "told"),
    [
        (b"\0alice\0wrong", "Invalid username or password"),
        (b"\0alice\0secre", "Invalid username or password"),
        (b"\0alice\0secret2", "Invalid username or password"),
        (b"\0bob\0secret", "Invalid username or password"),
        (b"bob\0alice\0secret", "authorization id that is different"),
        (b"bob\0alice\0wrong", "Invalid username or password"),
        (b"\0\0secret", "username not specified"),
        (b"\0alice\0", "password not specified"),
        (b"", "expected 3 tokens, got 1"),
        (b"\0\0\0\0\0\0", "expected 3 tokens, got 4"),
        (b"\0\xff\xfe\0secret", "Invalid username or password"),
    ],
)
def test_a_wrong_plain_log_in_is_refused(token: bytes, told: str) -> None:
    server = PlainServer(USERS)
    with pytest.raises(SaslError, match=told):
        server.evaluate(token)
    assert not server.complete


def test_an_empty_password_in_the_configuration_lets_nobody_in() -> None:
    server = PlainServer({"alice": b""})
    for token in (b"\0alice\0", b"\0alice\0x"):
        with pytest.raises(SaslError):
            server.evaluate(token)


def test_the_users_are_options_of_the_login_module() -> None:
    image = Credentials(ImageWriter().image, lambda: None)
    text = f'{PLAIN_MODULE} required username="broker" password="b" user_alice="a\\"s" user_="nobody";'
    new = plain(with_jaas("PLAIN", text), image, BrokerClock())
    server = new()
    server.evaluate(b'\0alice\0a"s')
    assert server.complete
    assert not new().complete, "each log-in has a server of its own"
    with pytest.raises(SaslError):
        new().evaluate(b"\0broker\0b")


# -- SCRAM


class OneUser(Credentials):
    """Credentials of one user and one token."""

    def __init__(self, name: str, password: str, salt: bytes = b"salt", iterations: int = 4096) -> None:
        super().__init__(ImageWriter().image, lambda: None)
        self._name = name
        self._password = password
        self._salt = salt
        self._iterations = iterations

    def user(self, name: str, kind: ScramHash) -> ScramCredential | None:
        if name != self._name:
            return None
        salted = salted_password(self._password, self._salt, self._iterations, kind)
        return credential_of(salted, self._salt, self._iterations, kind)

    def token(self, token_id: str, kind: ScramHash) -> TokenCredential | None:
        if token_id != "token-1":
            return None
        salted = salted_password("the hmac", b"s", 4096, kind)
        owner = Principal("User", "owner", token_authenticated=True)
        return TokenCredential(owner, 1234, credential_of(salted, b"s", 4096, kind))


def test_the_exchange_of_rfc_7677() -> None:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    server = ScramServer(SCRAM_SHA_256, OneUser("user", "pencil", salt), "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    first = server.evaluate(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    assert first == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    final = server.evaluate(
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    assert final == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert server.complete
    assert server.principal == Principal("User", "user")


@pytest.mark.parametrize("kind", SCRAM_HASHES.values(), ids=lambda kind: kind.mechanism)
@pytest.mark.parametrize("name", ["alice", "a=b,c", "=2C", "=3D=2C"])
def test_a_client_and_the_server_prove_that_they_know_the_password(kind: ScramHash, name: str) -> None:
    server = ScramServer(kind, OneUser(name, "pass wörd"))
    client = ScramClient(name, "pass wörd", kind.mechanism)
    final = client.final(server.evaluate(client.first()))
    assert not server.complete
    assert client.server_is_right(server.evaluate(final))
    assert server.complete
    assert server.principal == Principal("User", name)
    assert not server.principal.token_authenticated


def test_a_wrong_password_is_refused_by_the_final_message_an_unknown_user_by_the_first() -> None:
    server = ScramServer(SCRAM_SHA_512, OneUser("alice", "right"))
    client = ScramClient("alice", "wrong", "SCRAM-SHA-512")
    final = client.final(server.evaluate(client.first()))
    with pytest.raises(InvalidCredentials):
        server.evaluate(final)
    assert not server.complete
    with pytest.raises(InvalidCredentials):
        ScramServer(SCRAM_SHA_512, OneUser("alice", "right")).evaluate(ScramClient("bob", "right").first())


def test_every_log_in_has_a_nonce_of_its_own() -> None:
    users = OneUser("alice", "pencil")
    answers = {ScramServer(SCRAM_SHA_256, users).evaluate(b"n,,n=alice,r=abc") for _ in range(20)}
    assert len(answers) == 20


def test_the_final_message_of_another_log_in_is_refused() -> None:
    users = OneUser("alice", "pencil")
    client = ScramClient("alice", "pencil")
    one, other = ScramServer(SCRAM_SHA_256, users), ScramServer(SCRAM_SHA_256, users)
    final = client.final(one.evaluate(client.first()))
    other.evaluate(client.first())
    with pytest.raises(InvalidCredentials, match="nonce"):
        other.evaluate(final)
    one.evaluate(final)
    assert one.complete
    assert not other.complete


@pytest.mark.parametrize("iterations", [0, 1, 4095])
def test_a_stored_credential_of_too_few_iterations_is_refused(iterations: int) -> None:
    class Weak(OneUser):
        def user(self, name: str, kind: ScramHash) -> ScramCredential | None:
            found = super().user(name, kind)
            return None if found is None else found._replace(iterations=iterations)

    with pytest.raises(InvalidCredentials, match="fewer than the minimum of 4096"):
        ScramServer(SCRAM_SHA_256, Weak("alice", "pencil")).evaluate(b"n,,n=alice,r=abc")


@pytest.mark.parametrize("proof", [b"", b"x", b"x" * 31, b"x" * 33, b"x" * 64])
def test_a_proof_of_another_length_is_malformed(proof: bytes) -> None:
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"), "server")
    server.evaluate(b"n,,n=alice,r=client")
    with pytest.raises(MalformedToken):
        server.evaluate(b"c=biws,r=clientserver,p=" + base64.b64encode(proof))


def test_a_token_logs_in_its_owner() -> None:
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"))
    client = ScramClient("token-1", "the hmac", extensions=",tokenauth=true")
    assert client.server_is_right(server.evaluate(client.final(server.evaluate(client.first()))))
    assert server.principal == Principal("User", "owner")
    assert server.principal.token_authenticated
    assert server.expires_ms == 1234


def test_extensions_may_come_in_any_order() -> None:
    for extensions in (",b=1,a=2,tokenauth=false", ",tokenauth=false,a=2,b=1"):
        server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"))
        client = ScramClient("alice", "pencil", extensions=extensions)
        assert client.server_is_right(server.evaluate(client.final(server.evaluate(client.first()))))
        assert server.extensions == {"a": "2", "b": "1", "tokenauth": "false"}


@pytest.mark.parametrize(
    ("name", "extensions"), [("alice", ",tokenauth=true"), ("token-1", ""), ("token-1", ",tokenauth=false")]
)
def test_users_and_tokens_are_not_mixed_up(name: str, extensions: str) -> None:
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"))
    with pytest.raises(InvalidCredentials):
        server.evaluate(ScramClient(name, "pencil", extensions=extensions).first())


def test_long_messages_take_no_long_time() -> None:
    """No input makes the pattern try again and again: this would run for years."""
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"))
    for message in (b"n,,n=" + b"=2C" * 150_000, b"n,,n=a,r=b" + b",a=b" * 100_000 + b",", b"n,a=" + b"a" * 400_000):
        with pytest.raises(InvalidCredentials):
            server.evaluate(message)


def test_the_listener_needs_the_login_module() -> None:
    image = Credentials(ImageWriter().image, lambda: None)
    for mechanism, factory in (("SCRAM-SHA-256", scram_sha_256), ("SCRAM-SHA-512", scram_sha_512)):
        server = factory(with_jaas(mechanism, f"{SCRAM_MODULE} required;"), image, BrokerClock())()
        assert server.mechanism == mechanism


@pytest.mark.parametrize(
    "first",
    [
        "y,,n=alice,r=abc",  # the client could bind the channel
        "p=tls-unique,,n=alice,r=abc",  # and wants to
        "n,,n=zoë,r=abc",  # names are ASCII, as on Kafka
        "n,,n=ａｌｉｃｅ,r=abc",  # SASLprep would make it alice: Kafka prepares nothing
        "n,,n=ali\u00adce,r=abc",
        "n,,n=ali\0ce,r=abc",
        "n,,n=a=2c,r=abc",
        "n,,n=a=b,r=abc",
        "n,,n=,r=abc",
        "n,,n=alice,r=",
        "n,,n=alice,r=a\x7fb",
        "n,,n=alice",
        "n,,n=" + "a" * 100_000 + ",r=abc",
        "n,,n=alice,r=abc,tokenauth=true",
        "",
        "n=alice,r=abc",
    ],
)
def test_first_messages_that_lead_nowhere(first: str) -> None:
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"))
    with pytest.raises(InvalidCredentials):
        server.evaluate(first.encode())
    assert not server.complete


@pytest.mark.parametrize(
    "nonce", ["abcdefgh", "abcdefghSERVERx", "abcdefghSERVE", "xbcdefghSERVER", "SERVER", "abcdefghserver"]
)
def test_the_final_message_has_the_nonces_of_both(nonce: str) -> None:
    server = ScramServer(SCRAM_SHA_256, OneUser("alice", "pencil"), nonce="SERVER")
    client = ScramClient("alice", "pencil")
    client.final(server.evaluate(client.first()))
    with pytest.raises(InvalidCredentials, match="another nonce"):
        server.evaluate(client.sealed(f"c=biws,r={nonce}").encode())
    assert not server.complete
    with pytest.raises(InvalidCredentials):  # and there is no second try
        server.evaluate(client.sealed("c=biws,r=abcdefghSERVER").encode())
