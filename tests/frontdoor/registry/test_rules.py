"""Rule sets are kept for clients: what no client could run is refused."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.registry.errors import RegistryError
from odradek.registry.rules import check_rules, merged, merged_metadata

RULE = {"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}


def test_rules_that_clients_can_run() -> None:
    check_rules(None)
    check_rules({"domainRules": [RULE], "migrationRules": [{**RULE, "name": "m", "mode": "UPGRADE"}]})


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([{}], "needs a name"),
        (["n"], "needs a name"),
        ([RULE, RULE], "two rules have the name 'n'"),
        ([{**RULE, "type": ""}], "needs a type"),
        ([{**RULE, "mode": "UPGRADE"}], "expected WRITE, READ, WRITEREAD"),
        ([{**RULE, "kind": "WISH"}], "expected TRANSFORM or CONDITION"),
    ],
)
def test_rules_that_no_client_can_run(rules: list[Any], why: str) -> None:
    with pytest.raises(RegistryError, match=why) as refused:
        check_rules({"domainRules": rules})
    assert refused.value.code == 42210


def test_rules_are_merged_by_name() -> None:
    other = {**RULE, "type": "JSONATA"}
    above = {"domainRules": [other], "migrationRules": [{"name": "m"}]}
    below = {"domainRules": [{"name": "a"}, RULE]}
    assert merged(below, above) == {"migrationRules": [{"name": "m"}], "domainRules": [{"name": "a"}, other]}
    assert merged(None, above) == above
    assert merged(below, None) == below
    assert merged(None, None) is None


def test_metadata_are_merged_by_name() -> None:
    below = {"properties": {"a": "1", "b": "1"}, "sensitive": ["a"]}
    above = {"properties": {"b": "2"}, "tags": {"t": ["x"]}, "sensitive": ["b"]}
    assert merged_metadata(below, above) == {
        "properties": {"a": "1", "b": "2"},
        "tags": {"t": ["x"]},
        "sensitive": ["a", "b"],
    }
    assert merged_metadata({"properties": {"a": "1"}}, {"tags": {"t": []}}) == {
        "properties": {"a": "1"},
        "tags": {"t": []},
    }
    assert merged_metadata(None, above) == above
