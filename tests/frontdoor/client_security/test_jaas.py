"""Login modules as they stand in `sasl.jaas.config`."""

from __future__ import annotations

import pytest

from odradek.client_security import SecurityOptionError
from odradek.client_security.jaas import parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def test_a_module_with_quoted_and_bare_values() -> None:
    module = parse_jaas(f'{PLAIN} required username="al ice" password=\'a"b;c\' useKeyTab=true;')
    assert module.name == PLAIN
    assert module.options == {"username": "al ice", "password": 'a"b;c', "useKeyTab": "true"}
    assert module.flag("useKeyTab")
    assert not module.flag("username")


def test_escapes_line_breaks_and_comments() -> None:
    module = parse_jaas('a.B required // first\n  x="a\\"b\\\\c" /* second\n line */\n y="";')
    assert module.options == {"x": 'a"b\\c', "y": ""}


def test_the_repr_shows_no_values() -> None:
    assert "hush" not in repr(parse_jaas('a.B required password="hush";'))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a.B required",
        'a.B required password="hush"',
        'a.B password="hush";',
        'a.B required password "hush";',
        "a.B required password=;",
        'a.B required password="hush;',
        "a.B required password=hu$sh%;",
        'a.B required password="hush"; c.D required;',
        'a.B required ="hush";',
    ],
)
def test_what_is_no_login_module_is_refused_without_its_secrets(text: str) -> None:
    with pytest.raises(SecurityOptionError, match=r"^sasl\.jaas\.config cannot be read: ") as caught:
        parse_jaas(text)
    assert "hush" not in str(caught.value)
