"""The feed of changes: every one once, in order, whatever happens to the server or to the connection."""

import json
import threading
import time

import pytest
from support import PATIENCE, wait_until


class Stream(threading.Thread):
    """Reads server-sent events, and goes on where it was when the server hangs up, as browsers do."""

    def __init__(self, server, after=None, heads=None):
        super().__init__(daemon=True)
        self.server, self.last, self.events, self.over = server, after, [], threading.Event()
        self.heads, self.connections, self.opened = heads or {}, 0, threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                self.read()
            except (OSError, ValueError, AttributeError):
                pass  # it hung up, or was killed
            self.over.wait(0.05)

    def read(self):
        headers = dict(self.heads)
        if self.last is not None:
            headers["Last-Event-ID"] = str(self.last)
        connection = self.server.connect(2)
        connection.request("GET", "/v1/changes/stream", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/event-stream")
        self.connections += 1
        event = {}
        while not self.over.is_set():
            try:
                line = answer.readline()
            except TimeoutError:
                return
            if not line:
                return
            self.opened.set()
            line = line.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif event.get("event") == "change":
                self.events.append(json.loads(event["data"]))
                assert int(event["id"]) == self.events[-1]["seq"]
                self.last = int(event["id"])
                event = {}
            else:
                event = {}

    def stop(self):
        self.over.set()
        self.join(PATIENCE)
        return self.events


class Poll(threading.Thread):
    """Asks again and again."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.events, self.next, self.over = server, [], 0, threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                some = self.server.get("/v1/changes", {"after": self.next, "wait_seconds": 2, "limit": 3}, timeout=PATIENCE).ok()
            except (OSError, ValueError, AssertionError):
                self.over.wait(0.05)
                continue
            self.events += some["changes"]
            self.next = some["next"]

    def stop(self):
        self.over.set()
        self.join(PATIENCE)
        return self.events


def test_everybody_hears_of_every_change_once_and_in_order(servers, sites):
    server = servers(gap='"5ms"').start()
    site, visits = sites(), {}

    def count(handler):
        visits[handler.path] = visits.get(handler.path, 0) + 1
        return 200, {"Content-Type": "text/html"}, f"<p>{handler.path} number {visits[handler.path]}</p>"

    for number in range(20):
        site.pages[f"/{number}"] = count
    readers = [Stream(server, 0), Stream(server, 0), Poll(server)]
    urls = [site.url(f"/{number}") for number in range(20)]
    server.add(*urls)

    def hurry():
        for page in server.get("/v1/pages").ok()["pages"]:
            server.post(f"/v1/pages/{page['id']}/fetch")

    for round, end in enumerate((server.stop, server.kill, server.kill)):
        seen = len(readers[2].events)
        wait_until("something changes", lambda: (hurry(), len(readers[2].events) >= seen + 10)[1], every=0.2)
        wait_until("all are connected", lambda: all(reader.connections > round for reader in readers[:2]))
        end()
        server.start()
    hurry()
    before = len(server.changes())
    wait_until("and changes again", lambda: (hurry(), len(server.changes()) > before + 5)[1], every=0.2)
    for page in server.get("/v1/pages").ok()["pages"]:
        server.patch(f"/v1/pages/{page['id']}", {"state": "paused"}).ok()
    wait_until("nothing is under way", lambda: server.get("/v1/status").ok()["under_way"] == 0)
    changes = server.changes()
    assert [change["seq"] for change in changes] == sorted({change["seq"] for change in changes})
    assert len(changes) >= 40
    for reader in readers:
        wait_until("all arrive", lambda: len(reader.events) >= len(changes))
        assert reader.stop() == changes
    assert all(reader.connections >= 4 for reader in readers[:2])
    # Each page's changes follow from one another: nothing is missing in between.
    digests = {}
    for change in changes:
        assert change["old"] == digests.get(change["page"]), change
        digests[change["page"]] = change["new"]


def test_polls_wait_and_streams_begin_where_they_are_asked_to(scheduler):
    begun = time.monotonic()
    assert scheduler.get("/v1/changes?wait_seconds=0.5").ok() == {"changes": [], "next": 0}
    assert 0.45 < time.monotonic() - begun
    fresh = Stream(scheduler)
    assert fresh.opened.wait(PATIENCE)
    scheduler.add("http://a.example/")
    grant = scheduler.post("/v1/fetches/next", {"knows_robots": True, "wait_seconds": 10}).ok()
    result = {"lease": grant["fetches"][0]["lease"], "status": 200, "body": "one", "content_type": "text/plain"}
    assert scheduler.post("/v1/fetches/results", {"results": [result]}).ok()["results"][0]["result"] == "taken"
    change = scheduler.get("/v1/changes?wait_seconds=10").ok()
    assert [one["url"] for one in change["changes"]] == ["http://a.example/"] and change["next"] == change["changes"][0]["seq"]
    wait_until("the stream has it", lambda: fresh.events == change["changes"])
    later = Stream(scheduler, after=change["next"])
    assert later.opened.wait(PATIENCE)
    assert fresh.stop() == change["changes"] and later.stop() == []
    far = scheduler.get("/v1/changes?after=999999").ok()
    assert far == {"changes": [], "next": 999999}


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=99999999999999999999", "limit=0", "limit=10001", "wait_seconds=61", "wait_seconds=-1",
                                   "wait_seconds=nan", "what=1"])
def test_nonsense_is_refused(scheduler, query):
    scheduler.get(f"/v1/changes?{query}").problem(400)


def test_nonsense_of_streams_is_refused(scheduler):
    for last in ["x", "-1", "", "1.5", "99999999999999999999"]:
        scheduler.get("/v1/changes/stream", headers={"Last-Event-ID": last}).problem(400)
    for query in ["after=-1", "after=x", "limit=1"]:
        scheduler.get(f"/v1/changes/stream?{query}").problem(400)


def test_streams_end_when_the_server_does(scheduler):
    stream = Stream(scheduler)
    assert stream.opened.wait(PATIENCE)
    scheduler.stop()
    assert "did not end in time" not in scheduler.said(), "a stream is not waited for"
    stream.stop()
