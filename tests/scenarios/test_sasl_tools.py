"""The Java client and Kafka's command line log in by PLAIN, SCRAM and tokens, and keep users and tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conformance.real_kafka import CONFIG_COMMAND
from tests.scenarios.java_host import JavaHost, ToolResult, scenario_names
from tests.scenarios.sasl_broker import SCRAM_USERS
from tests.scenarios.sasl_targets import LogIns, password_of
from tests.scenarios.target import unique, wait_until

pytestmark = pytest.mark.jdk

CONFIGS, TOKENS, TOPICS = (
    CONFIG_COMMAND,
    "org.apache.kafka.tools.DelegationTokenCommand",
    "org.apache.kafka.tools.TopicCommand",
)


class Tools:
    """Runs tools that log in with files of properties."""

    def __init__(self, java: JavaHost, broker: LogIns, folder: Path) -> None:
        self._java, self._broker, self._folder = java, broker, folder

    def run(self, tool: str, properties: Mapping[str, str], *args: str, listener: str = "SASL") -> ToolResult:
        file = self._folder / "client.properties"
        lines = (f"{name}={value}\n" for name, value in properties.items())
        file.write_text("".join(line.replace("\\", "\\\\") for line in lines))
        way = ("--bootstrap-server", self._broker.address(listener), "--command-config", str(file))
        return self._java.tool(tool, *way, *args)

    def printed(self, tool: str, properties: Mapping[str, str], *args: str) -> str:
        """What a tool prints that succeeds."""
        result = self.run(tool, properties, *args)
        assert result.status == 0, result
        return result.stdout

    def refused(self, tool: str, properties: Mapping[str, str], *args: str) -> str:
        """What a tool says that fails."""
        result = self.run(tool, properties, *args)
        assert result.status != 0, result
        return result.stdout + result.stderr

    def let_in(self, properties: Mapping[str, str]) -> None:
        """Wait until who logs in so is let in: a real broker learns of users and tokens after the answer."""
        wait_until("a log-in", lambda: self.run(TOPICS, properties, "--list").status == 0)

    def turned_away(self, properties: Mapping[str, str]) -> None:
        """Wait until who logs in so is refused."""

        def refused() -> bool:
            result = self.run(TOPICS, properties, "--list")
            return result.status == 1 and "due to invalid credentials with SASL" in result.stdout + result.stderr

        wait_until("a refusal", refused)

    def scram(self, user: str, password: str, size: int = 256, **options: str) -> dict[str, str]:
        return self._broker.java_properties("SASL", f"SCRAM-SHA-{size}", user, password, **options)


@pytest.fixture
def tools(java: JavaHost, log_ins: LogIns, tmp_path: Path) -> Tools:
    return Tools(java, log_ins, tmp_path)


@pytest.mark.parametrize("scenario", scenario_names("LogIns"))
def test_the_java_clients_log_in_with_sasl(scenario: str, java: JavaHost, log_ins: LogIns) -> None:
    places = [f"{name}={log_ins.address(name)}" for name in log_ins.ports]
    bootstrap = ",".join([*places, f"ca={log_ins.ca}"])
    java.begin(scenario_names("LogIns"), bootstrap)
    result = java.scenario(scenario, bootstrap)
    assert result["ok"], result["error"]


@pytest.mark.parametrize(
    ("listener", "mechanism"), [("SASL", "PLAIN"), ("TLS", "SCRAM-SHA-256"), ("TLS", "SCRAM-SHA-512")]
)
def test_the_topics_tool_logs_in_with_sasl(tools: Tools, log_ins: LogIns, listener: str, mechanism: str) -> None:
    topic = unique("tool")
    way = log_ins.java_properties(listener, mechanism, "alice", password_of(mechanism))
    created = tools.run(TOPICS, way, "--create", "--topic", topic, listener=listener)
    assert created.status == 0, created
    listed = wait_until("the topic", lambda: topic in tools.run(TOPICS, way, "--list", listener=listener).stdout)
    assert listed
    wrong = log_ins.java_properties(listener, mechanism, "alice", "guess")
    refused = tools.run(TOPICS, wrong, "--list", listener=listener)
    assert refused.status == 1
    assert "SaslAuthenticationException: Authentication failed" in refused.stdout + refused.stderr


def test_the_configs_tool_manages_scram_users(tools: Tools) -> None:
    admin, user = tools.scram("alice", SCRAM_USERS["alice"]), unique("user")
    entity = ("--entity-type", "users", "--entity-name", user)

    def alter(change: str) -> None:
        told = tools.printed(CONFIGS, admin, "--alter", *entity, "--add-config", change)
        assert told.strip() == f"Completed updating config for user {user}."

    def described() -> str:
        return tools.printed(CONFIGS, admin, "--describe", *entity)

    assert described() == ""
    both = "SCRAM-SHA-256=[password=first],SCRAM-SHA-512=[password=other]"
    twice = tools.refused(CONFIGS, admin, "--alter", *entity, "--add-config", both)
    assert "A user credential cannot be altered twice in the same request" in twice
    alter("SCRAM-SHA-256=[iterations=8192,password=first]")
    alter("SCRAM-SHA-512=[password=other]")
    line = f"SCRAM credential configs for user-principal '{user}' are "
    given = {"SCRAM-SHA-256=iterations=8192", "SCRAM-SHA-512=iterations=4096"}
    # Kafka tells mechanisms in the order of a hash map, another one in each process.
    wait_until("the credentials", lambda: set(described().strip().removeprefix(line).split(", ")) == given)
    wait_until("the user", lambda: line in tools.printed(CONFIGS, admin, "--describe", "--entity-type", "users"))
    tools.let_in(tools.scram(user, "first"))
    tools.let_in(tools.scram(user, "other", 512))
    alter("SCRAM-SHA-256=[password=second]")
    tools.turned_away(tools.scram(user, "first"))
    tools.let_in(tools.scram(user, "second"))
    tools.printed(CONFIGS, admin, "--alter", *entity, "--delete-config", "SCRAM-SHA-256")
    tools.turned_away(tools.scram(user, "second"))
    wait_until("one credential", lambda: described().strip() == f"{line}SCRAM-SHA-512=iterations=4096")
    again = tools.refused(CONFIGS, admin, "--alter", *entity, "--delete-config", "SCRAM-SHA-256")
    assert "Attempt to delete a user credential that does not exist" in again
    weak = tools.refused(CONFIGS, admin, "--alter", *entity, "--add-config", "SCRAM-SHA-256=[iterations=10,password=x]")
    assert "Iterations 10 is less than the minimum 4096" in weak
    tools.printed(CONFIGS, admin, "--alter", *entity, "--delete-config", "SCRAM-SHA-512")


def test_the_delegation_tokens_tool_manages_tokens(tools: Tools) -> None:
    alice, bob = (tools.scram(user, SCRAM_USERS[user]) for user in ("alice", "bob"))
    created = tools.printed(
        TOKENS, alice, "--create", "--max-life-time-period", "-1", "--renewer-principal", "User:bob"
    )
    token, hmac = row(created, "User:alice", "User:alice", "[User:bob]")
    holder = tools.scram(token, hmac, tokenauth="true")
    tools.let_in(holder)
    tools.let_in(tools.scram(token, hmac, 512, tokenauth="true"))
    tools.turned_away(tools.scram(token, hmac))
    another = tools.refused(TOKENS, holder, "--create", "--max-life-time-period", "-1")
    assert "UnsupportedByAuthenticationException" in another

    def described(owner: str) -> str:
        return tools.printed(TOKENS, alice, "--describe", "--owner-principal", owner)

    assert row(described("User:alice"), "User:alice", "User:alice", "[User:bob]", token)[1] == hmac
    assert token in described("User:bob")  # those too that he may renew
    assert token not in described("User:carol")
    assert "Total number of tokens : 0" in tools.printed(TOKENS, alice, "--describe")  # of no owner, it asks
    renewed = tools.printed(TOKENS, bob, "--renew", "--hmac", hmac, "--renew-time-period", "-1")
    assert "Completed renew operation. New expiry date" in renewed
    stranger = tools.scram("a=b,c", SCRAM_USERS["a=b,c"])
    refusal = tools.refused(TOKENS, stranger, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert "DelegationTokenOwnerMismatchException" in refusal
    expired = tools.printed(TOKENS, alice, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert "Completed expire operation. New expiry date" in expired
    wait_until("no token", lambda: token not in described("User:alice"))
    tools.turned_away(holder)


def test_a_token_for_somebody_else(tools: Tools) -> None:
    alice = tools.scram("alice", SCRAM_USERS["alice"])
    life = ("--max-life-time-period", "60000")
    created = tools.printed(TOKENS, alice, "--create", *life, "--owner-principal", "User:carol")
    token, hmac = row(created, "User:carol", "User:alice", "[]")
    holder = tools.scram(token, hmac, tokenauth="true")
    tools.let_in(holder)
    refused = tools.refused(TOKENS, holder, "--describe", "--owner-principal", "User:carol")
    assert "Delegation Token requests are not allowed on" in refused  # for who has come with a token
    asked = tools.refused(TOKENS, alice, "--expire", "--hmac", hmac, "--expiry-time-period", "-1")
    assert "DelegationTokenOwnerMismatchException" in asked  # the token is not hers who asked for it


def row(printed: str, owner: str, requester: str, renewers: str, token: str = r"\S+") -> tuple[str, str]:
    """The token and its HMAC in a table that the tool printed."""
    principals = rf"{owner}\s+{requester}\s+{re.escape(renewers)}"
    found = re.search(rf"^({token})\s+(\S+)\s+{principals}\s+\S+\s+\S+\s+\S+\s*$", printed, re.MULTILINE)
    assert found is not None, printed
    return found[1], found[2]
