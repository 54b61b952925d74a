"""From the records of `__consumer_offsets` to a picture: who owned which partition when.

The group coordinator stores every generation of a group, with each member's assignment, before it hands it out. So the
log of the internal topic is the history of the group, and this needs nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from odradek import StoredRecord
from odradek.protocol.consumer_protocol import decode_assignment
from odradek.protocol.stored import decode_group_record
from odradek.protocol.stored.group_metadata import GroupMetadataKey, GroupMetadataValue

Owners = dict[tuple[str, int], str]
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
NOBODY = "#dddddd"


@dataclass(frozen=True)
class Generation:
    """A generation of a group: from when on (milliseconds), and which client owned which partition."""

    at_ms: int
    number: int
    owners: Owners


def history(records: Iterable[StoredRecord], group_id: str) -> list[Generation]:
    """The generations of a group that were stored, oldest first; a group that became empty is one without owners."""
    found: list[Generation] = []
    for record in records:
        if record.key is None or record.control:
            continue
        key, value = decode_group_record(record.key, record.value)
        if isinstance(key, GroupMetadataKey) and key.group == group_id and isinstance(value, GroupMetadataValue):
            found.append(Generation(record.timestamp, value.generation, _owners(value)))
    return found


def _owners(value: GroupMetadataValue) -> Owners:
    owners: Owners = {}
    for member in value.members:
        if member.assignment:
            assignment, _ = decode_assignment(member.assignment)
            for topic in assignment.assigned_partitions:
                owners.update({(topic.topic, partition): member.client_id for partition in topic.partitions})
    return owners


def draw(histories: dict[str, list[Generation]], *, width: int = 760, row: int = 18) -> str:
    """An SVG with one panel for each history: time to the right, a line for each partition, a colour for each owner."""
    everything = [generation for history in histories.values() for generation in history]
    clients = sorted({client for generation in everything for client in generation.owners.values()})
    colours = {client: COLOURS[i % len(COLOURS)] for i, client in enumerate(clients)}
    partitions = sorted({place for generation in everything for place in generation.owners})
    panel = row * (len(partitions) + 3)
    body = [_legend(colours)]
    for number, (title, generations) in enumerate(histories.items()):
        body += _panel(title, generations, partitions, colours, top=40 + number * panel, width=width, row=row)
    height = 40 + len(histories) * panel
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _panel(
    title: str,
    generations: Sequence[Generation],
    partitions: Sequence[tuple[str, int]],
    colours: dict[str, str],
    *,
    top: int,
    width: int,
    row: int,
) -> list[str]:
    left, right = 60, width - 20
    first, last = generations[0].at_ms, generations[-1].at_ms
    scale = (right - left) / max(1, last - first)
    lines = [f'<text x="{left}" y="{top + row - 5}" font-weight="bold">{escape(title)}</text>']
    for line, place in enumerate(partitions):
        y = top + (line + 1) * row
        lines.append(f'<text x="8" y="{y + row - 6}">{escape(place[0])}-{place[1]}</text>')
        for now, after in pairwise(generations):
            x = left + (now.at_ms - first) * scale
            owner = now.owners.get(place)
            what = f"{owner or 'nobody'}, generation {now.number}"
            lines.append(
                f'<rect x="{x:.1f}" y="{y}" width="{(after.at_ms - now.at_ms) * scale:.1f}" height="{row - 3}" '
                f'fill="{colours[owner] if owner else NOBODY}"><title>{escape(what)}</title></rect>'
            )
    y = top + (len(partitions) + 2) * row - 6
    for generation in generations:
        x = left + (generation.at_ms - first) * scale
        lines.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + row}" y2="{y - 10}" stroke="black"/>')
        lines.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{generation.number}</text>')
    return lines


def _legend(colours: dict[str, str]) -> str:
    parts = []
    for number, (client, colour) in enumerate(colours.items()):
        x = 60 + number * 90
        parts.append(f'<rect x="{x}" y="12" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="23">{escape(client)}</text>')
    return "\n".join(parts)
