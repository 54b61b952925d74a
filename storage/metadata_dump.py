"""Records of `__cluster_metadata` and KRaft's control records, as `odradek dump` and Kafka's dump tool show them."""

from __future__ import annotations

import json
import re
from typing import Any

from odradek.protocol.control import ControlRecordType, control_record_type
from odradek.protocol.json_form import camel_case, to_json
from odradek.protocol.kraft_control import parse_kraft_control_record
from odradek.protocol.message import MetadataRecord
from odradek.protocol.metadata_records import MetadataRecordError, decode_metadata_record
from odradek.protocol.records import Record
from odradek.protocol.secrets import HIDDEN, is_secret

_CONTROL_NAMES = {kind.value: kind.name for kind in ControlRecordType}
_SHOWN_CONTROLS = {  # what the dump tool writes in front of the fields
    "LEADER_CHANGE": "LeaderChange:",
    "SNAPSHOT_HEADER": "SnapshotHeader",
    "SNAPSHOT_FOOTER": "SnapshotFooter",
    "KRAFT_VERSION": "KRaftVersion",
    "KRAFT_VOTERS": "KRaftVoters",
}


def record_content(value: bytes | None) -> dict[str, Any]:
    """Key and value of a metadata record; what is none of this release is told in `error`."""
    try:
        record, version = decode_metadata_record(value)
    except MetadataRecordError as error:
        return {"key": None, "value": None if value is None else value.hex(), "error": str(error)}
    shown = {"type": type_name(type(record).__name__), "version": version, "data": _without_secrets(record, version)}
    return {"key": None, "value": shown}


def _without_secrets(record: MetadataRecord, version: int) -> dict[str, Any]:
    """The fields of a record. Kafka's tool shows passwords too; a dump that is sent to somebody should not."""
    form = to_json(record, version)
    for field, value in record._values():
        if value and is_secret(field, record):
            form[camel_case(field)] = HIDDEN
    return form


def type_name(class_name: str) -> str:
    """`NoOpRecord` -> `NO_OP_RECORD`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


def control_content(record: Record) -> dict[str, Any]:
    """Type and fields of a control record that ends no transaction. Raises InvalidRecordError for damaged ones."""
    kind = control_record_type(record)
    content: dict[str, Any] = {"type": _CONTROL_NAMES.get(kind, str(kind))}
    message = parse_kraft_control_record(record)
    if message is not None:
        content["data"] = to_json(message, message.version)
    return content


def render_control(content: dict[str, Any]) -> str:
    """The content of a control record in one line."""
    if "data" not in content:
        return f"controlType: {content['type']}"
    return f"{_SHOWN_CONTROLS[content['type']]} {json.dumps(content['data'], separators=(',', ':'))}"
