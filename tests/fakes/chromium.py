"""A headless Chromium, driven through its debugging pipe: a page is opened, asked, and typed into."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_LAUNCHER = """
import fcntl, os, sys
reads, writes = (fcntl.fcntl(int(each), fcntl.F_DUPFD, 20) for each in sys.argv[1:3])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
_OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
_KEYS = {"Tab": 9, "Delete": 46, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}


class Page:
    """One page. Waits end with an AssertionError that says what the page showed."""

    def __init__(self, writes: BinaryIO, reads: BinaryIO) -> None:
        self._writes = writes
        self._reads = reads
        self._count = 0
        self._session: str | None = None
        self._loads = 0
        self.told: list[dict[str, Any]] = []
        """What the page logged, was refused by its policy, and raised."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.width(1200)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol, and its answer."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._writes.write(json.dumps(message).encode() + b"\0")
        self._writes.flush()
        while True:
            found = self._next()
            if found.get("id") == self._count:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result

    def _next(self) -> dict[str, Any]:
        """The next message, noted if it is of interest."""
        found: dict[str, Any] = json.loads(self._message())
        if found.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            self.told.append(found["params"])
        self._loads += found.get("method") == "Page.loadEventFired"
        return found

    def _message(self) -> bytes:
        data = bytearray()
        while (byte := self._reads.read(1)) != b"\0":
            assert byte, "the browser has ended"
            data += byte
        return bytes(data)

    def open(self, url: str) -> None:
        """Go to an address, as a page of its own even if only the part behind # is another one."""
        if url != "about:blank":
            self._load("Page.navigate", url="about:blank")
        self._load("Page.navigate", url=url)

    def reload(self) -> None:
        """Load the page again."""
        self._load("Page.reload")

    def _load(self, method: str, **params: Any) -> None:
        before = self._loads
        self.call(method, **params)
        while self._loads == before:
            self._next()

    def run(self, expression: str) -> Any:
        """What an expression of JavaScript is."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str, timeout_s: float = 20) -> Any:
        """Wait until an expression is true."""
        end = time.monotonic() + timeout_s
        while True:
            found = self.run(expression)
            if found:
                return found
            assert time.monotonic() < end, f"{expression}\n{self.run('document.body.innerText')}\n{self.told}"
            time.sleep(0.05)

    def wait_told(self, text: str, timeout_s: float = 20) -> None:
        """Wait until the page has told something with a text, and forget that."""
        end = time.monotonic() + timeout_s
        while not (found := [each for each in self.told if text in str(each)]):
            assert time.monotonic() < end, f"{text} is not in {self.told}"
            time.sleep(0.05)
            self.run("0")
        self.told.remove(found[0])

    def press(self, key: str) -> None:
        """Press and let go a key: a character, or a name such as ``ArrowDown``."""
        code = _KEYS.get(key, 0)
        text = {} if code and key != "Enter" else {"text": "\r" if key == "Enter" else key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text: str) -> None:
        """Write into what has the focus."""
        self.call("Input.insertText", text=text)

    def width(self, pixels: int) -> None:
        """How wide the page is."""
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=720, deviceScaleFactor=1, mobile=False)

    def dark(self, on: bool) -> None:
        """What the page takes the user to prefer."""
        value = "dark" if on else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])

    def picture(self, path: Path) -> None:
        """Write a PNG of what is shown."""
        path.write_bytes(b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """A browser with an empty page, whose profile is a folder of its own."""
    assert PROGRAM is not None
    there, writes = os.pipe()
    reads, back = os.pipe()
    words = [sys.executable, "-c", _LAUNCHER, str(there), str(back), PROGRAM, *_OPTIONS]
    words += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(words, pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(there)
    os.close(back)
    with open(writes, "wb") as into, open(reads, "rb") as out:
        try:
            yield Page(into, out)
        finally:
            process.terminate()
            process.wait(30)
