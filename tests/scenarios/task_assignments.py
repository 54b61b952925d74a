"""Stories of streams groups whose members come and go, and the task assignments that Kafka's assignor makes of them.

``tests/vectors/task_assignments.json.gz`` keeps both. This writes it, with the jars of Kafka 4.4.0,
whose insides the recorder knows (see `real_kafka`):

    python -m tests.scenarios.task_assignments tests/vectors/task_assignments.json.gz

``task_assignments-4.3.json.gz`` has what Kafka 4.3.1 made of the stories, whose assignor does not look at what members
have taken up and restored.
"""

from __future__ import annotations

import random
import sys
import uuid
from pathlib import Path
from typing import Any

from tests.conformance.real_kafka import DEFINITION, classpath
from tests.scenarios.assignments import record

RECORDER = Path(__file__).parent / "java" / "recorders" / "TaskAssignmentRecorder.java"
Story = dict[str, Any]


def story(number: int) -> Story:
    """A group of random shape; the same for the same number."""
    chance = random.Random(number)
    processes = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(chance.choice((1, 2, 3, 6, 20)))]
    shape = {
        str(index): [chance.choice((1, 2, 3, 5, 8, 13, 40)), chance.random() < 0.6]
        for index in range(chance.choice((1, 2, 3, 5, 14)))
    }
    limit = chance.choice((3, 8, 25, 60))

    def member() -> list[str]:
        return [str(uuid.UUID(int=chance.getrandbits(128), version=4)), chance.choice(processes)]

    steps: list[Any] = [{"subtopologies": shape, "standbys": chance.randint(0, 2), "join": member()}]
    present = [steps[0]["join"]]
    for _ in range(chance.randint(2, 30)):
        roll = chance.random()
        if (roll < 0.6 and len(present) < limit) or len(present) == 1:
            present.append(member())
            steps.append({"join": present[-1]})
        elif roll < 0.8:
            steps.append({"leave": present.pop(chance.randrange(len(present)))[0]})
        elif roll < 0.9:
            name = chance.choice(list(shape))
            shape = {**shape, name: [shape[name][0] + chance.randint(1, 5), shape[name][1]]}
            steps.append({"subtopologies": shape})
        elif roll < 0.95:
            steps.append({"standbys": chance.randint(0, 2)})
        else:
            place = chance.randrange(len(present))
            present[place] = [present[place][0], chance.choice(processes)]
            steps.append({"join": present[place]})
    return {"steps": _with_progress(steps, random.Random(-number - 1))}


def _with_progress(steps: list[Any], chance: random.Random) -> list[Any]:
    """The steps, some with members that take up their targets before (``take``), and the offsets that members tell of
    their tasks (``restored``: up to where they have restored them, and where the changelogs end).
    """
    present: list[str] = []
    shape: dict[str, list[Any]] = {}
    told: list[Any] = []
    for step in steps:
        present = [each for each in present if each != step.get("leave")]
        take = present if chance.random() < 0.6 else [each for each in present if chance.random() < 0.5]
        tellers = [each for each in present if chance.random() < 0.2]
        restored = {each: [_offsets(shape, chance), _offsets(shape, chance)] for each in tellers}
        told.append({**step, "take": list(take), "restored": restored})
        shape = step.get("subtopologies", shape)
        if "join" in step and step["join"][0] not in present:
            present = [*present, step["join"][0]]
    return told


def _offsets(shape: dict[str, list[Any]], chance: random.Random) -> list[list[Any]]:
    return [
        [name, index, chance.choice((0, 10, 500, 9_000, 20_000, 100_000))]
        for name, (tasks, _) in shape.items()
        for index in range(tasks)
        if chance.random() < 0.15
    ]


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    record(RECORDER, [story(number) for number in range(count)], classpath(DEFINITION), sys.argv[1])
