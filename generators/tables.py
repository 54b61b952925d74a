"""Write Kafka's tables in `protocol/data` from the jars of a release: `python -m generators.tables`.

`tests/conformance/real_kafka.py` fetches the jars of the release. They hold the tables of all messages
as JSON with comments; descriptions are left out. `Enums.java` tells what only Kafka's enums know.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tests.conformance.real_kafka import classpath

Table = dict[str, Any]
TABLES_VERSION = "4.4.0"
"""The newest release that a broker can behave as; older ones are a part of its tables."""
REMOVED_VERSION = "3.9.1"
"""The last release with the versions that 4.0 removed (KIP-896)."""

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "protocol" / "data"
SECTIONS = {
    "group_coordinator_records": "kafka-group-coordinator",
    "transaction_coordinator_records": "kafka-transaction-coordinator",
    "share_coordinator_records": "kafka-share-coordinator",
    "storage_records": "kafka-storage",
    "metadata_records": "kafka-metadata",
}
"""Section of `messages.json` to the jar with its tables; those of APIs, headers and clients are in kafka-clients."""
KEPT = {
    *("apiKey", "type", "name", "validVersions", "flexibleVersions", "versions", "nullableVersions", "default"),
    *("taggedVersions", "tag", "ignorable", "mapKey", "fields", "commonStructs"),
}
LEFT_OUT = {"about", "deprecatedVersions", "entityType", "latestVersionUnstable", "listeners", "zeroCopy"}
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_TABLE = re.compile(r"(?:.*/)?(?:message|metadata)/\w+\.json")


def main() -> int:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
    return 0


def files() -> dict[Path, str]:
    """The tables of the release. Unavailable without a JDK, or Maven where the jars are not there yet."""
    libs = _libs(_classpath())
    apis, errors = enums()
    of_kafka = of_clients(tables_in(_jar(libs, "kafka-clients", TABLES_VERSION)), apis)
    older = _jar(_libs(classpath(REMOVED_VERSION, HERE / "older-pom.xml")), "kafka-clients", REMOVED_VERSION)
    add_removed_versions(of_kafka["apis"], {table["name"]: table for table in tables_in(older)})
    tables = {"source": f"Apache Kafka {TABLES_VERSION}", **of_kafka}
    for section, jar in SECTIONS.items():
        records = (kept(table) for table in tables_in(_jar(libs, jar, TABLES_VERSION)))
        tables[section] = sorted(records, key=_by_key) if section == "metadata_records" else list(records)
    rows = ",\n".join(json.dumps(error) for error in errors)
    return {DATA / "messages.json": as_lines(tables), DATA / "errors.json": f"[\n{rows}\n]\n"}


def _classpath() -> str:
    return classpath(TABLES_VERSION, HERE / "pom.xml")


def _libs(found: str) -> Path:
    return Path(found.rpartition(":")[2]).parent


def _jar(libs: Path, name: str, version: str) -> Path:
    return libs / f"{name}-{version}.jar"


def _by_key(table: Table) -> int:
    return int(table["apiKey"])


def tables_in(jar: Path) -> Iterator[Table]:
    """All tables of a jar."""
    with ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            if _TABLE.fullmatch(name):
                text = archive.read(name).decode()
                yield json.loads(_COMMENT.sub(lambda found: found[1] or "", text))


def kept(table: Table) -> Table:
    """A table, or a part of one, without descriptions; ValueError for a property that is not known here."""
    if unknown := table.keys() - KEPT - LEFT_OUT:
        raise ValueError(f"{table['name']} has properties that are not known here: {', '.join(sorted(unknown))}")
    left = {key: value for key, value in table.items() if key in KEPT}
    for key in ("fields", "commonStructs"):
        if key in left:
            left[key] = [kept(each) for each in left[key]]
    return left


def of_clients(tables: Iterable[Table], apis: list[Table]) -> Table:
    """The sections whose tables are in kafka-clients."""
    by_type: dict[str, list[Table]] = {}
    for table in tables:
        by_type.setdefault(table["type"], []).append(table)
    requests = {table["apiKey"]: table for table in by_type["request"]}
    responses = {table["apiKey"]: table for table in by_type["response"]}
    served, others = [], []
    for api in apis:
        request = requests[api["key"]]
        if "broker" in request.get("listeners", ()):
            served.append(_api(api, request, responses[api["key"]]))
        else:
            others.append({"key": api["key"], "name": api["name"]})
    return {
        "apis": served,
        "controller_only_apis": others,
        "headers": [kept(table) for table in by_type["header"]],
        "client_data": [kept(table) for table in by_type["data"]],
    }


def _api(api: Table, request: Table, response: Table) -> Table:
    low, _, high = request["validVersions"].partition("-")
    highest = int(high or low)
    return {
        "key": api["key"],
        "name": api["name"],
        "lowest": int(low),
        "highest": highest,
        "highest_stable": highest - bool(request.get("latestVersionUnstable")),
        "listeners": sorted(request["listeners"]),
        "cluster_action": api["cluster_action"],
        "forwardable": api["forwardable"],
        "request": kept(request),
        "response": kept(response),
    }


def add_removed_versions(apis: list[Table], older: dict[str, Table]) -> None:
    """Give the messages of served APIs the stable versions that only an older release has, with their fields.

    `lowest` stays that of the newer release.
    """
    for api in apis:
        before = older.get(api["request"]["name"])
        if before is None or before.get("latestVersionUnstable"):
            continue
        lowest = before["validVersions"].partition("-")[0]
        if int(lowest) < api["lowest"]:
            for table in (api["request"], api["response"]):
                table["validVersions"] = f"{lowest}-{api['highest']}"
                table["fields"] = _with_removed(table["fields"], kept(older[table["name"]])["fields"])


def _with_removed(fields: list[Table], before: list[Table]) -> list[Table]:
    """The fields, and those that are gone where they were: each behind the field that it followed."""
    merged = list(fields)
    place = {field["name"]: field for field in fields}
    for index, field in enumerate(before):
        known = place.get(field["name"])
        if known is None:
            previous = [each["name"] for each in merged].index(before[index - 1]["name"]) if index else -1
            merged.insert(previous + 1, field)
        elif "fields" in field:
            known["fields"] = _with_removed(known["fields"], field["fields"])
    return merged


def enums() -> tuple[list[Table], list[Table]]:
    """APIs by key and errors by code, as `Enums.java` prints them."""
    command = ["java", "-cp", _classpath(), str(HERE / "Enums.java")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    apis, errors = [], []
    for line in done.stdout.splitlines():
        kind, number, name, first, second = line.split()
        flags = first == "true", second == "true"
        if kind == "api":
            apis.append({"key": int(number), "name": name, "cluster_action": flags[0], "forwardable": flags[1]})
        else:
            errors.append({"code": int(number), "name": name, "retriable": flags[0], "refresh_metadata": flags[1]})
    return sorted(apis, key=lambda api: api["key"]), sorted(errors, key=lambda error: error["code"])


def as_lines(tables: Table) -> str:
    """JSON with a line for each table, so that a diff shows which have changed."""
    parts = []
    for section, value in tables.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(each, separators=(',', ':'))}" for each in value)
            parts.append(f' "{section}": [\n{rows}\n ]')
        else:
            parts.append(f' "{section}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
