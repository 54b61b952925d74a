"""Which mechanisms there are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.broker.clock import BrokerClock
from odradek.broker.config.definition import ConfigError
from odradek.broker.metadata.writer import ImageWriter
from odradek.broker.security.sasl.credentials import Credentials
from odradek.broker.security.sasl.passwords import plain
from odradek.broker.security.sasl.server import MalformedToken, SaslListener, login_options, mechanism
from tests.broker.security.sasl.listener_configs import listener_config, with_jaas
from tests.scenarios.sasl_broker import sasl_properties


def test_a_mechanism_is_found_by_its_name() -> None:
    assert mechanism("PLAIN") is plain
    assert mechanism("SCRAM-SHA-256") is not mechanism("SCRAM-SHA-512")


@pytest.mark.parametrize("name", ["plain", "", "SCRAM-SHA-1", "DIGEST-MD5"])
def test_sasl_mechanism_that_is_not_served_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is not served; there are PLAIN, "):
        mechanism(name)


def test_no_mechanism_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys; import odradek.broker.security.sasl.server as s; "
        "loaded = lambda: {n for n in sys.modules if n.startswith('odradek.broker.security.sasl.')}; "
        "before = loaded(); s.mechanism('PLAIN'); print(sorted(loaded() - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "oauthbearer" not in done.stdout
    assert "passwords" in done.stdout


def listener(name: str = "SASL", **more: str) -> SaslListener:
    values = {**sasl_properties({"SASL": 0, "REAUTH": 0}), **{key.replace("__", "."): more[key] for key in more}}
    credentials = Credentials(ImageWriter().image, lambda: None)
    return SaslListener(listener_config(values, name), credentials, BrokerClock())


def test_mechanisms_are_told_in_kafkas_order() -> None:
    assert listener().mechanisms == ["PLAIN", "SCRAM-SHA-512", "SCRAM-SHA-256"]


def test_each_log_in_has_a_server_of_its_own() -> None:
    offered = listener()
    one, other = offered.new_server("PLAIN"), offered.new_server("PLAIN")
    assert one is not None
    assert one is not other
    assert offered.new_server("GSSAPI") is None


@pytest.mark.parametrize(
    ("name", "expires_ms", "session_ms"),
    [
        ("SASL", None, None),
        ("SASL", 5000, 4000),
        ("SASL", 500, 0),
        ("REAUTH", None, 3_600_000),
        ("REAUTH", 5000, 4000),
        ("REAUTH", 1000 + 3_700_000, 3_600_000),
        ("SASL", 1000 + 9_223_372_036_854, 9_223_372_036_854),
        ("REAUTH", 2**63 - 1, 3_600_000),
    ],
)
def test_a_session_lasts_as_long_as_both_limits_let_it(
    name: str, expires_ms: int | None, session_ms: int | None
) -> None:
    assert listener(name).session_ms("PLAIN", expires_ms, 1000) == session_ms


def test_a_session_of_292_years_is_none() -> None:
    with pytest.raises(MalformedToken, match="9223372036855 ms"):
        listener().session_ms("PLAIN", 1000 + 9_223_372_036_855, 1000)


def test_a_mechanism_may_have_a_limit_of_its_own() -> None:
    offered = listener("REAUTH", **{"listener.name.reauth.plain.connections.max.reauth.ms": "10"})
    assert offered.session_ms("PLAIN", None, 0) == 10
    assert offered.session_ms("SCRAM-SHA-256", None, 0) == 3_600_000


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"sasl.enabled.mechanisms": "PLAIN,DIGEST-MD5"}, "SASL mechanism DIGEST-MD5 is not served"),
        ({"listener.name.sasl.plain.sasl.jaas.config": "x"}, "listener SASL, PLAIN: Login module control flag"),
        ({"listener.name.sasl.sasl.enabled.mechanisms": ""}, "No SASL mechanisms are enabled"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_listeners_name(config: dict[str, str], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        listener(**config)


MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_a_mechanism_takes_the_options_of_its_own_module() -> None:
    assert login_options(with_jaas("PLAIN", f"{MODULE} required a=b;"), MODULE) == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{MODULE} required; {MODULE} required;", "contains 2 login modules, should be 1 module"),
        ("com.sun.security.auth.module.JndiLoginModule required;", "the login module of this mechanism is"),
    ],
)
def test_a_mechanism_refuses_other_modules(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        login_options(with_jaas("PLAIN", text), MODULE)


def test_without_a_prefix_for_the_mechanism_there_is_no_configuration() -> None:
    config = listener_config({"sasl.jaas.config": f"{MODULE} required;"}).for_mechanism("PLAIN")
    with pytest.raises(ConfigError, match=r"Could not find a 'KafkaServer' or 'sasl\.KafkaServer' entry"):
        login_options(config, MODULE)
