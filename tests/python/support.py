"""What the tests stand on: a server that is started, stopped and killed, sites that write down who asks them what, and a hub."""

import contextlib
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
FETCHER = ROOT / "examples" / "fetcher.py"
PATIENCE = 120.0  # seconds, of a machine that is busy with something else; whatever takes longer does not happen


def binary():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    return str(pathlib.Path(os.environ.get("REFRAIN") or target / "debug" / "refrain").absolute())


def wait_until(what, true, patience=PATIENCE, every=0.05):
    """Waits until something is true, and gives what made it so."""
    end = time.monotonic() + patience
    while True:
        found = true()
        if found:
            return found
        assert time.monotonic() < end, f"{what}: not within {patience} s"
        time.sleep(every)


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def kind(self):
        return (self.headers.get("content-type") or "").split(";")[0]

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:500]!r}"

    def ok(self):
        assert 200 <= self.status < 300, self
        return self.json if self.body and self.kind == "application/json" else self.body

    def problem(self, status, code=None):
        """It is a problem as RFC 9457 has it, of this status."""
        assert self.status == status, self
        assert self.kind == "application/problem+json", (self.kind, self)
        details = self.json
        assert details["status"] == status and details["title"] and details["detail"] and details["type"], self
        if code:
            assert details["code"] == code, self
        return details


USUAL = {
    "allow_private": "true",
    "agent": '"Tester"',
    "contact": '"me@example.net"',
    "rate": '"500/s"',
    "gap": '"20ms"',
    "patience": "0.0",
    "data": '"data"',
}

# Pages of tests change with each request. A crawl that looks again two seconds later would call that noise.
NO_NOISE = "\n".join(f'[[site]]\nstart = "{scheme}://"\nlearn_noise = false' for scheme in ("http", "https"))


class Server:
    """`refrain serve` in a folder of its own."""

    def __init__(self, folder, *args, toml="", serve="", frontier=None, **settings):
        """`frontier`: where crawlers that speak URLFrontier are listened to, or "configured" if the settings say it."""
        self.folder, self.args, self.frontier, self.frontier_port = pathlib.Path(folder), list(args), frontier, 0
        self.data = self.folder / "data"
        self.port, self.process, self.scheme, self.context = 0, None, "http", None
        self.listen, self.address, self.within = "127.0.0.1", "127.0.0.1", []
        self.token = None
        lines = [f"{key} = {value}" for key, value in {**USUAL, **settings}.items()]
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "refrain.toml").write_text("\n".join([*lines, toml, NO_NOISE, "[serve]", serve, ""]))

    def start(self, *more):
        listen = f"{self.listen}:{self.port}"
        command = [*self.within, binary(), "serve", "--listen", listen, *self.args, *more]
        if self.frontier and self.frontier != "configured":
            command += ["--urlfrontier", f"{self.frontier}:{self.frontier_port}"]
        self.log = open(self.folder / "log.txt", "ab")
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=self.log)
        found = self.announced(r"Listening on (https?)://\S+:(\d+)$")
        self.scheme, self.port = found[1], int(found[2])
        if self.frontier:
            self.frontier_port = int(self.announced(r".*\burlfrontier on \S+:(\d+)$")[1])
        wait_until("it is ready", lambda: self.get("/ready").status == 200)
        return self

    def announced(self, pattern):
        """The next line on standard output, which says where something listens."""
        line = self.process.stdout.readline().decode()
        found = re.match(pattern, line.strip())
        assert found, (line, self.said())
        return found

    def said(self):
        return (self.folder / "log.txt").read_text(errors="replace")

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def lives(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """As a service manager does it."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self.closed()
        assert status == 0, (status, self.said())

    def kill(self):
        """kill -9"""
        if self.process:
            self.process.kill()
            self.process.wait(PATIENCE)
            self.closed()

    def closed(self):
        self.process.stdout.close()
        self.log.close()
        self.process = None

    def run(self, *args, check=True):
        """Another command of Refrain, on the same data."""
        done = subprocess.run([binary(), *args], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        assert not check or done.returncode == 0, done
        return done

    def connect(self, timeout=PATIENCE):
        if self.scheme == "https":
            return http.client.HTTPSConnection(self.address, self.port, timeout=timeout, context=self.context)
        return http.client.HTTPConnection(self.address, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, timeout=PATIENCE):
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if isinstance(body, str):
            body = body.encode()
        connection = self.connect(timeout)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())

    def get(self, path, query=None, **more):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        return self.ask("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.ask("POST", path, body, **more)

    def patch(self, path, body):
        return self.ask("PATCH", path, body)

    def put(self, path, body):
        return self.ask("PUT", path, body)

    def delete(self, path):
        return self.ask("DELETE", path)

    def add(self, *pages):
        return self.post("/v1/pages", list(pages)).ok()

    def page(self, url):
        return self.get("/v1/page", {"url": url}).ok()

    def number(self, url):
        return self.page(url)["id"]

    def fetched(self, url):
        """The page, once it was fetched."""
        return wait_until(f"{url} is fetched", lambda: self.is_fetched(url))

    def is_fetched(self, url):
        page = self.page(url)
        return page if page["fetched"] else None

    def changes(self, after=0):
        """All changes."""
        found = []
        while True:
            some = self.get("/v1/changes", {"after": after}).ok()
            if not some["changes"]:
                return found
            found += some["changes"]
            after = some["next"]

    def raw(self, data, timeout=PATIENCE, most=1 << 20):
        """Whatever is said to it, and all that it answers until it hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as peer:
            with contextlib.suppress(OSError):  # who refuses early may hang up before all is sent
                peer.sendall(data)
            got = b""
            with contextlib.suppress(ConnectionResetError):
                while len(got) < most:
                    some = peer.recv(65536)
                    if not some:
                        break
                    got += some
            return got

    def check(self):
        """Its data are sound. It must not run."""
        assert self.process is None
        self.run("check", "--data", str(self.data))


class Site:
    """A site that writes down when it was asked for what, and until when it answered."""

    def __init__(self, robots=None, delay=0.0):
        self.pages, self.begun, self.log, self.lock, self.delay = {}, [], [], threading.Lock(), delay
        if robots is not None:
            self.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                begun = time.monotonic()
                site.begun.append(self.path)
                if site.delay:
                    time.sleep(site.delay)
                found = site.pages.get(self.path)
                if callable(found):
                    found = found(self)
                status, headers, body = found if found else (404, {}, "not here")
                body = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers_later(body, begun, status)

            def end_headers_later(self, body, begun, status):
                self._headers_buffer.append(b"\r\n")
                whole = b"".join(self._headers_buffer) + body
                self._headers_buffer = []
                # Before the answer goes out: nobody can have it before this moment.
                with site.lock:
                    site.log.append((begun, time.monotonic(), self.path, status))
                with contextlib.suppress(OSError):
                    self.wfile.write(whole)

            def log_message(self, *_):
                pass

        self.server = Many(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def host(self):
        return f"http://127.0.0.1:{self.port}"

    def html(self, path, text, **headers):
        self.pages[path] = (200, {"Content-Type": "text/html", **headers}, text)

    def asked(self, path=None):
        with self.lock:
            return sorted(entry for entry in self.log if path is None or entry[2] == path)

    def assert_polite(self, gap):
        """Never two requests at a time, and never one sooner than `gap` after the answer to the one before."""
        log = self.asked()
        for one, two in zip(log, log[1:]):
            between = two[0] - one[1]
            assert between >= gap - 0.0005, f"{between:.4f} s between {one} and {two}"
        return log

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Many(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass  # who was killed in the middle hangs up


class Hub:
    """A hub: it writes down what it is asked, and comes to verify unless it is told not to."""

    def __init__(self, lease=600):
        self.asked, self.verified, self.verifies, self.lease = [], [], True, lease
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers.get("Content-Length") or 0)
                form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
                hub.asked.append({name.removeprefix("hub."): value for name, value in form.items()})
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()
                if hub.verifies:
                    threading.Thread(target=hub.verify, args=(hub.asked[-1],), daemon=True).start()

            def log_message(self, *_):
                pass

        self.server = Many(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def verify(self, question, **other):
        """Whether it was meant: the answer to the challenge."""
        fields = {"mode": question["mode"], "topic": question["topic"], "challenge": "echo me", "lease_seconds": self.lease}
        query = urllib.parse.urlencode({f"hub.{name}": value for name, value in {**fields, **other}.items()})
        answer = fetch("GET", f"{question['callback']}?{query}")
        self.verified.append(answer)
        return answer

    def distribute(self, question, body, secret=None, algorithm="sha256", signature=None, kind="application/atom+xml"):
        if signature is None:
            key = (secret or question["secret"]).encode()
            signature = f"{algorithm}={hmac.new(key, body, getattr(hashlib, algorithm)).hexdigest()}"
        headers = {"Content-Type": kind, **({"X-Hub-Signature": signature} if signature else {})}
        return fetch("POST", question["callback"], body, headers)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def fetch(method, url, body=None, headers=None):
    """One request. No answer is status 0."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        try:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        except OSError:
            return Answer(0, {}, b"")


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))
