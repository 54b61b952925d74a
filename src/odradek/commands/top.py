"""`odradek top`: what a running broker holds and does, in a terminal, again and again."""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from odradek.commands import CommandError, CommandParser, add_control_api
from odradek.protocol.shown import one_line

if TYPE_CHECKING:
    from odradek.broker.facade.broker import Broker
    from odradek.broker.facade.groups.info import GroupInfo
    from odradek.broker.facade.transactions import TransactionInfo

_CLEAR = "\x1b[H\x1b[J"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_UNKNOWN = "?"


def add_arguments(parser: CommandParser) -> None:
    add_control_api(parser)
    often = parser.add_mutually_exclusive_group()
    often.add_argument(
        "--every", type=_interval, default=1.0, metavar="SECONDS", help="refresh interval (default %(default)s)"
    )
    often.add_argument("--once", action="store_true", help="print all rows once and exit")


def run(arguments: argparse.Namespace) -> int:
    import odradek

    try:
        with odradek.connect(arguments.at, arguments.token) as broker:
            seen = look(broker, time.monotonic())
            if arguments.once:
                print("\n".join(lines(seen, seen)))
                return 0
            before = seen
            while True:
                size = shutil.get_terminal_size()
                cut = [line[: size.columns] for line in lines(seen, before, rows=size.lines - 1)]
                print(_CLEAR + "\n".join(cut), end="", flush=True)
                time.sleep(arguments.every)
                before, seen = seen, look(broker, time.monotonic())
    except KeyboardInterrupt:
        print()
        return 0
    except (odradek.BrokerClosedError, PermissionError, ValueError) as error:
        raise CommandError(str(error)) from error


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text}: expected more than 0 seconds")
    return seconds


class Topic(NamedTuple):
    """A topic, all partitions together. `end`: the sum of their ends, which grows with each record."""

    name: str
    partitions: int
    led: int
    records: int
    size_bytes: int
    end: int


class Look(NamedTuple):
    """The state at one time (`at_s`, on this machine's clock)."""

    at_s: float
    servers: str
    now_ms: int
    frozen: bool
    faults: int
    topics: dict[str, Topic]
    groups: Sequence[GroupInfo]
    transactions: Sequence[TransactionInfo]


def look(broker: Broker, at_s: float) -> Look:
    """Ask the broker for everything that is shown."""
    topics = {}
    for name, topic in broker.topics.items():
        parts = topic.partitions
        topics[name] = Topic(
            name,
            len(parts),
            sum(part.leader >= 0 for part in parts),
            sum(part.log_end_offset - part.log_start_offset for part in parts),
            sum(part.size_bytes for part in parts),
            sum(part.log_end_offset for part in parts),
        )
    return Look(
        at_s,
        broker.bootstrap_servers,
        broker.clock.now_ms(),
        broker.clock.frozen,
        len(broker.faults),
        topics,
        list(broker.groups.values()),
        list(broker.transactions.values()),
    )


def lines(seen: Look, before: Look, rows: int | None = None) -> list[str]:
    """The screen, busiest first; `rows`: the tables are cut so that it has no more lines."""
    clock = datetime.fromtimestamp(seen.now_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    head = f"{one_line(seen.servers)}   {clock}{', stopped' if seen.frozen else ''}"
    if seen.faults:
        head += f"   {seen.faults} fault{'s' if seen.faults > 1 else ''} set"
    tables = [_topics(seen, before), _groups(seen), _transactions(seen)]
    shown = [table for table in tables if len(table) > 1]
    room = None if rows is None else max(2, (rows - 1) // max(1, len(shown)) - 2)
    result = [head]
    for table in shown:
        result += ["", *_aligned(table if room is None else table[: room + 1])]
        if room is not None and len(table) - 1 > room:
            result[-1] = f"... {len(table) - room} more"
    return result


def _topics(seen: Look, before: Look) -> list[tuple[str, ...]]:
    passed_s = seen.at_s - before.at_s
    rows = []
    for topic in seen.topics.values():
        known = before.topics.get(topic.name)
        grown = 0 if known is None else max(0, topic.end - known.end)
        rows.append((grown / passed_s if passed_s > 0 else 0.0, topic))
    rows.sort(key=lambda row: (-row[0], -row[1].records, row[1].name))
    table: list[tuple[str, ...]] = [("TOPIC", "PARTITIONS", "OFFSETS", "SIZE", "RECORDS/S")]
    for rate, topic in rows:
        partitions = str(topic.partitions)
        if topic.led < topic.partitions:
            partitions += f" ({topic.partitions - topic.led} without a leader)"
        table.append((topic.name, partitions, str(topic.records), size_text(topic.size_bytes), f"{rate:.1f}"))
    return table


def _groups(seen: Look) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [("GROUP", "TYPE", "STATE", "MEMBERS", "LAG")]
    lags = [(sum(offset.lag or 0 for offset in group.offsets.values()), group) for group in seen.groups]
    for lag, group in sorted(lags, key=lambda row: (-row[0], row[1].group_id)):
        known = str(lag) if group.offsets else _UNKNOWN
        table.append((group.group_id, group.type, group.state, str(len(group.members)), known))
    return table


def _transactions(seen: Look) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [("TRANSACTION", "STATE", "PARTITIONS", "AGE", "HELD AT")]
    running = [each for each in seen.transactions if each.partitions or each.held_at]
    for each in sorted(running, key=lambda each: (-(each.age_ms or 0), each.transactional_id)):
        age = f"{(each.age_ms or 0) / 1000:.1f} s"
        table.append((each.transactional_id, each.state, str(len(each.partitions)), age, ", ".join(each.held_at)))
    return table


def _aligned(table: Sequence[tuple[str, ...]]) -> list[str]:
    table = [tuple(map(one_line, row)) for row in table]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in table]


def size_text(size_bytes: int) -> str:
    """Bytes in the largest unit that leaves a digit before the point: `1.5 MiB`."""
    size, unit = float(size_bytes), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{size_bytes} B"
