"""Principals and the rules that make users of them, as Kafka's KerberosShortNamer reads them."""

from __future__ import annotations

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.sasl.kerberos_names import KerberosNames, NoRule


@pytest.mark.parametrize(
    ("rules", "principal", "user"),
    [
        ("DEFAULT", "alice@HERE", "alice"),
        ("DEFAULT", "kafka/host@HERE", "kafka"),
        ("DEFAULT", "alice", "alice"),
        ("RULE:[1:$1]", "alice@THERE", "alice"),
        ("RULE:[2:$1.$2]", "kafka/host@THERE", "kafka.host"),
        ("RULE:[1:$1](App.*)s/App/service-/", "App1@HERE", "service-1"),
        ("RULE:[1:$1@$0](.*@THERE)s/@.*//", "alice@THERE", "alice"),
        ("RULE:[1:$1]s/a/b/g", "banana@HERE", "bbnbnb"),
        ("RULE:[1:$1]s/a/b/", "banana@HERE", "bbnana"),
        ("RULE:[1:$1]s/(.)(.)/$2$1/", "alice@HERE", "laice"),
        ("RULE:[1:$1]/L", "ALICE@HERE", "alice"),
        ("RULE:[1:$1]s/A/B//U", "Ali@HERE", "BLI"),
        ("RULE:[2:$2](x.*);DEFAULT", "kafka/host@HERE", "kafka"),
    ],
)
def test_a_rule_makes_a_user(rules: str, principal: str, user: str) -> None:
    assert KerberosNames(rules.split(";"), "HERE").user(principal) == user


@pytest.mark.parametrize(
    ("rules", "principal"),
    [
        ("DEFAULT", "alice@THERE"),
        ("DEFAULT", "a/b/c@HERE"),
        ("RULE:[2:$1]", "alice@HERE"),
        ("RULE:[1:$1@$0]", "alice@HERE"),
        ("RULE:[1:$3]", "alice@HERE"),
        ("RULE:[1:$1](b.*)", "alice@HERE"),
        ("RULE:[1:$1]s/a/$5/", "alice@HERE"),
    ],
)
def test_nobody(rules: str, principal: str) -> None:
    with pytest.raises(NoRule):
        KerberosNames(rules.split(";"), "HERE").user(principal)


@pytest.mark.parametrize(
    "rule", ["", "default", "RULE:[x:$1]", "RULE:[1:$1](a", "RULE:[1:$1]s/a/b/x", "RULE:[1:$1]([)"]
)
def test_what_is_no_rule(rule: str) -> None:
    with pytest.raises(ConfigError, match="Invalid rule"):
        KerberosNames([rule], "HERE")
