"""Which mechanisms there are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.plain import plain
from odradek.broker.security.sasl.server import mechanism


def test_a_mechanism_is_found_by_its_name() -> None:
    assert mechanism("PLAIN") is plain
    assert mechanism("SCRAM-SHA-256") is not mechanism("SCRAM-SHA-512")


@pytest.mark.parametrize("name", ["plain", "", "SCRAM-SHA-1", "DIGEST-MD5"])
def test_any_other_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is not served; there are PLAIN, "):
        mechanism(name)


def test_no_mechanism_is_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys; import odradek.broker.security.sasl.server as s; "
        "loaded = lambda: {n for n in sys.modules if n.startswith('odradek.broker.security.sasl.')}; "
        "before = loaded(); s.mechanism('PLAIN'); print(sorted(loaded() - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "scram" not in done.stdout
    assert "plain" in done.stdout
