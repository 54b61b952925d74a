"""Configs, and the rule sets and metadata in them: the registry checks and stores rules, clients run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.registry.entries import RULE_KINDS
from odradek.registry.errors import invalid_rules
from odradek.registry.formats.parsed import LEVELS

LEVEL = "compatibilityLevel"
_OBJECTS = ("defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet")
CONFIGS = ("normalize", "compatibilityGroup", *_OBJECTS)
"""The settings of a config besides the level."""

_MODES = {
    "migrationRules": ("UPGRADE", "DOWNGRADE", "UPDOWN"),
    "domainRules": ("WRITE", "READ", "WRITEREAD"),
    "encodingRules": ("WRITE", "READ", "WRITEREAD"),
}
_KINDS = ("TRANSFORM", "CONDITION")


def check_config(config: dict[str, Any]) -> None:
    """ValueError for settings that nobody could use, in a request or in the log."""
    if LEVEL in config and config[LEVEL] not in LEVELS:
        raise ValueError(f"invalid compatibility level {config[LEVEL]!r}: expected one of {', '.join(LEVELS)}")
    if not isinstance(config.get("normalize", False), bool):
        raise ValueError("normalize must be true or false")
    if not isinstance(config.get("compatibilityGroup", ""), str):
        raise ValueError("compatibilityGroup must be the name of a property")
    for name in _OBJECTS:
        check = check_rule_set if name.endswith("RuleSet") else check_metadata
        check(config.get(name))


_TEXTS_OF_RULE = ("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure")


def check_metadata(data: Any) -> None:
    """ValueError for metadata that are not as the API has them; None is fine."""
    _check(data, {"tags": _is_texts_by_name, "properties": _is_text_by_name, "sensitive": _is_texts}, "metadata")


def check_rule_set(data: Any) -> None:
    """ValueError for a rule set that is not as the API has it; None is fine. `check_rules` asks for more."""
    _check(data, dict.fromkeys(RULE_KINDS, lambda value: isinstance(value, list)), "the rule set")
    kinds = {**dict.fromkeys(_TEXTS_OF_RULE, _is_text), "tags": _is_texts, "params": _is_text_by_name}
    for name in RULE_KINDS:
        for each in (data or {}).get(name) or []:
            _check(each, {**kinds, "disabled": lambda value: isinstance(value, bool)}, f"a rule of the {name}")


def _check(data: Any, kinds: dict[str, Callable[[Any], bool]], what: str) -> None:
    if data is None:
        return
    if not isinstance(data, dict):
        raise ValueError(f"{what} must be an object")
    for name, fits in kinds.items():
        if data.get(name) is not None and not fits(data[name]):
            raise ValueError(f"{name} of {what} is not of its type")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_text_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_texts_by_name(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_texts, value.values()))


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
