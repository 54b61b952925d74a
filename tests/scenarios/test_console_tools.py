"""Kafka's own command-line tools, run in the session's JVM, and what they print."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from tests.conformance.real_kafka import CONFIG_COMMAND, RELEASE, run_tool
from tests.scenarios.fixtures import MakeTopic
from tests.scenarios.java_host import JavaHost, ToolResult
from tests.scenarios.python_clients import KITS, Out, Settings
from tests.scenarios.streams_conversation import StreamsConversation
from tests.scenarios.target import Target, unique, wait_until

EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = {
    "4.3": (0, 1, 2, 4),
    "4.4": ("Empty", "Ongoing", "PrepareCommit", "CompleteCommit"),
}[RELEASE]
"""How a release's formatter prints the states of transactions."""


pytestmark = pytest.mark.jdk

TOOLS = "org.apache.kafka.tools"
CONFLUENT = KITS[0]


class Shell:
    """Runs tools against one broker and expects them to succeed."""

    def __init__(self, java: JavaHost, bootstrap: str) -> None:
        self._java = java
        self.bootstrap = bootstrap

    def run(self, tool: str, *args: str, stdin: str = "", status: int = 0) -> ToolResult:
        """Run ``tool`` with ``--bootstrap-server``; a class outside Kafka's tools package is given with its package."""
        main = tool if "." in tool and not tool.startswith("consumer.") else f"{TOOLS}.{tool}"
        result = self._java.tool(main, "--bootstrap-server", self.bootstrap, *args, stdin=stdin)
        assert result.status == status, result
        return result

    def lines(self, tool: str, *args: str) -> list[str]:
        return [line for line in self.run(tool, *args).stdout.splitlines() if line.strip()]

    def consume(self, topic: str, count: int, *args: str) -> list[str]:
        """The lines of the console consumer for that many records from the start of the topic."""
        wanted = ["--topic", topic, "--from-beginning", "--max-messages", str(count), "--timeout-ms", "60000"]
        return self.lines("consumer.ConsoleConsumer", *wanted, *args)


@pytest.fixture
def shell(java: JavaHost, broker: Target) -> Shell:
    return Shell(java, broker.bootstrap)


def test_the_topics_tool_creates_describes_alters_and_deletes(shell: Shell) -> None:
    topic = unique("tools")
    shell.run("TopicCommand", "--create", "--topic", topic, "--partitions", "3", "--config", "retention.ms=60000")
    wait_until("the topic", lambda: topic in shell.lines("TopicCommand", "--list"))
    described = shell.run("TopicCommand", "--describe", "--topic", topic).stdout
    assert re.search(rf"Topic: {topic}\s+TopicId: \S{{22}}\s+PartitionCount: 3\s+ReplicationFactor: 1", described)
    assert "retention.ms=60000" in described
    assert described.count("Leader:") == 3
    shell.run("TopicCommand", "--alter", "--topic", topic, "--partitions", "5")
    describe = ("TopicCommand", "--describe", "--topic", topic)
    wait_until("more partitions", lambda: "PartitionCount: 5" in shell.run(*describe).stdout)
    again = shell.run("TopicCommand", "--create", "--topic", topic, status=1)
    assert "already exists" in again.stdout + again.stderr
    shell.run("TopicCommand", "--delete", "--topic", topic)
    wait_until("deletion", lambda: topic not in shell.lines("TopicCommand", "--list"))


def test_the_configs_tool_describes_and_alters(shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic()
    entity = ("--entity-type", "topics", "--entity-name", topic)
    command = CONFIG_COMMAND
    shell.run(command, "--alter", *entity, "--add-config", "cleanup.policy=[compact,delete],segment.ms=60000")

    def described() -> str:
        return shell.run(command, "--describe", *entity).stdout

    wait_until("the settings", lambda: "segment.ms=60000" in described())
    assert "cleanup.policy=compact,delete" in described()
    assert "DYNAMIC_TOPIC_CONFIG:segment.ms=60000" in described()
    shell.run(command, "--alter", *entity, "--delete-config", "segment.ms")
    wait_until("the default", lambda: "segment.ms" not in described())
    assert "retention.ms=604800000" in shell.run(command, "--describe", "--all", *entity).stdout
    bad = shell.run(command, "--alter", *entity, "--add-config", "segment.ms=soon", status=1)
    assert "Invalid value soon" in bad.stdout + bad.stderr


def test_console_producer_and_consumer(shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic()
    options = ["--topic", topic, "--reader-property", "parse.key=true", "--reader-property", "parse.headers=true"]
    shell.run("ConsoleProducer", *options, stdin="h1:v1\tkey\tfirst\nh1:v1,h2:v2\tother\tsecond\n")
    shown = [f"print.{what}=true" for what in ("key", "headers", "offset", "partition")]
    extra = [argument for what in shown for argument in ("--formatter-property", what)]
    assert shell.consume(topic, 2, *extra) == [
        "Partition:0\tOffset:0\th1:v1\tkey\tfirst",
        "Partition:0\tOffset:1\th1:v1,h2:v2\tother\tsecond",
    ]


def test_offsets_and_deleted_records(shell: Shell, make_topic: MakeTopic, tmp_path: Path) -> None:
    topic = make_topic(partitions=2)
    CONFLUENT.produce(shell.bootstrap, topic, [Out(b"x", timestamp=1000 + n) for n in range(5)], Settings())
    assert shell.lines("GetOffsetShell", "--topic", topic) == [f"{topic}:0:5", f"{topic}:1:0"]
    assert shell.lines("GetOffsetShell", "--topic", topic, "--time", "earliest")[0] == f"{topic}:0:0"
    assert shell.lines("GetOffsetShell", "--topic-partitions", f"{topic}:0", "--time", "1003") == [f"{topic}:0:3"]
    assert shell.lines("GetOffsetShell", "--topic-partitions", f"{topic}:0", "--time", "max-timestamp") == [
        f"{topic}:0:4"
    ]
    file = tmp_path / "delete.json"
    file.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "offset": 3}], "version": 1}))
    deleted = shell.run("DeleteRecordsCommand", "--offset-json-file", str(file)).stdout
    assert f"partition: {topic}-0\tlow_watermark: 3" in deleted
    assert shell.lines("GetOffsetShell", "--topic", topic, "--time", "earliest")[0] == f"{topic}:0:3"


def test_log_dirs_and_the_cluster(shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic()
    CONFLUENT.produce(shell.bootstrap, topic, [Out(b"x" * 500)], Settings())
    described = json.loads(shell.lines("LogDirsCommand", "--describe", "--topic-list", topic)[-1])
    (partition,) = described["brokers"][0]["logDirs"][0]["partitions"]
    assert partition["partition"] == f"{topic}-0"
    assert 500 < partition["size"] < 700
    assert (partition["offsetLag"], partition["isFuture"]) == (0, False)
    versions = shell.run("BrokerApiVersionsCommand").stdout
    assert re.search(r"Produce\(0\): 0 to 13 \[usable: 13\]", versions)
    cluster = shell._java.tool(f"{TOOLS}.ClusterTool", "cluster-id", "--bootstrap-server", shell.bootstrap)
    assert re.search(r"Cluster ID: \S{22}", cluster.stdout)


def test_the_consumer_groups_tool_lists_describes_and_resets(shell: Shell, make_topic: MakeTopic) -> None:
    topic, group = make_topic(partitions=2), unique("tools")
    command = "consumer.group.ConsumerGroupCommand"
    CONFLUENT.produce(shell.bootstrap, topic, [Out(b"x")] * 10, Settings())
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": shell.bootstrap,
            "group.id": group,
            "client.id": "watched",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    wait_until("assignment", lambda: consumer.poll(0.1) is None and consumer.assignment())
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 4)], asynchronous=False)
    assert group in shell.lines(command, "--list")
    rows = [line.split() for line in shell.lines(command, "--describe", "--group", group) if topic in line]
    assert sorted(rows)[0][:6] == [group, topic, "0", "4", "10", "6"]
    assert rows[0][-1] == "watched"
    members = [line.split() for line in shell.lines(command, "--describe", "--group", group, "--members", "--verbose")][
        -1
    ]
    assert members[3:5] == ["watched", "2"]
    assert "Stable" in shell.lines(command, "--describe", "--group", group, "--state")[-1]
    refused = shell.run(
        command, "--reset-offsets", "--group", group, "--topic", topic, "--to-latest", "--execute", status=0
    )
    assert "current state is" in refused.stdout + refused.stderr
    consumer.close()
    reset = ["--reset-offsets", "--group", group, "--execute"]
    assert shell.lines(command, *reset, "--topic", f"{topic}:0", "--to-offset", "2")[-1].split()[:4] == [
        group,
        topic,
        "0",
        "2",
    ]
    shell.run(command, *reset, "--topic", f"{topic}:0", "--shift-by", "3")
    rows = [line.split() for line in shell.lines(command, "--describe", "--group", group) if topic in line]
    assert sorted(row[3] for row in rows if row[2] == "0") == ["5"]
    shell.run(command, "--delete-offsets", "--group", group, "--topic", f"{topic}:0")
    assert "Deletion of requested consumer groups" in shell.run(command, "--delete", "--group", group).stdout
    assert group not in shell.lines(command, "--list")


def test_the_streams_groups_tool_lists_and_describes(shell: Shell) -> None:
    command = f"{TOOLS}.streams.StreamsGroupCommand"
    host, port = shell.bootstrap.rsplit(":", 1)
    talk = StreamsConversation(host, int(port))
    group, source = talk.group, talk.big
    talk.start("m-a", talk.grouping())
    for label in ("by-word-repartition", "counts-changelog"):
        talk.wait_for_internal(label, 4)
    epoch = talk.beat_as("m-a", 2).member_epoch
    talk.commit_as("m-a", epoch, (0, 1))
    assert group in shell.lines(command, "--list")
    rows = [line.split() for line in shell.lines(command, "--describe", "--group", group)[1:]]
    between = talk.name("by-word-repartition")
    assert {(row[0], row[1], row[2]) for row in rows} == {
        (group, topic, str(partition)) for topic in (source, between) for partition in range(4)
    }
    state = shell.lines(command, "--describe", "--group", group, "--state", "--verbose")[-1].split()
    assignor = {"4.3": [], "4.4": ["sticky"]}[RELEASE]
    assert [state[0], *state[3:]] == [group, *assignor, "Stable", str(epoch), str(epoch), "1"]
    (member,) = shell.lines(command, "--describe", "--group", group, "--members", "--verbose")[1:]
    tasks = "0:[0,1,2,3]; 1:[0,1,2,3];"
    assert member.split()[:8] == [group, str(epoch), "0", "m-a", "streams", str(epoch), "p-m-a", "a"]
    assert f"ACTIVE: {tasks} TARGET-ACTIVE: {tasks}" in member
    refused = shell._java.tool(command, "--bootstrap-server", shell.bootstrap, "--delete", "--group", group)
    assert "is not EMPTY" in refused.stdout + refused.stderr or "not empty" in refused.stdout + refused.stderr
    talk.stop("m-a")
    reset = ["--reset-offsets", "--group", group, "--all-input-topics", "--to-earliest", "--execute"]
    moved = [line.split() for line in shell.lines(command, *reset)[1:]]
    assert sorted(moved) == [[group, source, str(partition), "0"] for partition in (0, 1)]
    deleted = shell.lines(command, "--delete-offsets", "--group", group, "--input-topic", source)
    assert sorted(line.split() for line in deleted[-4:]) == [[source, str(p), "Successful"] for p in range(4)]
    gone = shell.run(command, "--delete", "--group", group, "--delete-all-internal-topics").stdout
    assert f"Deletion of requested streams groups ('{group}') was successful." in gone
    assert group not in shell.lines(command, "--list")
    wait_until("the end of its topics", lambda: between not in shell.lines("TopicCommand", "--list"))
    talk.close()


def internal_records(shell: Shell, topic: str, formatter: str, wanted: str) -> list[dict[str, Any]]:
    """What a formatter prints of an internal topic's records about a name (no line ends between them).

    The tool ends when nothing has come for a while, which may be early on a busy machine: wait for the last record.
    """
    chosen = ["--topic", topic, "--from-beginning", "--timeout-ms", "2000"]
    chosen += ["--formatter", f"{TOOLS}.consumer.{formatter}"]
    text = shell.run("consumer.ConsoleConsumer", *chosen).stdout
    decoder, found, place = json.JSONDecoder(), [], 0
    while (place := text.find("{", place)) >= 0:
        record, place = decoder.raw_decode(text, place)
        found.append(record)
    return [record for record in found if wanted in str(record["key"])]


def test_formatters_of_the_offsets_topic(shell: Shell, make_topic: MakeTopic) -> None:
    topic, group = make_topic(), unique("formatted")
    settings = {"bootstrap.servers": shell.bootstrap, "group.id": group, "client.id": "formatted-client"}
    consumer = confluent_kafka.Consumer({**settings, "partition.assignment.strategy": "range"})
    consumer.subscribe([topic])
    wait_until("assignment", lambda: consumer.poll(0.1) is None and consumer.assignment())
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topic, 0, 7, "note")], asynchronous=False)
    consumer.close()
    offsets = ("__consumer_offsets", "OffsetsMessageFormatter", group)
    (commit,) = wait_until("the commit", lambda: internal_records(shell, *offsets))
    assert commit["key"] == {"type": 1, "data": {"group": group, "topic": topic, "partition": 0}}
    value = commit["value"]
    assert (value["version"], value["data"]["offset"]) == (4, 7)
    assert value["data"]["metadata"].rstrip("\0") == "note"  # librdkafka sends the C string's end along
    members = ("__consumer_offsets", "GroupMetadataMessageFormatter", group)
    groups = wait_until("the end of the group", lambda: _left(internal_records(shell, *members)))
    stable = [each["value"]["data"] for each in groups if each["value"] and each["value"]["data"]["members"]]
    assert stable
    last = stable[-1]
    assert (last["protocolType"], last["protocol"], last["generation"]) == ("consumer", "range", 1)
    assert last["members"][0]["clientId"] == "formatted-client"
    assert last["leader"] == last["members"][0]["memberId"]
    empty = groups[-1]["value"]["data"]
    assert (empty["protocol"], empty["leader"], empty["generation"], empty["members"]) == (None, None, 2, [])


def _left(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of a group if somebody was in it and nobody is."""
    sizes = [len(each["value"]["data"]["members"]) for each in records if each["value"]]
    return records if any(sizes) and not sizes[-1] else []


def test_transactions_tool_and_formatter(shell: Shell, make_topic: MakeTopic) -> None:
    topic, name = make_topic(), unique("formatted-txn")
    producer = confluent_kafka.Producer({"bootstrap.servers": shell.bootstrap, "transactional.id": name})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce(topic, b"x")
    assert producer.flush(60) == 0
    described = shell.lines("TransactionsCommand", "describe", "--transactional-id", name)[-1].split()
    assert described[1] == name
    assert described[4] == "Ongoing"
    assert described[-1] == f"{topic}-0"
    listed = [line for line in shell.lines("TransactionsCommand", "list") if name in line]
    assert listed
    assert "Ongoing" in listed[0]
    partition = ["--topic", topic, "--partition", "0"]
    open_now = shell.lines("TransactionsCommand", "describe-producers", *partition)[-1].split()
    assert open_now[:2] == described[2:4]
    producer.commit_transaction(60)
    hanging = shell.run("TransactionsCommand", "find-hanging", *partition).stdout
    assert name not in hanging
    records = wait_until(
        "complete",
        lambda: _complete(internal_records(shell, "__transaction_state", "TransactionLogMessageFormatter", name)),
    )
    states = [each["value"]["data"]["transactionStatus"] for each in records if each["value"]]
    assert states[0] == EMPTY
    assert ONGOING in states
    assert states[-2:] == [PREPARE_COMMIT, COMPLETE_COMMIT]
    ongoing = next(each["value"]["data"] for each in records if each["value"]["data"]["transactionStatus"] == ONGOING)
    assert ongoing["transactionPartitions"] == [{"topic": topic, "partitionIds": [0]}]


def _complete(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return records if records and records[-1]["value"]["data"]["transactionStatus"] == COMPLETE_COMMIT else []


def test_verifiable_producer_and_consumer(java: JavaHost, shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic(partitions=2)
    options = ["--bootstrap-server", shell.bootstrap, "--topic", topic, "--max-messages", "50"]
    produced = run_tool(f"{TOOLS}.VerifiableProducer", *options).stdout  # tells its figures when its JVM ends
    done = next(event for event in map(json.loads, produced.splitlines()) if event["name"] == "tool_data")
    assert (done["acked"], done["sent"]) == (50, 50)
    asked = ["--topic", topic, "--group-id", unique("g"), "--max-messages", "50"]
    consumed = [json.loads(line) for line in shell.lines("VerifiableConsumer", *asked)]
    assert sum(event["count"] for event in consumed if event["name"] == "records_consumed") >= 50
    assert any(event["name"] == "partitions_assigned" for event in consumed)
    assert all(event["success"] for event in consumed if event["name"] == "offsets_committed")


def test_transactional_message_copier_that_aborts_at_random(shell: Shell, make_topic: MakeTopic) -> None:
    """What Kafka's own system tests of exactly-once use: it copies a partition and rewinds whenever it has aborted."""
    source, copy, group = make_topic(), make_topic(), unique("copier")
    values = [str(n) for n in range(300)]
    CONFLUENT.produce(shell.bootstrap, source, [Out(value.encode()) for value in values], Settings())
    options = ["--input-topic", source, "--input-partition", "0", "--output-topic", copy, "--consumer-group", group]
    options += ["--transaction-size", "10", "--max-messages", "300", "--transactional-id", unique("copier")]
    copier = (f"{TOOLS}.TransactionalMessageCopier", "--broker-list", shell.bootstrap, *options)
    told = run_tool(*copier, "--enable-random-aborts", "--use-group-metadata", "--group-mode").stdout.splitlines()
    assert json.loads(told[-1])["stage"] == "ShutdownComplete"
    committed = shell.consume(copy, 300, "--isolation-level", "read_committed")
    assert committed == values
    describe = ("consumer.group.ConsumerGroupCommand", "--describe", "--group", group)
    wait_until("the group's offset", lambda: re.search(rf"{source}\s+0\s+300\s+300\s+0\s", shell.run(*describe).stdout))


def test_the_producer_performance_tool_runs(java: JavaHost, shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic()
    options = ["--topic", topic, "--num-records", "2000", "--record-size", "100", "--throughput", "-1"]
    result = java.tool(f"{TOOLS}.ProducerPerformance", *options, "--bootstrap-server", shell.bootstrap)
    assert result.status == 0, result
    assert "2000 records sent" in result.stdout


def test_two_tools_never_share_their_output(shell: Shell, make_topic: MakeTopic) -> None:
    topic = make_topic()
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(shell.lines("GetOffsetShell", "--topic", topic))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[f"{topic}:0:0"]] * 3
