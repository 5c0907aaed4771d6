"""Those who mean no good, or know no better, at every door: the server never answers 500, and lives."""

import contextlib
import json
import re
import socket
import struct
import threading
import time

import pytest
from support import PATIENCE

#: Doors that take a body.
DOORS = [("POST", "/v1/pages"), ("PATCH", "/v1/pages"), ("PATCH", "/v1/pages/1"), ("PATCH", "/v1/hosts/http%3A%2F%2Fa.example"), ("PUT", "/v1/budget"),
         ("POST", "/v1/requests"), ("POST", "/v1/fetches/next"), ("POST", "/v1/fetches/results"), ("POST", "/v1/signals"),
         ("POST", "/indexnow"), ("POST", "/ping"), ("POST", "/push/webhook"), ("POST", "/push/websub/x")]
HEAD = "Host: localhost\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One for all of this: whatever is done to it, it goes on."""
    from support import Server

    server = Server(tmp_path_factory.mktemp("hostile"), "--no-fetch", serve='max_body = "1MB"').start()
    server.add("http://a.example/")
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def it_lives(server):
    yield
    assert server.lives(), server.said()
    assert server.get("/health").status == 200 and server.get("/ready").status == 200
    assert "panicked" not in server.said(), server.said()
    assert server.get("/v1/pages").ok()["pages"][0]["url"] == "http://a.example/"


def statuses(answer):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


def refused(answer, *expected):
    found = statuses(answer)
    assert all(status < 500 for status in found), answer[:500]
    if expected:
        assert found and found[0] in expected, (expected, answer[:500])


def send(server, method, path, body, kind="application/json", more=""):
    head = f"{method} {path} HTTP/1.1\r\n{HEAD}Connection: close\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return server.raw(head.encode() + body)


@pytest.mark.parametrize("method,path", DOORS)
def test_bodies_that_are_none(server, method, path):
    bodies = [b"", b"\0", b"\xff\xfe{", b"{", b"[", b'"', b"nul", b"{}{}", b"[" * 100_000, b'{"a":' * 50_000, b"[" * 100_000 + b"]" * 100_000, b"1" * 10_000,
              b"1e999999999", b"-" + b"9" * 400, b'{"a":1,"a":2}', b'"\\ud800"', b'"\xc3\x28"', b"\xef\xbb\xbf[]", b"[1e400]", b'["\\u0000"]',
              b'{"results":[{"lease":"' + b"9" * 5000 + b'"}]}', b'{"signals":[{"url":"http://\\u0000/"}]}', b'{"pages":[{"page":9223372036854775808}]}',
              b'[{"page":-9223372036854775809}]', b'{"rate_per_second":1e308,"price":1e308,"cap_per_second":1e308}', b'{"gap_seconds":1e308}',
              b'[{"url":"http://' + b"a" * 70_000 + b'/"}]']
    for body in bodies:
        for kind in ("application/json", "application/x-ndjson", "text/plain", "application/x-www-form-urlencoded", "", "\xff"):
            refused(send(server, method, path, body, kind))


@pytest.mark.parametrize("method,path", DOORS)
def test_bodies_that_are_too_long(server, method, path):
    for body in (b"[" + b" " * 5_000_000 + b"]", b"[" * 5_000_000):
        answer = send(server, method, path, body)
        refused(answer)
        if statuses(answer):
            assert statuses(answer)[0] in (400, 401, 404, 410, 413, 422), answer[:300]
    # Told before it is sent: nobody reads it.
    refused(server.raw(f"{method} {path} HTTP/1.1\r\n{HEAD}Connection: close\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n".encode()))


def test_a_line_without_end(server):
    answer = send(server, "POST", "/v1/pages", b'"http://b.example/' + b"a" * 3_000_000, "application/x-ndjson")
    refused(answer, 413)


def test_any_number_of_lines(server):
    body = b'"not an address"\n' * 300_000
    answer = server.post("/v1/pages", body, headers={"Content-Type": "application/x-ndjson"}).ok()
    assert answer["refused"] == 300_000 and len(answer["refusals"]) == 100
    body = b"{}\n" * 300_000
    assert server.post("/v1/requests", body, headers={"Content-Type": "application/x-ndjson"}).ok()["refused"] == 300_000


@pytest.mark.parametrize("head", [
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"a" * 200_000 + b"\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X-%d: 1\r\n" % number for number in range(5000)) + b"\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    b"GET /v1/status HTTP/1.1\nHost: localhost\n\n\0\0\0",
    b"GET /v1/status\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET  /v1/status  HTTP/1.1\r\n\r\n",
    b"GET /v1/status HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET http://evil.example/v1/status HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    b"GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"TRACE /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"BREW /v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
    b"\0" * 100_000,
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/status HTTP/1.1\r\n\r\n",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdefg",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\nabcdefg",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]\r\n0\r\n\r\n",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n[]",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;" + b"x" * 100_000 + b"\r\n[]\r\n0\r\n\r\n",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
    b"POST /v1/pages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n\x1f\x8b",
    b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + b"\xff" * 30 + b"\r\nConnection: close\r\n\r\n",
    b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
], ids=range(27))
def test_heads_that_are_none(server, head):
    with socket.create_connection(("127.0.0.1", server.port), 15) as peer:
        with contextlib.suppress(OSError):
            peer.sendall(head)
            peer.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while some := peer.recv(65536):
                got += some
    refused(got)
    assert 200 not in statuses(got) or b"POST" in head or b"\nHost" in head, got[:300]


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/v1/../../etc/passwd", "/v1/pages/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                                  "/v1/hosts/..%2F..%2Fetc", "/v1/pages/1/versions/..%2f1", "/openapi.json/../tokens.json", "/tokens.json", "/v1/%00",
                                  "/v1/hosts/%FF%FE", "/v1/pages/%F0%9F%92%A9", "/push/websub/..%2f..", "/push/websub/%00", "/v1/page?url=file%3A%2F%2F%2Fetc%2Fpasswd",
                                  "/v1/page?url=%FF", "/v1/page?url=%00", "/v1/pages?prefix=%00", "/v1/pages?host=%00&host=x", "/v1/pages?prefix=%FF%FE",
                                  "/v1/pages?cursor=" + "A" * 20_000, "/v1/changes?after=1&after=2", "/indexnow?url=%00&key=%00", "/indexnow?" + "&" * 20_000,
                                  "/ping?sitemap=%FF", "/v1/pages/1/copy?at=%00", "/v1/pages/1/diff?from=-1", "/v1/pages/1/diff?from=99999999999999999999",
                                  "/v1/forecast?rate_per_second=1e-400", "/v1/read?url=" + "a" * 10_000])
def test_paths_that_lead_nowhere(server, path):
    answer = server.raw(f"GET {path} HTTP/1.1\r\n{HEAD}Connection: close\r\n\r\n".encode())
    refused(answer)
    assert b"root:" not in answer and b"sha256" not in answer
    if b"prefix" not in path.encode() and b"1e-400" not in path.encode():
        assert statuses(answer)[0] in (400, 404, 414, 422, 431), answer[:300]


def test_every_method_at_every_door(server):
    description = server.get("/openapi.json").ok()
    for path, item in description["paths"].items():
        path = path.replace("{id}", "1").replace("{version}", "1").replace("{name}", "x")
        if path == "/v1/changes/stream":
            continue
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "TRACE", "FROB"):
            if method == "POST" and path == "/v1/pages/1/fetch":
                continue
            answer = server.ask(method, path)
            assert answer.status < 500, (method, path, answer)
            if method.lower() not in item and method != "HEAD":
                assert answer.status == 405 and answer.headers.get("Allow"), (method, path, answer)


def test_uploads_that_break_off(server):
    head = f"POST /v1/pages HTTP/1.1\r\n{HEAD}Content-Type: application/x-ndjson\r\nContent-Length: 1000000\r\n\r\n".encode()
    for number in range(40):
        with socket.create_connection(("127.0.0.1", server.port), 10) as peer:
            peer.sendall(head + b'"http://broken-%d.example/"\n' % number + b'"http://half')
            if number % 2:  # an RST, not a FIN
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for path in ("/v1/fetches/results", "/v1/signals", "/push/webhook", "/indexnow"):
        with socket.create_connection(("127.0.0.1", server.port), 10) as peer:
            peer.sendall(f"POST {path} HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n".encode() + b'{"results":[')
    # Who hangs up while waiting for work takes none of it.
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", server.port), 10) as peer:
            body = b'{"wait_seconds":60,"most":1000}'
            peer.sendall(f"POST /v1/fetches/next HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    assert "http://half" not in json.dumps(server.get("/v1/pages").ok())


class Slow(threading.Thread):
    """Says what it has to say a little at a time, and keeps what it heard."""

    def __init__(self, server, head, drops=b"", every=0.5):
        super().__init__(daemon=True)
        self.peer = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        self.head, self.drops, self.every, self.got, self.begun = head, drops, every, b"", time.monotonic()
        self.took = None
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            self.peer.sendall(self.head)
            self.peer.settimeout(self.every)
            while time.monotonic() - self.begun < PATIENCE:
                try:
                    some = self.peer.recv(65536)
                    if not some:
                        break
                    self.got += some
                    if b"\r\n\r\n" in self.got:
                        break
                except TimeoutError:
                    if self.drops:
                        self.peer.sendall(self.drops)
        self.took = time.monotonic() - self.begun
        self.peer.close()


def test_who_dawdles_is_sent_away_and_others_are_served(server, servers):
    # Whoever takes all places loses them; then others are served.
    full = servers("--no-fetch", serve="connections = 20").start()
    taken = [socket.create_connection(("127.0.0.1", full.port), PATIENCE) for _ in range(30)]
    waited = []
    waiting = threading.Thread(target=lambda: waited.append(full.get("/health").status))
    waiting.start()

    def post(path):
        return f"POST {path} HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n".encode()

    slow = [Slow(server, post(path), b" ") for path in ("/v1/pages", "/v1/signals", "/v1/fetches/results", "/v1/budget")]
    silent = [Slow(server, post(path)) for path in ("/v1/pages", "/v1/requests", "/v1/fetches/next")]
    pushed = [Slow(server, post(path), b" ") for path in ("/indexnow",)]
    heads = [Slow(server, b"GET /v1/status HTTP/1.1\r\nX-Slow: ", b"a") for _ in range(100)]
    mute = [Slow(server, b"") for _ in range(300)]
    while any(one.is_alive() for one in heads + mute + slow + silent):
        assert server.get("/v1/pages/1").status == 200, "nobody waits for them"
        assert time.monotonic() - slow[0].begun < PATIENCE, "nobody may dawdle for so long"
        time.sleep(0.1)
    for one in slow + silent:
        if one.head.startswith(b"POST /v1/budget") or one.head.startswith(b"POST /v1/pages/1"):
            continue
        assert statuses(one.got) == [408], (one.head, one.got)
        assert 9 < one.took < PATIENCE
    for one in heads + mute:
        assert 200 not in statuses(one.got) and one.took < PATIENCE, one.got
    waiting.join(PATIENCE)
    assert waited == [200]
    for peer in taken:
        peer.close()
    full.stop()
    for one in pushed:
        one.join(PATIENCE)
        assert not one.is_alive() and all(status in (400, 408) for status in statuses(one.got)), one.got
