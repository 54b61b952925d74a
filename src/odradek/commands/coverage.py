"""`odradek coverage`: what is served, and which configs have an effect."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass

from odradek.commands import CommandParser


@dataclass(frozen=True, slots=True)
class Row:
    """One API key. `served` and `kafka`: (lowest, highest) version, `None` if not served."""

    key: int
    name: str
    served: tuple[int, int] | None
    kafka: tuple[int, int]
    differs: str

    @property
    def versions(self) -> str:
        """The versions served, as text."""
        return _range(self.served) if self.served else "-"

    def __str__(self) -> str:
        return f"{self.key:>3}  {self.name:<32} {self.versions:>6}  of {_range(self.kafka):<6} {self.differs}"


def rows() -> list[Row]:
    """Every API that a Kafka 4.4.0 broker serves, by key."""
    from odradek.broker.api.served import UNSTABLE
    from odradek.protocol.apis import API_BY_KEY

    handlers = UNSTABLE.all()
    result = []
    for key, spec in sorted(API_BY_KEY.items()):
        if not spec.on_brokers:
            continue
        handler = handlers.get(key)
        served = None if handler is None else (handler.min_version, min(handler.max_version, spec.max_version))
        differs = "" if handler is None else handler.differs
        result.append(Row(key, spec.name, served, (spec.min_version, spec.max_version), differs))
    return result


def markdown() -> str:
    """The page docs/coverage.md."""
    lines = [
        "# Served APIs",
        "",
        "Every API that a broker of Kafka 4.4.0 serves, and the versions of it that odradek serves. "
        "`odradek coverage --markdown`",
        "prints this page, `odradek coverage --json` is for programs.",
        "",
    ]
    lines += ["| Key | API | Versions | Kafka 4.4.0 | Differences |", "| ---: | --- | --- | --- | --- |"]
    for row in rows():
        versions = row.versions if row.served else "not yet"
        lines.append(f"| {row.key} | {row.name} | {versions} | {_range(row.kafka)} | {row.differs} |")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """One config. `kind`: broker or topic; `use`: what odradek makes of it (see `uses`)."""

    kind: str
    name: str
    type: str
    default: str | None
    use: str
    documentation: str

    def __str__(self) -> str:
        return f"{self.kind:<7} {self.use:<9} {self.name:<60} {self.documentation}"


def uses() -> dict[str, str]:
    """The meaning of the words for the use of a config."""
    return {
        "honoured": "does what it does on Kafka",
        "disk": "does so with a data directory; a broker in memory takes it without effect",
        "inert": "taken and shown without effect: it steers machinery that odradek does not have",
        "refused": "any value but the default is an error",
    }


def config_rows() -> list[ConfigRow]:
    """Every broker and topic config, by kind, use and name."""
    from odradek.broker.config.broker_config import broker_keys, default_text, topic_keys

    order = list(uses())
    found = [
        ConfigRow(
            kind,
            key.name,
            key.type.name.lower(),
            default_text(key.name) if kind == "broker" else key.default,
            key.use.value,
            key.documentation,
        )
        for kind, keys in (("broker", broker_keys()), ("topic", topic_keys()))
        for key in keys.values()
        if not key.internal
    ]
    return sorted(found, key=lambda row: (row.kind, order.index(row.use), row.name))


def config_markdown() -> str:
    """The page docs/configuration.md."""
    lines = [
        "# Configuration",
        "",
        "Kafka's own names and defaults (`odradek coverage --configs --markdown`). What odradek makes of each:",
        "",
        *(f"- **{word}**: {meaning}." for word, meaning in uses().items()),
    ]
    for kind in ("broker", "topic"):
        lines += ["", f"## {kind.capitalize()} configs", "", "| Name | Type | Default | Use | Description |"]
        lines.append("| --- | --- | --- | --- | --- |")
        for row in config_rows():
            if row.kind == kind:
                default = "null" if row.default is None else f"`{row.default}`" if row.default else ""
                lines.append(f"| `{row.name}` | {row.type} | {default} | {row.use} | {row.documentation} |")
    return "\n".join(lines)


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("--configs", action="store_true", help="list configs and their effect instead of APIs")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON array")
    form.add_argument(
        "--markdown",
        action="store_true",
        help="print the page docs/coverage.md, or docs/configuration.md with --configs",
    )


def run(arguments: argparse.Namespace) -> int:
    found = config_rows() if arguments.configs else rows()
    if arguments.json:
        print(json.dumps([asdict(row) for row in found], indent=1))
    elif arguments.markdown:
        print(config_markdown() if arguments.configs else markdown())
    else:
        print("\n".join(str(row).rstrip() for row in found))
    return 0


def _range(versions: tuple[int, int]) -> str:
    low, high = versions
    return str(low) if low == high else f"{low}-{high}"
