"""``odradek coverage``: what is served."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One API key. ``served`` and ``kafka``: (lowest, highest) version, ``None`` if not served."""

    key: int
    name: str
    served: tuple[int, int] | None
    kafka: tuple[int, int]
    differs: str

    @property
    def versions(self) -> str:
        """The versions served, as text."""
        return _range(self.served) if self.served else "-"


def rows() -> list[Row]:
    """Every API that a Kafka 4.3.1 broker serves, by key."""
    from odradek.broker.dispatch import load_handlers
    from odradek.protocol.registry import API_BY_KEY

    handlers = load_handlers()
    result = []
    for key, spec in sorted(API_BY_KEY.items()):
        if not spec.on_brokers:
            continue
        handler = handlers.get(key)
        served = None if handler is None else (handler.min_version, handler.max_version)
        differs = "" if handler is None else handler.differs
        result.append(Row(key, spec.name, served, (spec.min_version, spec.max_version), differs))
    return result


def markdown() -> str:
    """README's table."""
    lines = ["| Key | API | Versions | Kafka 4.3.1 | Differences |", "| ---: | --- | --- | --- | --- |"]
    for row in rows():
        versions = row.versions if row.served else "not yet"
        lines.append(f"| {row.key} | {row.name} | {versions} | {_range(row.kafka)} | {row.differs} |")
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as a JSON array")
    form.add_argument("--markdown", action="store_true", help="as README's table")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows()], indent=1))
    elif arguments.markdown:
        print(markdown())
    else:
        for row in rows():
            print(f"{row.key:>3}  {row.name:<32} {row.versions:>6}  of {_range(row.kafka):<6} {row.differs}".rstrip())
    return 0


def _range(versions: tuple[int, int]) -> str:
    low, high = versions
    return str(low) if low == high else f"{low}-{high}"
