"""What a store holds."""

from __future__ import annotations

from odradek.broker.security.tls.entries import KeyEntry, Store, to_pem
from tests.fakes.certificates import issued_by, new_authority


def test_pem_is_what_openssl_writes() -> None:
    leaf = issued_by(new_authority("Test CA"), "broker")
    assert to_pem("CERTIFICATE", leaf.der) == leaf.pem


def test_a_trust_store_trusts_keys_own_certificates_too() -> None:
    store = Store((KeyEntry("own", b"key", (b"leaf", b"ca")),), (("other", b"root"),))
    assert store.certificates() == {"own": b"leaf", "other": b"root"}


def test_keys_are_not_shown() -> None:
    entry = KeyEntry("own", b"secret-key", (b"leaf",), "secret-password")
    assert "secret" not in repr(Store((entry,)))
