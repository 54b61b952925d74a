"""The names in a certificate: the subject as Java prints it (RFC 2253), and the alternative names.

The output of a JDK's `X500Principal.getName()` was recorded (`tests/vectors/x500_names.json`). It has keywords for nine
attributes, hexadecimal for all others and for types that are no text, and more escapes than RFC 2253 requires. UTF-8 is
assumed for every type of text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import NamedTuple

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.java_regex import compile_java, replace_all
from odradek.protocol.errors import CorruptDataError

# -- The part of DER that is needed for fields that Python's ssl omits: names and alternative names of a certificate.
#
# OpenSSL has checked the certificates, or they come from a store. Every length is checked all the same.

SEQUENCE = 0x30
SET = 0x31
OBJECT_ID = 0x06
OCTET_STRING = 0x04


class Element(NamedTuple):
    """One element. `encoded` has tag, length and `content`."""

    tag: int
    content: bytes
    encoded: bytes

    def children(self) -> list[Element]:
        """The elements of a constructed one."""
        return list(elements(self.content))


def read(data: bytes | memoryview) -> Element:
    """The first element of `data`; CorruptDataError if it is not whole."""
    if len(data) < 2:
        raise CorruptDataError("DER: no element")
    size, start = data[1], 2
    if size & 0x80:
        count = size & 0x7F
        start += count
        if not 1 <= count <= 4 or len(data) < start:
            raise CorruptDataError("DER: a length that is not allowed")
        size = int.from_bytes(data[2:start], "big")
    if len(data) < start + size:
        raise CorruptDataError("DER: an element is cut off")
    return Element(data[0], bytes(data[start : start + size]), bytes(data[: start + size]))


def elements(data: bytes) -> Iterator[Element]:
    """All elements of `data`, one after the other."""
    left = memoryview(data)  # as copies of what is left would take as long as a square
    while left:
        element = read(left)
        yield element
        left = left[len(element.encoded) :]


def object_id(content: bytes) -> str:
    """The dotted form of an OBJECT IDENTIFIER."""
    numbers: list[int] = []
    value = 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    if not numbers or content[-1] & 0x80:
        raise CorruptDataError("DER: an object identifier is cut off")
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


# -- The names.


_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_TEXT = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})  # UTF8, Printable, T61, IA5, General, BMP
_ESCAPED = frozenset(',=+<>#;"\\')
_BLANK = " \r"
_EXTENSIONS = 0xA3
_VERSION = 0xA0
_ALTERNATIVE_NAME = "2.5.29.17"
_TEXT_KINDS = (1, 2, 6)  # mail address, host, URI
_ADDRESS = 7


def subject_of(certificate: bytes) -> str:
    """The subject of a DER certificate; CorruptDataError if it cannot be read."""
    return name_text(_fields(certificate)[4].encoded)


def issuer_and_subject(certificate: bytes) -> tuple[bytes, bytes]:
    """The encoded names of the issuer and the subject of a DER certificate."""
    fields = _fields(certificate)
    return fields[2].encoded, fields[4].encoded


def key_algorithm(certificate: bytes) -> bytes:
    """The type of a DER certificate's key, as an encoded identifier."""
    return _fields(certificate)[5].children()[0].children()[0].content


def alternative_names(certificate: bytes) -> frozenset[str]:
    """The subject's alternative names with their types, as Java prints them: `[2, localhost]`, where 2 is a host."""
    for field in _fields(certificate)[5:]:
        if field.tag == _EXTENSIONS:
            for extension in read(field.content).children():
                parts = extension.children()
                if object_id(parts[0].content) == _ALTERNATIVE_NAME:
                    return frozenset(map(_alternative, read(parts[-1].content).children()))
    return frozenset()


def name_text(name: bytes) -> str:
    """A DER name in the RFC 2253 form that Java prints: the last part first."""
    whole = read(name)
    if whole.tag != SEQUENCE:
        raise CorruptDataError("DER: a name is not a sequence")
    return ",".join(map(_part_text, reversed(whole.children())))


def _part_text(part: Element) -> str:
    if part.tag != SET:
        raise CorruptDataError("DER: a part of a name is not a set")
    return "+".join(map(_attribute_text, part.children()))


def _attribute_text(attribute: Element) -> str:
    pair = attribute.children()
    if len(pair) != 2 or pair[0].tag != OBJECT_ID:
        raise CorruptDataError("DER: an attribute of a name is not a pair")
    identifier = object_id(pair[0].content)
    keyword = _KEYWORDS.get(identifier)
    value = pair[1]
    if keyword is None or value.tag not in _TEXT:
        return f"{keyword or identifier}=#{value.encoded.hex()}"
    return f"{keyword}={''.join(_escaped(value.content.decode('utf-8', 'replace')))}"


def _escaped(text: str) -> Iterator[str]:
    lead = len(text) - len(text.lstrip(_BLANK))
    trail = len(text.rstrip(_BLANK))
    for index, char in enumerate(text):
        if char == "\0":
            yield "\\00"
        elif char in _ESCAPED or not lead <= index < trail:
            yield f"\\{char}"
        else:
            yield char


def _alternative(name: Element) -> str:
    kind = name.tag & 0x1F
    if kind in _TEXT_KINDS:
        text = name.content.decode("ascii", "backslashreplace")
    elif kind == _ADDRESS and len(name.content) in (4, 16):
        text = str(ipaddress.ip_address(name.content))
    else:
        text = name.content.hex()
    return f"[{kind}, {text}]"


def _fields(certificate: bytes) -> list[Element]:
    """The fields of the signed part: serial, signature, issuer, validity, subject, key and the rest."""
    parts = read(certificate).children()
    fields = parts[0].children() if parts else []
    if fields and fields[0].tag == _VERSION:
        fields = fields[1:]
    if len(fields) < 6:
        raise CorruptDataError("DER: no certificate")
    return fields


# -- `ssl.principal.mapping.rules`: maps the subject of a certificate to the name of a principal.

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?).*?|(.*?)"
_SPLITTER = rf"\s*({_RULE})\s*(?:,\s*|$)"
_REFERENCE = re.compile(r"\$([0-9]+)")


class NoMatchingRuleError(Exception):
    """No rule matches the name. Its connection is closed."""


class _Rule(NamedTuple):
    """One rule. With a `pattern` of None the name stays as it is."""

    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        if self.pattern.fullmatch(name) is None:
            return None
        result = replace_all(self.pattern, name, _literal_unknown_groups(self.replacement, self.pattern.groups))
        return result.lower() if self.case == "L" else result.upper() if self.case == "U" else result


class PrincipalRules:
    """The rules of a listener, in order. The first one that matches the whole name applies."""

    def __init__(self, text: str) -> None:
        """ConfigError for rules that Kafka refuses."""
        self._text = text
        parts = (found[1] for found in re.finditer(_SPLITTER, text.strip()))
        self._rules = [rule for part in parts if (rule := _parse(part)) is not None]

    def name_of(self, subject: str) -> str:
        """The principal's name for a subject; NoMatchingRuleError if no rule matches."""
        for rule in self._rules:
            try:
                name = rule.apply(subject)
            except ValueError as error:
                raise NoMatchingRuleError(f"a rule cannot be applied to {subject}: {error}") from None
            if name is not None:
                return name
        raise NoMatchingRuleError(f"No rules apply to {subject}, rules {self._text}")


def _parse(part: str) -> _Rule | None:
    """One rule; None for an empty one."""
    match = re.match(_RULE, part)
    assert match is not None, "the last alternative takes anything"
    if match.end() != len(part):
        raise ConfigError(f"Invalid rule: `{part}`, unmatched substring: `{part[match.end() :]}`")
    if match[1] is not None:
        return _Rule(None)
    if match[2] is None:
        return None
    try:
        return _Rule(compile_java(match[2]), match[3], match[4])
    except ValueError as error:
        raise ConfigError(f"Invalid rule: `{part}`: {error}") from None


def _literal_unknown_groups(replacement: str, groups: int) -> str:
    """Escape references to groups that the pattern lacks: they are literal text."""
    if groups == 0:
        return replacement

    def checked(reference: re.Match[str]) -> str:
        number = reference[1]
        if number.startswith("0"):
            return reference[0]
        while int(number) > groups and len(number) > 1:
            number = number[:-1]
        return reference[0] if int(number) <= groups else f"\\{reference[0]}"

    return _REFERENCE.sub(checked, replacement)
