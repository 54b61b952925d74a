"""The records of the topic ``_schemas``, in the format of Confluent's registry: JSON as key and as value.

The registry checks the configs, rule sets and metadata in them, and stores them. Clients run the rules.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from odradek.http_access import json_of
from odradek.registry.entries import AVRO, RULE_KINDS, Content, Reference, Version, sorted_text
from odradek.registry.errors import invalid_rules
from odradek.registry.formats import LEVELS

TOPIC = "_schemas"
LARGEST = 2**31 - 1
"""The largest version and id."""


class RegistryRecord(NamedTuple):
    """A record: ``kind`` is SCHEMA, CONFIG, MODE, DELETE_SUBJECT, CLEAR_SUBJECT, CONTEXT or NOOP.

    Without a value it deletes.
    """

    kind: str
    subject: str | None
    version: int
    value: dict[str, Any] | None

    @property
    def key_bytes(self) -> bytes:
        """The key as it is stored."""
        if self.kind == "CONTEXT":
            return _bytes({"keytype": self.kind, "tenant": "default", "context": self.subject})
        key: dict[str, Any] = {"keytype": self.kind, "subject": self.subject}
        if self.kind == "SCHEMA":
            key["version"] = self.version
        return _bytes({**key, "magic": 1 if self.kind == "SCHEMA" else 0})

    @property
    def value_bytes(self) -> bytes | None:
        """The value as it is stored."""
        return None if self.value is None else _bytes(self.value)


def schema_record(version: Version) -> RegistryRecord:
    """A version, live or softly deleted."""
    digest = base64.b64encode(version.content.digest).decode()
    place = {"subject": version.subject, "version": version.version, "id": version.id}
    value = {**place, "md5": digest, **version.content.to_json(), "deleted": version.deleted}
    return RegistryRecord("SCHEMA", version.subject, version.version, value)


def schema_tombstone(subject: str, version: int) -> RegistryRecord:
    """A version deleted for good."""
    return RegistryRecord("SCHEMA", subject, version, None)


def delete_subject_record(subject: str, up_to: int) -> RegistryRecord:
    """All versions of a subject up to one, softly deleted."""
    return RegistryRecord("DELETE_SUBJECT", subject, 0, {"subject": subject, "version": up_to})


def clear_subject_record(subject: str | None) -> RegistryRecord:
    """Drop the soft-deleted versions of a subject, or of all subjects of a context."""
    return RegistryRecord("CLEAR_SUBJECT", subject, 0, {"subject": subject})


def config_record(subject: str | None, config: dict[str, Any] | None) -> RegistryRecord:
    """The config of a subject, of a context, or of all (None); None as config deletes."""
    return RegistryRecord("CONFIG", subject, 0, None if config is None else {"subject": subject, **config})


def mode_record(subject: str | None, mode: str | None) -> RegistryRecord:
    """The mode of a subject, of a context, or of all (None); None as mode deletes."""
    return RegistryRecord("MODE", subject, 0, None if mode is None else {"subject": subject, "mode": mode})


def context_tombstone(context: str) -> RegistryRecord:
    """A context that is gone."""
    return RegistryRecord("CONTEXT", context, 0, None)


def context_record(context: str) -> RegistryRecord:
    """A context that is used."""
    return RegistryRecord("CONTEXT", context, 0, {"tenant": "default", "context": context})


def parsed(key: bytes | None, value: bytes | None) -> RegistryRecord:
    """Parse a record of the log. ValueError says what is wrong with it."""
    names = _object(key, "key")
    kind, subject, version = names.get("keytype"), names.get("subject"), names.get("version", 0)
    if not isinstance(kind, str):
        raise ValueError("a key without a keytype")
    if kind == "CONTEXT":
        subject = names.get("context")
    if not (subject is None or isinstance(subject, str)) or not _is_int(version):
        raise ValueError(f"the key of a {kind} record has subject {subject!r} and version {version!r}")
    return RegistryRecord(kind, subject, version, None if value is None else _object(value, "value"))


def version_of(value: dict[str, Any]) -> Version:
    """The version in the value of a SCHEMA record. ValueError if a field is missing or of another type."""
    subject, version, number, schema = (value.get(name) for name in ("subject", "version", "id", "schema"))
    if not (isinstance(subject, str) and isinstance(schema, str) and _is_number(version) and _is_number(number)):
        raise ValueError("a SCHEMA record needs subject, version, id and schema")
    assert isinstance(version, int)
    assert isinstance(number, int)
    return Version(subject, version, number, content_of(value), bool(value.get("deleted", False)))


def content_of(data: dict[str, Any]) -> Content:
    """The schema in the value of a record, or in a request. ValueError says which field is wrong."""
    schema, kind = data.get("schema") or "", data.get("schemaType") or AVRO
    if not isinstance(schema, str) or not isinstance(kind, str):
        raise ValueError("schema and schemaType must be strings")
    references = data.get("references") or []
    if not isinstance(references, list):
        raise ValueError("references must be a list")
    extras = data.get("metadata"), data.get("ruleSet")
    check_metadata(extras[0])
    check_rule_set(extras[1])
    return Content(schema, kind, tuple(map(_reference, references)), *map(sorted_text, extras))


def _reference(data: Any) -> Reference:
    if not isinstance(data, dict):
        raise ValueError("a reference must be an object")
    name, subject, version = data.get("name"), data.get("subject"), data.get("version", -1)
    if not (isinstance(name, str) and isinstance(subject, str) and _is_int(version)):
        raise ValueError("a reference needs name, subject and version")
    if not -1 <= version <= LARGEST:
        raise ValueError(f"a reference to version {version}: expected -1 to {LARGEST}")
    return Reference(name, subject, version)


def _is_int(data: Any) -> bool:
    return isinstance(data, int) and not isinstance(data, bool)


def _is_number(data: Any) -> bool:
    return _is_int(data) and 0 <= data <= LARGEST


def _object(data: bytes | None, what: str) -> dict[str, Any]:
    try:
        found = json_of(data or b"")
    except ValueError:
        raise ValueError(f"the {what} is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError(f"the {what} is not a JSON object")
    return found


def _bytes(data: dict[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()


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
