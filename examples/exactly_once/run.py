"""Run the worker on odradek, kill it again and again while it works, and count: each bill is in the totals once.

python examples/exactly_once/run.py
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Literal

from confluent_kafka import Producer

from odradek import Fault, KafkaBroker

WORKER = Path(__file__).with_name("worker.py")
TRANSACTIONAL_ID = "worker-1"
CUSTOMERS = ["Ada", "Bela", "Chiara"]
PATIENCE_S = 120.0
SESSION_S = 45.0  # the default of the consumer's session.timeout.ms


def bill(bootstrap: str, numbers: Iterable[int]) -> Counter[str]:
    """Write bills; return what each customer has to pay."""
    producer = Producer({"bootstrap.servers": bootstrap})
    due: Counter[str] = Counter()
    for number in numbers:
        customer, amount = CUSTOMERS[number % 3], number
        producer.produce("bills", key=customer, value=str(amount), partition=number // 3 % 3)  # all have all customers
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
    with KafkaBroker(topics={"bills": 3, "totals": 2}) as broker:
        due: Counter[str] = Counter()
        for number in range(kills):
            due += bill(broker.bootstrap_servers, range(number * bills, (number + 1) * bills))
            when = (kill_before_the_commit, kill_after_the_decision)[number % 2](broker)
            done = totals(broker, "read_committed").total()
            print(f"killed a worker {when}: {done} of {due.total()} summed up")
        work(broker, until=lambda: totals(broker, "read_committed") == due)
        committed, everything = totals(broker, "read_committed"), totals(broker, "read_uncommitted")
        for customer in CUSTOMERS:
            aborted = everything[customer] - committed[customer]
            print(f"{customer:8} due {due[customer]:7} total {committed[customer]:7} (and {aborted} aborted)")
        return committed == due


def kill_before_the_commit(broker: KafkaBroker) -> str:
    """Kill a worker that has written; its second request to commit never reached the coordinator."""
    commits = count()
    lost = Fault("EndTxn", when=lambda _context, _request: next(commits) == 1, times=1, drop=True)
    broker.set_faults(lost)
    work(broker, until=lambda: lost.hits > 0)
    broker.set_faults()
    return "between write and commit"


def kill_after_the_decision(broker: KafkaBroker) -> str:
    """Kill a worker whose commit is decided and stored, while no partition has its marker yet."""
    with broker.hold(TRANSACTIONAL_ID, "PrepareCommit") as held:
        work(broker, until=lambda: held.reached)
    wait_for(lambda: broker.transactions[TRANSACTIONAL_ID].state == "CompleteCommit")
    return "between commit and marker"


def work(broker: KafkaBroker, until: Callable[[], bool]) -> None:
    """Let a worker work until something is so, and kill it."""
    worker = subprocess.Popen([sys.executable, str(WORKER), broker.bootstrap_servers, "bills", "totals"])
    try:
        wait_for(lambda: until() or worker.poll() is not None)
        if not until():
            raise RuntimeError(f"the worker ended by itself, with {worker.returncode}")
    finally:
        worker.kill()
        worker.wait()
    broker.clock.advance(SESSION_S + 1)  # its session ends at once, without waiting for it


def wait_for(condition: Callable[[], bool]) -> None:
    """Look until something is so; TimeoutError if it never is."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing happened for {PATIENCE_S:g} s")
        time.sleep(0.002)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
