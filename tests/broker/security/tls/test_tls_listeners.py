"""The TLS listeners of a cluster follow the configs of their node."""

from __future__ import annotations

import pytest

from odradek.broker.config.broker_config import BrokerConfig
from odradek.broker.config.definition import ConfigError
from odradek.broker.config.listeners import Listener, SecurityProtocol
from odradek.broker.security.tls.tls_listeners import TlsListeners
from tests.fakes.certificates import Certificate, issued_by, new_authority

AUTHORITY = new_authority("Test CA")


def _values(certificate: Certificate) -> dict[str, str]:
    return {
        "listener.name.ssl.ssl.keystore.type": "PEM",
        "listener.name.ssl.ssl.keystore.key": certificate.key_pem,
        "listener.name.ssl.ssl.keystore.certificate.chain": certificate.chain_pem,
    }


def test_each_node_has_its_own_certificate() -> None:
    config = BrokerConfig(_values(issued_by(AUTHORITY, "broker")), node_ids=(1, 2))
    listeners = TlsListeners(config)
    listener = Listener("SSL", SecurityProtocol.SSL)
    first = listeners.open(1, listener, between_brokers=False)
    second = listeners.open(2, listener, between_brokers=False)
    contexts = first.context, second.context
    renewed = _values(issued_by(AUTHORITY, "broker"))
    listeners.check(1, renewed)
    config.set_dynamic(1, renewed)
    listeners.apply(1)
    assert first.context is not contexts[0]
    assert second.context is contexts[1]
    with pytest.raises(ConfigError):
        listeners.check(2, _values(issued_by(AUTHORITY, "other")))
    listeners.check(1, {})  # back to what was given at the start
