"""From what the members of a group were told to a picture: who owned which partition when, and how long nobody did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

Place = tuple[str, int]
"""Topic and partition."""

COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")
NOBODY = "#dddddd"
LEFT, RIGHT, TOP, ROW, LETTER = 60, 70, 44, 18, 5.6
"""Pixels: the column of names, the room for the last mark, the legend, a partition's line, the width of a letter."""


@dataclass(frozen=True)
class Event:
    """A member was given partitions (``gained``) or gave them up. Seconds since the story began."""

    at_s: float
    member: str
    gained: bool
    places: frozenset[Place]


@dataclass(frozen=True)
class Span:
    """A partition had these owners for some time."""

    place: Place
    owners: tuple[str, ...]
    begin_s: float
    end_s: float


@dataclass
class Story:
    """What happened to a group: ``marks`` say when a member came or went."""

    title: str
    places: Sequence[Place]
    events: list[Event] = field(default_factory=list)
    marks: list[tuple[float, str]] = field(default_factory=list)
    end_s: float = 0
    axis: str = "seconds on the broker's clock"

    @property
    def told(self) -> int:
        """How often a member was told to give up partitions or to take some."""
        return len(self.events)

    @property
    def stops(self) -> int:
        """How often a partition lost its owner, be it for a moment."""
        return sum(len(event.places) for event in self.events if not event.gained)

    def spans(self) -> Iterator[Span]:
        """Who owned each partition when; moments without length are left out."""
        for place in self.places:
            owners: list[str] = []
            since = 0.0
            for event in self.events:
                if place not in event.places:
                    continue
                if event.at_s > since:
                    yield Span(place, tuple(owners), since, event.at_s)
                    since = event.at_s
                if event.gained:
                    owners.append(event.member)
                else:
                    owners.remove(event.member)
            if self.end_s > since:
                yield Span(place, tuple(owners), since, self.end_s)

    def stood_still_s(self) -> dict[Place, float]:
        """Seconds in which each partition had no owner, between its first one and the last one."""
        still = dict.fromkeys(self.places, 0.0)
        for place in self.places:
            own = [span for span in self.spans() if span.place == place]
            owned = [number for number, span in enumerate(own) if span.owners]
            if owned:
                still[place] = sum(span.end_s - span.begin_s for span in own[owned[0] : owned[-1]] if not span.owners)
        return still


def name_of(place: Place) -> str:
    """A partition as Kafka's own tools write it: ``orders-0``."""
    return f"{place[0]}-{place[1]}"


def draw(
    stories: Sequence[Story],
    *,
    width: int = 860,
    colours: Mapping[str, str] | None = None,
    nobody: str = "no owner: stands still",
) -> str:
    """An SVG with a panel for each story: seconds to the right, a line for each partition, a colour for each owner.

    ``nobody``: what the legend says of the time without an owner.
    """
    if colours is None:
        members = sorted({event.member for story in stories for event in story.events})
        colours = {member: COLOURS[i % len(COLOURS)] for i, member in enumerate(members)}
    body = [*_legend({**colours, nobody: NOBODY})]
    top = TOP
    for story in stories:
        body += _panel(story, colours, top, width)
        top += _height(story)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" font-family="sans-serif" '
        f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _height(story: Story) -> int:
    return ROW * (len(story.places) + 5)


def _panel(story: Story, colours: Mapping[str, str], top: int, width: int) -> list[str]:
    scale = (width - LEFT - RIGHT) / max(story.end_s, 1)
    first, last = top + 2 * ROW, top + (2 + len(story.places)) * ROW
    lines = [_text(LEFT, top + 12, story.title, ' font-weight="bold"')]
    lines += [_text(8, first + n * ROW + 12, name_of(place)) for n, place in enumerate(story.places)]
    for span in story.spans():
        y = first + story.places.index(span.place) * ROW
        lines += _bar(span, colours, y, scale)
    return [*lines, *_marks(story, scale, first - 4, last), *_axis(story, scale, last + 2)]


def _bar(span: Span, colours: Mapping[str, str], y: float, scale: float) -> Iterator[str]:
    """One rectangle; two owners at once would lie above each other."""
    owners = span.owners or ("",)
    height = (ROW - 3) / len(owners)
    length = (span.end_s - span.begin_s) * scale
    for number, owner in enumerate(owners):
        what = f"{name_of(span.place)}: {owner or 'no owner'}, second {span.begin_s:g} to {span.end_s:g}"
        yield (
            f'<rect x="{LEFT + span.begin_s * scale:.1f}" y="{y + number * height:.1f}" width="{length:.1f}" '
            f'height="{height:.1f}" fill="{colours[owner] if owner else NOBODY}"><title>{escape(what)}</title></rect>'
        )


def _marks(story: Story, scale: float, top: float, bottom: float) -> Iterator[str]:
    """A line through the panel for each thing that happened, and its name above: never over the name before it."""
    free = 0.0
    for at_s, what in story.marks:
        x = LEFT + at_s * scale
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}" stroke="black"/>'
        yield _text(max(x, free), top - 3, what)
        free = max(x, free) + LETTER * len(what) + 8


def _axis(story: Story, scale: float, y: float) -> Iterator[str]:
    right = LEFT + story.end_s * scale
    yield f'<line x1="{LEFT}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="black"/>'
    for second in _ticks(story.end_s):
        x = LEFT + second * scale
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 4}" stroke="black"/>'
        yield _text(x, y + 16, f"{second}", ' text-anchor="middle"')
    yield _text((LEFT + right) / 2, y + 30, story.axis, ' text-anchor="middle"')


def _ticks(end_s: float) -> Iterable[int]:
    return range(0, int(end_s) + 1, 5)


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    x = float(LEFT)
    for what, colour in colours.items():
        yield f'<rect x="{x:.1f}" y="12" width="14" height="14" fill="{colour}"/>'
        yield _text(x + 20, 23, what)
        x += 20 + LETTER * len(what) + 24


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>'
