"""browser.py - a headless Chromium, driven over its debugging pipe, for tests of pages.

Messages are JSON, each ended by a NUL (Chrome DevTools Protocol, --remote-debugging-pipe); no library is needed.
"""
import json, os, select, shutil, subprocess, tempfile, time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# what is legible: text of 11 pixels and more, and a contrast of 4.5 : 1 to what is behind it
LEGIBLE = """(() => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m; };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll('main *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || e.closest('svg') || !e.offsetParent) continue;
    const s = getComputedStyle(e), a = light(parse(s.color).slice(0, 3)), b = light(behind(e).slice(0, 3));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5 || parseFloat(s.fontSize) < 11) bad.push([e.tagName, e.textContent.slice(0, 30), contrast, s.fontSize]);
  }
  if (document.documentElement.scrollWidth > innerWidth) bad.push(['overflow', document.documentElement.scrollWidth, innerWidth]);
  return bad;
})()"""


class Browser:
    """One page.  events: all that the browser told on its own."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="fullrack-browser-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def fds():
            # duplicates first: the pipes may lie on 3 and 4 the other way round
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--user-data-dir=" + self.folder, "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=fds, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.next_id, self.events = b"", 1, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(domain + ".enable")

    def message(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise EOFError("the browser has ended")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, timeout=60, **params):
        number, self.next_id = self.next_id, self.next_id + 1
        request = {"id": number, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            m = self.message(deadline)
            if m.get("id") == number:
                if "error" in m:
                    raise RuntimeError("%s: %s" % (method, m["error"]))
                return m["result"]
            self.events.append(m)

    def page(self, method, **params):
        return self.call(method, self.session, **params)

    def open(self, path):
        """The page of a file; events begin anew."""
        self.events = []
        self.page("Page.navigate", url="file://" + path)
        deadline = time.monotonic() + 60
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message(deadline))

    def look(self, width, height=900, scheme="light"):
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def ask(self, expression):
        r = self.page("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in r:
            raise RuntimeError(json.dumps(r["exceptionDetails"]))
        return r["result"].get("value")

    def close(self):
        try:
            self.call("Browser.close", timeout=10)
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)
