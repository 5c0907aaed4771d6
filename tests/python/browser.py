"""Chromium, as a person has it: what it shows, what it complains about, and whom it talks to."""

import contextlib
import importlib.util
import json
import pathlib
import shutil
import socket
import tempfile
import threading

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from support import PATIENCE, wait_until

DESKTOP, PHONE = (1280, 900), (360, 740)


def flags():
    """Nothing but loopback has an address, whatever a page, or the browser itself, wants to load."""
    plain = "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update disable-sync disable-dev-shm-usage"
    return [f"--{name}" for name in plain.split()] + ["--js-flags=--expose-gc", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


def axe():
    """The rules of axe-core, as the package brings them."""
    found = importlib.util.find_spec("axe_playwright_python")
    return (pathlib.Path(found.origin).parent / "axe.min.js").read_text()


class Browser:
    """A fresh one, which remembers nothing."""

    def __init__(self, size=DESKTOP, dark=False, scripts=True):
        self.folder = tempfile.mkdtemp(prefix="refrain-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
        for flag in [*flags(), f"--user-data-dir={self.folder}", f"--window-size={size[0]},{size[1]}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(PATIENCE)
        self.look(size, dark)
        if not scripts:
            self.tell("Emulation.setScriptExecutionDisabled", value=True)

    def tell(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def look(self, size, dark=False):
        """Through a window of this size, by day or by night."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.tell("Emulation.setEmulatedMedia", features=[scheme])
        self.tell("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=size == PHONE)

    def open(self, url):
        self.driver.get(url)
        return self

    def live(self):
        """The page, once it is live."""
        wait_until("the page is live", lambda: self.run("return document.body.classList.contains('is-live')"))
        return self

    def run(self, script, *args):
        return self.driver.execute_script(script, *args)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        assert found, f"no {selector} in {self.driver.current_url}: {self.text()[:500]}"
        return found[0]

    def text(self):
        return self.driver.find_element(By.TAG_NAME, "body").text

    def press(self, name):
        """The button with this name."""
        found = [button for button in self.all("button") if button.text == name]
        assert found, f"no button {name!r}: {[button.text for button in self.all('button')]}"
        return self.follow(found[0])

    def follow(self, element):
        """What leads to another page; that page, once it is there."""
        before = self.one("html")
        element.click()

        def is_another():
            try:
                before.is_enabled()
                return False
            except WebDriverException:
                return self.run("return document.readyState") == "complete"

        wait_until("there is another page", is_another)
        return self

    def complaints(self):
        """What is wrong with the page, as its console has it."""
        return [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def asked(self):
        """Addresses that were asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        blocked = {event["params"]["requestId"] for event in events if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason")}
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [one["request"]["url"] for one in sent if one["requestId"] not in blocked]

    def findings(self):
        """What axe finds that keeps people out."""
        self.run(axe())
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations'], iframes: false}).then((found) => done(found.violations))"
        )
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        return [(one["id"], one["help"], [node["html"][:200] for node in one["nodes"]][:3]) for one in serious]

    def picture(self, path):
        pathlib.Path(path).write_bytes(self.driver.get_screenshot_as_png())

    def close(self):
        with contextlib.suppress(Exception):
            self.driver.quit()
        shutil.rmtree(self.folder, ignore_errors=True)


class Canary:
    """Whoever connects to it has been made to by somebody else's page."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.visits = []
        threading.Thread(target=self.sing, daemon=True).start()

    def sing(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.socket.accept()
                peer.settimeout(0.2)
                with contextlib.suppress(OSError):
                    self.visits.append(peer.recv(200))
                peer.close()

    def url(self, path=""):
        return f"http://127.0.0.1:{self.port}/{path}"

    def close(self):
        self.socket.close()
