"""Stories of groups whose members come and go, and the target assignments that Kafka's own assignors make of them.

``tests/vectors/assignments.json.gz`` keeps both for consumer groups, ``share_assignments.json.gz`` for share groups.
This writes them, with the jars of Kafka 4.4.0 (see `real_kafka`), whose insides the recorder knows;
those of 4.3.1 have `-4.3` in their names:

    python -m tests.scenarios.assignments consumer tests/vectors/assignments.json.gz
    python -m tests.scenarios.assignments share tests/vectors/share_assignments.json.gz
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from odradek.protocol.uuids import uuid_to_text
from tests.conformance.real_kafka import classpath, java_command

RECORDER = Path(__file__).parent / "java" / "recorders" / "AssignmentRecorder.java"
Story = dict[str, Any]


def topic(chance: random.Random, name: str, partitions: int, *, racks: bool, topic_id: str | None = None) -> Any:
    names = ["r1", "r2", "a longer rack: ä"]
    rows = [chance.sample(names, chance.randint(0, 3)) if racks else [] for _ in range(partitions)]
    if topic_id is None:
        raw = uuid.UUID(int=chance.getrandbits(128), version=4).bytes
        topic_id = uuid_to_text(raw)
    return {"name": name, "id": topic_id, "racks": rows}


def story(number: int) -> Story:
    """A group of random shape; the same for the same number."""
    chance = random.Random(number)
    racks = number % 10 == 0
    counts = [chance.choice((1, 2, 3, 5, 8, 12, 17, 40, 130)) for _ in range(chance.randint(1, 6))]
    topics = [topic(chance, f"topic-{i}", count, racks=racks) for i, count in enumerate(counts)]
    alike = chance.random() < 0.5
    names = [t["name"] for t in topics] + (["missing"] if chance.random() < 0.2 else [])

    def member() -> Any:
        chosen = names if alike else chance.sample(names, chance.randint(0, len(names)))
        member_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        instance = f"i{chance.getrandbits(20)}" if chance.random() < 0.2 else None
        return {"id": member_id, "instance": instance, "topics": chance.sample(chosen, len(chosen))}

    steps: list[Any] = [{"topics": topics, "join": member()}]
    present = [steps[0]["join"]]
    for _ in range(chance.randint(2, 25)):
        roll = chance.random()
        if roll < 0.6 or not present:
            present.append(member())
            steps.append({"join": present[-1]})
        elif roll < 0.8:
            steps.append({"leave": present.pop(chance.randrange(len(present)))["id"]})
        elif roll < 0.9:
            known = chance.choice(topics)
            rows = [*known["racks"], *[[] for _ in range(chance.randint(1, 9))]]
            known = {**known, "racks": rows}
            topics = [known if t["name"] == known["name"] else t for t in topics]
            steps.append({"topics": [known]})
        else:
            place = chance.randrange(len(present))
            chosen = names if alike else chance.sample(names, chance.randint(0, len(names)))
            present[place] = {**present[place], "topics": chosen}
            steps.append({"join": present[place]})
    return {"assignor": chance.choice(("uniform", "uniform", "range")), "steps": steps}


def share_story(number: int) -> Story:
    """A share group of random shape: a story whose steps say which partitions have a state, and so may be assigned."""
    chance = random.Random(f"share {number}")
    told = story(number)
    told["assignor"] = "simple"
    topics: dict[str, Any] = {}
    assignable: dict[str, list[int]] = {}
    for step in told["steps"]:
        topics.update({topic["name"]: topic for topic in step.get("topics", ())})
        for topic in topics.values():  # states come with a delay, and not all at once
            if chance.random() < 0.6:
                count = len(topic["racks"])
                known = count if chance.random() < 0.8 else chance.randint(0, count)
                before = assignable.get(topic["id"], [])
                assignable[topic["id"]] = sorted({*before, *range(known)})
        if "join" in step:
            step["join"]["instance"] = None
        step["assignable"] = {topic_id: list(partitions) for topic_id, partitions in assignable.items()}
    return told


def record(recorder: Path, stories: list[Story], jars: str, file: str) -> None:
    """Write the stories, and what Kafka makes of them by a program of `java/recorders`."""
    text = "".join(json.dumps(each) + "\n" for each in stories)
    done = subprocess.run(
        java_command(str(recorder), jars=jars), input=text, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [{"story": each, "answer": answer} for each, answer in zip(stories, answers, strict=True)]
    Path(file).write_bytes(gzip.compress(json.dumps(rows).encode(), mtime=0))


if __name__ == "__main__":
    make = {"consumer": story, "share": share_story}[sys.argv[1]]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 150
    record(RECORDER, [make(number) for number in range(count)], classpath(), sys.argv[2])
