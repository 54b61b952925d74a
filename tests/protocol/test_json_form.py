"""Recorded frames: decoded to the JSON that Kafka made of them, and encoded back to the same bytes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from odradek.protocol.apis import API_BY_KEY, API_BY_NAME, ApiSpec
from odradek.protocol.errors import ProtocolError
from odradek.protocol.generated.messages.alter_client_quotas import AlterClientQuotasRequest, EntryData, OpData
from odradek.protocol.generated.messages.api_versions import ApiVersionsResponse
from odradek.protocol.generated.messages.metadata import MetadataRequest, MetadataRequestTopic
from odradek.protocol.generated.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from odradek.protocol.headers import (
    decode_request_header,
    decode_response_header,
    encode_request_header,
    encode_response_header,
)
from odradek.protocol.json_form import from_json, to_json
from odradek.protocol.message_codec import codec
from tests.fakes.versions import highest_of
from tests.protocol.recordings import exchanges_of, recorded


@pytest.mark.long
@pytest.mark.parametrize("spec", API_BY_KEY.values(), ids=lambda spec: spec.name)
def test_json_form_of_recorded_requests_is_kafkas(spec: ApiSpec) -> None:
    for exchange in exchanges_of(spec.name):
        frame = bytes.fromhex(exchange["request_hex"])
        header, start = decode_request_header(frame)
        assert (header.api_key, header.api_version) == (exchange["key"], exchange["version"])
        assert encode_request_header(header) == frame[:start]
        check_body(spec.request, exchange["version"], frame[start:], exchange["request_json"])


@pytest.mark.long
@pytest.mark.parametrize("spec", API_BY_KEY.values(), ids=lambda spec: spec.name)
def test_json_form_of_recorded_responses_is_kafkas(spec: ApiSpec) -> None:
    for exchange in exchanges_of(spec.name):
        if not exchange["response_hex"]:  # acks=0
            continue
        version = exchange.get("response_version", exchange["version"])
        frame = bytes.fromhex(exchange["response_hex"])
        header, start = decode_response_header(frame, spec.response_header_version(version))
        encoded = encode_response_header(header.correlation_id, spec.response_header_version(version))
        assert encoded == frame[:start]
        check_body(spec.response, version, frame[start:], exchange["response_json"])


def check_body(message: type[Any], version: int, body: bytes, form: Any) -> None:
    codec_ = codec(message, version)
    decoded, end = codec_.decode(body)
    assert end == len(body)
    assert to_json(decoded, version, record_sizes=True) == form
    assert codec_.encode(decoded) == body
    assert codec_.encode(from_json(message, version, to_json(decoded, version))) == body


def test_every_version_of_every_api_is_recorded() -> None:
    seen = {(exchange["key"], exchange["version"]) for exchange in recorded("corpus")}
    assert seen == {
        (spec.key, version)
        for spec in API_BY_KEY.values()
        for version in range(spec.min_version, highest_of(spec, "4.3") + 1)
    }


def test_json_form_shows_records_as_hex() -> None:
    topic = TopicProduceData(name="t", partition_data=[PartitionProduceData(index=1, records=[b"\x00", b"\xff"])])
    form = to_json(ProduceRequest(topic_data=[topic]), 9)
    assert form["topicData"][0]["partitionData"] == [{"index": 1, "records": "00ff"}]
    sizes = to_json(ProduceRequest(topic_data=[topic]), 9, record_sizes=True)
    assert sizes["topicData"][0]["partitionData"] == [{"index": 1, "recordsSizeInBytes": 2}]


def test_default_tagged_fields_are_left_out_and_optional() -> None:
    response = ApiVersionsResponse(finalized_features_epoch=7)
    form = to_json(response, 4)
    assert form == {"errorCode": 0, "apiKeys": [], "throttleTimeMs": 0, "finalizedFeaturesEpoch": 7}
    assert from_json(ApiVersionsResponse, 4, form) == response


def test_unknown_tagged_fields_survive() -> None:
    request = MetadataRequest(topics=None, unknown_tagged_fields=((7, b"\x01\x02"),))
    form = to_json(request, 12)
    assert form["unknownTaggedFields"] == [{"tag": 7, "data": "AQI="}]
    assert from_json(MetadataRequest, 12, form) == request


@pytest.mark.parametrize(("value", "form"), [(1.5, 1.5), (math.inf, "Infinity"), (-math.inf, "-Infinity")])
def test_json_form_of_floats_is_kafkas(value: float, form: Any) -> None:
    request = AlterClientQuotasRequest(entries=[EntryData(ops=[OpData(key="k", value=value)])])
    made = to_json(request, 1)
    assert made["entries"][0]["ops"][0]["value"] == form
    assert from_json(AlterClientQuotasRequest, 1, made) == request


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ([], "an object is needed"),
        ({}, "field topics is missing"),
        ({"topics": None}, "topics: null"),
        ({"topics": {}}, "topics: a list is needed"),
        ({"topics": [3]}, r"topics\[0\]: an object is needed"),
        ({"topics": [{"name": 3}]}, r"topics\[0\].name: a string is needed, not 3"),
        ({"topics": [], "topicz": 1}, "no field topicz in this version"),
        ({"topics": [], "allowAutoTopicCreation": True}, "no field allowAutoTopicCreation in this version"),
    ],
)
def test_json_form_that_is_malformed_is_refused(form: Any, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=complaint):
        from_json(MetadataRequest, 0, form)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"allowAutoTopicCreation": 1}, "allowAutoTopicCreation: true or false"),
        ({"topics": [{"topicId": "short", "name": None}]}, "topicId: not a UUID"),
        ({"unknownTaggedFields": [{"tag": 1}]}, "unknownTaggedFields"),
    ],
)
def test_json_form_with_values_out_of_range_is_refused(change: dict[str, Any], complaint: str) -> None:
    form = to_json(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 12)
    with pytest.raises(ProtocolError, match=complaint):
        from_json(MetadataRequest, 12, {**form, **change})


def test_bytes_and_numbers_that_are_refused() -> None:
    request = API_BY_NAME["SaslAuthenticate"].request
    with pytest.raises(ProtocolError, match="authBytes: not base64"):
        from_json(request, 2, {"authBytes": "*"})
    form = to_json(ProduceRequest(topic_data=[]), 9)
    for wrong in (True, 1.5, "1"):
        with pytest.raises(ProtocolError, match="acks: a whole number"):
            from_json(ProduceRequest, 9, {**form, "acks": wrong})
