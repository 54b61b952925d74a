"""The table of a connection's states, and what the README shows of it."""

from __future__ import annotations

from pathlib import Path

from odradek.broker.net.connection_states import RULES, ConnectionState, Cut, Reader

README = Path(__file__).parents[3] / "broker/net/README.md"


def table() -> str:
    """The columns as the README shows them."""
    lines = ["| State | Reads the socket | Owes an answer | Cut when |", "| --- | --- | --- | --- |"]
    for state, rule in RULES.items():
        owes = "yes" if rule.owes_answer else "no"
        lines.append(f"| {state.value} | {rule.reads.value} | {owes} | {rule.cut.value} |")
    return "\n".join(lines)


def diagram() -> str:
    """The transitions as the README draws them."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> Handshaking", "    [*] --> Serving"]
    order = list(ConnectionState)
    for state, rule in RULES.items():
        lines += [f"    {state.value} --> {each.value}" for each in sorted(rule.leads_to, key=order.index)]
    return "\n".join([*lines, "    Closed --> [*]", "```"])


def test_every_state_has_its_rule() -> None:
    assert set(RULES) == set(ConnectionState)


def test_every_state_is_reached_and_ends() -> None:
    reached = {ConnectionState.HANDSHAKING, ConnectionState.SERVING}
    while (further := reached.union(*(RULES[state].leads_to for state in reached))) != reached:
        reached = further
    assert reached == set(ConnectionState)
    assert all(ConnectionState.CLOSED in rule.leads_to for state, rule in RULES.items() if rule.leads_to)


def test_nobody_reads_while_an_answer_is_owed() -> None:
    for state, rule in RULES.items():
        unread = rule.reads is Reader.NOBODY and state is not ConnectionState.CLOSED
        assert rule.owes_answer == (unread and state is not ConnectionState.MUTED)
        assert (rule.cut is Cut.CLIENT_GONE) == unread


def test_the_readme_shows_the_table_and_the_diagram() -> None:
    text = README.read_text()
    assert table() in text, f"put this into {README.name}:\n{table()}"
    assert diagram() in text, f"put this into {README.name}:\n{diagram()}"
