"""GSSAPI without Kerberos at hand; with a KDC: tests/scenarios/kerberos.py."""

from __future__ import annotations

import sys

import pytest

from odradek.client_security import SecurityOptionError
from odradek.client_security.mechanisms import mechanism_for
from odradek.client_security.options import SaslOptions


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(SecurityOptionError, match=r"odradek\[gssapi\]"):
        mechanism_for(SaslOptions("GSSAPI", {}), "broker")
