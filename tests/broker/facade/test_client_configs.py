"""What each client is told."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from odradek.broker.facade.client_configs import Access, client_config
from odradek.broker.facade.security_settings import Certificates
from odradek.broker.facade.threaded import KafkaBroker

PLAIN = Access("a:1,b:2")
SCRAM = Access("a:1", "SASL_SSL", "SCRAM-SHA-256", "alice", 'se"cret', Path("/ca.pem"))


def test_plain_text_needs_the_address_alone() -> None:
    assert client_config(PLAIN, "confluent") == client_config(PLAIN, "kcat") == {"bootstrap.servers": "a:1,b:2"}
    assert client_config(PLAIN, "java") == {"bootstrap.servers": "a:1,b:2"}
    assert client_config(PLAIN, "kafka-python") == {"bootstrap_servers": ["a:1", "b:2"]}
    assert client_config(PLAIN, "aiokafka") == {"bootstrap_servers": "a:1,b:2"}
    assert client_config(PLAIN, "kafkajs") == {"brokers": ["a:1", "b:2"]}
    assert client_config(PLAIN, "franz-go-env") == {
        "KAFKA_BOOTSTRAP_SERVERS": "a:1,b:2",
        "KAFKA_SECURITY_PROTOCOL": "PLAINTEXT",
    }


def test_client_config_for_librdkafka_and_kafka_python() -> None:
    assert client_config(SCRAM, "confluent") == {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "alice",
        "sasl.password": 'se"cret',
        "ssl.ca.location": "/ca.pem",
    }
    assert client_config(SCRAM, "kafka-python") == {
        "bootstrap_servers": ["a:1"],
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_plain_username": "alice",
        "sasl_plain_password": 'se"cret',
        "ssl_cafile": "/ca.pem",
    }


def test_java_gets_a_login_module_with_quoted_values() -> None:
    config = client_config(SCRAM, "java")
    assert config["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="se\\"cret";'
    )
    assert (config["ssl.truststore.type"], config["ssl.truststore.location"]) == ("PEM", "/ca.pem")
    plain = client_config(Access("a:1", "SASL_PLAINTEXT", "PLAIN", "alice", "x"), "java")
    assert "plain.PlainLoginModule" in plain["sasl.jaas.config"]


def test_kafkajs_gets_texts_instead_of_files(tmp_path: Path) -> None:
    authority, certificate, key = (tmp_path / name for name in ("ca.pem", "cert.pem", "key.pem"))
    for file in (authority, certificate, key):
        file.write_text(file.stem)
    login = {"mechanism": "scram-sha-512", "username": "alice", "password": "x"}
    one_way = Access("a:1", "SASL_SSL", "SCRAM-SHA-512", "alice", "x", authority)
    assert client_config(one_way, "kafkajs") == {"brokers": ["a:1"], "sasl": login, "ssl": {"ca": ["ca"]}}
    mutual = Access("a:1", "SSL", None, "alice", None, authority, certificate, key)
    assert client_config(mutual, "kafkajs")["ssl"] == {"ca": ["ca"], "cert": "cert", "key": "key"}


@pytest.mark.parametrize(
    ("client", "more"),
    [
        ("confluent", {"reconnect.backoff.ms": 1}),
        ("kcat", {"reconnect.backoff.ms": 1}),
        ("kafka-python", {"api_version": (4, 3), "retry_backoff_ms": 5}),
        ("aiokafka", {}),
        ("java", {"fetch.max.wait.ms": 10, "linger.ms": 0, "retry.backoff.ms": 5}),
        ("kafkajs", {"maxWaitTimeInMs": 10}),
        ("franz-go-env", {"KAFKA_LINGER_MS": "0"}),
    ],
)
def test_settings_with_which_a_client_waits_less_come_on_top(client: str, more: dict[str, object]) -> None:
    access = Access("a:1", "SASL_PLAINTEXT", "PLAIN", "alice", "x")
    assert client_config(access, client, fast=True) == client_config(access, client) | more
    assert client_config(access, client, fast=False).keys().isdisjoint(more)


def test_client_config_names_the_clients_certificate() -> None:
    certificates = Certificates("127.0.0.1")
    certificate, key = certificates.files_of("alice")
    mutual = Access("a:1", "SSL", None, "alice", None, certificates.authority_file, certificate, key)
    assert client_config(mutual, "confluent")["ssl.key.location"] == str(key)
    assert client_config(mutual, "kafka-python")["ssl_keyfile"] == str(key)
    assert client_config(mutual, "java")["ssl.keystore.key"] == key.read_text()
    assert isinstance(client_config(mutual, "aiokafka")["ssl_context"], ssl.SSLContext)
    assert client_config(mutual, "franz-go-env")["KAFKA_SSL_KEY_LOCATION"] == str(key)


def test_client_config_with_unsecured_tokens() -> None:
    access = Access("a:1", "SASL_PLAINTEXT", "OAUTHBEARER", "alice")
    assert client_config(access, "confluent")["sasl.oauthbearer.config"] == "principal=alice"
    assert 'unsecuredLoginStringClaim_sub="alice"' in client_config(access, "java")["sasl.jaas.config"]
    for client in ("aiokafka", "kafka-python", "kafkajs"):
        with pytest.raises(ValueError, match=f"{client} needs a token provider"):
            client_config(access, client)


def test_an_unknown_client_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'ruby': expected one of confluent, kcat"):
        client_config(PLAIN, "ruby")


def test_no_repr_shows_the_password() -> None:
    assert "se" not in repr(SCRAM).replace("SASL_SSL", "")


def test_client_config_refuses_a_user_where_there_are_none() -> None:
    with KafkaBroker() as broker, pytest.raises(ValueError, match=r"did you mean client='kafka-python'\?"):
        broker.client_config("kafka-python")
