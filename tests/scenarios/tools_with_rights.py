"""What Kafka's command line prints for who has some of the rights that it needs.

The user of each test may describe one topic and no other; what a test gives besides, it says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AclOperation

from tests.conformance.real_kafka import CONFIG_COMMAND as CONFIGS
from tests.scenarios.authorization import ADMIN
from tests.scenarios.clients_with_rights import ANN, GROUP, ID, PATIENCE_S, TOPIC, Users
from tests.scenarios.java_host import JavaHost, ToolResult
from tests.scenarios.target import unique, wait_until

_TOOLS = "org.apache.kafka.tools"
TOPICS, ACLS, TRANSACTIONS = f"{_TOOLS}.TopicCommand", f"{_TOOLS}.AclCommand", f"{_TOOLS}.TransactionsCommand"
PRODUCER, CONSUMER = f"{_TOOLS}.ConsoleProducer", f"{_TOOLS}.consumer.ConsoleConsumer"
TOPIC_REFUSED = "TopicAuthorizationException: Topic authorization failed."
CLUSTER_REFUSED = "ClusterAuthorizationException: Cluster authorization failed."


@dataclass(frozen=True, slots=True)
class Desk:
    """A user's command line, a topic that the user may describe, and one of which the user may know nothing."""

    users: Users
    java: JavaHost
    folder: Path
    seen: str
    hidden: str

    def run(self, tool: str, *arguments: str, stdin: str = "") -> ToolResult:
        login = ("--command-config", self.users.tool_config(ANN, self.folder))
        return self.java.tool(tool, "--bootstrap-server", self.users.bootstrap, *login, *arguments, stdin=stdin)

    def told(self, tool: str, *arguments: str, stdin: str = "", status: int = 0) -> str:
        """All that a tool prints."""
        result = self.run(tool, *arguments, stdin=stdin)
        assert result.status == status, result
        return result.stdout + result.stderr

    def produced(self, topic: str, text: str) -> str:
        """What the console producer prints. It fails if it hears of a missing right before it has sent, not after."""
        result = self.run(PRODUCER, "--topic", topic, stdin=text)
        assert result.status in (0, 1), result
        return result.stdout + result.stderr

    def refused(self, tool: str, *arguments: str) -> str:
        """The same of a tool that fails."""
        return self.told(tool, *arguments, status=1)

    def allow(self, operation: AclOperation, name: str = "") -> None:
        """A right on a topic, `seen` if no other is named."""
        self.users.allow(ANN, operation, TOPIC, name or self.seen)


@pytest.fixture
def desk(users: Users, java: JavaHost, tmp_path: Path) -> Desk:
    made = Desk(users, java, tmp_path, users.topic(records=2), users.topic(records=2))
    made.allow(AclOperation.DESCRIBE)
    wait_until("the topic that may be seen", lambda: made.seen in made.told(TOPICS, "--list").split())
    return made


@pytest.mark.jdk
def test_topics_tool(desk: Desk) -> None:
    assert desk.hidden not in desk.told(TOPICS, "--list")
    unknown = f"Topic '{desk.hidden}' does not exist as expected"
    assert unknown in desk.refused(TOPICS, "--describe", "--topic", desk.hidden)
    assert unknown in desk.refused(TOPICS, "--delete", "--topic", desk.hidden)
    one = ("--topic", desk.seen)
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--describe", *one)  # it asks for the configs, too
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--alter", *one, "--partitions", "3")
    assert TOPIC_REFUSED in desk.refused(TOPICS, "--delete", *one)
    # another text: this one is the controller's
    refused = "TopicAuthorizationException: Authorization failed."
    fresh = unique("rights")
    assert refused in desk.refused(TOPICS, "--create", "--topic", fresh)

    desk.allow(AclOperation.DESCRIBE_CONFIGS)
    wait_until("a description", lambda: desk.run(TOPICS, "--describe", *one).status == 0)
    desk.allow(AclOperation.CREATE, fresh)
    wait_until("a topic", lambda: desk.run(TOPICS, "--create", "--topic", fresh).status == 0)
    desk.allow(AclOperation.ALTER)
    wait_until("more partitions", lambda: desk.run(TOPICS, "--alter", *one, "--partitions", "3").status == 0)
    desk.allow(AclOperation.DELETE)
    wait_until("the end of a topic", lambda: desk.run(TOPICS, "--delete", *one).status == 0)


@pytest.mark.jdk
def test_configs_tool(desk: Desk) -> None:
    topic = ("--entity-type", "topics", "--entity-name", desk.seen)
    change = ("--alter", *topic, "--add-config", "retention.ms=1000")
    assert TOPIC_REFUSED in desk.refused(CONFIGS, "--describe", *topic)
    assert TOPIC_REFUSED in desk.refused(CONFIGS, *change)
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "brokers", "--entity-name", "0")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "client-metrics")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, "--describe", "--entity-type", "users")
    user = ("--alter", "--entity-type", "users", "--entity-name", "x", "--add-config")
    assert CLUSTER_REFUSED in desk.refused(CONFIGS, *user, "producer_byte_rate=1")
    assert "ClusterAuthorizationException: Request" in desk.refused(CONFIGS, *user, "SCRAM-SHA-256=[password=abc]")
    desk.allow(AclOperation.DESCRIBE_CONFIGS)
    desk.allow(AclOperation.ALTER_CONFIGS)
    wait_until("a change", lambda: desk.run(CONFIGS, *change).status == 0)
    wait_until("the change's effect", lambda: "retention.ms=1000" in desk.told(CONFIGS, "--describe", *topic))


@pytest.mark.jdk
def test_acls_tool(desk: Desk) -> None:
    refused = "ClusterAuthorizationException: Request"
    entry = ("--allow-principal", "User:x", "--operation", "Read", "--topic", desk.seen)
    assert refused in desk.refused(ACLS, "--list")
    assert refused in desk.refused(ACLS, "--add", *entry)
    assert refused in desk.refused(ACLS, "--remove", "--force", *entry)


@pytest.mark.jdk
def test_console_producer(desk: Desk) -> None:
    hidden = desk.produced(desk.hidden, "lost\n")
    assert f"Not authorized to access topics: [{desk.hidden}]" in hidden
    # an idempotent producer gets no producer id while its user may write to no topic, those of other tests included
    unwritten = desk.produced(desk.seen, "lost\n")
    assert CLUSTER_REFUSED in unwritten or f"Not authorized to access topics: [{desk.seen}]" in unwritten
    desk.allow(AclOperation.WRITE)
    wait_until("a record", lambda: "ERROR" not in desk.produced(desk.seen, "kept\n"))


@pytest.mark.jdk
def test_console_consumer(desk: Desk) -> None:
    group = unique("rights")
    reading = ("--from-beginning", "--max-messages", "2", "--timeout-ms", "30000", "--topic")
    assert f"Not authorized to access topics: [{desk.hidden}]" in desk.told(CONSUMER, *reading, desk.hidden)
    alone = (*reading, desk.seen, "--partition", "0")
    assert f"Not authorized to access topics: [{desk.seen}]" in desk.told(CONSUMER, *alone)
    member = (*reading, desk.seen, "--group", group)
    assert f"Not authorized to access group: {group}" in desk.told(CONSUMER, *member)
    desk.allow(AclOperation.READ)
    wait_until("records without a group", lambda: desk.run(CONSUMER, *alone).stdout.split() == ["0", "1"])
    assert f"Not authorized to access group: {group}" in desk.told(CONSUMER, *member)
    desk.users.allow(ANN, AclOperation.READ, GROUP, group)
    wait_until("records of a group", lambda: desk.run(CONSUMER, *member).stdout.split() == ["0", "1"])


@pytest.mark.jdk
def test_transactions_tool(desk: Desk) -> None:
    own, foreign = unique("rights"), unique("rights")
    producers = []
    for name in (own, foreign):
        producer = Producer(desk.users.config(ADMIN, transactional_id=name))
        producer.init_transactions(PATIENCE_S)
        producer.begin_transaction()
        for topic in (desk.seen, desk.hidden):
            producer.produce(topic, "open", partition=0)
        assert producer.flush(PATIENCE_S) == 0
        producers.append(producer)

    def described(name: str) -> tuple[str, ...]:
        return ("describe", "--transactional-id", name)

    def producers_of(topic: str) -> tuple[str, ...]:
        return ("describe-producers", "--topic", topic, "--partition", "0")

    assert own not in desk.told(TRANSACTIONS, "list")
    assert "due to authorization failure" in desk.refused(TRANSACTIONS, *described(own))
    assert "due to authorization failure on topic" in desk.refused(TRANSACTIONS, *producers_of(desk.seen))
    assert "due to topic authorization failure" in desk.refused(TRANSACTIONS, *producers_of(desk.hidden))

    desk.users.allow(ANN, AclOperation.DESCRIBE, ID, own)
    desk.allow(AclOperation.READ)
    listed = wait_until("the transaction", lambda: text if own in (text := desk.told(TRANSACTIONS, "list")) else "")
    assert foreign not in listed
    told = desk.told(TRANSACTIONS, *described(own))
    assert f"{desk.seen}-0" in told
    assert desk.hidden not in told  # its other partition is left out
    assert "due to authorization failure" in desk.refused(TRANSACTIONS, *described(foreign))
    wait_until("its producers", lambda: desk.run(TRANSACTIONS, *producers_of(desk.seen)).status == 0)
    abort = ("abort", "--topic", desk.seen, "--partition", "0", "--start-offset", "2")
    assert "failed cluster authorization" in desk.refused(TRANSACTIONS, *abort)
    for producer in producers:
        producer.abort_transaction(PATIENCE_S)
