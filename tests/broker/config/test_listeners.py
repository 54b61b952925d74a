"""Listeners as text."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import Listener, ListenerConfig, SecurityProtocol, address_text, parse_listener

_PROTOCOLS = {"PLAINTEXT": SecurityProtocol.PLAINTEXT, "OUTSIDE": SecurityProtocol.SASL_SSL}


def test_security_protocols_have_kafkas_names_and_numbers() -> None:
    assert [(str(p), p.number, p.tls, p.sasl) for p in SecurityProtocol] == [
        ("PLAINTEXT", 0, False, False),
        ("SSL", 1, True, False),
        ("SASL_PLAINTEXT", 2, False, True),
        ("SASL_SSL", 3, True, True),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PLAINTEXT://:9092", Listener("PLAINTEXT", SecurityProtocol.PLAINTEXT, "", 9092)),
        ("outside://kafka.test:0", Listener("OUTSIDE", SecurityProtocol.SASL_SSL, "kafka.test", 0)),
        ("OUTSIDE://[::1]:65535", Listener("OUTSIDE", SecurityProtocol.SASL_SSL, "::1", 65535)),
    ],
)
def test_a_listener_is_read_from_its_text(text: str, expected: Listener) -> None:
    assert parse_listener(text, _PROTOCOLS) == expected


@pytest.mark.parametrize("text", ["kafka:9092", "PLAINTEXT://kafka", "PLAINTEXT://a:65536", "PLAINTEXT://a b:1"])
def test_a_text_that_is_no_listener_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="Unable to parse"):
        parse_listener(text, _PROTOCOLS)


def test_a_name_needs_a_protocol() -> None:
    with pytest.raises(ConfigError, match="No security protocol defined for listener INSIDE"):
        parse_listener("INSIDE://:1", _PROTOCOLS)


def test_listener_as_text_has_name_host_and_port() -> None:
    assert str(Listener("A", SecurityProtocol.SSL, "::1", 5)) == "A://[::1]:5"
    assert address_text("a", 5) == "a:5"


# -- The configuration as one listener, or one SASL mechanism of it, sees it.


def _config(**texts: str) -> ListenerConfig:
    values = {name.replace("_", "."): text for name, text in texts.items()}
    return ListenerConfig("OUTSIDE", values.get)


def test_its_own_value_goes_first() -> None:
    config = _config(listener_name_outside_ssl_client_auth="required", ssl_client_auth="none", ssl_provider="SunJSSE")
    assert config.get_text("ssl.client.auth") == "required"
    assert config.get_text("ssl.provider") == "SunJSSE"
    assert config.get_text("ssl.keystore.location") is None
    assert config.is_set("ssl.client.auth")
    assert not config.is_set("ssl.provider")


def test_config_of_a_listener_is_read_with_its_type() -> None:
    config = _config(
        listener_name_outside_ssl_enabled_protocols="TLSv1.2, TLSv1.3",
        max_connections="7",
        ssl_allow_dn_changes="TRUE",
    )
    assert config.get_list("ssl.enabled.protocols") == ("TLSv1.2", "TLSv1.3")
    assert config.get_list("ssl.cipher.suites") == ()
    assert config.get_int("max.connections") == 7
    assert config.get_bool("ssl.allow.dn.changes") is True
    for read in (config.get_text, config.get_list, config.get_bool):
        with pytest.raises(TypeError):
            read("max.connections")
    with pytest.raises(TypeError):
        config.get_int("ssl.enabled.protocols")
    with pytest.raises(KeyError):
        config.get("no.such.key")


def test_config_of_a_sasl_mechanism_goes_before_that_of_the_broker() -> None:
    config = _config(
        **{
            "listener_name_outside_scram-sha-256_sasl_jaas_config": "secret",
            "listener_name_outside_connections_max_reauth_ms": "2",
            "connections_max_reauth_ms": "1",
        }
    )
    scram = config.for_mechanism("SCRAM-SHA-256")
    assert scram.get_text("sasl.jaas.config") == "secret"
    assert scram.get_int("connections.max.reauth.ms") == 2
    assert scram.is_set("sasl.jaas.config")


def test_jaas_is_never_shared_by_mechanisms() -> None:
    config = _config(sasl_jaas_config="a", listener_name_outside_sasl_jaas_config="b")
    assert config.for_mechanism("PLAIN").get_text("sasl.jaas.config") is None


def test_the_brokers_layers_are_asked_each_time() -> None:
    broker = BrokerConfig({"num.network.threads": "4"})
    config = broker.for_listener("OUTSIDE")
    assert config.get_int("num.network.threads") == 4
    broker.set_dynamic(None, {"num.network.threads": "5"})
    assert config.get_int("num.network.threads") == 5
    broker.set_dynamic(1, {"listener.name.outside.num.network.threads": "6"})
    assert config.get_int("num.network.threads") == 6
    assert broker.for_listener("INSIDE").get_int("num.network.threads") == 5
    assert config.get_int("connections.max.reauth.ms") == 0
