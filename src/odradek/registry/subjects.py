"""Names of subjects: ``orders-value``, or ``:.context:orders-value``."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_CONTEXT = "."
_RESERVED = ("__GLOBAL", "__EMPTY")
_EVERY_CONTEXT = ":*:"


class Subject(NamedTuple):
    """A context, which begins with a dot, and a name in it. An empty name means the context itself."""

    context: str
    name: str

    @classmethod
    def of(cls, text: str) -> Subject:
        """Parse a text; without a context it is in the default one."""
        if text.startswith(":."):
            context, _, name = text[1:].partition(":")
            return cls(context, name)
        return cls(DEFAULT_CONTEXT, text)

    def __str__(self) -> str:
        """The stored text, without the default context."""
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"


def normal(text: str) -> str:
    """A subject as it is stored."""
    return str(Subject.of(text))


def is_valid(text: str) -> bool:
    """Whether a subject may have this name."""
    name = Subject.of(text).name
    return bool(name) and name not in _RESERVED and not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in text)


def context_of(subject: str | None) -> str:
    """The context of a subject; None is in the default one."""
    return DEFAULT_CONTEXT if subject is None else Subject.of(subject).context


def context_subject(context: str) -> str | None:
    """The subject of a context's config and mode; None for the default context, whose settings are the global ones."""
    return None if context == DEFAULT_CONTEXT else str(Subject(context, ""))


def in_context(context: str, subject: str | None) -> str | None:
    """The full subject of a request below ``/contexts/NAME``; the context itself for None."""
    if subject is not None and subject.startswith((":.", _EVERY_CONTEXT)):
        return normal(subject)
    named = context if context.startswith(".") else f".{context}"
    if subject is None:
        return context_subject(named)
    return str(Subject(named, subject))


def begins(subject: str, prefix: str) -> bool:
    """Whether a subject has a prefix; ``:*:`` stands for any context."""
    if prefix.startswith(_EVERY_CONTEXT):
        return Subject.of(subject).name.startswith(prefix.removeprefix(_EVERY_CONTEXT))
    return subject.startswith(normal(prefix) if prefix.startswith(":.:") else prefix)
