"""What the configs of a listener say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import SecurityProtocol
from odradek.broker.security.tls.ciphers import Ciphers
from odradek.broker.security.tls.settings import TlsSettings, read_settings


def read(protocol: SecurityProtocol = SecurityProtocol.SSL, **config: str) -> TlsSettings:
    given = {name.replace("__", ".").replace("_", "."): value for name, value in config.items()}
    return read_settings(BrokerConfig(given).for_listener("SSL"), protocol)


def test_defaults() -> None:
    settings = read()
    assert settings.keys.type == settings.trusted.type == "JKS"
    assert settings.terms.versions == ("TLSv1.2", "TLSv1.3")
    assert settings.terms.ciphers is None
    assert settings.terms.client_auth == "none"
    assert not settings.allow_dn_changes
    assert settings.modified == (0, 0)


def test_the_algorithms_of_java_make_no_difference() -> None:
    assert read(ssl__keymanager__algorithm="pkix", ssl__trustmanager__algorithm="X.509") == read()


@pytest.mark.parametrize(
    ("name", "factory"),
    [
        ("ssl.keymanager.algorithm", "KeyManagerFactory"),
        ("listener.name.ssl.ssl.trustmanager.algorithm", "TrustManagerFactory"),
    ],
)
def test_an_algorithm_that_java_does_not_have_is_refused(name: str, factory: str) -> None:
    with pytest.raises(ConfigError, match=f"^X510 {factory} not available"):
        read_settings(BrokerConfig({name: "X510"}).for_listener("SSL"), SecurityProtocol.SSL)


def test_a_listeners_own_configs_go_first() -> None:
    given = {
        "ssl.client.auth": "required",
        "listener.name.ssl.ssl.client.auth": "requested",
        "ssl.cipher.suites": "TLS_AES_256_GCM_SHA384",
        "listener.name.ssl.ssl.enabled.protocols": "TLSv1.3",
    }
    settings = read_settings(BrokerConfig(given).for_listener("SSL"), SecurityProtocol.SSL)
    assert settings.terms.client_auth == "requested"
    assert settings.terms.versions == ("TLSv1.3",)
    assert settings.terms.ciphers == Ciphers((), ("TLS_AES_256_GCM_SHA384",))


def test_with_sasl_only_a_listeners_own_client_auth_counts() -> None:
    assert read(SecurityProtocol.SASL_SSL, ssl_client_auth="required").terms.client_auth == "none"
    given = {"listener.name.ssl.ssl.client.auth": "required"}
    own = read_settings(BrokerConfig(given).for_listener("SSL"), SecurityProtocol.SASL_SSL)
    assert own.terms.client_auth == "required"


def test_a_file_that_is_written_again_makes_other_settings(tmp_path: Path) -> None:
    path = tmp_path / "keys.pem"
    path.write_text("1")
    os.utime(path, ns=(1, 1))
    before = read(ssl_keystore_location=str(path))
    assert before == read(ssl_keystore_location=str(path))
    os.utime(path, ns=(1, 2))
    assert before != read(ssl_keystore_location=str(path))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.protocol", "TLSv7"),
        ("ssl.enabled.protocols", "TLSv7"),
        ("ssl.cipher.suites", "TLS_ROT13"),
    ],
)
def test_what_java_does_not_know_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        read_settings(BrokerConfig({name: value}).for_listener("SSL"), SecurityProtocol.SSL)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.engine.factory.class", "com.example.Engines"),
        ("ssl.provider", "BC"),
        ("ssl.secure.random.implementation", "SHA1PRNG"),
    ],
)
def test_classes_of_java_are_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match="not supported by odradek"):
        BrokerConfig({name: value})


def test_a_name_that_no_file_can_have_is_no_file() -> None:
    assert read(ssl_keystore_location="a\0b").modified == read(ssl_keystore_location="/nowhere").modified
