"""A worker of a queue: takes jobs from a share group one after the other and says what became of each.

Whatever a worker takes is its own until it says so, or until its lock runs out: then another worker gets it.

    python worker.py BOOTSTRAP TOPIC GROUP
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from confluent_kafka import AcknowledgeType, Message, ShareConsumer


class BadJobError(Exception):
    """No worker will ever do this job: do not try it again."""


class BusyError(Exception):
    """It cannot be done now: try it later."""


def main(bootstrap: str, topic: str, group: str) -> None:
    """Go on until killed."""
    consumer = ShareConsumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "share.acknowledgement.mode": "explicit",
            "max.poll.records": 1,  # a job at a time; a batch of a producer is never split, though
            "log_level": 2,
        }
    )
    consumer.subscribe([topic])
    while True:
        for message in consumer.poll(0.2):
            if not message.error():
                consumer.acknowledge(message, work(message))
        consumer.commit_sync()


def work(message: Message) -> AcknowledgeType:
    """Do a job; what to say of it."""
    number, attempt = message.offset(), message.delivery_count()
    say("took", number, attempt)
    try:
        job = json.loads(message.value() or b"null")
        do(job, attempt or 1)
    except BusyError:
        say("released", number, attempt)
        return AcknowledgeType.RELEASE
    except (BadJobError, ValueError):
        say("rejected", number, attempt)
        return AcknowledgeType.REJECT
    say("done", number, attempt)
    return AcknowledgeType.ACCEPT


def do(job: dict[str, Any], attempt: int) -> None:
    """A job says itself what comes of it."""
    kind = job["kind"]
    if kind == "bad":
        raise BadJobError(job)
    if kind == "busy" or (kind == "busy once" and attempt == 1):
        raise BusyError(job)
    if kind == "hangs once" and attempt == 1:
        say("hangs", job["number"], attempt)
        time.sleep(3600)


def say(what: str, number: int | None, attempt: int | None) -> None:
    """One line for whoever watches; in one piece, for many workers write into the same pipe."""
    os.write(1, f"{what} {number} {attempt} {os.getpid()}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
