"""Networks as hosts of access control entries, such as `10.0.0.0/8` or `fe80::/10` (KIP-1276, Kafka 4.4)."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network, ip_address

from odradek.protocol.text_cache import text_cache

_V4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})/(\d{1,2})", re.ASCII)
_V6_PREFIX = re.compile(r"[+-]?\d+", re.ASCII)
_LEADING_ZEROS = re.compile(r"(?<![0-9a-fA-F.])0+(?=[0-9a-fA-F])")  # Java reads more digits of a group than Python

Network = IPv4Network | IPv6Network


def is_network(host: str) -> bool:
    """Whether an entry's host has to be a network."""
    return "/" in host


@text_cache(1 << 10)
def parse_network(host: str) -> Network:
    """The network that an entry's host names, bits of the host cleared; ValueError in the words of Kafka 4.4.0."""
    return _v6(host) if ":" in host else _v4(host)


def contains(network: str, host: str) -> bool:
    """Whether the address `host` lies in an entry's network. False if either cannot be read."""
    try:
        return ip_address(host) in parse_network(network)
    except ValueError:
        return False


def _v4(host: str) -> IPv4Network:
    found = _V4.fullmatch(host)
    if found is None:
        raise ValueError(f"Could not parse [{host}]")
    *octets, prefix = map(int, found.groups())
    for value, highest in (*((octet, 255) for octet in octets), (prefix, 32)):
        if value > highest:
            raise ValueError(f"Value [{value}] not in range [0,{highest}]")
    return IPv4Network((int.from_bytes(bytes(octets)), prefix), strict=False)


def _v6(host: str) -> IPv6Network:
    text, _, prefix = host.partition("/")
    if not _V6_PREFIX.fullmatch(prefix):
        raise ValueError(f"Could not parse [{host}] - invalid prefix length")
    if not 0 <= int(prefix) <= 128:
        raise ValueError(f"Could not parse [{host}] - prefix length must be between 0 and 128")
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        address = IPv6Address(_LEADING_ZEROS.sub("", bare))
    except AddressValueError:
        raise ValueError(f"Could not parse [{text}]") from None
    if address.ipv4_mapped is not None:
        raise ValueError(f"Could not parse [{text}] - not an IPv6 address")
    return IPv6Network((int(address), int(prefix)), strict=False)
