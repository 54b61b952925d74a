"""The messages of RFC 7628 as the client writes them."""

from __future__ import annotations

import pytest

from odradek.client_security import SecurityOptionError
from odradek.client_security.oauthbearer import OAuthBearer


def test_the_first_message_has_the_token_and_the_extensions() -> None:
    assert OAuthBearer("tok", {}).first() == b"n,,\x01auth=Bearer tok\x01\x01"
    assert OAuthBearer("tok", {"traceId": "1 2"}).first() == b"n,,\x01auth=Bearer tok\x01traceId=1 2\x01\x01"


def test_a_refusal_is_acknowledged_and_an_empty_answer_is_the_end() -> None:
    assert OAuthBearer("tok", {}).answer(b'{"status":"invalid_token"}') == b"\x01"
    assert OAuthBearer("tok", {}).answer(b"") is None


@pytest.mark.parametrize("extensions", [{"auth": "x"}, {"a1": "x"}, {"": "x"}, {"a": ""}, {"a": "x\x01b=c"}])
def test_extensions_that_would_break_the_message_are_refused(extensions: dict[str, str]) -> None:
    with pytest.raises(SecurityOptionError, match="extension"):
        OAuthBearer("tok", extensions)
