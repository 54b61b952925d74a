"""The duel from the shell: see the package."""

from __future__ import annotations

import argparse
import re
import secrets
from dataclasses import replace
from pathlib import Path

from tests.conformance.duel.conversation import Conversation, Differs
from tests.conformance.duel.duel import Duel, Found, as_test, run
from tests.conformance.duel.side import Side
from tests.conformance.duel.steps import Step, read, written
from tests.conformance.duel.targets import both, served_by_both
from tests.conformance.duel.ways import WAYS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--way", choices=sorted(WAYS), default="sane")
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--seed", default="")
    parser.add_argument("--replay", type=Path, help="a file of conversations, with empty lines between them")
    parser.add_argument("--abreast", type=int, help="conversations that go on at once")
    parser.add_argument("--skip", type=Path, help="a file of patterns of kinds that are not told, one a line")
    parser.add_argument("--kafka", default="", help="host:port of a Kafka that runs")
    parser.add_argument("--odradek", default="", help="host:port of an odradek that runs")
    arguments = parser.parse_args()
    seed = arguments.seed or secrets.token_hex(4)
    way = WAYS[arguments.way]
    if arguments.abreast:
        way = replace(way, abreast=arguments.abreast)
    with both(way, arguments.odradek, arguments.kafka) as sides:
        if arguments.replay:
            told = [replay(sides, read(part)) for part in arguments.replay.read_text().split("\n\n")]
            return max(told)
        lines = arguments.skip.read_text().splitlines() if arguments.skip else []
        skipped = tuple(re.compile(line) for line in lines if line and not line.startswith("#"))
        duel = Duel(way, served_by_both(sides), skipped=skipped)
        print(f"duel: way {arguments.way}, seed {seed}", flush=True)
        took = run(sides, duel, arguments.requests, seed, tell)
        print(f"{duel.requests} requests in {duel.conversations} conversations, {duel.requests / took:.0f} a second")
        for kind, found in sorted(duel.found.items(), key=lambda each: -each[1].times):
            print(f"{found.times:5} {kind}{'' if found.again else ' (not seen again)'}")
        for line, count in duel.passed.items():
            print(f"{count:5} known: {line}")
        complaints = sides[0].complaints()
        print(complaints, end="")
        return 1 if complaints or any(found.again for found in duel.found.values()) else 0


def tell(found: Found) -> None:
    """Print a difference, and write its conversation to a file."""
    folder = Path("build/duel")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (found.seed.replace("/", "-") + ".txt")
    file.write_text(f"# {found.kind}\n# {found.difference}\n" + written(found.steps))
    if found.again:
        print(f"\n== {file}, seed {found.seed}\n{as_test(found)}", flush=True)
    else:
        print(f"\n== {file}, seed {found.seed}: not seen again\n   {found.difference}", flush=True)


def replay(sides: tuple[Side, Side], steps: list[Step]) -> int:
    """Hold a conversation again and show every answer."""
    conversation = Conversation(sides)
    try:
        for step in steps:
            print(step.as_json())
            for answered in conversation.say(step):
                print(f"   {answered.step.number}: {answered.kafka}", flush=True)
    except Differs as differs:
        print(f"== {differs}")
        return 1
    finally:
        conversation.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
