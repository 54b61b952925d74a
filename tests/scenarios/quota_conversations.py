"""Conversations of raw requests about client quotas, written down so that two brokers can be compared.

A transcript is a list of [what was asked, what came back]. The transcripts of a real Kafka 4.4.0 lie in
``tests/vectors/quota_conversations.json.gz``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import inf, nan
from typing import Any

from odradek.protocol.errors import ErrorCode
from odradek.protocol.generated.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from odradek.protocol.generated.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from tests.fakes.wire_client import WireClient
from tests.scenarios.target import wait_until
from tests.scenarios.transcripts import conversations, transcriber

Transcript = list[Any]
Entity = Iterable[tuple[str, str | None]]
Ops = Iterable[tuple[str, float | None]]
EXACT, DEFAULT, SPECIFIED = 0, 1, 2
PRODUCE, FETCH, REQUESTS, MUTATIONS, CONNECTIONS = (
    "producer_byte_rate",
    "consumer_byte_rate",
    "request_percentage",
    "controller_mutation_rate",
    "connection_creation_rate",
)


class QuotaConversation:
    """One client and the transcript of what it asked. `close` removes the quotas that it has set."""

    def __init__(self, host: str, port: int) -> None:
        self._client = WireClient(host, port, timeout_s=60)
        self._clean = WireClient(host, port, timeout_s=60)
        self.transcript: Transcript = []

    def close(self) -> None:
        entries = [
            EntryData(
                [EntityData(each.entity_type, each.entity_name) for each in entry.entity],
                [OpData(value.key, 0.0, True) for value in entry.values],
            )
            for entry in self._clean.request(DescribeClientQuotasRequest([], False), 1).entries
        ]
        self._clean.request(AlterClientQuotasRequest(entries, False), 1)
        self.seen(0)
        self._client.close()
        self._clean.close()

    def seen(self, entities: int) -> None:
        """Wait until so many entities have quotas: a real broker shows a change a little after its controller."""
        asked = DescribeClientQuotasRequest([], False)
        wait_until(f"{entities} quotas", lambda: len(self._clean.request(asked, 1).entries) == entities)

    def alter(self, *entries: tuple[Entity, Ops], version: int = 1, validate_only: bool = False) -> None:
        request = AlterClientQuotasRequest(
            [
                EntryData(
                    [EntityData(kind, name) for kind, name in entity],
                    [OpData(key, 0.0 if value is None else value, value is None) for key, value in ops],
                )
                for entity, ops in entries
            ],
            validate_only,
        )
        answer = self._client.request(request, version)
        told = [
            [
                ErrorCode(entry.error_code).name,
                entry.error_message,
                [[e.entity_type, e.entity_name] for e in entry.entity],
            ]
            for entry in answer.entries
        ]
        asked = [
            [[list(part) for part in entity], [[key, repr(value)] for key, value in ops]] for entity, ops in entries
        ]
        checked = ", validate only" if validate_only else ""
        self.transcript.append([f"alter v{version}{checked}: {json.dumps(asked)}", [answer.throttle_time_ms, told]])

    def describe(self, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1) -> None:
        request = DescribeClientQuotasRequest([ComponentData(*each) for each in components], strict)
        answer = self._client.request(request, version)
        told = [ErrorCode(answer.error_code).name, answer.error_message]
        if answer.entries is None:
            told.append(None)
        else:
            told.append(
                [
                    [
                        [[each.entity_type, each.entity_name] for each in entry.entity],
                        [[value.key, repr(value.value)] for value in entry.values],
                    ]
                    for entry in answer.entries
                ]
            )
        strictly = "strictly " if strict else ""
        asked = json.dumps([list(each) for each in components])
        self.transcript.append([f"describe {strictly}v{version}: {asked}", [answer.throttle_time_ms, told]])


ALICE, BOB, ANYBODY = ("user", "alice"), ("user", "bob"), ("user", None)
APP, ANY_APP = ("client-id", "app"), ("client-id", None)
HERE, ANYWHERE = ("ip", "10.1.2.3"), ("ip", None)


def setting_and_removing(c: QuotaConversation) -> None:
    """Quotas come, change and go; an entity without quotas is not there."""
    for version in (0, 1):
        c.alter(([ALICE], [(PRODUCE, 1000.0), (FETCH, 2000.0)]), version=version)
        c.seen(1)
        c.describe(version=version)
        c.alter(([ALICE], [(PRODUCE, None), (REQUESTS, 12.5)]), version=version)
        c.alter(([BOB], [(MUTATIONS, 0.5)]), version=version)
        c.seen(2)
        c.describe(version=version)
        c.alter(([ALICE], [(FETCH, None), (REQUESTS, None)]), ([BOB], [(MUTATIONS, None)]), version=version)
        c.seen(0)
        c.describe(version=version)
    c.alter(([ALICE], [(FETCH, None)]))
    c.alter(([ALICE], []))
    c.alter()
    c.alter(([ALICE], [(PRODUCE, 5.0)]), validate_only=True)
    c.alter(([ALICE], [(PRODUCE, -5.0)]), validate_only=True)
    c.describe()


def refusals(c: QuotaConversation) -> None:
    """What is refused, and that it changes nothing."""
    c.alter(([], [(PRODUCE, 5.0)]))
    for kind in ("user", "client-id", "ip", "group", "", "USER"):
        c.alter(([(kind, "")], [(PRODUCE, 5.0)]))
        c.alter(([(kind, "x")], [("nonesuch", 5.0)]))
    c.alter(([HERE, ALICE], [(CONNECTIONS, 5.0)]))
    c.alter(([HERE, APP], [(CONNECTIONS, 5.0)]))
    c.alter(([ALICE, ("group", "g")], [(PRODUCE, 5.0)]))
    for ip in ("10.1.2", "10.1.2.300", "::1", "not an address", "-1"):
        c.alter(([("ip", ip)], [(CONNECTIONS, 5.0)]), validate_only=True)
    keys = (PRODUCE, FETCH, REQUESTS, MUTATIONS)
    for key in keys:
        for value in (0.0, -1.0, 0.5, 1.0, 1.5, 1e-9, 1.0000001, 2.0**31, 2.0**63, 2.0**64, inf, -inf, nan):
            c.alter(([ALICE], [(key, value)]), validate_only=True)
    for value in (0.0, -1.0, 0.5, 1.0, 2.0**31 - 1, 2.0**31, nan):
        c.alter(([HERE], [(CONNECTIONS, value)]), validate_only=True)
    c.alter(([HERE], [(PRODUCE, 5.0)]))
    c.alter(([ALICE], [(CONNECTIONS, 5.0)]))
    c.alter(([ALICE], [(PRODUCE, 5.0), (PRODUCE, 6.0)]))
    c.alter(([ALICE], [(PRODUCE, 5.0), ("b", 6.0), ("a", 7.0), (FETCH, -1.0)]))
    c.alter(([ALICE], [("nonesuch", None)]))
    c.alter(([ALICE, APP], [(PRODUCE, 0.0)]), ([BOB], [(PRODUCE, 6.0)]))
    c.seen(1)
    c.describe()


def doubled(c: QuotaConversation) -> None:
    """Entities and types that are named twice."""
    c.alter(([ALICE, BOB], [(PRODUCE, 5.0)]))
    c.seen(1)
    c.describe()
    c.alter(([APP], [(PRODUCE, 1.0)]), ([APP], [(PRODUCE, 2.0)]), ([ANY_APP], [(PRODUCE, 3.0)]))
    c.seen(3)
    c.describe()
    c.alter(([ALICE, APP], [(PRODUCE, 1.0)]), ([APP, ALICE], [(FETCH, 2.0)]), ([ALICE, APP], [(FETCH, 3.0)]))
    c.seen(4)
    c.describe()


def filters(c: QuotaConversation) -> None:
    """What DescribeClientQuotas finds."""
    entities: list[Entity] = [
        [ALICE],
        [BOB],
        [ANYBODY],
        [APP],
        [ANY_APP],
        [ALICE, APP],
        [ALICE, ANY_APP],
        [ANYBODY, APP],
        [ANYBODY, ANY_APP],
        [BOB, ("client-id", "other")],
    ]
    c.alter(*((entity, [(PRODUCE, 10.0 + at), (FETCH, 1.0), (REQUESTS, 2.0)]) for at, entity in enumerate(entities)))
    c.alter(([HERE], [(CONNECTIONS, 7.0)]), ([ANYWHERE], [(CONNECTIONS, 8.0)]))
    c.seen(12)
    for strict in (False, True):
        c.describe(strict=strict)
        for kind in ("user", "client-id", "ip"):
            c.describe((kind, SPECIFIED, None), strict=strict)
            c.describe((kind, DEFAULT, None), strict=strict)
            c.describe((kind, EXACT, "alice"), strict=strict)
            c.describe((kind, EXACT, "app"), strict=strict, version=0)
        c.describe(("ip", EXACT, "10.1.2.3"), strict=strict)
        for other in ((SPECIFIED, None), (DEFAULT, None), (EXACT, "app")):
            c.describe(("user", EXACT, "alice"), ("client-id", *other), strict=strict)
            c.describe(("client-id", *other), ("user", DEFAULT, None), strict=strict)
        c.describe(("user", EXACT, ""), strict=strict)


def bad_filters(c: QuotaConversation) -> None:
    """What DescribeClientQuotas refuses."""
    for version in (0, 1):
        for component in (
            ("", EXACT, "x"),
            ("group", EXACT, "x"),
            ("user", EXACT, None),
            ("user", DEFAULT, "x"),
            ("user", SPECIFIED, "x"),
            ("user", 3, None),
            ("user", -1, "x"),
            ("group", 9, None),
        ):
            c.describe(component, version=version)
    c.describe(("user", EXACT, "a"), ("user", EXACT, "b"))
    c.describe(("user", EXACT, "a"), ("user", 7, "b"))
    c.describe(("user", SPECIFIED, None), ("user", DEFAULT, None))
    c.describe(("ip", SPECIFIED, None), ("user", DEFAULT, None))
    c.describe(("client-id", EXACT, "x"), ("ip", DEFAULT, None))
    c.describe(("ip", SPECIFIED, None), ("group", DEFAULT, None))
    c.describe(("user", EXACT, None), ("", EXACT, None))


CONVERSATIONS = conversations(__name__)
transcribe = transcriber(QuotaConversation, CONVERSATIONS)
