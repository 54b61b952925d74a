"""The same members come and go under three generations of group protocols; what they were told becomes a picture.

python examples/rebalance/run.py [PICTURE.svg]
"""

from __future__ import annotations

import sys
from pathlib import Path

from groups import BROKER, KINDS, Rehearsal, herd, rehearse
from timeline import Story, draw, name_of
from watchers import herd as herd_of_watchers
from watchers import simulate

import odradek

TOPICS = {"t0": 3, "t1": 3}
HERD = 12


def main() -> None:
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "rebalance.svg")
    with odradek.KafkaBroker(topics=TOPICS, config=BROKER) as broker:
        rehearsals = rehearse(broker, TOPICS)
        herds = [herd(broker, kind, HERD) for kind in KINDS]
    watched, split_s = simulate(rehearsals[0].story.places)
    stories = [watched, *(rehearsal.story for rehearsal in rehearsals)]
    told, requests = herd_of_watchers(HERD)
    for rehearsal in rehearsals:
        tell_shares(rehearsal)
    tell_figures(stories, [told, *herds])
    print(f"\nherd: {told} watch events and {requests} requests to the tree when one more watcher joins {HERD}")
    print(f"split brain: the watchers went by different lists of members for {split_s:g} s")
    picture.write_text(draw(stories), encoding="utf-8")
    print(f"drawn: {picture}")


def tell_shares(rehearsal: Rehearsal) -> None:
    """Who owned what each time the group had settled."""
    print(rehearsal.story.title)
    for share in rehearsal.shares:
        owners = (f"{name}: {' '.join(map(name_of, sorted(owned)))}" for name, owned in sorted(share.items()))
        print(f"  {'; '.join(owners)}")


def tell_figures(stories: list[Story], herds: list[int]) -> None:
    """A line for each protocol; the columns are explained in the README."""
    places = stories[0].places
    print(f"\n{'':41} told  stops  herd of {HERD}  still, s: " + " ".join(f"{name_of(place):>4}" for place in places))
    for story, herded in zip(stories, herds, strict=True):
        still = story.stood_still_s()
        seconds = " ".join(f"{still[place]:4g}" for place in places)
        title = story.title.partition(" (simulated")[0]
        print(f"{title:41} {story.told:4}  {story.stops:5}  {herded:10}  {sum(still.values()):8g}   {seconds}")


if __name__ == "__main__":
    main()
