# SPDX-License-Identifier: MIT
"""A headless Chromium, driven through the pipe of its debugging protocol: nothing but Chromium needed."""
import base64
import json
import os
import select
import subprocess
import tempfile
import time

PROGRAMS = ("/usr/lib/chromium/chromium", "/usr/bin/chromium", "/usr/bin/chromium-browser")


def find_chromium():
    return next((path for path in PROGRAMS if os.access(path, os.X_OK)), None)


class Browser:
    """with Browser() as browser: page = browser.open(path)"""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        arguments = [
            find_chromium(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1", "--force-color-profile=srgb",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + self.profile.name, "about:blank"]

        def use_pipes():
            # Above 3 and 4 first, for they may be among them.
            ends = [os.dup2(to_browser, 103), os.dup2(from_browser, 104)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.log = open(os.path.join(self.profile.name, "stderr"), "wb")
        self.process = subprocess.Popen(arguments, preexec_fn=use_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=dict(os.environ, HOME=self.profile.name))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.events = []
        self.last = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.log.close()
        self.profile.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("Chromium does not answer")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise EOFError("Chromium ended: " + open(self.log.name, errors="replace").read()[-2000:])
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, timeout=30, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, path, width=1600, height=1000, scheme="light"):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session, path)
        for domain in "Page", "Runtime", "Network", "Log":
            page.call(domain + ".enable")
        page.size(width, height)
        page.scheme(scheme)
        page.call("Page.navigate", url=page.url)
        page.wait("document.body && document.body.dataset.ready === 'true'")
        return page


class Page:
    def __init__(self, browser, target, session, path):
        self.browser, self.target, self.session = browser, target, session
        self.url = "file://" + "".join(
            c if c.isalnum() or c in "/._-" else "".join(f"%{b:02X}" for b in c.encode()) for c in path)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, script):
        """The value of an expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script[:100]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, seconds=20):
        deadline = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {script}; {self.complaints()}")
            time.sleep(0.05)

    def complaints(self):
        """What the console, the network and scripts said that a page which is fine does not say."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, what = event["method"], event["params"]
            if method in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
                found.append((method, what))
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append((method, what["entry"]))
            elif method == "Runtime.consoleAPICalled":
                found.append((method, what["args"]))
            elif method == "Network.requestWillBeSent" and what["request"]["url"] not in (self.url, "data:,"):
                found.append((method, what["request"]["url"]))
        return found

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, selector, start, end, modifiers=0):
        """From one share of an element's width to another."""
        box = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                       " e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
                       " return [b.left, b.top, b.width, b.height]; })()")
        x = [box[0] + share * box[2] for share in (start, (start + end) / 2, end)]
        y = box[1] + box[3] / 2
        self.mouse("mouseMoved", x[0], y)
        self.mouse("mousePressed", x[0], y, button="left", buttons=1, clickCount=1, modifiers=modifiers)
        self.mouse("mouseMoved", x[1], y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseMoved", x[2], y, button="left", buttons=1, modifiers=modifiers)
        self.mouse("mouseReleased", x[2], y, button="left", clickCount=1, modifiers=modifiers)
        return x[2], y

    def key(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path, full=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full,
                         **({"clip": self.whole()} if full else {}))
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def whole(self):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
