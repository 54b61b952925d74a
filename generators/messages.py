"""Source text of the message classes and the error codes, from Kafka's tables in `protocol/data`.

One module per API in `messages`, one per stored record (key and value) or client datum in `stored`, one per record of
the cluster metadata log in `metadata_records`, and an index of each. It imports nothing of odradek, so it runs whatever
state the generated code is in.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Table = dict[str, Any]

DATA = Path(__file__).resolve().parents[1] / "protocol" / "data"
ARRAY = "[]"
PRIMITIVES = {  # type in the table -> (name in the schema vocabulary, Python type, default)
    "bool": ("Boolean", "bool", "False"),
    "int8": ("Int8", "int", "0"),
    "int16": ("Int16", "int", "0"),
    "uint16": ("UInt16", "int", "0"),
    "int32": ("Int32", "int", "0"),
    "uint32": ("UInt32", "int", "0"),
    "int64": ("Int64", "int", "0"),
    "float64": ("Float64", "float", "0.0"),
    "string": ("String", "str", '""'),
    "uuid": ("Uuid", "bytes", "ZERO_UUID"),
    "bytes": ("Bytes", "bytes", 'b""'),
    "records": ("Records", "Records", "None"),
}
STORED_FAMILIES = {
    "group_coordinator_records": "group",
    "transaction_coordinator_records": "transaction",
    "share_coordinator_records": "share",
    "storage_records": "storage",
    "client_data": "client",
}


HEAD = '''"""{title} Generated from the field tables: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from odradek.protocol.message import NEW_STRUCT, NO_ITEMS, ZERO_UUID, NewStruct, Records, UnknownTaggedFields
from odradek.protocol.message import ApiMessage, CoordinatorRecord, DataMessage, Message, MetadataRecord
from odradek.protocol.native import mypyc_attr

if TYPE_CHECKING:
    from odradek.protocol.schema import Declaration
'''
"""The names that a module may import. Ruff removes what it does not."""
ERROR_MODULE_TOP = '''"""Kafka's error codes. Generated from the error table: do not edit."""

from enum import IntEnum


class ErrorCode(IntEnum):
    """The code of an answer, of a topic or of a partition; NONE is success."""

'''
ERROR_MODULE_PROPERTIES = '''
    @property
    def retriable(self) -> bool:
        """Whether the same request may succeed later."""
        return self in _RETRIABLE

    @property
    def refreshes_metadata(self) -> bool:
        """Whether a client asks for new metadata before it tries again."""
        return self in _REFRESHES

'''


def snake_case(name: str) -> str:
    """`TopicId` -> `topic_id`; a Python keyword gets a trailing underscore."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return snake + "_" if keyword.iskeyword(snake) else snake


def element_type(field: Table) -> str:
    return str(field["type"]).removeprefix(ARRAY)


def python_type(field: Table, names: dict[str, str]) -> str:
    """The annotation of a field's parameter and attribute."""
    element = element_type(field)
    inner = PRIMITIVES[element][1] if element in PRIMITIVES else names[element]
    outer = f"list[{inner}]" if field["type"].startswith(ARRAY) else inner
    nullable = "nullableVersions" in field or element == "records"
    return f"{outer} | None" if nullable else outer


def default_is_null(field: Table) -> bool:
    """Only the text "null" says so: Kafka's generator takes a JSON null for no default at all."""
    return field.get("default") == "null"


def default_source(field: Table) -> str:
    """The default in the signature of `__init__`, as source."""
    if default_is_null(field) or field["type"] == "records":
        return "None"
    if field["type"].startswith(ARRAY):
        return "NO_ITEMS"
    if field["type"] not in PRIMITIVES:
        return "NEW_STRUCT" if "nullableVersions" in field else "None"
    declared = field.get("default", "")
    if declared in ("", None):
        return PRIMITIVES[field["type"]][2]
    if field["type"] == "bool":
        return str(declared in (True, "true"))
    if field["type"] == "float64":
        return repr(float(declared))
    if field["type"] == "string":
        return json.dumps(declared)
    return str(declared if isinstance(declared, int) else int(declared, 0))


class MessageSource:
    """The classes of one message: nested structs first, each once, then the message."""

    def __init__(self, table: Table, prefix_for: frozenset[str] = frozenset()) -> None:
        self.table = table
        self.structs: dict[str, list[Table]] = {}
        for common in table.get("commonStructs", []):
            self._collect(common["name"], common["fields"])
        self._collect_fields(table["fields"])
        self.names = {name: f"Response{name}" if name in prefix_for else name for name in self.structs}

    def _collect(self, name: str, fields: list[Table]) -> None:
        self._collect_fields(fields)
        if self.structs.setdefault(name, fields) is not fields:
            raise ValueError(f"{self.table['name']}: two structs are called {name}")

    def _collect_fields(self, fields: list[Table]) -> None:
        for field in fields:
            if "fields" in field:
                self._collect(element_type(field), field["fields"])

    def lines(self) -> Iterator[str]:
        doc = f"Part of `{self.table['name']}`."
        for name in self._dependency_order():
            yield from self._class(self.names[name], "Message", [], self.structs[name], doc)
        yield from self._class(self.table["name"], *self._top_level(), self.table["fields"], self._title())

    def _dependency_order(self) -> list[str]:
        done: list[str] = []

        def visit(name: str) -> None:
            for field in self.structs[name]:
                inner = element_type(field)
                if inner in self.structs and inner not in done:
                    visit(inner)
            if name not in done:
                done.append(name)

        for name in self.structs:
            visit(name)
        return done

    def _title(self) -> str:
        low, high = version_range(self.table["validVersions"])
        flexible = self.table["flexibleVersions"]
        kind = f"API key {self.table['apiKey']}, " if self.table["type"] in ("request", "response") else ""
        shown = f"version {low}" if low == high else f"versions {low} to {high}"
        encoding = "never flexible" if flexible == "none" else f"flexible from {flexible[:-1]}"
        sentence = f"{kind}{shown}, {encoding}."
        return sentence[0].upper() + sentence[1:]

    def _top_level(self) -> tuple[str, list[str]]:
        low, high = version_range(self.table["validVersions"])
        flexible = self.table["flexibleVersions"]
        constants = [
            f"    MIN_VERSION: ClassVar[int] = {low}",
            f"    MAX_VERSION: ClassVar[int] = {high}",
            f"    FLEXIBLE_FROM: ClassVar[int | None] = {None if flexible == 'none' else int(flexible[:-1])}",
        ]
        if self.table["type"] in ("request", "response"):
            return "ApiMessage", [f"    API_KEY: ClassVar[int] = {self.table['apiKey']}", *constants]
        if "apiKey" in self.table:
            parent = "MetadataRecord" if self.table["type"] == "metadata" else "CoordinatorRecord"
            return parent, [f"    RECORD_TYPE: ClassVar[int] = {self.table['apiKey']}", *constants]
        return "DataMessage", constants

    def _class(self, name: str, parent: str, constants: list[str], fields: list[Table], doc: str) -> Iterator[str]:
        attributes = [snake_case(field["name"]) for field in fields]
        yield from ("", "", "@mypyc_attr(acyclic=True)", f"class {name}({parent}):", f'    """{doc}"""', "")
        if attributes:
            yield "    __slots__ = ("
            yield from (f'        "{attribute}",' for attribute in [*attributes, "unknown_tagged_fields"])
            yield "    )"
        else:
            yield '    __slots__ = ("unknown_tagged_fields",)'
        yield from constants
        yield from ("", "    def __init__(", "        self,")
        for attribute, field in zip(attributes, fields, strict=True):
            yield f"        {attribute}: {self._parameter_type(field)} = {default_source(field)},"
        yield "        unknown_tagged_fields: UnknownTaggedFields = (),"
        yield "    ) -> None:"
        for attribute, field in zip(attributes, fields, strict=True):
            yield self._assignment(attribute, field)
        yield "        self.unknown_tagged_fields = unknown_tagged_fields"
        yield from self._declaration(attributes, fields)

    def _is_plain_struct(self, field: Table) -> bool:
        return field["type"] in self.structs and "nullableVersions" not in field

    def _parameter_type(self, field: Table) -> str:
        annotation = python_type(field, self.names)
        if default_source(field) == "NEW_STRUCT":
            return f"{annotation.removesuffix(' | None')} | NewStruct | None"
        return f"{annotation} | None" if self._is_plain_struct(field) else annotation

    def _assignment(self, attribute: str, field: Table) -> str:
        annotation = python_type(field, self.names)
        if default_source(field) == "NO_ITEMS":
            return f"        self.{attribute}: {annotation} = [] if {attribute} is NO_ITEMS else {attribute}"
        if default_source(field) == "NEW_STRUCT":
            struct = annotation.removesuffix(" | None")
            new = f"{struct}() if isinstance({attribute}, NewStruct) else {attribute}"
            return f"        self.{attribute}: {annotation} = {new}"
        if self._is_plain_struct(field):
            return f"        self.{attribute} = {annotation}() if {attribute} is None else {attribute}"
        return f"        self.{attribute} = {attribute}"

    def _declaration(self, attributes: list[str], fields: list[Table]) -> Iterator[str]:
        yield from ("", "    @staticmethod", "    def declare() -> Declaration:")
        if not fields:
            yield "        return []"
            return
        yield from ("        from odradek.protocol import schema as s", "", "        return [")
        for attribute, field in zip(attributes, fields, strict=True):
            yield f"            s.Field({', '.join(self._field_arguments(attribute, field))}),"
        yield "        ]"

    def _field_arguments(self, attribute: str, field: Table) -> Iterator[str]:
        element = element_type(field)
        kind = f"s.{PRIMITIVES[element][0]}" if element in PRIMITIVES else f"s.StructOf({self.names[element]})"
        yield f'"{attribute}" / ' + (f"s.ArrayOf({kind})" if field["type"].startswith(ARRAY) else kind)
        yield json.dumps(field.get("versions") or field["taggedVersions"])
        if "nullableVersions" in field:
            yield f"nullable={json.dumps(field['nullableVersions'])}"
        if "taggedVersions" in field:
            yield f"tag={field['tag']}"
            yield f"tagged={json.dumps(field['taggedVersions'])}"
        if default_is_null(field):
            yield "default=None"
        elif field["type"] in PRIMITIVES and default_source(field) != PRIMITIVES[field["type"]][2]:
            yield f"default={default_source(field)}"
        if field.get("ignorable"):
            yield "ignorable=True"
        if field.get("flexibleVersions") == "none":
            yield "compact=False"


def version_range(versions: str) -> tuple[int, int]:
    low, _, high = versions.partition("-")
    return int(low), int(high or low)


def module_source(title: str, sources: list[MessageSource]) -> str:
    return "\n".join((HEAD.format(title=title), *(line for source in sources for line in source.lines()))) + "\n"


def index_source(title: str, columns: str, name: str, types: str, rows: list[tuple[Any, ...]]) -> str:
    lines = (f"    {row!r}," for row in rows)
    head = f'"""{title} Generated from the field tables: do not edit."""\n\n# {columns}'
    return "\n".join((head, f"{name}: list[tuple[{types}]] = [", *lines, "]")) + "\n"


def message_modules(tables: Table) -> Iterator[tuple[str, str]]:
    rows: list[tuple[Any, ...]] = []
    for api in tables["apis"]:
        request = MessageSource(api["request"])
        response = MessageSource(api["response"])
        shared = frozenset(request.structs) & frozenset(response.structs)
        response = MessageSource(api["response"], prefix_for=shared)
        module = snake_case(api["name"])
        yield f"messages/{module}.py", module_source(f"{api['name']} (API key {api['key']}).", [request, response])
        flexible = api["request"]["flexibleVersions"]
        versions = (api["lowest"], api["highest_stable"], None if flexible == "none" else int(flexible[:-1]))
        flags = (api["cluster_action"], api["forwardable"], "broker" in api["listeners"])
        rows.append((api["key"], api["name"], module, *versions, *flags))
    for header in tables["headers"]:
        module = snake_case(header["name"])
        yield f"messages/{module}.py", module_source(f"{header['name']}.", [MessageSource(header)])
    columns = (
        "key, name, module, lowest, highest stable version, flexible from, cluster action, forwardable, on brokers"
    )
    types = "int, str, str, int, int, int | None, bool, bool, bool"
    yield "messages/index.py", index_source("Index of the APIs.", columns, "APIS", types, rows)


def stored_modules(tables: Table) -> Iterator[tuple[str, str]]:
    rows: list[tuple[Any, ...]] = []
    for section, family in STORED_FAMILIES.items():
        grouped: dict[str, list[Table]] = {}
        for table in tables[section]:
            paired = table["type"].startswith("coordinator-")
            grouped.setdefault(re.sub("(Key|Value)$", "", table["name"]) if paired else table["name"], []).append(table)
        for name, members in grouped.items():
            module = snake_case(name)
            yield f"stored/{module}.py", module_source(f"{name}.", [MessageSource(table) for table in members])
            if len(members) == 2:
                rows.append((family, members[0]["apiKey"], module, members[0]["name"], members[1]["name"]))
    title, columns = "Index of the coordinators' records.", "coordinator, record type, module, key class, value class"
    yield "stored/index.py", index_source(title, columns, "RECORDS", "str, int, str, str, str", rows)


def metadata_modules(tables: Table) -> Iterator[tuple[str, str]]:
    rows: list[tuple[Any, ...]] = []
    for table in tables["metadata_records"]:
        module = snake_case(table["name"])
        yield f"metadata_records/{module}.py", module_source(f"{table['name']}.", [MessageSource(table)])
        rows.append((table["apiKey"], module, table["name"]))
    title, columns = "Index of the records of the cluster metadata log.", "record type, module, class"
    yield "metadata_records/index.py", index_source(title, columns, "RECORDS", "int, str, str", rows)


def error_module(errors: list[Table]) -> tuple[str, str]:
    retriable = [error["name"] for error in errors if error["retriable"]]
    refresh = [error["name"] for error in errors if error["refresh_metadata"]]
    lines = ERROR_MODULE_TOP.splitlines()
    lines += [f"    {error['name']} = {error['code']}" for error in errors]
    lines += ERROR_MODULE_PROPERTIES.splitlines()
    for variable, names in (("_RETRIABLE", retriable), ("_REFRESHES", refresh)):
        lines += ["", f"{variable} = frozenset({{", *(f"    ErrorCode.{name}," for name in names), "})"]
    return "error_codes.py", "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """Path -> source text of all messages, their indexes and the error codes."""
    tables = json.loads((DATA / "messages.json").read_text(encoding="utf-8"))
    errors = json.loads((DATA / "errors.json").read_text(encoding="utf-8"))
    modules = (*message_modules(tables), *stored_modules(tables), *metadata_modules(tables), error_module(errors))
    return {f"protocol/generated/{path}": text for path, text in modules}
