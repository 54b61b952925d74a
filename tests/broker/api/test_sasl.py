"""SaslHandshake and SaslAuthenticate where nobody logs in; tests/broker/net/test_login_gate.py has the log-ins."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.list_groups import ListGroupsRequest
from odradek.protocol.generated.messages.sasl_authenticate import SaslAuthenticateRequest
from odradek.protocol.generated.messages.sasl_handshake import SaslHandshakeRequest
from tests.fakes.wire_client import WireClient


@pytest.mark.parametrize(
    ("request_", "versions"), [(SaslHandshakeRequest("PLAIN"), 2), (SaslAuthenticateRequest(b"\0a\0b"), 3)]
)
def test_on_a_plain_listener_they_are_refused_and_the_connection_goes_on(request_: Any, versions: int) -> None:
    with KafkaBroker() as broker, WireClient(port=int(broker.bootstrap_servers.rsplit(":", 1)[1])) as client:
        for version in range(versions):
            assert client.request(request_, version).error_code == ErrorCode.ILLEGAL_SASL_STATE
        assert client.request(ListGroupsRequest()).error_code == 0
        assert broker.bugs == []
