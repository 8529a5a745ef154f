"""A real Chromium, driven through its debugging pipe (descriptors 3 and 4, JSON ended by NUL): no package is needed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        ours, theirs = os.pipe(), os.pipe()
        # our ends stay ours: 3 is what it reads, 4 what it writes
        def before():
            os.dup2(ours[0], 103)
            os.dup2(theirs[1], 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=before, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.out, self.into = ours[1], theirs[0]
        self.rest, self.number, self.events, self.session = b"", 0, [], None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Log"):
            self(f"{domain}.enable")

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.into, 1 << 16)
            assert piece, "the browser died"
            self.rest += piece
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def __call__(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            got = self.read()
            if got.get("id") == self.number:
                assert "error" not in got, got
                return got["result"]
            self.events.append(got)

    def show(self, width, dark=False, script=True):
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self("Emulation.setScriptExecutionDisabled", value=not script)

    def open(self, url):
        self.events.clear()
        self("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")
        assert self.run("location.protocol") != "chrome-error:", self.run("document.body.innerText")

    def run(self, expression):
        result = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, expression, seconds=600):
        """Until the page says so; a page that is just being left answers later."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(expression):
                    return
            except AssertionError:
                pass
            time.sleep(0.1)
        raise AssertionError(f"never: {expression}")

    def choose(self, selector, path):
        root = self("DOM.getDocument")["root"]["nodeId"]
        node = self("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def problems(self):
        """Messages of the console: refusals by the content policy, script errors."""
        found = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]))
        return found

    def picture(self, path):
        size = self("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}
        data = self("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)
