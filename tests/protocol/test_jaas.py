"""Login configurations. What is refused here, a real Kafka 4.3.1 refuses at its start with the same words."""

from __future__ import annotations

import pytest

from odradek.protocol.jaas import JaasError, LoginModule, parse

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
    with pytest.raises(JaasError, match=told.replace(".", r"\.")):
        parse(text)


def test_jaas_text_with_two_modules_has_both() -> None:
    assert [module.name for module in parse("a.B required; c.D optional x=y;")] == ["a.B", "c.D"]


def test_jaas_errors_show_no_secret() -> None:
    text = 'a.B required password="topsecret" user_alice="topsecret"'
    assert "topsecret" not in repr(parse(text + ";"))
    for wrong in (text, "topsecret topsecret;", f"{text} x; topsecret"):
        with pytest.raises(JaasError) as error:
            parse(wrong)
        assert "topsecret" not in str(error.value)
