"""odradek's own client on listeners of every kind: it gets in with what is right, and says what is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.client_security.options import AuthenticationError, ClientSecurity, ConnectionClosed, TlsError, WireError
from odradek.client_security.tokens import unsecured_token
from odradek.pipeline.cluster_client import ClusterClient
from odradek.protocol.generated.messages.metadata import MetadataRequest
from odradek.wire_client import WireClient, WireConnection
from tests.scenarios.authority import Authority, TokenSigner
from tests.scenarios.secured_listeners import PASSWORDS, Secured, java_jaas, without_signature

Options = dict[str, str]
WITH_PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def connected(secured: Secured, listener: str, options: Options) -> WireClient:
    return WireClient(*secured.address(listener), timeout_s=20, security=ClientSecurity.parse(options))


def serves(secured: Secured, listener: str, options: Options) -> bool:
    """Whether the listener lets the client in, and sends it to itself."""
    with connected(secured, listener, options) as client:
        answer = client.request(MetadataRequest(topics=[]))
    return [(broker.host, broker.port) for broker in answer.brokers] == [secured.address(listener)]


def trusting(secured: Secured) -> Options:
    return {"security.protocol": "SSL", "ssl.ca.location": str(secured.authority.ca)}


def showing(certificate: Path) -> Options:
    return {"ssl.certificate.location": str(certificate), "ssl.key.location": str(certificate)}


def login(secured: Secured, mechanism: str, user: str = "alice", password: str | None = None) -> Options:
    chosen = PASSWORDS[user] if password is None else password
    options = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": chosen}
    return trusting(secured) | options | {"security.protocol": "SASL_SSL"}


def with_token(token: str) -> Options:
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token": token}


# --- TLS --------------------------------------------------------------------------------------------------------------


def test_tls_with_an_authority_as_a_file_and_as_text(secured: Secured) -> None:
    assert serves(secured, "TLS", trusting(secured))
    text = " ".join(secured.authority.ca.read_text().split("\n"))
    java = {"security.protocol": "ssl", "ssl.truststore.type": "PEM", "ssl.truststore.certificates": text}
    assert serves(secured, "TLS", java)


def test_mutual_tls_by_librdkafkas_names_and_by_javas(secured: Secured) -> None:
    mine = secured.authority.issue("client")
    assert serves(secured, "MUTUAL", trusting(secured) | showing(mine))
    store = secured.authority.pkcs12("client", "hush")
    keystore = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(store), "ssl.keystore.password": "hush"}
    truststore = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(secured.authority.ca)}
    assert serves(secured, "MUTUAL", {"security.protocol": "SSL"} | truststore | keystore)


def test_a_client_without_a_certificate_and_one_with_a_foreign_one_are_refused(
    secured: Secured, tmp_path: Path
) -> None:
    with pytest.raises(TlsError, match=r"127\.0\.0\.1:\d+: TLS: the broker asks for a client certificate"):
        connected(secured, "MUTUAL", trusting(secured))
    foreign = Authority(tmp_path).issue("mallory")
    with pytest.raises(TlsError, match=r"the broker (does not trust|asks for a client certificate, or refuses)"):
        connected(secured, "MUTUAL", trusting(secured) | showing(foreign))


def test_a_foreign_broker_is_not_trusted(secured: Secured, tmp_path: Path) -> None:
    for options in ({"ssl.ca.location": str(Authority(tmp_path).ca)}, {}):
        with pytest.raises(TlsError, match="the broker's certificate is not trusted"):
            connected(secured, "TLS", {"security.protocol": "SSL"} | options)


def test_a_broker_under_another_name_is_not_trusted_unless_names_do_not_count(secured: Secured) -> None:
    with pytest.raises(TlsError, match=r"the broker's certificate is not for 127\.0\.0\.1"):
        connected(secured, "NAMED", trusting(secured))
    assert serves(secured, "NAMED", trusting(secured) | {"ssl.endpoint.identification.algorithm": ""})


def test_a_tls_client_at_a_plain_listener_and_the_other_way_round(secured: Secured) -> None:
    with pytest.raises(TlsError, match="is it a plain-text listener"):
        connected(secured, "PLAINTEXT", trusting(secured))
    with pytest.raises(WireError, match=r"speaks TLS, and security\.protocol is PLAINTEXT|closed the connection|reset"):
        connected(secured, "TLS", {})


# --- passwords --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_names_and_passwords(secured: Secured, mechanism: str) -> None:
    assert serves(secured, "LOGIN", login(secured, mechanism))
    assert serves(secured, "LOGIN", login(secured, mechanism, "bob"))
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    jaas = java_jaas(module, username="bob", password=PASSWORDS["bob"])
    options = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": jaas}
    assert serves(secured, "LOGIN", trusting(secured) | options)


@pytest.mark.parametrize("mechanism", WITH_PASSWORDS)
def test_a_wrong_password_and_an_unknown_user_get_the_brokers_words(secured: Secured, mechanism: str) -> None:
    words = "Authentication failed"
    if mechanism == "PLAIN":
        words = "Authentication failed: Invalid username or password"
    with pytest.raises(AuthenticationError, match=f"log-in with {mechanism} failed: {words}") as caught:
        connected(secured, "LOGIN", login(secured, mechanism, password="guess"))
    assert "guess" not in str(caught.value)
    stranger = login(secured, mechanism) | {"sasl.username": "mallory"}
    with pytest.raises(AuthenticationError, match=f"log-in with {mechanism} failed: {words}"):
        connected(secured, "LOGIN", stranger)


def test_a_mechanism_that_the_listener_does_not_take_names_those_that_it_does(secured: Secured) -> None:
    options = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "alice", "sasl.password": "x"}
    with pytest.raises(AuthenticationError, match="takes no log-in with PLAIN, but with OAUTHBEARER"):
        connected(secured, "OAUTH", options | {"sasl.mechanism": "PLAIN"})


def test_a_log_in_where_none_is_taken_and_none_where_one_is_due(secured: Secured) -> None:
    options = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "alice", "sasl.password": "x"}
    with pytest.raises(AuthenticationError, match="the broker takes no log-in"):
        connected(secured, "PLAINTEXT", options | {"sasl.mechanism": "PLAIN"})
    with connected(secured, "OAUTH", {}) as client, pytest.raises(ConnectionClosed):
        client.request(MetadataRequest(topics=[]))


def test_a_connection_without_agreed_versions_logs_in_as_well(secured: Secured) -> None:
    security = ClientSecurity.parse(login(secured, "SCRAM-SHA-256"))
    with WireConnection(*secured.address("LOGIN"), security=security) as connection:
        asked = MetadataRequest(topics=[])
        assert connection.receive(asked, 12, connection.send(asked, 12)).brokers


def test_a_client_logs_in_again_over_the_same_connection(secured: Secured) -> None:
    options = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    options |= {"sasl.username": "alice", "sasl.password": PASSWORDS["alice"]}
    with connected(secured, "BRIEF", options) as client:
        assert client.request(MetadataRequest(topics=[])).brokers
        client.log_in()
        assert client.request(MetadataRequest(topics=[])).brokers
        assert client.session_ends_in_s is not None
        assert 0 < client.session_ends_in_s <= 60


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_unsecured_tokens_in_each_way_to_give_them(secured: Secured) -> None:
    plain = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
    jaas = java_jaas("oauthbearer.OAuthBearerLoginModule", unsecuredLoginStringClaim_sub="alice")
    assert serves(secured, "OAUTH", plain | {"sasl.jaas.config": jaas})
    assert serves(secured, "OAUTH", plain | {"sasl.oauthbearer.config": "principal=alice scope=a,b lifeSeconds=60"})
    assert serves(secured, "OAUTH", with_token(unsecured_token({"sub": "alice"}, 60)))


def test_signed_tokens_from_a_file_and_as_they_are(secured: Secured, tmp_path: Path) -> None:
    assert serves(secured, "SIGNED", with_token(secured.signer.token()))
    file = tmp_path / "token"
    file.write_text(secured.signer.token() + "\n")
    options = with_token("") | {"sasl.oauthbearer.token.endpoint.url": file.as_uri()}
    assert serves(secured, "SIGNED", options)


def test_refused_tokens_get_the_brokers_json(secured: Secured, tmp_path: Path) -> None:
    signer = secured.signer
    wrong = {
        "no signature": unsecured_token({"sub": "alice"}, 60),
        "expired": signer.token(lifetime_s=-3600, iat=1),
        "another audience": signer.token(aud="other"),
        "another issuer": signer.token(iss="https://other.invalid"),
        "another key": TokenSigner(tmp_path).token(),
    }
    for what, token in wrong.items():
        with pytest.raises(AuthenticationError, match=re.escape('{"status":"invalid_token"}')) as caught:
            connected(secured, "SIGNED", with_token(token))
        assert token not in str(caught.value), what
    with pytest.raises(AuthenticationError, match=re.escape('{"status":"invalid_token"}')):
        connected(secured, "OAUTH", with_token(without_signature(b'{"sub":"alice"}')))


# --- the pipeline's client --------------------------------------------------------------------------------------------


def test_the_pipelines_client_writes_and_reads_behind_a_log_in(secured: Secured) -> None:
    from odradek.protocol.record_batch import build_batch
    from odradek.protocol.records import Record

    security = ClientSecurity.parse(login(secured, "SCRAM-SHA-512"))
    with ClusterClient(secured.addresses["LOGIN"], security=security) as client:
        client.create_topics({"behind-a-log-in": 1})
        offset = client.produce("behind-a-log-in", 0, build_batch([Record(0, 1, b"k", b"v", ())]))
        assert len(client.fetch("behind-a-log-in", 0, offset).records) > 0
    with (
        ClusterClient(
            secured.addresses["LOGIN"], security=ClientSecurity.parse(login(secured, "PLAIN", password="x"))
        ) as client,
        pytest.raises(AuthenticationError, match="Invalid username or password"),
    ):
        client.topics()


def test_the_command_line_takes_the_properties_of_kafkas_tools(secured: Secured, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    for password, status in ((PASSWORDS["alice"], 0), ("guess", 2)):
        options = login(secured, "SCRAM-SHA-256", password=password)
        file.write_text("".join(f"{name}={value}\n" for name, value in options.items()))
        command = [sys.executable, "-m", "odradek", "export", str(tmp_path / f"copy-{status}")]
        command += ["--bootstrap-servers", secured.addresses["LOGIN"], "--client-config", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        if status:
            assert "log-in with SCRAM-SHA-256 failed: Authentication failed" in done.stderr
            assert len(done.stderr.splitlines()) == 1
            assert "guess" not in done.stderr
