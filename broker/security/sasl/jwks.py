"""The keys that sign tokens: a JWKS (RFC 7517) from a file or an http(s) address."""

from __future__ import annotations

import logging
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import trio

from odradek.broker.config.definition import ConfigError
from odradek.broker.security.named_files import MOST_BYTES, read_named
from odradek.broker.security.sasl.bearer_tokens import TokenRefused, json_object

if TYPE_CHECKING:
    from odradek.broker.clock import BrokerClock

_FETCH_LIMIT_S = 20.0
_PIECE_BYTES = 1 << 16
_MOST_RSA_BITS = 16384  # with larger keys a signature takes seconds
_MISSING_IDS = 16
_MISSING_ID_MS = 60_000
_LONGEST_ID = 1000

_log = logging.getLogger(__name__)


class Jwk(NamedTuple):
    """One key. `key` is joserfc's, without the set's statements about its use; the other fields have these."""

    key: Any
    kty: str
    kid: str | None
    use: str | None
    alg: str | None
    crv: str | None
    bits: int

    def __repr__(self) -> str:
        return f"Jwk({self.kty}, kid={self.kid!r})"


class KeySource(Protocol):
    """The source of a listener's keys."""

    def keys(self) -> Sequence[Jwk]:
        """The present keys."""

    async def prepare(self) -> None:
        """Wait until there are keys that are not too old."""

    async def missing(self, kid: str) -> None:
        """Wait for newer keys, because this key id is unknown."""


def parse_jwks(data: bytes) -> list[Jwk]:
    """The usable keys of a set: RSA from 2048 bits on, EC, OKP, secrets of 256 bits. ConfigError if it is no JWKS."""
    try:
        document = json_object(data, repeats=True)
    except TokenRefused:
        document = None
    entries = None if document is None else document.get("keys")
    if not isinstance(entries, list):
        raise ConfigError('no JWKS: an object with a list "keys"')
    return [key for key in map(_jwk, entries) if key is not None]


def _jwk(entry: Any) -> Jwk | None:
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

    kinds: Mapping[str, Any] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey, "oct": OctKey}
    if not isinstance(entry, dict) or entry.get("kty") not in kinds:
        return None
    bits = _bits(entry)
    if bits < {"RSA": 2048, "oct": 256}.get(entry["kty"], 0) or (entry["kty"] == "RSA" and bits > _MOST_RSA_BITS):
        return None
    bare = {name: value for name, value in entry.items() if name not in ("alg", "use", "key_ops", "x5c")}
    try:
        key = kinds[entry["kty"]].import_key(bare)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        _log.warning("a key of the JWKS is left out: %s", error)
        return None
    texts = (entry.get(name) for name in ("kid", "use", "alg", "crv"))
    kid, use, alg, crv = (text if isinstance(text, str) else None for text in texts)
    return Jwk(key, entry["kty"], kid, use, alg, crv, bits)


def _bits(entry: Mapping[str, Any]) -> int:
    """The size of a modulus or secret, from its length in base64."""
    text = entry.get("n" if entry["kty"] == "RSA" else "k")
    return len(text.rstrip("=")) * 6 // 8 * 8 if isinstance(text, str) else 0


class FileKeys:
    """See `KeySource`: a file that is read again when it has changed."""

    def __init__(self, path: Path) -> None:
        """ConfigError if it cannot be read or holds no JWKS."""
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._keys: list[Jwk] = []
        self._thread = trio.CapacityLimiter(1)
        self._read()

    def keys(self) -> Sequence[Jwk]:
        """The keys of the file."""
        return self._keys

    async def prepare(self) -> None:
        """Read the file if it has changed. If it has become invalid, the earlier keys stay, and the log says so."""
        try:
            if self._changed() is not None:
                await trio.to_thread.run_sync(self._read, limiter=self._thread)
        except ConfigError as error:
            _log.warning("%s", error)

    async def missing(self, kid: str) -> None:
        """The file is always up to date."""

    def _changed(self) -> tuple[int, int] | None:
        """The file's time and size if they are not those of the keys."""
        try:
            status = os.stat(self._path)
        except OSError as error:
            raise self._unreadable(error) from None
        stamp = (status.st_mtime_ns, status.st_size)
        return None if stamp == self._stamp else stamp

    def _read(self) -> None:
        """In a thread, as many keys take seconds."""
        stamp = self._changed()
        if stamp is None:
            return
        try:
            data = read_named(self._path)
        except OSError as error:
            raise self._unreadable(error) from None
        self._stamp = stamp
        try:
            self._keys = parse_jwks(data)
        except ConfigError as error:
            raise ConfigError(f"{self._path}: {error}") from None

    def _unreadable(self, error: OSError) -> ConfigError:
        return ConfigError(f"the JWKS file {self._path} cannot be read: {error.strerror or error}")


class Pace(NamedTuple):
    """How often to fetch, in milliseconds."""

    refresh_ms: int = 3_600_000
    retry_ms: int = 100
    retry_max_ms: int = 10_000


Read = Callable[[], bytes]


class HttpKeys:
    """See `KeySource`: keys that a thread fetches for the log-in that needs them.

    Other log-ins use the present keys meanwhile. Times are on the broker's clock. After a failed fetch the present keys
    stay, and the next tries follow after growing pauses.
    """

    def __init__(self, url: str, read: Read, pace: Pace, clock: BrokerClock) -> None:
        self._url, self._read, self._pace, self._clock = url, read, pace, clock
        self._keys: list[Jwk] = []
        self._next_ms = 0
        self._failures = 0
        self._fetching: trio.Event | None = None
        self._thread = trio.CapacityLimiter(1)  # a limiter of its own: a server that hangs takes no thread from others
        self._missing: OrderedDict[str, int] = OrderedDict()

    def keys(self) -> Sequence[Jwk]:
        """The keys of the last fetch that worked."""
        return self._keys

    async def prepare(self) -> None:
        """Fetch if it is time. Wait for a fetch under way only while there is no key."""
        if self._fetching is not None:
            if not self._keys:
                await self._fetching.wait()
        elif self._clock.now_ms() >= self._next_ms:
            await self._fetch()

    async def missing(self, kid: str) -> None:
        """Fetch, at most once a minute for the same key id."""
        now_ms = self._clock.now_ms()
        if len(kid) > _LONGEST_ID or self._missing.get(kid, 0) > now_ms:
            return
        self._missing[kid] = now_ms + _MISSING_ID_MS
        self._missing.move_to_end(kid)
        if len(self._missing) > _MISSING_IDS:
            self._missing.popitem(last=False)
        if self._fetching is None:
            await self._fetch()

    async def _fetch(self) -> None:
        self._fetching = trio.Event()
        try:
            self._keys = await self._fetched()
        except (OSError, ValueError, ConfigError) as error:
            self._failures += 1
            pause = min(self._pace.retry_ms << min(self._failures - 1, 20), self._pace.retry_max_ms)
            self._next_ms = self._clock.now_ms() + pause
            _log.warning("the JWKS of %s could not be fetched: %s", self._url, error)
        else:
            self._failures = 0
            self._next_ms = self._clock.now_ms() + self._pace.refresh_ms
            for key in self._keys:
                self._missing.pop(key.kid or "", None)
        finally:
            self._fetching.set()
            self._fetching = None

    async def _fetched(self) -> list[Jwk]:
        with self._clock.move_on_after(_FETCH_LIMIT_S):
            read = self._read
            # The thread makes the keys, too: many take seconds.
            return await trio.to_thread.run_sync(
                lambda: parse_jwks(read()), abandon_on_cancel=True, limiter=self._thread
            )
        raise TimeoutError(f"no answer within {_FETCH_LIMIT_S:.0f} s")


def key_source(url: str, pace: Pace, clock: BrokerClock, tls: Callable[[], ssl.SSLContext]) -> KeySource:
    """The keys at `file:`, `http:` or `https:`; ConfigError for another address. `tls`: makes the context for https."""
    try:
        parts = urllib.parse.urlsplit(url)
    except ValueError:
        raise ConfigError(f"the JWKS address {url} is malformed") from None
    if parts.scheme == "file":
        return FileKeys(Path(urllib.request.url2pathname(parts.path)))
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f'the JWKS address {url}: only "http", "https", and "file" are supported')
    context = tls() if parts.scheme == "https" else None
    return HttpKeys(url, lambda: _get(url, context), pace, clock)


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirects as Java does: never from https to http, and to no file."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """See the base class; None: the redirect is an error."""
        if urllib.parse.urlsplit(newurl).scheme != req.type:
            return None
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _get(url: str, context: ssl.SSLContext | None) -> bytes:
    """The document at an address. It runs in a thread and ends soon after the fetch was given up."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    opener = urllib.request.build_opener(_SameScheme, urllib.request.HTTPSHandler(context=context))
    data = bytearray()
    try:
        with opener.open(request, timeout=_FETCH_LIMIT_S) as answer:
            while piece := answer.read1(_PIECE_BYTES):
                data += piece
                if len(data) > MOST_BYTES:
                    raise ValueError(f"more than {MOST_BYTES} bytes")
                trio.from_thread.check_cancelled()  # a server that sends a byte now and then must not keep the thread
    except urllib.error.HTTPError as error:
        error.close()
        raise
    return bytes(data)
