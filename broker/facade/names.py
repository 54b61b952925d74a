"""The names of the facade's classes in errors, and where to find what one looks for elsewhere."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import ClassVar

from odradek.broker.mistakes import NearNames, checked, words_of

USUAL: Mapping[str, str] = {
    "add_topic": "create_topic",
    "address": "bootstrap_servers",
    "commit": "group(id).set_offsets",
    "consume": "records",
    "decoded_records": "records(topic).decoded",
    "describe_group": "group(id).info",
    "describe_topic": "topic(name).info",
    "host": "bootstrap_servers",
    "last_requests": "requests",
    "list_groups": "groups",
    "list_topics": "topics",
    "mend": "heal",
    "messages": "records",
    "mend_disk": "heal",
    "poll": "records",
    "port": "bootstrap_servers",
    "read": "records",
    "resume_replication": "heal",
    "send": "produce",
    "sleep": "clock.advance",
    "start_schema_registry": "stop_schema_registry",
    "stop": "close",
    "url": "bootstrap_servers",
    "wait_for_group": "group(id).wait",
    "wait_group": "group(id).wait",
    "wait_hit": "wait",
    "wait_records": "topic(name).wait",
    "wait_requests": "requests.wait",
    "wait_stable": "group(id).wait",
}
"""What a broker has under another name than other libraries, or than it had before."""

_HOLDERS = {
    "": ("facade.generated.blocking.broker", "BlockingBroker"),
    "topic(name).": ("facade.generated.blocking.topics", "Topic"),
    "group(id).": ("facade.generated.blocking.coordinators", "Group"),
    "clock.": ("clock", "BrokerClock"),
    "requests.": ("facade.generated.blocking.transcript", "Transcript"),
}
"""Where a broker has its members. They know this module, so they are imported by name, and when an error needs them."""


class Found(NearNames):
    """An object whose AttributeErrors also name what the broker or a handle of it has."""

    __slots__ = ()
    _shown: ClassVar[str] = ""

    def _called(self) -> str:
        return self._shown or type(self).__name__.removeprefix("Remote")

    def _meant(self, name: str) -> str:
        return elsewhere(self._called(), name) or super()._meant(name)


class Named(Found):
    """A broker, or a handle of it: its calls are `checked`, and errors name the class that the user knows."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        for name, member in list(vars(cls).items()):
            if inspect.isfunction(member):
                first = next((vars(base)[name] for base in cls.__mro__[1:] if name in vars(base)), None)
                member.__qualname__ = getattr(first, "__qualname__", f"{cls._shown or cls.__name__}.{name}")
                if not name.startswith("_"):
                    setattr(cls, name, checked(member))


def elsewhere(kind: str, name: str) -> str:
    """A hint for a missing attribute: members with all words of its name, in the broker and its handles.

    `kind`: the class that lacks it.
    """
    if "Broker" in kind and name in USUAL:
        return f" (did you mean 'broker.{USUAL[name]}'?)"
    own = next((handle for handle in ("topic", "group") if handle in kind.lower()), "")
    members = [
        (place, member, words_of(place.partition("(")[0].strip("."), member))
        for place, (module, holder) in _HOLDERS.items()
        for member in dir(getattr(importlib.import_module(f"odradek.broker.{module}"), holder))
        if not member.startswith("_")
    ]
    wanted = words_of(name)
    found = [each for each in members if wanted | {own} - {""} <= each[2]]
    found = found or [each for each in members if own and not each[0] and wanted <= each[2]]
    fewest = min((len(words) for *_, words in found), default=0)
    likely = " or ".join(f"'broker.{place}{member}'" for place, member, words in found if len(words) == fewest)
    return f" (did you mean {likely}?)" if likely else ""
