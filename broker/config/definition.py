"""The definition of a config: type, default, limits, how it may change, and what odradek does with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum, IntEnum
from functools import cache
from pathlib import Path

from odradek.protocol.java_maps import concurrent_order, hash_of_text, java_order

# -- The versions that `inter.broker.protocol.version` and `message.format.version` take: `0.10.2`, `2.8-IV1`, `3.9`.
#
# A name without `-IV` is the last version of that release, and a patch release is its minor release.

_NAMES: Sequence[str] = (
    *("0.8.0", "0.8.1", "0.8.2", "0.9.0", "0.10.0-IV0", "0.10.0-IV1", "0.10.1-IV0", "0.10.1-IV1", "0.10.1-IV2"),
    *("0.10.2-IV0", "0.11.0-IV0", "0.11.0-IV1", "0.11.0-IV2", "1.0-IV0", "1.1-IV0", "2.0-IV0", "2.0-IV1"),
    *("2.1-IV0", "2.1-IV1", "2.1-IV2", "2.2-IV0", "2.2-IV1", "2.3-IV0", "2.3-IV1", "2.4-IV0", "2.4-IV1", "2.5-IV0"),
    *("2.6-IV0", "2.7-IV0", "2.7-IV1", "2.7-IV2", "2.8-IV0", "2.8-IV1", "3.0-IV0", "3.0-IV1", "3.1-IV0", "3.2-IV0"),
    *("3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2"),
    *("3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0"),
)
"""From the oldest on."""


def protocol_version(text: str) -> int | None:
    """The place of a version among all, from the oldest on; None where there is no such version."""
    segments = text.split(".")
    name = ".".join(segments[: 3 if text.startswith("0.") else 2])
    if name in _NAMES:
        return _NAMES.index(name)
    return max((place for place, each in enumerate(_NAMES) if each.partition("-")[0] == name), default=None)


FIRST_OF_FORMAT_1 = _NAMES.index("0.10.0-IV0")
FIRST_OF_FORMAT_2 = _NAMES.index("0.11.0-IV0")
LAST_WITH_FORMATS = _NAMES.index("3.0-IV0")
"""From the next one on logs are in message format 2, whatever `message.format.version` says (KIP-724)."""


def message_format(version: str) -> int:
    """The format that a `message.format.version` stands for: 0, 1 or 2."""
    place = protocol_version(version)
    if place is None or place >= FIRST_OF_FORMAT_2:
        return 2
    return 1 if place >= FIRST_OF_FORMAT_1 else 0


# -- The definition.


ConfigValue = bool | int | float | str | tuple[str, ...] | None

_INT_RANGES = {"int": 31, "short": 15, "long": 63}
# Patterns are compiled when they are first needed: every broker start would pay for them.
_JAVA_INTEGER = r"[+-]?[0-9]+"
_JAVA_DOUBLE = r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?)"
_DURATION = r"(?i)\+?P(?=[0-9T])([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{0,9})?S)?)?"
_THROTTLED = r"[0-9]+:[0-9]+"


class ConfigError(ValueError):
    """A configuration that the broker refuses; the text says which key and why."""


class ConfigType(IntEnum):
    """Types with the numbers that DescribeConfigs v3+ carries."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Update(Enum):
    """How a broker config may change while the broker runs."""

    READ_ONLY = ""
    PER_BROKER = "broker"
    CLUSTER_WIDE = "cluster"
    DYNAMIC_ONLY = "dynamic-only"


class Use(Enum):
    """The use of a config in odradek.

    `HONOURED`: does what Kafka does. `DISK`: does so for logs on disk; logs in memory have nothing to apply it to.
    `INERT`: taken and shown, without effect: it steers machinery that odradek does not have (threads, buffers,
    replication traffic). `REFUSED`: only the default is taken.
    """

    HONOURED = "honoured"
    DISK = "disk"
    INERT = "inert"
    REFUSED = "refused"


_UPDATES = {each.value: each for each in Update}  # a look-up by the class takes five times as long
_USES = {each.value: each for each in Use}


class ConfigKey:
    """One key of one resource kind; immutable. `default` is the text of Kafka's default, None for null."""

    __slots__ = ("default", "documentation", "importance", "internal", "limits", "name", "type", "update", "use")

    def __init__(
        self,
        name: str,
        type: ConfigType,
        default: str | None,
        importance: str = "medium",
        limits: str = "",
        update: Update = Update.READ_ONLY,
        use: Use = Use.HONOURED,
        documentation: str = "",
        internal: bool = False,
    ) -> None:
        self.name = name
        self.type = type
        self.default = default
        self.importance = importance
        self.limits = limits
        self.update = update
        self.use = use
        self.documentation = documentation
        self.internal = internal

    @property
    def is_sensitive(self) -> bool:
        """Whether the value is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """The typed value of `text`; ConfigError in Kafka's words if type or limits do not fit."""
        value = _parse_type(self, text)
        if self.limits:
            kind, _, rest = self.limits.partition(" ")
            _LIMITS.get(kind, _check_range)(self, value, rest)
        return value

    def default_value(self) -> ConfigValue:
        """The typed default."""
        return None if self.default is None else _parse_type(self, self.default)

    def normal(self, text: str) -> str:
        """`text` as DescribeConfigs shows it once parsed (trimmed, lists without blanks, booleans in lower case)."""
        return format_value(self.parse(text)) or ""


class UnknownKey(ConfigKey):
    """A name that Kafka keeps without knowing it, for a plugin say. Its value may be a secret, so it is never shown."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, ConfigType.UNKNOWN, None)

    @property
    def is_sensitive(self) -> bool:
        """Always, because its meaning is unknown."""
        return True


def format_value(value: ConfigValue) -> str | None:
    """The text of a typed value, as Kafka writes it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, float):
        return _format_double(value)
    return str(value)


def _format_double(value: float) -> str:
    """Double.toString of Java: plain between 1e-3 and 1e7, else with an exponent."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value) if "e" not in repr(value) else format(value, "f").rstrip("0")
    mantissa, _, exponent = format(value, ".17e").partition("e")
    digits = repr(value).lower().partition("e")[0].replace(".", "").replace("-", "").strip("0") or "0"
    sign = "-" if mantissa.startswith("-") else ""
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{int(exponent)}"


def invalid_value(name: str, shown: object, why: str) -> ConfigError:
    """Kafka's sentence for a value that does not fit."""
    return ConfigError(f"Invalid value {shown} for configuration {name}: {why}")


def _parse_type(key: ConfigKey, text: str) -> ConfigValue:
    trimmed = text.strip()
    match key.type:
        case ConfigType.BOOLEAN:
            if trimmed.lower() not in ("true", "false"):
                raise invalid_value(key.name, text, "Expected value to be either true or false")
            return trimmed.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            bits = _INT_RANGES[key.type.name.lower()]
            number = int(trimmed) if re.fullmatch(_JAVA_INTEGER, trimmed) else None
            if number is None or not -(1 << bits) <= number < 1 << bits:
                raise invalid_value(key.name, text, f"Not a number of type {key.type.name}")
            return number
        case ConfigType.DOUBLE:
            if not re.fullmatch(_JAVA_DOUBLE, trimmed):
                raise invalid_value(key.name, text, "Not a number of type DOUBLE")
            return float(trimmed.rstrip("dDfF") if "n" not in trimmed.lower() else trimmed)
        case ConfigType.LIST:
            # Of items that are given twice the first one counts.
            return tuple(dict.fromkeys(part.strip() for part in trimmed.split(","))) if trimmed else ()
        case ConfigType.PASSWORD:
            return text
        case _:
            return trimmed


def _check_range(key: ConfigKey, value: ConfigValue, _: str) -> None:
    bounds, _, other = key.limits.partition("/")
    low, _, high = bounds.partition("..")
    assert isinstance(value, (int, float))
    if other:
        if not (float(low) <= value <= float(high) or value == float(other)):
            why = f"Value must be between {low} and {high} or equal to {other}"
            raise invalid_value(key.name, format_value(value), why)
        return
    if low and value < float(low):
        raise invalid_value(key.name, format_value(value), f"Value must be at least {low}")
    if high and value > float(high):
        raise invalid_value(key.name, format_value(value), f"Value must be no more than {high}")


def _check_choice(key: ConfigKey, value: ConfigValue, choices: str) -> None:
    if value not in choices.split():
        raise invalid_value(key.name, value, "String must be one of: " + ", ".join(choices.split()))


def _check_choice_in_any_case(key: ConfigKey, value: ConfigValue, choices: str) -> None:
    if str(value).upper() not in choices.split():
        raise invalid_value(key.name, value, "String must be one of (case insensitive): " + ", ".join(choices.split()))


def _check_list(key: ConfigKey, value: ConfigValue, choices: str) -> None:
    assert isinstance(value, tuple)
    if "" in value:
        raise ConfigError(f"Configuration '{key.name}' values must not be empty.")
    valid = choices.split()
    for item in value:
        if valid and item not in valid:
            raise invalid_value(key.name, item, "String must be one of: " + ", ".join(valid))


def _check_filled_list(key: ConfigKey, value: ConfigValue, choices: str) -> None:
    if not value:
        shown = f"[{', '.join(choices.split())}]" if choices else "any non-empty value"
        raise ConfigError(f"Configuration '{key.name}' must not be empty. Valid values include: {shown}")
    _check_list(key, value, choices)


def _check_non_empty(key: ConfigKey, value: ConfigValue, _: str) -> None:
    if not value:
        raise invalid_value(key.name, value, "String must be non-empty")


def _check_non_null(key: ConfigKey, value: ConfigValue, _: str) -> None:
    if value is None:
        raise invalid_value(key.name, "null", "entry must be non null")


def _check_throttled_replicas(key: ConfigKey, value: ConfigValue, _: str) -> None:
    assert isinstance(value, tuple)
    if value not in ((), ("*",)) and not all(re.fullmatch(_THROTTLED, item) for item in value):
        why = (
            f"{key.name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
        )
        raise invalid_value(key.name, f"[{', '.join(value)}]", why)


def _check_offset_reset(key: ConfigKey, value: ConfigValue, _: str) -> None:
    text = str(value)
    prefix, _, duration = text.partition(":")
    if text in ("latest", "earliest") or (prefix == "by_duration" and re.fullmatch(_DURATION, duration)):
        return
    why = (
        f"Invalid value `{text}` for configuration {key.name}. The value must be either 'earliest', 'latest' or of the "
        "format 'by_duration:<PnDTnHnMn.nS>'."
    )
    raise invalid_value(key.name, text, why)


def _check_protocol(key: ConfigKey, value: ConfigValue, newest: str) -> None:
    place, last = protocol_version(str(value)), protocol_version(newest)
    if place is None or (last is not None and place > last):
        shown = f"`{value}`" if newest.startswith("2.") else value
        raise invalid_value(key.name, value, f"Version {shown} is not a valid version")


_LIMITS: Mapping[str, Callable[[ConfigKey, ConfigValue, str], None]] = {
    "in": _check_choice,
    "in-any-case": _check_choice_in_any_case,
    "list": _check_list,
    "list+": _check_filled_list,
    "non-empty": _check_non_empty,
    "non-null": _check_non_null,
    "throttled-replicas": _check_throttled_replicas,
    "offset-reset": _check_offset_reset,
    "protocol": _check_protocol,
}


@cache
def keys_of(table: str) -> Mapping[str, ConfigKey]:
    """The keys of a table (`broker`, `topic`, `group`, `client_metrics`, `odradek`) by name, in its order."""
    text = (Path(__file__).parent / "definitions" / f"{table}.txt").read_text(encoding="utf-8")
    keys: dict[str, ConfigKey] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, type_name, default, importance, limits, update, use, documentation = line.split("|", 7)
            update, _, flag = update.partition(" ") if update != "internal" else ("", "", "internal")
            keys[name] = ConfigKey(
                name,
                ConfigType[type_name.upper()],
                None if default == "~" else default,
                importance,
                limits,
                _UPDATES[update],
                _USES[use],
                documentation,
                flag == "internal",
            )
    return keys


def response_order(names: list[str]) -> list[str]:
    """`names`, given in order of definition, as Kafka lists them: in the order of a Java HashMap of that size."""
    return java_order(names, hash_of_text)


def first_unknown(names: Iterable[str], keys: Mapping[str, ConfigKey]) -> str | None:
    """The name without a key that Kafka comes to first, which walks a Java `Properties`; None if all have one."""
    return next((name for name in concurrent_order(names, hash_of_text) if name not in keys), None)


def by_definition(names: Collection[str], keys: Mapping[str, ConfigKey]) -> list[str]:
    """`names` in the order in which Kafka parses their values; those without a key come last."""
    known = [name for name in keys if name in names]
    return known + [name for name in names if name not in keys]


def normal_values(values: Mapping[str, str], keys: Mapping[str, ConfigKey]) -> dict[str, str]:
    """Values in normal form, in the order given. ConfigError for the first wrong one that Kafka parses."""
    parsed = {name: keys[name].normal(values[name]) for name in by_definition(values, keys)}
    return {name: parsed[name] for name in values}
