import base64
import json
import os
import re
import select
import subprocess
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest


class Tab:
    """A tab of a headless Chromium, driven over its debugging pipe."""

    def __init__(self, send_to: int, read_from: int) -> None:
        self._out, self._in, self._buffer, self._last = send_to, read_from, b"", 0
        self._session: dict[str, str] = {}
        self.events: list[dict] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict:
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters, **self._session}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (reply := self._receive()).get("id") != self._last:
            self.events.append(reply)
        assert "error" not in reply, f"{method}: {reply}"
        return reply["result"]

    def _receive(self, patience: float = 90) -> dict:
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], patience)[0], "Chromium does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "Chromium has gone"
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path: Path | str, *, width: int = 1200, height: int = 900, dark: bool = False, script: bool = True):
        """Open a file as a person would, from disk; or an address."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.media(dark=dark)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.call("Page.navigate", url=path if isinstance(path, str) else path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())
        return self

    def wait_for(self, code: str, patience: float = 60):
        """Until a script in the page, whichever that is by then, gives something; gives it."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            with suppress(AssertionError):  # between two pages there is nobody to ask
                if found := self.run(code):
                    return found
            time.sleep(0.1)
        raise AssertionError(f"waited {patience} s for {code}")

    def media(self, kind: str = "screen", *, dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=kind, features=[scheme])

    def run(self, code: str):
        """What a script in the page gives; awaits promises."""
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def click(self, selector: str) -> None:
        """A real click of the mouse on the middle of an element."""
        x, y = self.run(
            f"""(() => {{ const element = document.querySelector({json.dumps(selector)});
                element.scrollIntoView({{block: "center", inline: "center"}});
                const box = element.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        code = {"ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27, "Tab": 9}
        code |= {letter: ord(letter.upper()) for letter in "efjkntuz123/"}
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code[key], **text)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def requests(self) -> list[str]:
        """Addresses that the page asked for since it was opened."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[str]:
        """Errors, warnings and refusals that the browser noted since the page was opened."""
        logged = [event["params"] for event in self.events if event.get("method") == "Log.entryAdded"]
        thrown = [event["params"] for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        return [entry["entry"]["text"] for entry in logged] + [str(entry) for entry in thrown]

    def picture(self, path: Path) -> None:
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))


def sheets(tab: Tab, path: Path) -> int:
    """How many sheets of A4 a page takes when it is printed."""
    tab.open(path).media("print")
    printed = tab.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69)["data"]
    tab.media()
    return len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(printed)))


@contextmanager
def opened(profile: Path, chromium: str = "chromium"):
    """A tab of a Chromium that is closed afterwards."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()

    def hand_over() -> None:  # the browser reads commands from descriptor 3 and answers on 4
        reads, writes = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(reads, 3)
        os.dup2(writes, 4)

    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    browser = subprocess.Popen(
        command, preexec_fn=hand_over, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(theirs_in)
    os.close(theirs_out)
    tab = Tab(ours_out, ours_in)
    yield tab
    tab._session = {}
    tab.call("Browser.close")
    browser.wait(timeout=30)
    os.close(ours_out)
    os.close(ours_in)


@pytest.fixture(scope="session")
def tab(chromium, tmp_path_factory):
    """One tab for all tests."""
    with opened(tmp_path_factory.mktemp("profile"), chromium) as found:
        yield found


@pytest.fixture(scope="session")
def printed(tab):
    """How many sheets a page takes."""
    return partial(sheets, tab)
