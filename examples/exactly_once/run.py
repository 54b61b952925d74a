"""Run the worker on odradek, kill it again and again while it works, and count: each bill is in the totals once.

python examples/exactly_once/run.py
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from confluent_kafka import Producer

from odradek import KafkaBroker

WORKER = Path(__file__).with_name("worker.py")
CUSTOMERS = ["Ada", "Bela", "Chiara"]
PATIENCE_S = 120.0


def bill(bootstrap: str, count: int) -> Counter[str]:
    """Write bills; return what each customer has to pay."""
    producer = Producer({"bootstrap.servers": bootstrap})
    due: Counter[str] = Counter()
    for number in range(count):
        customer, amount = CUSTOMERS[number % 3], number
        producer.produce("bills", key=customer, value=str(amount))
        due[customer] += amount
    producer.flush()
    return due


def totals(broker: KafkaBroker, isolation: str) -> Counter[str]:
    """What the output says, as a reader of that isolation level sums it up."""
    found: Counter[str] = Counter()
    for record in broker.records("totals", isolation=isolation):
        found[(record.key or b"").decode()] += int(record.value or b"0")
    return found


def main(bills: int = 600, kills: int = 6) -> bool:
    """Whether the totals are right."""
    chance = random.Random(1)
    config = {"group.min.session.timeout.ms": 1000}
    with KafkaBroker(topics={"bills": 3, "totals": 2}, config=config) as broker:
        bootstrap = broker.bootstrap_servers
        due = bill(bootstrap, bills)
        deadline = time.monotonic() + PATIENCE_S
        killed = 0
        while totals(broker, "read_committed") != due and time.monotonic() < deadline:
            worker = subprocess.Popen([sys.executable, str(WORKER), bootstrap, "bills", "totals"])
            reach_something_new(broker, due, worker, deadline if killed == kills else time.monotonic() + 8)
            time.sleep(chance.random() / 50)  # at another step of its work each time
            worker.kill()
            worker.wait()
            killed += killed < kills
            broker.clock.advance(seconds=7)  # its session ends at once, without waiting for it
            print(f"killed a worker: {sum(totals(broker, 'read_committed').values())} of {sum(due.values())} summed up")
        committed, everything = totals(broker, "read_committed"), totals(broker, "read_uncommitted")
        for customer in CUSTOMERS:
            aborted = everything[customer] - committed[customer]
            print(f"{customer:8} due {due[customer]:7} total {committed[customer]:7} (and {aborted} aborted)")
        return committed == due


def reach_something_new(broker: KafkaBroker, due: Counter[str], worker: subprocess.Popen[bytes], until: float) -> None:
    """Wait until the worker has written something, is done, or has had its time."""
    before = totals(broker, "read_uncommitted")
    while time.monotonic() < until and worker.poll() is None:
        now = totals(broker, "read_uncommitted")
        if now != before or totals(broker, "read_committed") == due:
            return
        time.sleep(0.002)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
