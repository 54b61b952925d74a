"""A Kerberos KDC of MIT in a folder, with its own realm: Debian's krb5-kdc and krb5-admin-server, nothing of theirs."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.real_kafka import free_ports

REALM = "ODRADEK.TEST"


class NoKdc(Exception):
    """What this machine lacks, as one line."""


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise NoKdc(f"needs a Kerberos KDC: no `{name}` (Debian: krb5-kdc, krb5-admin-server)")
    return found


class Kdc:
    """A realm. `environment` leads a program's Kerberos library to it; `config` is its krb5.conf."""

    def __init__(self, folder: Path) -> None:
        for program in ("krb5kdc", "kdb5_util", "kadmin.local"):
            _program(program)
        self.folder = folder
        self.config = folder / "krb5.conf"
        (self.port,) = free_ports(1)
        settings = folder / "kdc.conf"
        self.environment = {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(settings),
            "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
        }
        self.config.write_text(
            f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_lookup_realm = false\n"
            " rdns = false\n dns_canonicalize_hostname = false\n udp_preference_limit = 1\n"
            f"[realms]\n {REALM} = {{\n  kdc = 127.0.0.1:{self.port}\n }}\n"
            f"[domain_realm]\n localhost = {REALM}\n"
        )
        settings.write_text(
            f"[kdcdefaults]\n kdc_listen = 127.0.0.1:{self.port}\n kdc_tcp_listen = 127.0.0.1:{self.port}\n"
            f"[realms]\n {REALM} = {{\n  database_name = {folder}/principal\n  key_stash_file = {folder}/stash\n"
            f"  acl_file = {folder}/kadm5.acl\n }}\n"
            f"[logging]\n kdc = FILE:{folder}/kdc.log\n"
        )
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [_program(program), *arguments],
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} {' '.join(arguments)}: {done.stdout}{done.stderr}")

    def principal(self, *names: str) -> Path:
        """New principals with random keys, together in a keytab."""
        keytab = self.folder / f"{names[0].replace('/', '-')}.keytab"
        for name in names:
            self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {name}")
            self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {keytab} {name}")
        return keytab

    @contextmanager
    def running(self) -> Iterator[None]:
        """The KDC answers inside the block."""
        command = [_program("krb5kdc"), "-n", "-r", REALM, "-P", str(self.folder / "kdc.pid")]
        with open(self.folder / "output.txt", "wb") as output:
            process = subprocess.Popen(command, env=os.environ | self.environment, stdout=output, stderr=output)
        try:
            deadline = time.monotonic() + 60
            while not _answers(self.port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the KDC did not start: {(self.folder / 'output.txt').read_text()}")
                time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
