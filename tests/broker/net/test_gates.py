"""Which listeners have a gate, and what a start pays for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from odradek.broker.cluster import Cluster
from odradek.broker.config.definition import ConfigError
from tests.scenarios.sasl_broker import LISTENERS, sasl_properties


def test_each_sasl_listener_has_one() -> None:
    cluster = Cluster(config=sasl_properties(dict.fromkeys(LISTENERS, 0)))
    assert {name for _, name in cluster.server._gates} == {"SASL", "REAUTH", "SHORT"}


def test_a_mechanism_that_is_not_there_ends_the_start() -> None:
    config = sasl_properties(dict.fromkeys(LISTENERS, 0))
    config["sasl.enabled.mechanisms"] = "PLAIN,DIGEST-MD5"
    with pytest.raises(ConfigError, match="SASL mechanism DIGEST-MD5 is not served"):
        Cluster(config=config)


def test_a_cluster_without_them_imports_nothing_of_it() -> None:
    code = (
        "import sys; from odradek.broker.cluster import Cluster; Cluster(); "
        "print([n for n in sys.modules if '.sasl' in n or 'login' in n])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
