"""What is said to Kafka's commands, and how it is recorded: `python -m tests.frontdoor.tools.conversation` asks a real
Kafka's own tools and writes what they print into tests/vectors.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TypedDict

from tests.conformance.real_kafka import RealKafka, java_command

FILE = Path(__file__).parents[2] / "vectors" / "tools-4.4.0.json"
CLASSES = {
    "kafka-topics": "TopicCommand",
    "kafka-configs": "ConfigCommand",
    "kafka-broker-api-versions": "BrokerApiVersionsCommand",
    "kafka-console-producer": "ConsoleProducer",
    "kafka-console-consumer": "consumer.ConsoleConsumer",
    "kafka-consumer-groups": "consumer.group.ConsumerGroupCommand",
}
_PROPERTIES = "--{0}-property print.key=true --{0}-property print.partition=true --{0}-property print.offset=true"
SHOWN = _PROPERTIES.format("formatter") + " --formatter-property print.headers=true"

CONVERSATION: list[tuple[str, str]] = [
    ("kafka-topics --list", ""),
    ("kafka-topics --create --topic orders --partitions 3 --replication-factor 1", ""),
    ("kafka-topics --create --topic orders", ""),
    ("kafka-topics --create --if-not-exists --topic orders", ""),
    ("kafka-topics --create --topic state --config cleanup.policy=compact --config retention.ms=1000", ""),
    ("kafka-topics --create --topic a.b", ""),
    ("kafka-topics --create --topic big --replication-factor 3", ""),
    ("kafka-topics --create --topic bad --config nope=1", ""),
    ("kafka-topics --create --topic no/slash", ""),
    ("kafka-topics --list", ""),
    ("kafka-topics --list --topic orders,state", ""),
    ("kafka-topics --describe", ""),
    ("kafka-topics --describe --topic orders|st.*", ""),
    ("kafka-topics --describe --topic nothing", ""),
    ("kafka-topics --describe --topic nothing --if-exists", ""),
    ("kafka-topics --describe --under-replicated-partitions", ""),
    ("kafka-topics --describe --topics-with-overrides", ""),
    ("kafka-topics --alter --topic orders --partitions 4", ""),
    ("kafka-topics --alter --topic orders --partitions 2", ""),
    ("kafka-topics --delete --topic state", ""),
    ("kafka-topics --delete --topic state", ""),
    ("kafka-topics --delete --topic state --if-exists", ""),
    ("kafka-topics --version", ""),
    ("kafka-broker-api-versions", ""),
    ("kafka-configs --alter --add-config SCRAM-SHA-256=[password=secret] --entity-type users --entity-name alice", ""),
    ("kafka-configs --describe --entity-type users", ""),
    ("kafka-configs --alter --add-config SCRAM-SHA-512=[iterations=8192,password=x] --user alice", ""),
    ("kafka-configs --alter --entity-type users --entity-name alice --delete-config SCRAM-SHA-256", ""),
    ("kafka-configs --describe --user alice", ""),
    (
        "kafka-configs --alter --entity-type topics --entity-name orders "
        "--add-config retention.ms=5000000,cleanup.policy=[compact,delete]",
        "",
    ),
    ("kafka-configs --describe --entity-type topics --entity-name orders", ""),
    ("kafka-configs --alter --topic orders --delete-config retention.ms,cleanup.policy", ""),
    ("kafka-configs --describe --topic orders", ""),
    ("kafka-configs --describe --topic nothing", ""),
    ("kafka-configs --alter --entity-type brokers --entity-default --add-config log.cleaner.threads=2", ""),
    ("kafka-configs --describe --entity-type brokers --entity-default", ""),
    ("kafka-configs --alter --broker 0 --add-config log.cleaner.threads=2", ""),
    ("kafka-configs --describe --broker 0", ""),
    ("kafka-console-producer --topic orders --reader-property parse.key=true", "a\t1\nb\t2\nlong key\t3\n"),
    (
        "kafka-console-producer --topic orders --reader-property parse.key=true --reader-property key.separator=- "
        "--reader-property parse.headers=true --reader-property null.marker=NULL",
        "h1:x,h2:y\ta-4\nh3:NULL\tb-NULL\n",
    ),
    ("kafka-console-producer --topic one --sync", "first\nsecond\n"),
    ("kafka-console-consumer --topic one --from-beginning --max-messages 2", ""),
    ("kafka-console-consumer --topic one --partition 0 --offset 1 --max-messages 1", ""),
    *(
        (f"kafka-console-consumer --topic orders --partition {each} --offset earliest --timeout-ms 3000 {SHOWN}", "")
        for each in range(4)
    ),
    ("kafka-consumer-groups --list", ""),
    ("kafka-console-consumer --topic one --group readers --from-beginning --max-messages 2", ""),
    ("kafka-consumer-groups --describe --group readers", ""),
    ("kafka-consumer-groups --describe --group readers --members", ""),
    ("kafka-consumer-groups --group readers --topic one --reset-offsets --to-earliest --dry-run", ""),
    ("kafka-consumer-groups --group readers --all-topics --reset-offsets --shift-by -1 --execute", ""),
    ("kafka-consumer-groups --describe --group readers", ""),
    ("kafka-consumer-groups --group readers --topic one:0 --reset-offsets --to-offset 9 --execute", ""),
    ("kafka-consumer-groups --describe --group nothing", ""),
    ("kafka-consumer-groups --delete --group readers", ""),
    ("kafka-consumer-groups --delete --group readers", ""),
]
"""Words, without the address of the broker, and what stands on standard input."""


class Said(TypedDict):
    """One command: its words, standard input, what it printed on standard output, and its exit status."""

    words: str
    given: str
    said: str
    status: int


def plain(text: str, port: int) -> str:
    """Without what differs from run to run, the log lines of Java's tools, and the groups of its console consumers: a
    consumer here is in no group unless one is named.
    """
    text = re.sub(r"TopicId: [\w-]{22}", "TopicId: ID", text).replace(f":{port}", ":PORT")
    lines = [
        line
        for line in text.splitlines()
        if not re.match(r"\[\d{4}-|\tat |Caused by: |java\.|The consumer rebal|console-consumer-", line)
    ]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def record() -> list[Said]:
    """What the tools of a real Kafka say."""
    found: list[Said] = []
    with RealKafka() as kafka:
        address = kafka.bootstrap_servers
        port = int(address.rpartition(":")[2])
        for text, given in CONVERSATION:
            name, *words = text.split(" ")
            command = java_command(f"org.apache.kafka.tools.{CLASSES[name]}", "--bootstrap-server", address, *words)
            done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
            found.append({"words": text, "given": given, "said": plain(done.stdout, port), "status": done.returncode})
            print(f"{text}\n{found[-1]['said']}\n-> {done.returncode}")
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(record(), indent=1, ensure_ascii=False) + "\n")
