from __future__ import annotations

import subprocess
import sys

from odradek.protocol.apis import API_BY_KEY, API_BY_NAME


def test_apis_table_has_all_apis_of_brokers() -> None:
    assert len(API_BY_KEY) == len(API_BY_NAME) == 79
    assert all(spec.on_brokers for spec in API_BY_KEY.values())


def test_classes_belong_to_their_api() -> None:
    for spec in API_BY_KEY.values():
        for message in (spec.request, spec.response):
            assert spec.key == message.API_KEY
            assert spec.min_version >= message.MIN_VERSION
            assert spec.max_version <= message.MAX_VERSION
            assert spec.flexible_from == message.FLEXIBLE_FROM


def test_apis_have_kafkas_header_versions() -> None:
    produce, handshake, versions = (API_BY_NAME[name] for name in ("Produce", "SaslHandshake", "ApiVersions"))
    assert [produce.request_header_version(version) for version in (8, 9)] == [1, 2]
    assert [produce.response_header_version(version) for version in (8, 9)] == [0, 1]
    assert handshake.request_header_version(1) == 1
    assert [versions.request_header_version(version) for version in (2, 3)] == [1, 2]
    assert [versions.response_header_version(version) for version in (2, 3, 4)] == [0, 0, 0]


def test_unstable_versions_are_not_served() -> None:
    assert API_BY_NAME["InitProducerId"].max_version == 5
    assert API_BY_NAME["InitProducerId"].request.MAX_VERSION == 6


def test_importing_the_registry_imports_no_message_and_no_construct() -> None:
    code = (
        "import sys, odradek.protocol.apis\n"
        "heavy = [name for name in sys.modules if name == 'construct' or '.messages.' in name]\n"
        "print(heavy)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['odradek.protocol.generated.messages.index']"
