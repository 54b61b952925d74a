"""`ssl.principal.mapping.rules` against what a real Kafka's class answers (`tests/vectors/principal_rules.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.tls.principal_rules import NoMatchingRuleError, PrincipalRules

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "principal_rules.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["rules"])
def test_rules_answer_what_kafka_answers(vector: dict[str, Any]) -> None:
    if vector["refused"]:
        with pytest.raises(ConfigError, match="Invalid rule"):
            PrincipalRules(vector["rules"])
        return
    rules = PrincipalRules(vector["rules"])
    for subject, outcome in vector["names"].items():
        if outcome.startswith("="):
            assert rules.name_of(subject) == outcome[1:]
        else:
            with pytest.raises(NoMatchingRuleError):
                rules.name_of(subject)


def test_a_refused_rule_says_what_is_left_over() -> None:
    with pytest.raises(ConfigError, match=r"Invalid rule: `RULE:x/y/X`, unmatched substring: `X`"):
        PrincipalRules("RULE:x/y/X")


def test_no_rule_names_subject_and_rules() -> None:
    with pytest.raises(NoMatchingRuleError, match="No rules apply to CN=a, rules RULE:b/c/"):
        PrincipalRules("RULE:b/c/").name_of("CN=a")
