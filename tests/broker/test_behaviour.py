"""Bad input gets from the broker what it got from Kafka 4.4.0 and 4.3.1: an answer, a closed connection, or silence."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from odradek.broker.facade.threaded import KafkaBroker
from odradek.broker.releases.release import DEFAULT
from odradek.protocol.apis import API_BY_KEY
from odradek.protocol.generated.messages.api_versions import ApiVersionsResponse
from odradek.protocol.generated.messages.list_groups import ListGroupsResponse
from odradek.protocol.message import Message
from odradek.protocol.message_codec import codec
from tests.broker.probes import OLDER, SILENT_FOR_S, VECTORS, WITH_A_SHUTDOWN, Probe, Wire, probes
from tests.fakes.vectors import OTHER
from tests.scenarios.bad_input import AFTER_A_LOGIN, P_DATA_ID, SASL, SASL_CONFIG

pytestmark = pytest.mark.filterwarnings("default::ResourceWarning")

# Kafka never answers these; a client is better served with an error.
ANSWERED_HERE = {"produce-null-records-v3": 87, "produce-null-records-v13": 87}

# Made by the server: compared for being there (not negative), not for the value.
MADE_BY_SERVER = {
    "base_offset",
    "cluster_id",
    "finalized_features_epoch",
    "high_watermark",
    "last_stable_offset",
    "log_append_time_ms",
    "port",
    "records",
}
LISTENERS = {**SASL_CONFIG, "listeners": f"PLAINTEXT://127.0.0.1:0,{SASL}://127.0.0.1:0"}
RECORDED = {
    release: {each.case: each for each in probes(file) if each.case not in AFTER_A_LOGIN}
    for release, file in ((DEFAULT, VECTORS), (OTHER, OLDER))
}
CASES = [
    *(pytest.param(DEFAULT, probe, id=case) for case, probe in RECORDED[DEFAULT].items()),
    *(
        pytest.param(OTHER, probe, id=f"{case}-{OTHER}")
        for case, probe in RECORDED[OTHER].items()
        if probe.answers != RECORDED[DEFAULT][case].answers
    ),
]


@pytest.fixture(scope="module")
def brokers() -> Iterator[Callable[[str], KafkaBroker]]:
    """A broker for each release that is asked for."""
    topics = {
        "p-small": {"partitions": 1, "config": {"max.message.bytes": 1000}},
        "p-comp": {"partitions": 1, "config": {"cleanup.policy": "compact"}},
    }
    started: dict[str, KafkaBroker] = {}
    with ExitStack() as stack:

        def broker_of(release: str) -> KafkaBroker:
            if release not in started:
                running = stack.enter_context(KafkaBroker(topics=topics, config=LISTENERS, kafka_version=release))
                running._call(lambda: running.cluster.adopt_topic("p-data", P_DATA_ID, [[1]]))
                with Wire(address(running)) as wire:
                    wire.send(RECORDED[release]["produce-ok-v9"].sent)
                    assert wire.frame() is not None
                started[release] = running
            return started[release]

        yield broker_of
        assert [broker.bugs for broker in started.values() if broker.bugs] == []


def address(broker: KafkaBroker, listener: str = "PLAINTEXT") -> tuple[str, int]:
    endpoint = broker.cluster.nodes[1].endpoints[listener]
    return endpoint.host, endpoint.port


@pytest.mark.parametrize(("release", "probe"), CASES)
def test_bad_input_is_answered_as_recorded(release: str, probe: Probe, brokers: Callable[[str], KafkaBroker]) -> None:
    with Wire(address(brokers(release), probe.listener)) as wire:
        wire.send(probe.sent)
        if probe.case in WITH_A_SHUTDOWN:
            wire.finish()
        if probe.case in ANSWERED_HERE:
            answer = wire.frame()
            assert answer is not None
            assert struct.pack(">h", ANSWERED_HERE[probe.case]) in answer
        elif probe.outcome == "closed":
            assert wire.frame() is None
        elif probe.outcome == "no_reply":
            with pytest.raises(TimeoutError):
                wire.frame(SILENT_FOR_S)
        else:
            check_answers(probe, wire)


def check_answers(probe: Probe, wire: Wire) -> None:
    for request, recorded in zip(probe.requests, probe.answers, strict=False):
        answer = wire.frame()
        assert answer is not None, "closed instead of answered"
        assert answer[:4] == recorded[:4], "another correlation id"
        assert decoded(request, answer) == decoded(request, recorded)
    if probe.usable_after:
        wire.send(struct.pack(">ihhih", 10, 18, 0, 4711, -1))
        again = wire.frame()
        assert again is not None
        assert again[:4] == struct.pack(">i", 4711)
    if probe.closed_after:
        assert wire.frame() is None


def decoded(request: bytes, response: bytes) -> Any:
    """The response as nested tuples in which values made by the server are only "there" or not."""
    key, version = struct.unpack_from(">hh", request)
    spec = API_BY_KEY.get(key)
    if spec is None:  # a token without a header
        return response
    if key == 18 and not spec.supports(version):
        version = 0
    offset = 4 + (1 if spec.response_header_version(version) else 0)
    message, end = codec(spec.response, version).decode(memoryview(response), offset)
    assert end == len(response)
    return shown(message)


def shown(value: Any) -> Any:
    if isinstance(value, list):
        return [shown(each) for each in value]
    if not isinstance(value, Message):
        return bytes(value) if isinstance(value, memoryview) else value
    if isinstance(value, ApiVersionsResponse) and value.error_code == 0:
        return "every API that is served"
    if isinstance(value, ListGroupsResponse) and value.error_code == 0:
        return "whatever groups there are"
    return {
        field: _presence(getattr(value, field)) if field in MADE_BY_SERVER else shown(getattr(value, field))
        for field in value.field_names()
    }


def _presence(value: Any) -> str:
    if isinstance(value, int):
        return "there" if value >= 0 else "none"
    return "there" if value is not None and len(value) else "none"
