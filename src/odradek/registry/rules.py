"""Rule sets: the registry checks and stores them, clients run them."""

from __future__ import annotations

from typing import Any

from odradek.registry.entries import RULE_KINDS
from odradek.registry.errors import invalid_rules

_MODES = {
    "migrationRules": ("UPGRADE", "DOWNGRADE", "UPDOWN"),
    "domainRules": ("WRITE", "READ", "WRITEREAD"),
    "encodingRules": ("WRITE", "READ", "WRITEREAD"),
}
_KINDS = ("TRANSFORM", "CONDITION")


def check_rules(rules: dict[str, Any] | None) -> None:
    """RegistryError (42210) for rules that clients cannot run: a name or type is missing, or a name occurs twice."""
    names: set[str] = set()
    for kind in RULE_KINDS:
        for rule in (rules or {}).get(kind) or []:
            name = rule.get("name") if isinstance(rule, dict) else None
            if not isinstance(name, str) or not name:
                raise invalid_rules(f"each rule of the {kind} needs a name")
            if name in names:
                raise invalid_rules(f"two rules have the name {name!r}")
            names.add(name)
            if not rule.get("type"):
                raise invalid_rules(f"the rule {name!r} needs a type")
            if rule.get("mode") not in _MODES[kind]:
                raise invalid_rules(
                    f"invalid mode of the rule {name!r} of the {kind}: expected {', '.join(_MODES[kind])}"
                )
            if rule.get("kind", "TRANSFORM") not in _KINDS:
                raise invalid_rules(f"invalid kind of the rule {name!r}: expected TRANSFORM or CONDITION")


def rule_types(rules: dict[str, Any] | None) -> set[str]:
    """The types of all rules."""
    return {rule["type"] for kind in RULE_KINDS for rule in (rules or {}).get(kind) or []}


def merged(below: dict[str, Any] | None, above: dict[str, Any] | None) -> dict[str, Any] | None:
    """Merge two rule sets. Of two rules with one name, the one in ``above`` wins."""
    if not below or not above:
        return above or below
    result: dict[str, Any] = {}
    for kind in RULE_KINDS:
        upper = above.get(kind) or []
        names = {each["name"] for each in upper}
        rules = [*(each for each in below.get(kind) or [] if each["name"] not in names), *upper]
        if rules:
            result[kind] = rules
    return result


def merged_metadata(below: dict[str, Any] | None, above: dict[str, Any] | None) -> dict[str, Any] | None:
    """Merge two metadata. Of two tags or properties with one name, the one in ``above`` wins."""
    if not below or not above:
        return above or below
    result: dict[str, Any] = {}
    for name in ("tags", "properties"):
        if found := {**(below.get(name) or {}), **(above.get(name) or {})}:
            result[name] = found
    if sensitive := sorted({*(below.get("sensitive") or []), *(above.get("sensitive") or [])}):
        result["sensitive"] = sensitive
    return result
