"""The brokers of a benchmark with TLS, or with log-ins and an authorizer."""

from __future__ import annotations

import hashlib
from pathlib import Path

from odradek.protocol.generated.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.generated.messages.create_acls import AclCreation, CreateAclsRequest
from tests.bench.brokers import Kafka, Kfake, Odradek
from tests.bench.compiled_form import compiled_package
from tests.bench.table import COMPILED
from tests.conformance.real_kafka import free_ports
from tests.fakes.certificates import issued_by, new_authority
from tests.fakes.wire_client import WireClient
from tests.scenarios.sasl_broker import jaas

USER, PASSWORD = "alice", "alice-secret"
TLS_LOAD = ("-s",)
LOGIN_LOAD = ("-u", f"{USER}:{PASSWORD}")


class SecureOdradek(Odradek):
    """With a TLS listener."""

    load_options = TLS_LOAD

    def __init__(self, folder: Path, package: Path | None = None) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(tls_config(folder, self.port, self.secure_port, controller), package=package)


class SecureCompiled(SecureOdradek):
    """With a TLS listener."""

    name = COMPILED

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, compiled_package())


class SecureKafka(Kafka):
    """With a TLS listener."""

    load_options = TLS_LOAD

    def __init__(self, folder: Path) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(tls_config(folder, self.port, self.secure_port, controller))

    def launch(self) -> None:
        self.node.port = self.port
        super().launch()


class SecureKfake(Kfake):
    """Its only listener speaks TLS."""

    load_options = TLS_LOAD

    def __init__(self, folder: Path) -> None:
        super().__init__("-tls", str(new_certificate(folder)))


class SaslOdradek(Odradek):
    """With a listener where clients log in, an authorizer, and 1,000 access control entries."""

    load_options = LOGIN_LOAD

    def __init__(self, package: Path | None = None) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(sasl_config(self.port, self.secure_port, controller), package=package)
        give_rights(self.port)


class SaslCompiled(SaslOdradek):
    """With a listener where clients log in, an authorizer, and 1,000 access control entries."""

    name = COMPILED

    def __init__(self) -> None:
        super().__init__(compiled_package())


class SaslKafka(Kafka):
    """With a listener where clients log in, an authorizer, and 1,000 access control entries."""

    load_options = LOGIN_LOAD

    def __init__(self) -> None:
        self.port, self.secure_port, controller = free_ports(3)
        super().__init__(sasl_config(self.port, self.secure_port, controller))
        give_rights(self.port)

    def launch(self) -> None:
        self.node.port = self.port
        super().launch()


class SaslKfake(Kfake):
    """Its only listener asks for a log-in; it has an authorizer, and 1,000 access control entries."""

    load_options = LOGIN_LOAD

    def __init__(self) -> None:
        super().__init__(*LOGIN_LOAD)


def sasl_config(plain: int, sasl: int, controller: int) -> dict[str, str]:
    """Two listeners, PLAIN and SCRAM at the second; on the first anybody may do anything."""
    told = f"PLAINTEXT://127.0.0.1:{plain},SASL_PLAINTEXT://127.0.0.1:{sasl}"
    prefix = "listener.name.sasl_plaintext"
    return {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"0@127.0.0.1:{controller}",
        "node.id": "0",
        "listeners": f"{told},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": told,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        f"{prefix}.plain.sasl.jaas.config": jaas("PLAIN", **{f"user_{USER}": PASSWORD}),
        f"{prefix}.scram-sha-256.sasl.jaas.config": jaas("SCRAM-SHA-256"),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def give_rights(port: int) -> None:
    """The user of the load may use topics, and 990 others have rights to other topics; it may log in by SCRAM."""
    topic, cluster, prefixed, literal = 2, 4, 4, 3
    read, write, create, describe, allow = 3, 4, 5, 8, 3
    acls = [AclCreation(topic, "produce", prefixed, f"User:{USER}", "*", right, allow) for right in (read, write)]
    acls += [AclCreation(topic, "", prefixed, f"User:{USER}", "*", describe, allow)]
    acls[-1].resource_name = "p"
    acls += [AclCreation(cluster, "kafka-cluster", literal, f"User:{USER}", "*", create, allow)]
    acls += [
        AclCreation(topic, f"orders-{number}", prefixed if number % 2 else literal, f"User:u{number}", "*", read, allow)
        for number in range(1000 - len(acls))
    ]
    salt = b"sixteen bytes of"
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, 4096)
    with WireClient(port=port) as client:
        made = client.request(CreateAclsRequest(acls))
        assert len(made.results) == 1000
        assert not any(result.error_code for result in made.results)
        user = ScramCredentialUpsertion(USER, 1, 4096, salt, salted)
        (result,) = client.request(AlterUserScramCredentialsRequest([], [user])).results
        assert not result.error_code


def tls_config(folder: Path, plain: int, secure: int, controller: int) -> dict[str, str]:
    """Two listeners; the certificate is made anew, with an EC key."""
    path = new_certificate(folder)
    told = f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{secure}"
    return {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"0@127.0.0.1:{controller}",
        "node.id": "0",
        "listeners": f"{told},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": told,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(path),
    }


def new_certificate(folder: Path) -> Path:
    """A PEM file with an EC key and its certificate."""
    certificate = issued_by(new_authority("Bench CA"), "broker", hosts=["127.0.0.1"])
    path = folder / "broker.pem"
    path.write_text(certificate.key_pem + certificate.chain_pem)
    return path
