"""The configuration as one listener, or one SASL mechanism of it, sees it."""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.config.definition import ConfigType, ConfigValue
from odradek.broker.config.keys import LISTENER_PREFIX, broker_keys

_NEVER_SHARED = frozenset(
    {
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.server.callback.handler.class",
    }
)
"""The configs of a mechanism that have effect under its own prefix only: on a broker Kafka ignores them elsewhere."""


class ListenerConfig:
    """Reads `listener.name.<name>.<key>` first, then `<key>`; always the present one.

    `text_of`: a broker config's text by its full name, None where nobody set it and it has no default.
    """

    __slots__ = ("_prefix", "_shared", "_text_of", "name")

    def __init__(self, name: str, text_of: Callable[[str], str | None]) -> None:
        self.name = name
        self._text_of = text_of
        self._prefix = f"{LISTENER_PREFIX}{name.lower()}."
        self._shared: Callable[[str], str | None] = text_of

    def for_mechanism(self, mechanism: str) -> ListenerConfig:
        """The configuration of a SASL mechanism: `listener.name.<name>.<mechanism>.<key>` goes before the others.

        JAAS and the handlers' classes are read under that name alone.
        """
        narrower = ListenerConfig(self.name, self._text_of)
        narrower._prefix = f"{self._prefix}{mechanism.lower()}."
        narrower._shared = lambda key: None if key in _NEVER_SHARED else self._text(key)
        return narrower

    def _text(self, key: str) -> str | None:
        own = self._text_of(self._prefix + key)
        return self._shared(key) if own is None else own

    def is_set(self, key: str) -> bool:
        """Whether the listener (the mechanism) has a value of its own."""
        return self._text_of(self._prefix + key) is not None

    def get(self, key: str) -> ConfigValue:
        """The typed value; KeyError for an unknown key."""
        definition = broker_keys()[key]
        text = self._text(key)
        return None if text is None else definition.parse(text)

    def get_text(self, key: str) -> str | None:
        """The value of a text, class or password config, None where it is not set."""
        value = self.get(key)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{key} is not text: {value!r}")
        return value

    def switch(self, key: str) -> bool | None:
        """The value of a boolean config that only some releases have; None where the broker's release has none."""
        text = self._text(key)
        return None if text is None else text.strip().lower() == "true"

    def get_list(self, key: str) -> tuple[str, ...]:
        """The value of a list config; nothing where it is null."""
        value = self.get(key)
        if value is None and broker_keys()[key].type is ConfigType.LIST:
            return ()
        if not isinstance(value, tuple):
            raise TypeError(f"{key} is not a list: {value!r}")
        return value

    def get_int(self, key: str) -> int:
        """The value of a number config; TypeError if it is null or no integer."""
        value = self.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{key} is not an integer: {value!r}")
        return value

    def get_bool(self, key: str) -> bool:
        """The value of a boolean config."""
        value = self.get(key)
        if not isinstance(value, bool):
            raise TypeError(f"{key} is not a boolean: {value!r}")
        return value
