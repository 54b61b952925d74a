"""Decisions: the records that a request appends, and its answer. A decision reads the state and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from odradek.registry.entries import DEFAULT_CONTEXT, Content, Version, context_of, context_subject, is_valid
from odradek.registry.errors import (
    RegistryError,
    context_not_empty,
    incompatible,
    invalid_level,
    invalid_mode,
    invalid_schema,
    invalid_subject,
    not_permitted,
    referenced,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from odradek.registry.formats import Parsed
from odradek.registry.parsing import Parser
from odradek.registry.records import (
    CONFIGS,
    LEVEL,
    RegistryRecord,
    check_config,
    check_rules,
    clear_subject_record,
    config_record,
    context_record,
    context_tombstone,
    delete_subject_record,
    merged,
    merged_metadata,
    mode_record,
    schema_record,
    schema_tombstone,
)
from odradek.registry.state import IMPORT, MODES, READONLY, READONLY_OVERRIDE, READWRITE, RegistryState

_VERSION_PROPERTY = "confluent:version"


class Decision(NamedTuple):
    """The records to append, and the answer to give once they are appended."""

    records: list[RegistryRecord]
    answer: Any


@dataclass(frozen=True, slots=True)
class SchemaRequest:
    """A schema in a request. ``version`` 0 and ``id`` -1: the registry chooses."""

    content: Content
    version: int = 0
    id: int = -1


# -- schemas


def register(state: RegistryState, parser: Parser, subject: str, asked: SchemaRequest, normalize: bool) -> Decision:
    """Give a schema a version under a subject, and an id unless its context knows it."""
    if not is_valid(subject):
        raise invalid_subject(subject)
    check_rules(_object(asked.content.rules))
    mode = _mode_to_register(state, subject, asked)
    config = state.config_in_scope(subject)
    every = state.all_of(subject)
    live = [each for each in every if not each.deleted]
    next_version = every[-1].version + 1 if every else 1
    filled = asked.content
    if mode != IMPORT:
        filled = _filled(asked, config, live[-1] if live else None, next_version)
    if not filled.schema.strip():
        raise invalid_schema("the schema is empty")
    parsed, content = understood(state, parser, subject, filled, normalize or config.get("normalize") is True)
    context = context_of(subject)
    number = _known_id(state, context, content, asked.id)
    if number is not None and asked.version == 0:
        same = next((each for each in reversed(live) if each.content == content), None)
        if same is not None:
            return Decision([], _registered(same, asked.content))
    if mode != IMPORT:
        reasons = _reasons(state, parser, subject, parsed, content, live, config)
        if reasons:
            raise incompatible(subject, reasons)
    if asked.version > 0 and asked.version != next_version and mode != IMPORT:
        raise invalid_schema(f"the next version of {subject!r} is {next_version}, not {asked.version}")
    number = asked.id if number is None and asked.id >= 0 else number
    if number is None:
        number = state.largest_id(context) + 1
    version = Version(subject, asked.version if asked.version > 0 else next_version, number, content)
    records = [] if context == DEFAULT_CONTEXT or context in state.contexts else [context_record(context)]
    gone = [each for each in every if each.deleted and each.id == number and each.version < version.version]
    records += [schema_tombstone(subject, each.version) for each in gone]
    return Decision([*records, schema_record(version)], _registered(version, asked.content))


def _mode_to_register(state: RegistryState, subject: str, asked: SchemaRequest) -> str:
    mode = state.mode_in_scope(subject)
    _check_writable(mode, subject)
    if asked.id >= 0 and mode != IMPORT:
        raise not_permitted(f"{subject!r} is not in the mode IMPORT, so the registry chooses the id")
    if asked.id < 0 and mode != READWRITE:
        raise not_permitted(f"{subject!r} is not in the mode READWRITE: give an id")
    return mode


def _check_writable(mode: str, subject: str | None) -> None:
    if mode in (READONLY, READONLY_OVERRIDE):
        raise not_permitted(f"{subject or 'the registry'!r} is in the mode {mode}")


def _filled(asked: SchemaRequest, config: dict[str, Any], last: Version | None, next_version: int) -> Content:
    """The schema with the metadata and rules that it inherits from the last version and the config."""
    content = asked.content
    if not content.schema.strip():
        if last is None:
            raise invalid_schema("the schema is empty")
        content = replace(last.content, metadata=content.metadata, rules=content.rules)
    metadata, rules = _object(content.metadata), _object(content.rules)
    if last is not None:
        metadata = _object(last.content.metadata) if metadata is None else metadata
        rules = _object(last.content.rules) if rules is None else rules
    metadata = merged_metadata(merged_metadata(config.get("defaultMetadata"), metadata), config.get("overrideMetadata"))
    rules = merged(merged(config.get("defaultRuleSet"), rules), config.get("overrideRuleSet"))
    if asked.version != 0 or _VERSION_PROPERTY in ((metadata or {}).get("properties") or {}):
        metadata = merged_metadata(metadata, {"properties": {_VERSION_PROPERTY: str(next_version)}})
    return content.with_extras(metadata, rules)


def _known_id(state: RegistryState, context: str, content: Content, wanted: int) -> int | None:
    """The id of a schema that is registered already. RegistryError (42205) if the wanted id is another schema's."""
    if wanted >= 0:
        other = next(state.places(context, wanted), None)
        if other is not None and other.content != content:
            raise not_permitted(f"another schema has the id {wanted}")
        return wanted if other is not None else None
    return state.id_of(context, content)


def _registered(version: Version, asked: Content) -> dict[str, Any]:
    """The answer: the id alone, or the whole version if it has metadata or rules."""
    if version.content.metadata is None and version.content.rules is None:
        return {"id": version.id}
    told = version.to_json()
    del told["subject"]
    return told


def understood(
    state: RegistryState, parser: Parser, subject: str, content: Content, normalize: bool, *, keep: bool = True
) -> tuple[Parsed, Content]:
    """The parsed schema, and the content to store. A reference to the latest version gets its number.

    ``keep``: as `Parser.parsed` has it.
    """
    fixed = []
    for each in content.references:
        found = state.latest(each.subject) if each.version == -1 else None
        fixed.append(each if found is None else each._replace(version=found.version))
    content = replace(content, references=tuple(sorted(fixed) if normalize else fixed))
    parsed = parser.parsed(state, subject, content, keep=keep)
    try:
        text = parsed.normalized if normalize else parsed.canonical
        text.encode()  # half a character, which JSON can write as an escape, is in no text
        return parsed, replace(content, schema=text)
    except ValueError as error:
        raise invalid_schema(str(error)) from None


def _reasons(
    state: RegistryState,
    parser: Parser,
    subject: str,
    parsed: Parsed,
    content: Content,
    earlier: Sequence[Version],
    config: dict[str, Any],
) -> list[str]:
    """Why a schema is not compatible with earlier versions, by the level and the compatibility group of a config."""
    group = config.get("compatibilityGroup")
    if group is not None:
        wanted = _property(content, group)
        earlier = [each for each in earlier if _property(each.content, group) == wanted]
    level = config[LEVEL]
    if level == "NONE" or not earlier:
        return []
    pairs = [(each.version, parser.parsed(state, each.subject, each.content)) for each in earlier]
    return parser.reasons_against(parsed, level, pairs)


def _property(content: Content, name: str) -> Any:
    return ((_object(content.metadata) or {}).get("properties") or {}).get(name)


def compatibility(
    state: RegistryState,
    parser: Parser,
    subject: str,
    asked: SchemaRequest,
    earlier: Sequence[Version],
    normalize: bool,
) -> list[str]:
    """Why a schema is not compatible with the given versions; empty if it is."""
    if not asked.content.schema.strip():
        raise invalid_schema("the schema is empty")
    config = state.config_in_scope(subject)
    normal = normalize or config.get("normalize") is True
    parsed, content = understood(state, parser, subject, asked.content, normal, keep=False)
    return _reasons(state, parser, subject, parsed, content, earlier, config)


def delete_version(state: RegistryState, subject: str, number: int, permanent: bool) -> Decision:
    """Delete a version: softly, or for good if it is soft-deleted. Answers its number."""
    found = state.version(subject, number, deleted=True)
    if found is None:
        known = state.has(subject, deleted=True)
        raise version_not_found(subject, number) if known else subject_not_found(subject)
    if found.deleted and not permanent:
        raise version_soft_deleted(subject, found.version)
    _check_writable(state.mode_in_scope(subject), subject)
    _check_unreferenced(state, subject, found.version)
    if permanent:
        if not found.deleted:
            raise version_not_soft_deleted(subject, found.version)
        return Decision([schema_tombstone(subject, found.version)], found.version)
    records = [schema_record(replace(found, deleted=True))]
    if len(state.all_of(subject, deleted=False)) == 1:
        records += _settings_gone(state, subject)
    return Decision(records, found.version)


def delete_subject(state: RegistryState, subject: str, permanent: bool) -> Decision:
    """Delete all versions of a subject: softly, or for good if they are soft-deleted. Answers their numbers."""
    every = state.all_of(subject)
    if not every:
        raise subject_not_found(subject)
    live = [each for each in every if not each.deleted]
    if not live and not permanent:
        raise subject_soft_deleted(subject)
    _check_writable(state.mode_in_scope(subject), subject)
    for each in every if permanent else live:
        _check_unreferenced(state, subject, each.version)
    if permanent:
        if live:
            raise subject_not_soft_deleted(subject)
        return Decision([schema_tombstone(subject, each.version) for each in every], [each.version for each in every])
    records = [delete_subject_record(subject, live[-1].version), *_settings_gone(state, subject)]
    return Decision(records, [each.version for each in live])


def _check_unreferenced(state: RegistryState, subject: str, version: int) -> None:
    by = state.referencing(subject, version)
    if by:
        raise referenced(subject, version, by)


def _settings_gone(state: RegistryState, subject: str) -> list[RegistryRecord]:
    """Records that delete the config and the mode of a subject without versions."""
    records = [mode_record(subject, None)] if subject in state.modes else []
    return [*records, config_record(subject, None)] if subject in state.configs else records


# -- config and mode


def set_config(state: RegistryState, subject: str | None, body: dict[str, Any]) -> Decision:
    """Change the given settings of a subject's config. Answers the request."""
    _check_writable(state.mode_in_scope(subject), subject)
    changed = _config(body)
    return Decision([config_record(subject, {**state.configs.get(subject, {}), **changed})], body)


def _config(body: dict[str, Any]) -> dict[str, Any]:
    known = ("compatibility", *CONFIGS)
    changed: dict[str, Any] = {}
    for name, value in body.items():
        if name not in known:
            raise invalid_level(f"unknown config {name!r}: expected {', '.join(known)}")
        if value is not None:
            changed[LEVEL if name == "compatibility" else name] = value
    if not changed:
        raise invalid_level(f"the request sets nothing: expected at least one of {', '.join(known)}")
    if isinstance(changed.get(LEVEL), str):
        changed[LEVEL] = changed[LEVEL].upper()
    try:
        check_config(changed)
    except ValueError as error:
        raise invalid_level(str(error)) from None
    for name in CONFIGS:
        if name.endswith("RuleSet"):
            check_rules(changed.get(name))
    return changed


def delete_config(state: RegistryState, subject: str | None) -> Decision:
    """Delete a config, so that the one of the context or the global one applies. Answers the deleted config."""
    _check_writable(state.mode_in_scope(subject), subject)
    before = state.configs.get(subject)
    if before is None and subject is not None:
        raise subject_not_found(subject)
    records = [] if before is None else [config_record(subject, None)]
    return Decision(records, before or {LEVEL: state.config_in_scope(None)[LEVEL]})


def set_mode(state: RegistryState, subject: str | None, body: dict[str, Any], force: bool) -> Decision:
    """Set a mode. IMPORT is refused where schemas are live, unless it is forced; it deletes soft-deleted ones."""
    text = body.get("mode")
    mode = text.upper() if isinstance(text, str) else ""
    if mode not in MODES or set(body) != {"mode"}:
        raise invalid_mode(text)
    records: list[RegistryRecord] = []
    if mode == IMPORT and state.mode_in_scope(subject) != IMPORT and not force:
        if state.has(subject):
            raise not_permitted("there are schemas already: force=true imports nevertheless")
        for name in state.subjects_of(subject, deleted=True):
            for each in state.all_of(name):
                _check_unreferenced(state, name, each.version)
                records.append(schema_tombstone(name, each.version))
        records.append(clear_subject_record(subject))
    return Decision([*records, mode_record(subject, mode)], body)


def delete_mode(state: RegistryState, subject: str | None, recursive: bool = False) -> Decision:
    """Delete a mode, so that the one of the context or the global one applies. Answers the deleted mode.

    ``recursive``: also delete the modes of all subjects of a context (None: of the default one).
    """
    before = state.modes.get(subject)
    if recursive:
        context = context_of(subject)
        is_context = subject == context_subject(context)
        scopes = [each for each in state.modes if each == subject or (is_context and context_of(each) == context)]
        return Decision([mode_record(each, None) for each in scopes], {"mode": before})
    if before is None and subject is not None:
        raise subject_not_found(subject)
    records = [] if before is None else [mode_record(subject, None)]
    return Decision(records, {"mode": before or READWRITE})


def delete_context(state: RegistryState, context: str) -> Decision:
    """Delete a context without subjects, and its config and mode."""
    subject = context_subject(context)
    if subject is None or context not in state.contexts:
        raise RegistryError(40401, f"context {context!r} does not exist, or is the default one")
    if state.has(subject, deleted=True):
        raise context_not_empty(context)
    return Decision([*_settings_gone(state, subject), context_tombstone(context)], None)


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found: dict[str, Any] = json.loads(text)
    return found
