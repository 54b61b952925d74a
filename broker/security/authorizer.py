"""Access control by the rules of Kafka's StandardAuthorizer.

A super user may do everything. For others a denying entry decides first, then an allowing one. If no entry applies to
the resource, `allow.everyone.if.no.acl.found` decides. If some apply and none of them allows, the request is denied.

Allowing READ, WRITE, DELETE or ALTER also allows DESCRIBE, and allowing ALTER_CONFIGS also allows DESCRIBE_CONFIGS.
Denying an operation denies no other one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.acl import SUPPORTED, WILDCARD, Acl, AclIndex, Operation, Pattern, Permission
from odradek.broker.security.principal import Principal
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.text_cache import text_cache

if TYPE_CHECKING:
    from odradek.broker.config.broker_config import BrokerConfig
    from odradek.broker.metadata.image import MetadataDelta, MetadataImage


# -- Networks as hosts of access control entries, such as `10.0.0.0/8` or `fe80::/10` (KIP-1276, Kafka 4.4).

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


# -- The authorizer.


EVERY_USER = "User:*"
_ANY_NAME = "hardcode"
"""A resource name that no entry has. Kafka asks for it to find out who may do everything."""
_MAX_KNOWN = 100_000
_LONGEST_KNOWN = 256

_IMPLIED_BY = {
    Operation.DESCRIBE: frozenset(
        {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
    ),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS}),
}


class Authorizer:
    """Decides by the entries of the metadata image, which it follows as a publisher.

    Owner: the cluster. It caches up to 100,000 decisions until an entry changes. `knows_networks`: the host of an entry
    may be a network (KIP-1276).
    """

    def __init__(
        self, super_users: Iterable[Principal] = (), *, allow_if_no_acl: bool = False, knows_networks: bool = False
    ) -> None:
        self._knows_networks = knows_networks
        self._super_users = frozenset(map(str, super_users))
        self._allow_if_no_acl = allow_if_no_acl
        self._index = AclIndex()
        self._known: dict[tuple[Principal, str, int, int, str | None], bool] = {}

    def know_networks(self, known: bool) -> None:
        """Whether the host of an entry may be a network from now on."""
        if known is not self._knows_networks:
            self._knows_networks = known
            self._known.clear()

    # -- the entries

    def add(self, acl: Acl) -> None:
        """Add an entry."""
        self._known.clear()
        self._index.add(acl)

    def remove(self, acl: Acl) -> None:
        """Remove an entry."""
        self._known.clear()
        self._index.remove(acl)

    def publish(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Follow a change of the image."""
        for acl_id, before in delta.acls.items():
            if before is not None:
                self.remove(Acl.of_record(before))
            after = image.acls.get(acl_id)
            if after is not None:
                self.add(Acl.of_record(after))

    # -- the decisions

    def allows(self, principal: Principal, host: str, operation: int, resource: int, name: str) -> bool:
        """Whether `principal` may do this from the address `host`."""
        key = (principal, host, operation, resource, name)
        known = self._known.get(key)
        if known is None:
            known = self._remember(key, self._decide(str(principal), host, operation, resource, name))
        return known

    def operations(self, principal: Principal, host: str, resource: int, name: str) -> int:
        """The operations that `principal` may do with a resource: bit n is set for operation n."""
        return sum(
            1 << operation
            for operation in SUPPORTED[resource]
            if self.allows(principal, host, operation, resource, name)
        )

    def allows_by_type(self, principal: Principal, host: str, operation: int, resource: int) -> bool:
        """Whether `principal` may do this with any resource of this type, existing or not.

        Kafka ignores implied operations here.
        """
        key = (principal, host, operation, resource, None)
        known = self._known.get(key)
        if known is None:
            allowed = self.allows(principal, host, operation, resource, _ANY_NAME) or self._allows_some(
                str(principal), host, operation, resource
            )
            known = self._remember(key, allowed)
        return known

    def _remember(self, key: tuple[Principal, str, int, int, str | None], allowed: bool) -> bool:
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        if len(key[4] or "") <= _LONGEST_KNOWN:
            self._known[key] = allowed
        return allowed

    def _decide(self, principal: str, host: str, operation: int, resource: int, name: str) -> bool:
        if principal in self._super_users:
            return True
        if principal == EVERY_USER:
            # a user named "*": Kafka's set of principals may not have the same one twice
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)
        concerned = allowed = False
        for entries in self._index.concerning(resource, name):
            concerned = True
            for who in (principal, EVERY_USER):
                for acl in entries.get(who, ()):
                    if self._is_from(acl.host, host) and _covers(acl, operation):
                        if acl.permission != Permission.ALLOW:
                            return False
                        allowed = True
        return allowed or (not concerned and self._allow_if_no_acl)

    def _is_from(self, entry: str, host: str) -> bool:
        """Whether an entry's host is, or contains, the address `host`."""
        return entry in (WILDCARD, host) or (self._knows_networks and is_network(entry) and contains(entry, host))

    def _allows_some(self, principal: str, host: str, operation: int, resource: int) -> bool:
        """Whether an entry allows a resource that no other entry denies."""
        allowed: set[tuple[int, str]] = set()
        denied: set[tuple[int, str]] = set()
        for acl in self._index.of_principals(resource, (principal, EVERY_USER)):
            if self._is_from(acl.host, host) and acl.operation in (operation, Operation.ALL):
                chosen = allowed if acl.permission == Permission.ALLOW else denied
                chosen.add((acl.pattern, acl.name))
        everything = (Pattern.LITERAL, WILDCARD)
        if everything in denied:
            return False
        if everything in allowed:
            return True
        return any(not _is_denied(pattern, name, denied) for pattern, name in allowed)


def _covers(acl: Acl, operation: int) -> bool:
    """Whether an entry applies to an operation."""
    if acl.operation in (operation, Operation.ALL):
        return True
    return acl.permission == Permission.ALLOW and acl.operation in _IMPLIED_BY.get(operation, ())  # type: ignore[call-overload]


def _is_denied(pattern: int, name: str, denied: set[tuple[int, str]]) -> bool:
    if pattern == Pattern.LITERAL and (pattern, name) in denied:
        return True
    return any((Pattern.PREFIXED, name[:end]) in denied for end in range(1, len(name) + 1))


def authorizer_of(config: BrokerConfig, node_id: int | None = None) -> Authorizer:
    """The authorizer of a node by `super.users` and `allow.everyone.if.no.acl.found`; ConfigError for an invalid
    principal.
    """
    try:
        super_users = [Principal.parse(text) for text in super_user_texts(config.get_str("super.users", node_id))]
    except ValueError as error:
        raise ConfigError(f"super.users: {error}") from None
    made = Authorizer(
        super_users,
        allow_if_no_acl=config.get_bool("allow.everyone.if.no.acl.found", node_id),
        knows_networks=config.release.knows_networks,
    )
    config.watchers.append(lambda: made.know_networks(config.release.knows_networks))
    return made


def super_user_texts(text: str) -> list[str]:
    """The principals in `super.users`, which semicolons separate."""
    return [part.strip() for part in text.split(";") if part.strip()]
