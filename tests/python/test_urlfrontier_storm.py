"""A server-scheduled crawl by a crawler that reports as StormCrawler does: what goes wrong with one page holds up no other page of its host."""

import collections
import time

import pytest
from frontier_client import ANY, plain
from support import wait_until

SCHEDULED = '[urlfrontier]\nschedule = "server"'
HOST = "http://a.example"
MAX_FETCH_ERRORS = 3


class Storm:
    """Fetches from a made-up web, and reports with the metadata that StormCrawler's FetcherBolt and StatusUpdaterBolt set, if all of them are persisted."""

    def __init__(self, frontier, each=5, lease=300):
        self.frontier, self.each, self.lease = frontier, each, lease
        self.pages, self.visits = {}, []

    def add(self, path, page=200):
        """`page`: the status of its answers, "robots.txt" if that forbids it, "timeout" if it never answers, or where it redirects to."""
        self.pages[HOST + path] = page
        self.frontier.discover(HOST + path)

    def counts(self):
        return collections.Counter(self.visits)

    def report(self, info):
        """One tuple through both bolts."""
        page, metadata = self.pages[info.url], plain(info.metadata)
        metadata.pop("fetch.exception", None)
        if page == "robots.txt":
            status, metadata["error.cause"] = "ERROR", "robots.txt"
        elif page == "timeout":
            status, metadata["fetch.exception"] = "FETCH_ERROR", "Socket timeout fetching"
        elif isinstance(page, str):
            status, metadata["fetch.statusCode"], metadata["_redirTo"] = "REDIRECTION", "301", page
        else:
            status, metadata["fetch.statusCode"] = "FETCHED" if page == 200 else "FETCH_ERROR", str(page)
        count = 0
        if status == "FETCH_ERROR":
            count = int(metadata.get("fetch.error.count", ["0"])[0]) + 1
            if count >= MAX_FETCH_ERRORS:
                status, metadata["error.cause"] = "ERROR", "maxFetchErrors"
        if status == "FETCH_ERROR":
            metadata["fetch.error.count"] = str(count)
        else:
            metadata.pop("fetch.error.count", None)
        if status in ("FETCHED", "REDIRECTION"):
            metadata.pop("error.cause", None)
        if status == "FETCHED":
            metadata["signature"] = "same"
        date = 0 if status == "ERROR" else int(time.time()) + 60
        return self.frontier.known(info.url, date, key=info.key, crawl=info.crawlID, metadata=metadata)

    def step(self):
        served = self.frontier.get(each=self.each, lease=self.lease, crawl=ANY)
        self.visits += [info.url for info in served]
        if served:
            self.frontier.put(*map(self.report, served))
        return served

    def until(self, what, true):
        wait_until(what, lambda: (self.step(), true())[1])


@pytest.fixture
def storms(frontiers):
    def make(each=5, **settings):
        frontier = frontiers(toml=SCHEDULED, **settings)
        frontier.delay("", 0)
        return Storm(frontier, each)

    return make


def outcomes(frontier, path):
    server = frontier.server
    return [look["outcome"] for look in server.get(f"/v1/pages/{server.number(HOST + path)}/history").ok()["looks"]]


def test_a_host_goes_on_whatever_comes_of_some_of_its_pages(storms):
    storm = storms()
    frontier, server = storm.frontier, storm.frontier.server
    fine = [f"/page-{number}" for number in range(33)]
    # What goes wrong comes first.
    for path, page in [("/private/1", "robots.txt"), ("/slow", "timeout"), ("/private/2", "robots.txt"), ("/missing", 404), ("/over", 410),
                       ("/moved", HOST + "/page-1"), ("/broken", 500)]:
        storm.add(path, page)
    for path in fine:
        storm.add(path)
    storm.until("every page was visited", lambda: set(storm.visits) == set(storm.pages))
    pages = {path: server.page(HOST + path) for path in ("/private/1", "/slow", "/missing", "/over", "/moved", "/broken", *fine)}
    assert {path: pages[path]["state"] for path in ("/private/1", "/slow", "/missing", "/over", "/moved", "/broken")} == {
        "/private/1": "disallowed", "/slow": "active", "/missing": "gone", "/over": "gone", "/moved": "active", "/broken": "active"}
    assert {path: outcomes(frontier, path) for path in ("/private/1", "/private/2", "/slow", "/missing", "/over", "/moved", "/broken")} == {
        "/private/1": ["disallowed"], "/private/2": ["disallowed"], "/slow": ["failed"], "/missing": ["gone"], "/over": ["gone"], "/moved": ["redirected"],
        "/broken": ["failed"]}, "each as it was at the first visit"
    assert all(pages[path]["fetched"] for path in fine)
    # A redirect is no page that was never fetched for no reason, and leads where the crawler says.
    said = server.run("explain", HOST + "/moved", "--data", str(server.data)).stdout
    assert "It redirects to http://a.example/page-1" in said, said
    assert pages["/moved"]["failures"] == 0 and pages["/slow"]["failures"] == 1
    # What failed is not asked for again before the others were, and nothing was guessed that nothing would fetch.
    failing = storm.counts()
    assert all(failing[HOST + path] == 1 for path in ("/private/1", "/private/2", "/slow", "/missing", "/over", "/moved", "/broken")), failing
    listed = [page["url"] for page in server.get("/v1/pages", {"limit": 1000}).ok()["pages"]]
    assert sorted(listed) == sorted(storm.pages)


def test_a_redirect_that_does_not_say_where_it_leads_is_one(storms):
    storm = storms()
    storm.frontier.discover(HOST + "/moved")
    info = storm.frontier.get_soon(crawl=ANY)[0]
    storm.frontier.put(storm.frontier.known(info.url, 0, metadata={"fetch.statusCode": "302"}))
    assert outcomes(storm.frontier, "/moved") == ["redirected"]


def test_a_host_whose_pages_give_no_answer_one_after_the_other_is_left_alone(storms):
    storm = storms(each=1)
    for number in range(5):
        storm.add(f"/slow-{number}", "timeout")
    storm.until("three were visited", lambda: len(storm.visits) == 3)
    for _ in range(20):
        assert not storm.step(), "it is left alone for half a minute"
        time.sleep(0.02)
    found = outcomes(storm.frontier, "/slow-0") + outcomes(storm.frontier, "/slow-4")
    assert len(found) <= 2 and set(found) <= {"failed"}


def test_pages_that_answer_between_silent_ones_speak_for_their_host(storms):
    storm = storms(each=1)
    for number in range(4):
        storm.add(f"/slow-{number}", "timeout")
        storm.add(f"/fine-{number}")
    storm.until("all were visited", lambda: set(storm.visits) == set(storm.pages))


def test_as_many_pages_of_a_host_are_served_as_a_client_asks_for(storms):
    """One after the other as the gap of the host allows, whether those before were answered or not."""
    storm = storms(each=4, gap='"50ms"')
    for number in range(10):
        storm.add(f"/page-{number}")
    found = []
    wait_until("four are served", lambda: found.extend(storm.frontier.get(each=4, lease=300, crawl=ANY)) or len(found) >= 4)
    for _ in range(20):
        assert not storm.frontier.get(each=4, lease=300, crawl=ANY), "four are under way"
        time.sleep(0.02)
    assert len({info.url for info in found}) == len(found) == 4
    storm.frontier.put(*map(storm.report, found))
    more = []
    wait_until("more are served", lambda: more.extend(storm.frontier.get(each=4, lease=300, crawl=ANY)) or len(more) >= 4)
    assert not {info.url for info in found} & {info.url for info in more}


def test_a_budget_is_not_demanded_where_others_fetch(servers):
    server = servers("--no-fetch", frontier="127.0.0.1")
    settings = server.folder / "refrain.toml"
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("rate")]
    settings.write_text("\n".join(lines))
    server.start()
    assert server.get("/ready").status == 200 and "--rate" in server.said()
