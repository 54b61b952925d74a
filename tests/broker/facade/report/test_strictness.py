"""What `strict` means, and what a broker does with it when it is closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import trio

from odradek.broker.facade.open_broker import open_broker
from odradek.broker.facade.report.situation import Situation
from odradek.broker.facade.report.strict_rules import OPT_IN
from odradek.broker.facade.report.strictness import (
    Strictness,
    StrictnessError,
    StrictnessFinding,
    StrictnessWarning,
    findings_in,
)
from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.requests.recent import MAX_REQUESTS
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.facade.report.test_hints import connected
from tests.fakes.wire_client import TrioWireClient

AUTOMATIC = "topic 'order' was created automatically"
ASK = MetadataRequest([MetadataRequestTopic(name="order")], True)


def test_the_forms() -> None:
    assert Strictness.of(False) is None
    assert Strictness.of("") is None
    assert Strictness.of(True) == Strictness.of("fail") == Strictness(True)
    assert Strictness.of("warn -auto-created -one-replica") == Strictness(
        False, frozenset(("auto-created", "one-replica"))
    )
    assert Strictness.of("fail +partitioner-order -auto-created") == Strictness(
        True, frozenset(("auto-created",)), frozenset(("partitioner-order",))
    )


@pytest.mark.parametrize("words", ["yes", "fail auto-created", "warn -no-such-rule", "-auto-created"])
def test_words_that_mean_nothing(words: str) -> None:
    with pytest.raises(ValueError, match="strict="):
        KafkaBroker(strict=words)


def test_a_misspelt_rule_is_told() -> None:
    with pytest.raises(ValueError, match="did you mean '-auto-created'"):
        Strictness.of("fail -auto-create")
    with pytest.raises(ValueError, match=r"did you mean '\+partitioner-order'"):
        Strictness.of("warn +partitoner-order")
    with pytest.raises(ValueError, match=r"did you mean '\+partitioner-order'"):
        Strictness.of("fail partitioner-order")
    with pytest.raises(TypeError, match="strict="):
        Strictness.of(["fail"])  # type: ignore[arg-type]


def test_switches_that_would_change_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"off unless '\+partitioner-order' switches it on"):
        Strictness.of("fail -partitioner-order")
    with pytest.raises(ValueError, match="on unless '-auto-created' switches it off"):
        Strictness.of("fail +auto-created")


def test_rules_that_nobody_asked_for_are_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def rule(situation: Situation) -> Iterator[str]:
        yield "asked"

    monkeypatch.setitem(OPT_IN, "partitioner-order", rule)
    nothing = Situation(topics={}, groups={})
    assert findings_in(nothing) == []
    assert findings_in(nothing, ["partitioner-order"]) == [StrictnessFinding("partitioner-order", "asked")]


def test_rules_to_ask_for_are_checked() -> None:
    with KafkaBroker() as broker:
        with pytest.raises(ValueError, match=r"did you mean 'partitioner-order'\?"):
            broker.strictness_since(also="partitioner-orders")
        with pytest.raises(ValueError, match="'auto-created' is no rule to ask for"):
            broker.strictness_since(also="auto-created")
        with pytest.raises(TypeError, match="expected text"):
            broker.strictness_since(also=["partitioner-order"])  # type: ignore[arg-type]


def create(broker: KafkaBroker) -> None:
    with connected(broker) as client:
        client.request(ASK, 12)


def test_a_strict_broker_raises_when_it_is_closed() -> None:
    broker = KafkaBroker(strict=True).start()
    create(broker)
    with pytest.raises(StrictnessError, match=AUTOMATIC):
        broker.close()
    broker.close()  # told once


def test_it_warns() -> None:
    with pytest.warns(StrictnessWarning, match=AUTOMATIC), KafkaBroker(strict="warn") as broker:
        create(broker)


def test_a_rule_that_is_off_and_a_broker_that_is_not_strict() -> None:
    with KafkaBroker(strict="fail -auto-created") as broker:
        create(broker)
        assert [each.rule for each in broker.strictness] == ["auto-created"]
    with KafkaBroker() as broker:
        create(broker)


def test_a_test_that_failed_says_why_itself() -> None:
    def fail() -> None:
        with KafkaBroker(strict=True) as broker:
            create(broker)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()


def test_in_the_callers_trio_run() -> None:
    async def main() -> None:
        async with open_broker(strict=True) as broker:
            host, _, port = broker.bootstrap_servers.partition(":")
            async with await TrioWireClient.connect(host, int(port)) as client:
                await client.request(ASK, 12)
            assert broker.strictness[0].rule == "auto-created"

    with pytest.raises(StrictnessError, match=AUTOMATIC):
        trio.run(main)


def test_requests_that_the_transcript_has_lost() -> None:
    with KafkaBroker() as broker:
        create(broker)
        assert [each.rule for each in broker.strictness] == ["auto-created"]
        entries = broker.cluster.recent.entries
        broker._call(lambda: entries.extend([list(entries[0])] * MAX_REQUESTS))
        assert [each.rule for each in broker.strictness if "last 10,000 requests" in each.sentence] == ["transcript"]


def test_what_cannot_be_judged_fails_nothing() -> None:
    lost = StrictnessFinding("transcript", "the transcript is off")
    with pytest.warns(StrictnessWarning, match=r"the transcript is off \[transcript\]"):
        assert Strictness(True).judge([lost]) == ""
