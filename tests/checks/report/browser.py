# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium that does what a test says, over a pair of pipes: no other packages are needed."""
import base64
import json
import os
import shutil
import subprocess


def find():
    return next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


class Browser:
    """One page. Collects what the page reports as errors."""

    def __init__(self, program, profile):
        from_us, ours = os.pipe()
        theirs, to_us = os.pipe()

        def place():  # the browser reads 3 and writes 4
            kept = [os.dup(from_us), os.dup(to_us)]
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate(kept)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "--window-size=1280,1600", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self._out, self._in = os.fdopen(ours, "wb"), os.fdopen(theirs, "rb")
        self._number, self._rest, self.errors = 0, b"", []
        self._session = None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")

    def close(self):
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while (answer := self._hear()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression):
        if not self.value(f"new Promise(done => {{ const look = n => ({expression}) ? done(true) : n ? "
                          "setTimeout(look, 50, n - 1) : done(false); look(600); })"):
            raise RuntimeError(f"this never became true: {expression}")

    def click(self, x, y):
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(picture))

    def _hear(self):
        while b"\0" not in self._rest:
            piece = os.read(self._in.fileno(), 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._rest += piece
        one, self._rest = self._rest.split(b"\0", 1)
        return json.loads(one)

    def _note(self, event):
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(what["exceptionDetails"].get("exception", {}).get("description", str(what)))
        if method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.errors.append(str(what["args"]))
        if method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"])
