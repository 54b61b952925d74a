"""Login configurations. What is refused here, a real Kafka 4.3.1 refuses at its start with the same words."""

from __future__ import annotations

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.jaas import LoginModule, login_options, parse
from tests.broker.security.sasl.listener_configs import listener_config, with_jaas

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def options(text: str) -> dict[str, str]:
    (module,) = parse(f"a.Module required {text};")
    return dict(module.options)


def test_a_login_module_with_options() -> None:
    text = f'{MODULE} required\n  username="admin" password="x y"\n  user_alice="s;e=c"; '
    expected = LoginModule(MODULE, "REQUIRED", {"username": "admin", "password": "x y", "user_alice": "s;e=c"})
    assert parse(text) == [expected]


@pytest.mark.parametrize("flag", ["required", "REQUISITE", "Sufficient", "optional"])
def test_jaas_flags_are_read_in_any_case(flag: str) -> None:
    assert parse(f"a.B {flag};") == [LoginModule("a.B", flag.upper(), {})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ('a = "b"', {"a": "b"}),
        ("a='b'", {"a": "b"}),
        ("a='it is \"b\"'", {"a": 'it is "b"'}),
        (r'a="b\"c\\d"', {"a": 'b"c\\d'}),
        (r'a="\t\n\101\60x\q"', {"a": "\t\nA0xq"}),
        (r'a="\400"', {"a": " 0"}),
        ('a=""', {"a": ""}),
        ('a="1" a="2"', {"a": "2"}),
        ('"a b"="c"', {"a b": "c"}),
        ("user_zoë=päss", {"user_zoë": "päss"}),
        ("user_ж='д'", {"user_ж": "д"}),
        ("a_b-c$d.e1=f-1.x", {"a_b-c$d.e1": "f-1.x"}),
        ('a="b" // c="d"\n e="f"', {"a": "b", "e": "f"}),
        ('a="b" / c="d"\n e="f"', {"a": "b", "e": "f"}),
        ('a="b" /* c="d" */ e="f"', {"a": "b", "e": "f"}),
        ('a="//b"', {"a": "//b"}),
        ('a="b\n c="d"', {"a": "b", "c": "d"}),
    ],
)
def test_options_of_a_login_module_are_read(text: str, expected: dict[str, str]) -> None:
    assert options(text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Login module not specified in JAAS config"),
        ("  // nothing", "Login module not specified in JAAS config"),
        ("a.B", "Login module control flag not specified in JAAS config"),
        ("a.B ;", "Login module control flag is not available in the JAAS config"),
        ("a.B sometimes;", "Invalid login module control flag in JAAS config"),
        ("a.B required", "JAAS config entry not terminated by semi-colon"),
        ("a.B required a=b", "JAAS config entry not terminated by semi-colon"),
        ("a.B required a;", "Value not specified for key 'a' in JAAS config"),
        ("a.B required a=;", "Value not specified for key 'a' in JAAS config"),
        ("a.B required a=123;", "Value not specified for key 'a' in JAAS config"),
        ("a.B required a=-1;", "Value not specified for key 'a' in JAAS config"),
        ("a.B required a:b;", "Value not specified for key 'a' in JAAS config"),
        ("a.B required a='b;", "JAAS config entry not terminated by semi-colon"),
    ],
)
def test_a_jaas_configuration_that_kafka_refuses_is_refused(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told.replace(".", r"\.")):
        parse(text)


def test_jaas_text_with_two_modules_has_both() -> None:
    assert [module.name for module in parse("a.B required; c.D optional x=y;")] == ["a.B", "c.D"]


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


def test_jaas_errors_show_no_secret() -> None:
    text = 'a.B required password="topsecret" user_alice="topsecret"'
    assert "topsecret" not in repr(parse(text + ";"))
    for wrong in (text, "topsecret topsecret;", f"{text} x; topsecret"):
        with pytest.raises(ConfigError) as error:
            login_options(with_jaas("PLAIN", wrong), MODULE)
        assert "topsecret" not in str(error.value)
