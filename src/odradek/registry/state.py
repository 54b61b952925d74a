"""The state that the records of ``_schemas`` describe: subjects, versions, ids, configs, modes. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from odradek.registry.entries import DEFAULT_CONTEXT, Content, Subject, Version, begins, context_of, context_subject
from odradek.registry.records import LEVEL, RegistryRecord, check_config, version_of

DEFAULT_LEVEL = "BACKWARD"
READWRITE = "READWRITE"
READONLY, READONLY_OVERRIDE, IMPORT = "READONLY", "READONLY_OVERRIDE", "IMPORT"
MODES = (READWRITE, READONLY, READONLY_OVERRIDE, IMPORT)

K = TypeVar("K")
L = TypeVar("L")
V = TypeVar("V")


class RegistryState:
    """Changed by `replay` alone, record by record in the order of the log.

    A state that others read is not changed any more: `copied` gives one to go on with, which shares what is not
    changed. So a long look keeps nobody waiting.
    """

    def __init__(self) -> None:
        self.versions: dict[str, dict[int, Version]] = {}
        self.configs: dict[str | None, dict[str, Any]] = {}
        self.modes: dict[str | None, str] = {}
        self._contexts: set[str] = set()
        self._places: dict[tuple[str, int], dict[tuple[str, int], None]] = {}
        self._ids: dict[tuple[str, Content], int] = {}
        self._largest: dict[str, int] = {}
        self._own: set[tuple[int, Any]] = set()

    def __repr__(self) -> str:
        return f"<RegistryState: {len(self.versions)} subjects>"

    def copied(self) -> RegistryState:
        """The same state, to be changed."""
        other = RegistryState()
        for name, table in vars(self).items():
            if name != "_own":
                setattr(other, name, table.copy())
        return other

    # -- changes

    def replay(self, written: RegistryRecord) -> None:
        """Apply a record. ValueError for a record that this registry cannot use; the state is unchanged then."""
        replay = _KINDS.get(written.kind)
        if replay is None:
            raise ValueError(f"unknown kind of record {written.kind!r}")
        replay(self, written)

    def _schema(self, written: RegistryRecord) -> None:
        if written.value is None:
            self._drop(written.subject or "", written.version)
            return
        version = version_of(written.value)
        context = context_of(version.subject)
        same = next(iter(self._places.get((context, version.id), ())), None)
        if same is not None and self._at(*same).content.schema != version.content.schema:
            raise ValueError(f"another schema has the id {version.id} already")
        self._drop(version.subject, version.version)
        self._put(version)
        self._inner(self._places, (context, version.id))[version.subject, version.version] = None
        self._ids[context, version.content] = version.id
        self._largest[context] = max(version.id, self._largest.get(context, 0))

    def _config(self, written: RegistryRecord) -> None:
        if written.value is None:
            self.configs.pop(written.subject, None)
        else:
            kept = {name: each for name, each in written.value.items() if name != "subject" and each is not None}
            check_config(kept)
            self.configs[written.subject] = kept

    def _mode(self, written: RegistryRecord) -> None:
        if written.value is None:
            self.modes.pop(written.subject, None)
        else:
            mode = written.value.get("mode")
            if mode not in MODES:
                raise ValueError(f"unknown mode {mode!r}")
            self.modes[written.subject] = mode

    def _delete_subject(self, written: RegistryRecord) -> None:
        up_to = (written.value or {}).get("version")
        if not isinstance(up_to, int):
            raise ValueError("a DELETE_SUBJECT record without a version")
        for each in list(self.versions.get(written.subject or "", {}).values()):
            if each.version <= up_to:
                self._put(replace(each, deleted=True))

    def _clear_subject(self, written: RegistryRecord) -> None:
        for subject in self.subjects_of(written.subject, deleted=True):
            for each in list(self.versions[subject].values()):
                if each.deleted:
                    self._drop(subject, each.version)

    def _context(self, written: RegistryRecord) -> None:
        if written.value is None:
            self._contexts.discard(written.subject or "")
        else:
            self._contexts.add(written.subject or DEFAULT_CONTEXT)

    def _put(self, version: Version) -> None:
        self._inner(self.versions, version.subject)[version.version] = version

    def _drop(self, subject: str, version: int) -> None:
        gone = self.versions.get(subject, {}).get(version)
        if gone is None:
            return
        known = self._inner(self.versions, subject)
        del known[version]
        if not known:
            del self.versions[subject]
        context = context_of(subject)
        places = self._inner(self._places, (context, gone.id))
        del places[subject, version]
        if not places:
            del self._places[context, gone.id]
        if not any(self._at(*place).content == gone.content for place in places):
            self._ids.pop((context, gone.content), None)

    def _inner(self, table: dict[K, dict[L, V]], key: K) -> dict[L, V]:
        """A dictionary in a table, to be changed: copies of this state share those that were not."""
        if key not in table or (id(table), key) not in self._own:
            table[key] = {**table.get(key, {})}
            self._own.add((id(table), key))
        return table[key]

    def _at(self, subject: str, version: int) -> Version:
        return self.versions[subject][version]

    # -- looks

    def all_of(self, subject: str, *, deleted: bool = True) -> list[Version]:
        """The versions of a subject, oldest first."""
        found = sorted(self.versions.get(subject, {}).values(), key=lambda each: each.version)
        return [each for each in found if deleted or not each.deleted]

    def latest(self, subject: str) -> Version | None:
        """The newest version that is not deleted."""
        live = self.all_of(subject, deleted=False)
        return live[-1] if live else None

    def version(self, subject: str, number: int, *, deleted: bool = False) -> Version | None:
        """A version, or the latest for -1."""
        if number < 0:
            return self.latest(subject)
        found = self.versions.get(subject, {}).get(number)
        return found if found is not None and (deleted or not found.deleted) else None

    def has(self, subject: str | None, *, deleted: bool = False) -> bool:
        """Whether the subject, or one of a context, has versions."""
        return bool(self.subjects_of(subject, deleted=deleted))

    def subjects_of(self, subject: str | None, *, deleted: bool) -> list[str]:
        """The subject, if it has versions; for a context, its subjects with versions (None: the default context)."""
        meant = Subject.of(subject or "")
        if meant.name:
            found = [str(meant)] if str(meant) in self.versions else []
        else:
            found = [each for each in self.versions if context_of(each) == meant.context]
        return [each for each in found if deleted or self.latest(each) is not None]

    def subjects(self, prefix: str, *, deleted: bool = False, deleted_only: bool = False) -> list[str]:
        """The subjects that begin with a prefix, by name."""
        found = []
        for subject in sorted(self.versions):
            gone = self.latest(subject) is None
            if begins(subject, prefix) and (gone if deleted_only else deleted or not gone):
                found.append(subject)
        return found

    @property
    def contexts(self) -> list[str]:
        """The default context, then the others by name."""
        known = self._contexts | {context_of(each) for each in self.versions}
        return [DEFAULT_CONTEXT, *sorted(known - {DEFAULT_CONTEXT})]

    def id_of(self, context: str, content: Content) -> int | None:
        """The id that a schema has in a context."""
        return self._ids.get((context, content))

    def largest_id(self, context: str) -> int:
        """The largest id that was given in a context, 0 where none was."""
        return self._largest.get(context, 0)

    def with_id(self, number: int, subject: str | None) -> Version | None:
        """The schema with an id. Looks in the context of the subject first, then in other contexts under its name."""
        wanted = Subject.of(subject or "")
        here = self.places(wanted.context, number)
        if not wanted.name:
            return next(here, None)
        found = next((each for each in here if each.subject == str(wanted)), None)
        if found is not None or wanted.context != DEFAULT_CONTEXT:
            return found
        for context in self.contexts[1:]:
            there = str(Subject(context, wanted.name))
            found = next((each for each in self.places(context, number) if each.subject == there), None)
            if found is not None:
                return found
        return next(self.places(wanted.context, number), None)

    def places(self, context: str, number: int) -> Iterator[Version]:
        """Every version with an id in a context, deleted ones too."""
        for place in self._places.get((context, number), ()):
            yield self._at(*place)

    def with_guid(self, guid: str) -> list[Version]:
        """A version for each id that a schema has in the contexts."""
        found = [(context, number) for (context, each), number in self._ids.items() if each.guid == guid]
        return [next(self.places(*each)) for each in sorted(found, key=lambda place: place[0])]

    def referencing(self, subject: str, version: int) -> list[int]:
        """The ids of the live versions that refer to a version."""
        return sorted(
            {
                each.id
                for versions in self.versions.values()
                for each in versions.values()
                if not each.deleted
                for reference in each.content.references
                if (in_context_of(each.subject, reference.subject), reference.version) == (subject, version)
            }
        )

    def config_in_scope(self, subject: str | None) -> dict[str, Any]:
        """The config that applies to a subject: its own, over that of its context, over the global one."""
        usual: dict[str, Any] = {LEVEL: DEFAULT_LEVEL}
        for scope in reversed(self._scopes(subject)):
            usual |= self.configs.get(scope, {})
        return usual

    def mode_in_scope(self, subject: str | None) -> str:
        """The mode that applies to a subject."""
        if self.modes.get(None) == READONLY_OVERRIDE:
            return READONLY_OVERRIDE
        return next((self.modes[each] for each in self._scopes(subject) if each in self.modes), READWRITE)

    def _scopes(self, subject: str | None) -> list[str | None]:
        scopes: list[str | None] = [subject]
        for each in (context_subject(context_of(subject)), None):
            if each not in scopes:
                scopes.append(each)
        return scopes


def in_context_of(subject: str, referred: str) -> str:
    """The full name of a referenced subject: in the context of the schema, unless it names another one."""
    if referred.startswith(":."):
        return str(Subject.of(referred))
    return str(Subject(context_of(subject), referred))


_KINDS: dict[str, Callable[[RegistryState, RegistryRecord], None]] = {
    "SCHEMA": RegistryState._schema,
    "CONFIG": RegistryState._config,
    "MODE": RegistryState._mode,
    "DELETE_SUBJECT": RegistryState._delete_subject,
    "CLEAR_SUBJECT": RegistryState._clear_subject,
    "CONTEXT": RegistryState._context,
    "NOOP": lambda state, written: None,
}
