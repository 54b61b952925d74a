"""`kafka-consumer-groups`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from odradek.broker.facade.groups.info import GroupInfo, MemberInfo
from odradek.broker.facade.report.situation import Situation
from odradek.commands.why import ClusterReader
from odradek.pipeline.cluster_client import EARLIEST, GROUP, LATEST, ClusterClient
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.generated.messages.delete_groups import DeleteGroupsRequest
from odradek.protocol.generated.messages.offset_commit import OffsetCommitRequest
from odradek.tools.console import commit
from odradek.tools.options import Options, ToolError, action, connect, security

_DASH = "-"
_ERRORS = {
    ErrorCode.GROUP_ID_NOT_FOUND: "org.apache.kafka.common.errors.GroupIdNotFoundException: "
    "The group id does not exist.",
    ErrorCode.NON_EMPTY_GROUP: "org.apache.kafka.common.errors.GroupNotEmptyException: The group is not empty.",
}
_GOALS = ("to-earliest", "to-latest", "to-current", "to-offset", "shift-by")


def groups(options: Options) -> int:
    """`kafka-consumer-groups`."""
    chosen = action(options, "list", "describe", "delete", "reset-offsets")
    with connect(options, security(options)) as client:
        return _carry_out(chosen, client, options)


def _carry_out(chosen: str, client: ClusterClient, options: Options) -> int:
    reader = ClusterReader(client)
    kinds = reader.groups()
    consumers = {name: each for name, each in kinds.items() if each.protocol_type in ("", "consumer")}
    named = options.all("group") if "all-groups" not in options else sorted(consumers)
    if chosen == "list":
        _list([(name, each.group_state) for name, each in consumers.items()], options)
        return 0
    if not named and "all-groups" not in options:
        raise ToolError(f"Option [{chosen}] takes one of these options: [all-groups], [group]")
    if chosen == "delete":
        return _delete(client, named)
    status = 0
    for name in named:
        if chosen == "reset-offsets":
            status |= _reset(client, reader.situation(name), name, options)
        elif name in kinds:
            _describe(reader.situation(name), name, reader.addresses, options)
        else:
            print("\nError: Executing consumer group command failed due to "
                  f"org.apache.kafka.common.errors.GroupIdNotFoundException: Group {name} not found.")  # fmt: skip
            break
    return status


def _list(found: Sequence[tuple[str, str]], options: Options) -> None:
    if "state" not in options:
        print(*(name for name, _ in found), sep="\n", end="\n" if found else "")
        return
    width = max((len(name) for name, _ in found), default=0) + 10
    for name, state in [("GROUP", "STATE"), *found]:
        print(f"{name:<{width}} {state:<20}")


def _delete(client: ClusterClient, named: Sequence[str]) -> int:
    failed = []
    for name in named:
        try:
            client.ask_coordinator(
                GROUP, name, DeleteGroupsRequest([name]), 2, lambda answer: [each.error_code for each in answer.results]
            )
        except KafkaError as error:
            said = _ERRORS.get(error.code, error.code.name)
            failed.append(f"* Group '{name}' could not be deleted due to: {said}")
    if failed:
        print("\nError: Deletion of some consumer groups failed:", *failed, sep="\n")
    elif named:
        listed = ", ".join(f"'{name}'" for name in named)
        print(f"Deletion of requested consumer groups ({listed}) was successful.")
    return 0


def _describe(situation: Situation, name: str, nodes: Mapping[int, tuple[str, int]], options: Options) -> None:
    group = situation.groups[name]
    state = group.state.lower()
    if state == "empty":
        print(f"\nConsumer group '{name}' has no active members.", file=sys.stderr)
    elif state == "dead":
        print(f"\nConsumer group '{name}' does not exist.", file=sys.stderr)
    elif state in ("preparingrebalance", "completingrebalance", "assigning", "reconciling"):
        print(f"\nWarning: Consumer group '{name}' is rebalancing.", file=sys.stderr)
    if "state" in options:
        host, port = nodes[group.coordinator]
        coordinator = f"{host}:{port}  ({group.coordinator})"
        head = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
        row = (name, coordinator, group.protocol or _DASH, _state_name(group.state), str(len(group.members)))
        _table([head, row], (15, max(25, len(coordinator)), 20, 20, 0))
    elif "members" in options:
        head = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS")
        members = [
            (name, each.member_id, each.host, each.client_id, str(sum(map(len, each.assignment.values()))))
            for each in group.members
        ]
        _table([head, *members], (15, 15, 15, 15, 16))
    elif rows := _offset_rows(situation, group):
        columns = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST",
                   "CLIENT-ID")  # fmt: skip
        _table([columns, *rows], (15, 15, 10, 15, 15, 15, 15, 15, 0))


def _state_name(text: str) -> str:
    return re.sub(r"[^A-Za-z]", "", text)


def _table(rows: Sequence[Sequence[str]], least: Sequence[int]) -> None:
    """Columns as wide as Kafka's; the first line is empty."""
    print()
    widths = [max(least[0], *(len(row[0]) for row in rows)), *least[1:]]
    widths[1:2] = [max(least[1], *(len(row[1]) for row in rows))]
    for row in rows:
        print(" ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)))


def _offset_rows(situation: Situation, group: GroupInfo) -> list[tuple[str, ...]]:
    owners = {
        (topic, partition): member
        for member in group.members
        for topic, partitions in member.assignment.items()
        for partition in partitions
    }
    rows: list[tuple[str, ...]] = []
    for topic, partition in sorted({*group.offsets, *owners}):
        info = situation.topics.get(topic)
        end = info.partitions[partition].high_watermark if info is not None else None
        committed = group.offsets.get((topic, partition))
        lag = _DASH if committed is None or end is None else str(max(0, end - committed.offset))
        at = _DASH if committed is None else str(committed.offset)
        member: MemberInfo | None = owners.get((topic, partition))
        who = (member.member_id, member.host, member.client_id) if member else (_DASH, _DASH, _DASH)
        rows.append((group.group_id, topic, str(partition), at, _DASH if end is None else str(end), lag, *who))
    return rows


def _reset(client: ClusterClient, situation: Situation, name: str, options: Options) -> int:
    goals = [goal for goal in _GOALS if goal in options]
    if len(goals) != 1:
        raise ToolError(f"Option [reset-offsets] takes one of these options: {', '.join(goals or _GOALS)}")
    group = situation.groups.get(name)
    if group is not None and group.members:
        print(f"\nError: Assignments can only be reset if the group '{name}' is inactive, but the current state is "
              f"{_state_name(group.state)}.")  # fmt: skip
        return 1
    before = {place: offset.offset for place, offset in group.offsets.items()} if group is not None else {}
    places = list(_scope(client, before, options))
    first = client.offsets(dict.fromkeys(places, EARLIEST))
    last = client.offsets(dict.fromkeys(places, LATEST))
    goal, number = goals[0], options.number("to-offset") or options.number("shift-by") or 0
    wanted = {
        "to-earliest": first,
        "to-latest": last,
        "to-current": {place: before.get(place, last[place]) for place in places},
        "to-offset": dict.fromkeys(places, number),
        "shift-by": {place: before.get(place, last[place]) + number for place in places},
    }[goal]
    found = {place: min(max(wanted[place], first[place]), last[place]) for place in places}
    if "execute" in options:
        commit(client, OffsetCommitRequest(name), 8, found)
    rows = [(name, topic, str(partition), str(at)) for (topic, partition), at in sorted(found.items())]
    _table([("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), *rows], (15, 15, 10, 0))
    return 0


def _scope(client: ClusterClient, before: Iterable[tuple[str, int]], options: Options) -> Iterable[tuple[str, int]]:
    if "all-topics" in options:
        yield from sorted(before)
        return
    if not options.all("topic"):
        raise ToolError("One of the reset scopes should be defined: --all-topics, --topic.")
    for text in options.all("topic"):
        topic, _, listed = text.partition(":")
        known = client.topics([topic])[topic]
        for partition in map(int, listed.split(",")) if listed else known:
            yield topic, partition
