"""Security settings of a broker: users, ACLs, TLS with certificates, and the access that its clients need."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from odradek.broker.config.listeners import LOOPBACK
from odradek.broker.facade.client_configs import Access, quoted
from odradek.broker.mistakes import NearNames, checked, checked_init, did_you_mean
from odradek.broker.security.acl import CLUSTER_NAME, Operation, Pattern, Permission, Resource
from odradek.broker.security.acl import Acl as Entry

if TYPE_CHECKING:
    from trustme import CA, LeafCert

    from odradek.broker.cluster import Cluster
    from odradek.broker.controller.scram_control import ScramUpsertion


_OPERATIONS = {operation.name: operation for operation in Operation if operation > Operation.ANY}


class Acl:
    """An access control entry: ``Acl("alice", "READ", topic="orders")``.

    ``operations`` is one or several of Kafka's operations (``"READ"``, ``["WRITE", "CREATE"]``, ``"ALL"``). Name
    exactly one resource: ``topic``, ``group``, ``transactional_id``, ``delegation_token``, ``of_user`` (a user's
    tokens), or ``cluster=True``. A name may be ``"*"``; with ``prefixed=True`` it matches all names that start with it.
    ``user="*"`` means everyone. ``deny=True`` denies the operations, which overrides what is allowed. ``host`` is a
    client's address, or ``"*"``. Raises ValueError, which names the mistake.
    """

    __slots__ = ("entries",)

    @checked
    def __init__(
        self,
        user: str,
        operations: str | Sequence[str],
        *,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        delegation_token: str | None = None,
        of_user: str | None = None,
        cluster: bool = False,
        prefixed: bool = False,
        deny: bool = False,
        host: str = "*",
    ) -> None:
        named = {
            Resource.TOPIC: topic,
            Resource.GROUP: group,
            Resource.TRANSACTIONAL_ID: transactional_id,
            Resource.DELEGATION_TOKEN: delegation_token,
            Resource.USER: None if of_user is None else principal_text(of_user),
            Resource.CLUSTER: CLUSTER_NAME if cluster else None,
        }
        given = [(resource, name) for resource, name in named.items() if name is not None]
        if len(given) != 1 or not given[0][1]:
            raise ValueError(
                f"Acl({user!r}, {operations!r}): name exactly one of topic, group, transactional_id, "
                "delegation_token, of_user, or cluster=True"
            )
        resource, name = given[0]
        if prefixed and resource is Resource.CLUSTER:
            raise ValueError(f"Acl({user!r}, {operations!r}): a cluster takes no prefix")
        asked = [operations] if isinstance(operations, str) else list(operations)
        if not asked:
            raise ValueError(f"Acl({user!r}, []): name at least one operation")
        self.entries = [
            Entry(
                resource,
                name,
                Pattern.PREFIXED if prefixed else Pattern.LITERAL,
                principal_text(user),
                host,
                _operation(text),
                Permission.DENY if deny else Permission.ALLOW,
            )
            for text in asked
        ]

    def __repr__(self) -> str:
        return f"<Acl {'; '.join(str(entry) for entry in self.entries)}>"


def principal_text(user: str) -> str:
    """A principal as Kafka writes it: ``User:alice`` for ``alice``, or for ``User:alice``."""
    return user if user.startswith("User:") else f"User:{user}"


def _operation(text: str) -> Operation:
    operation = _OPERATIONS.get(text.upper())
    if operation is None:
        raise ValueError(f"unknown operation {text}{did_you_mean(text, _OPERATIONS)}: one of {', '.join(_OPERATIONS)}")
    return operation


_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_MECHANISMS = ("PLAIN", *_SCRAM, "OAUTHBEARER")
_SALT_BYTES = 16
_COMMON_NAME_RULE = "RULE:^CN=([^,]+).*$/$1/"
_CLIENT_CERTIFICATES = ("none", "requested", "required")

ClientCertificates = Literal["none", "requested", "required"]


@checked_init
@dataclass(frozen=True, slots=True)
class Security(NearNames):
    """The argument of `KafkaBroker(security=...)`: TLS, users with passwords, and ACLs.

    - ``tls``: the listener uses TLS, with a certificate that is generated at the start.
    - ``client_certificates``: whether clients present a certificate (Kafka's ``ssl.client.auth``); its common name is
      the user.
    - ``users``: passwords by user name, valid for all ``mechanisms``. Without users there is no log-in.
    - ``acls``: :class:`Acl` objects. An authorizer checks every request if there are any, or with ``authorizer=True``.
    - ``super_users``: users that may do everything.
    - ``allow_if_no_acl``: everyone may use a resource that has no ACL.

    Raises ValueError for contradictory settings.
    """

    tls: bool = False
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    acls: Sequence[Acl] = ()
    super_users: Sequence[str] = ()
    mechanisms: Sequence[str] = ("PLAIN", *_SCRAM)
    client_certificates: ClientCertificates = "none"
    authorizer: bool | None = None
    allow_if_no_acl: bool = False

    def __post_init__(self) -> None:
        if unknown := [name for name in self.mechanisms if name not in _MECHANISMS]:
            raise ValueError(f"mechanisms={unknown}: expected some of {', '.join(_MECHANISMS)}")
        if self.client_certificates not in _CLIENT_CERTIFICATES:
            raise ValueError(f"client_certificates={self.client_certificates!r}: expected none, requested or required")
        if self.client_certificates != "none" and not self.tls:
            raise ValueError("client_certificates need tls=True")
        if self.logs_in and not self.mechanisms:
            raise ValueError("users need at least one mechanism")
        if bad := [acl for acl in self.acls if not isinstance(acl, Acl)]:
            raise TypeError(f"acls={bad}: expected odradek.Acl objects")
        if self.authorizer is False and (self.acls or self.super_users):
            raise ValueError("authorizer=False: acls and super_users would have no effect")

    @property
    def logs_in(self) -> bool:
        """Whether clients log in with SASL."""
        return bool(self.users) or "OAUTHBEARER" in self.mechanisms

    @property
    def protocol(self) -> str:
        """Kafka's name of the security protocol, such as ``SASL_SSL``."""
        if self.logs_in:
            return "SASL_SSL" if self.tls else "SASL_PLAINTEXT"
        return "SSL" if self.tls else "PLAINTEXT"

    @property
    def authorizes(self) -> bool:
        """Whether an authorizer checks requests."""
        if self.authorizer is None:
            return bool(self.acls or self.super_users)
        return self.authorizer


def _jaas(mechanism: str, users: Mapping[str, str]) -> str:
    """The broker's JAAS configuration of a mechanism."""
    package = "org.apache.kafka.common.security"
    if mechanism == "PLAIN":
        pairs = "".join(f" user_{name}={quoted(password)}" for name, password in users.items())
        return f"{package}.plain.PlainLoginModule required{pairs};"
    if mechanism == "OAUTHBEARER":
        return f'{package}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
    return f"{package}.scram.ScramLoginModule required;"


class Secured:
    """The `Security` of one broker, with its certificates. The broker's settings own it."""

    def __init__(self, security: Security, host: str, port: int) -> None:
        """Raises ImportError if certificates are needed and trustme is not installed."""
        self.security = security
        self._host, self._port = host, port
        self._certificates: Certificates | None = None
        if security.tls:
            self._certificates = Certificates(host)

    def config(self, given: Mapping[str, str]) -> dict[str, str]:
        """The broker's configuration; configs of the user take precedence. Raises ValueError if both set listeners."""
        if "listeners" in given:
            raise ValueError("security= configures the listener: do not set listeners in config as well")
        security = self.security
        where = f"[{self._host}]" if ":" in self._host else self._host
        address = f"{security.protocol}://{where}:{self._port}"
        config = {"listeners": address, "inter.broker.listener.name": security.protocol}
        if self._certificates is not None:
            config |= self._tls_config(self._certificates)
        if security.logs_in:
            config |= self._sasl_config()
        if security.authorizes:
            config |= {
                "authorizer.class.name": _AUTHORIZER,
                "super.users": ";".join(principal_text(user) for user in security.super_users),
                "allow.everyone.if.no.acl.found": str(security.allow_if_no_acl).lower(),
            }
        return {**config, **given}

    def access(self, servers: str, user: str | None, mechanism: str | None) -> Access:
        """How a client connects as this user. Raises ValueError for an unknown user."""
        security, certificates = self.security, self._certificates
        chosen = mechanism or (security.mechanisms[0] if security.logs_in else None)
        if chosen is not None and chosen not in (security.mechanisms if security.logs_in else ()):
            raise ValueError(f"mechanism={chosen!r}: the broker takes {', '.join(security.mechanisms)}")
        if security.logs_in and user is None:
            raise ValueError(f"client_config needs a user: one of {', '.join(security.users)}")
        password = security.users.get(user) if user is not None else None
        if chosen is not None and chosen != "OAUTHBEARER" and password is None:
            raise ValueError(f"no user {user}: the broker knows {', '.join(security.users)}")
        shows = certificates is not None and user is not None and security.client_certificates != "none"
        certificate, key = certificates.files_of(user) if shows else (None, None)  # type: ignore[union-attr, arg-type]
        authority = None if certificates is None else certificates.authority_file
        return Access(servers, security.protocol, chosen, user, password, authority, certificate, key)

    def set_up(self, cluster: Cluster) -> None:
        """Create the users and ACLs in a running cluster. Raises KafkaError if Kafka would refuse them."""
        from odradek.broker.controller.acl_control import create_acls
        from odradek.broker.controller.scram_control import alter_scram_users

        # Kafka refuses a change of both mechanisms of one user at once.
        for mechanism in _SCRAM:
            for outcome in cluster.controller.ask(alter_scram_users, [], self._scram_upsertions(mechanism)):
                if outcome.error is not None:
                    raise outcome.error
        entries = [entry for acl in self.security.acls for entry in acl.entries]
        if entries:
            for error in cluster.controller.ask(create_acls, entries):
                if error is not None:
                    raise error

    def _scram_upsertions(self, mechanism: str) -> list[ScramUpsertion]:
        from odradek.broker.controller.scram_control import ScramUpsertion
        from odradek.broker.security.sasl.credentials import SCRAM_HASHES

        kind = next(kind for kind in SCRAM_HASHES.values() if kind.mechanism == mechanism)
        upsertions = []
        for name, password in self.security.users.items() if mechanism in self.security.mechanisms else ():
            salt = secrets.token_bytes(_SALT_BYTES)
            salted = hashlib.pbkdf2_hmac(kind.hash_name, password.encode(), salt, kind.min_iterations)
            upsertions.append(ScramUpsertion(name, kind.number, kind.min_iterations, salt, salted))
        return upsertions

    def _tls_config(self, certificates: Certificates) -> dict[str, str]:
        config = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": certificates.server_key,
            "ssl.keystore.certificate.chain": certificates.server_chain,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": certificates.authority,
            f"listener.name.{self.security.protocol.lower()}.ssl.client.auth": self.security.client_certificates,
        }
        if self.security.client_certificates != "none":
            config["ssl.principal.mapping.rules"] = f"{_COMMON_NAME_RULE},DEFAULT"
        return config

    def _sasl_config(self) -> dict[str, str]:
        prefix = f"listener.name.{self.security.protocol.lower()}"
        config = {"sasl.enabled.mechanisms": ",".join(self.security.mechanisms)}
        for mechanism in self.security.mechanisms:
            config[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = _jaas(mechanism, self.security.users)
        return config


_ALWAYS = ("localhost", "127.0.0.1", "::1")


class Certificates:
    """The certificate authority of one broker, its server certificate, and the certificates of its users.

    Keys and certificates are PEM. The files are in a private temporary directory, which is removed with the object.
    """

    def __init__(self, host: str) -> None:
        """`host` is the address that the broker listens on; localhost is always in the certificate.

        Raises ImportError if trustme is not installed.
        """
        self._authority = _new_authority()
        names = _ALWAYS if host in LOOPBACK or host in _ALWAYS else (*_ALWAYS, host)
        self._server = self._authority.issue_cert(*names)
        self._users: dict[str, tuple[Path, Path]] = {}
        self._folder = tempfile.mkdtemp(prefix="odradek-certificates-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def __repr__(self) -> str:
        return f"<Certificates in {self._folder}>"

    @property
    def authority(self) -> str:
        """The authority's certificate."""
        return self._authority.cert_pem.bytes().decode()

    @property
    def server_key(self) -> str:
        """The broker's private key."""
        return _key(self._server)

    @property
    def server_chain(self) -> str:
        """The broker's certificate chain."""
        return _chain(self._server)

    @property
    def authority_file(self) -> Path:
        """The authority's certificate as a file."""
        return self._file("ca.pem", self.authority)

    def files_of(self, user: str) -> tuple[Path, Path]:
        """Certificate and private key of a user, whose name is the certificate's common name."""
        known = self._users.get(user)
        if known is None:
            leaf = self._authority.issue_cert(common_name=user)
            number = len(self._users)
            known = self._users[user] = (
                self._file(f"user-{number}.pem", _chain(leaf)),
                self._file(f"user-{number}-key.pem", _key(leaf)),
            )
        return known

    def _file(self, name: str, text: str) -> Path:
        path = Path(self._folder, name)
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(text)
        return path


def _new_authority() -> CA:
    try:
        from trustme import CA
    except ImportError as missing:
        raise ImportError(
            "Security(tls=True) makes certificates with trustme, which is not installed: "
            "pip install 'odradek[security]'"
        ) from missing
    return CA()


def _key(leaf: LeafCert) -> str:
    """The private key in PKCS#8, the one form that Java reads."""
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _chain(leaf: LeafCert) -> str:
    return b"".join(part.bytes() for part in leaf.cert_chain_pems).decode()
