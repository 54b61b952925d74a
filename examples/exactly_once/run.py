"""Run the worker on odradek, kill it again and again while it works, and count: each bill is in the totals once.

python examples/exactly_once/run.py
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from confluent_kafka import Producer

from odradek import KafkaBroker

WORKER = Path(__file__).with_name("worker.py")
CUSTOMERS = ["Ada", "Bela", "Chiara"]
PATIENCE_S = 120.0
SESSION_S = 45.0  # the default of the consumer's session.timeout.ms


def bill(bootstrap: str, numbers: Iterable[int]) -> Counter[str]:
    """Write bills; return what each customer has to pay."""
    producer = Producer({"bootstrap.servers": bootstrap})
    due: Counter[str] = Counter()
    for number in numbers:
        customer, amount = CUSTOMERS[number % 3], number
        producer.produce("bills", key=customer, value=str(amount))
        due[customer] += amount
    producer.flush()
    return due


def totals(broker: KafkaBroker, isolation: Literal["read_uncommitted", "read_committed"]) -> Counter[str]:
    """What the output says, as a reader of that isolation level sums it up."""
    found: Counter[str] = Counter()
    for record in broker.records("totals", isolation=isolation):
        found[(record.key or b"").decode()] += int(record.value or b"0")
    return found


def main(bills: int = 100, kills: int = 6) -> bool:
    """Whether the totals are right."""
    chance = random.Random(1)
    with KafkaBroker(topics={"bills": 3, "totals": 2}) as broker:
        due: Counter[str] = Counter()
        for number in range(kills):
            due += bill(broker.bootstrap_servers, range(number * bills, (number + 1) * bills))
            work(broker, until=something_new(broker), further_s=chance.random() / 50)  # at another step each time
            done = totals(broker, "read_committed").total()
            print(f"killed a worker: {done} of {due.total()} summed up")
        work(broker, until=lambda: totals(broker, "read_committed") == due)
        committed, everything = totals(broker, "read_committed"), totals(broker, "read_uncommitted")
        for customer in CUSTOMERS:
            aborted = everything[customer] - committed[customer]
            print(f"{customer:8} due {due[customer]:7} total {committed[customer]:7} (and {aborted} aborted)")
        return committed == due


def something_new(broker: KafkaBroker) -> Callable[[], bool]:
    """Whether anything was written to the output after this call."""
    before = totals(broker, "read_uncommitted")
    return lambda: totals(broker, "read_uncommitted") != before


def work(broker: KafkaBroker, until: Callable[[], bool], further_s: float = 0) -> None:
    """Let a worker work until something is so and a moment longer, and kill it."""
    worker = subprocess.Popen([sys.executable, str(WORKER), broker.bootstrap_servers, "bills", "totals"])
    deadline = time.monotonic() + PATIENCE_S
    while not until() and worker.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(further_s)
    worker.kill()
    worker.wait()
    broker.clock.advance(SESSION_S + 1)  # its session ends at once, without waiting for it


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
