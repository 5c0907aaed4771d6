"""Who decides when to come back: the client, by its dates, or the server, by what the outcomes that it is told are worth."""

import collections
import re
import time
import urllib.parse

import pytest
from frontier_client import ANY, YEAR, now, plain, urls
from support import wait_until

#: Little enough that not everything can be fetched all the time: then it shows what is worth more.
SCARCE = '"20/s"'


def schedules(frontier, crawl, metadata=None):
    """How a crawl of this name is scheduled: whether a page of which a client says "never again" is at its end."""
    url = f"http://{crawl.lower()}.example/"
    frontier.put(frontier.discovered(url, crawl=crawl, metadata=metadata))
    served = frontier.get_soon(crawl=crawl)
    info = frontier.info(url, crawl=crawl, metadata={**plain(served[0].metadata), "signature": "1", "fetch.statusCode": "200"})
    frontier.complete(info)
    completed = frontier.stats(crawl=crawl).counts["completed"]
    assert (frontier.due(url, crawl=crawl) == 0) == (completed == 1)
    return "client" if completed else "server"


def test_by_default_the_client_decides(frontiers):
    frontier = frontiers()
    assert schedules(frontier, "some") == "client"
    assert schedules(frontier, "DEFAULT") == "client"


def test_an_item_of_a_new_crawl_decides_for_all_of_it(frontiers):
    frontier = frontiers()
    assert schedules(frontier, "one", {"refrain.schedule": "server"}) == "server"
    assert schedules(frontier, "two", {"refrain.schedule": "client"}) == "client"
    assert schedules(frontier, "three") == "client"
    # Not for itself alone: others of the crawl say nothing of it.
    frontier.discover("http://other.example/", crawl="one")
    frontier.put(frontier.known("http://other.example/", 0, crawl="one"))
    assert frontier.due("http://other.example/", crawl="one") > 0
    frontier.server.kill()
    frontier.server.start()
    frontier.put(frontier.known("http://third.example/", 0, crawl="one"), frontier.known("http://third.example/", 0, crawl="two"))
    assert frontier.due("http://third.example/", crawl="one") > 0 and frontier.due("http://third.example/", crawl="two") == 0


def test_batches_and_known_items_decide_as_well(frontiers):
    frontier = frontiers()
    frontier.batches(("x", [frontier.info("http://a.example/", crawl="one", metadata={"refrain.schedule": "server"})]))
    frontier.put(frontier.known("http://a.example/", 0, crawl="one"))
    frontier.put(frontier.known("http://a.example/", 0, crawl="two", metadata={"refrain.schedule": "server"}))
    assert frontier.due("http://a.example/", crawl="one") > 0 and frontier.due("http://a.example/", crawl="two") > 0


def test_the_settings_decide_by_the_name_of_the_crawl(frontiers):
    toml = '''
[urlfrontier]
schedule = "server"
[[urlfrontier.crawl]]
pattern = "news-*"
schedule = "client"
[[urlfrontier.crawl]]
pattern = "exact"
schedule = "client"
'''
    frontier = frontiers(toml=toml)
    assert schedules(frontier, "anything") == "server", "the default that was set"
    assert schedules(frontier, "DEFAULT") == "server"
    assert schedules(frontier, "news-1") == "client" and schedules(frontier, "news-") == "client", "the pattern goes before it"
    assert schedules(frontier, "old-news-1") == "server" and schedules(frontier, "exactly") == "server" and schedules(frontier, "exact") == "client"
    assert schedules(frontier, "news-2", {"refrain.schedule": "server"}) == "server", "and what an item says before both"


@pytest.mark.parametrize("toml", ['[urlfrontier]\nschedule = "maybe"', '[urlfrontier]\nshedule = "server"', '[[urlfrontier.crawl]]\nschedule = "server"',
                                  '[[urlfrontier.crawl]]\npattern = "x"\nschedule = "nobody"', '[urlfrontier]\nlisten = "nowhere"'])
def test_settings_that_are_none_are_refused(servers, toml):
    server = servers("--no-fetch", toml=toml)
    done = server.run("serve", "--no-fetch", "--listen", "127.0.0.1:0", check=False)
    assert done.returncode != 0 and "refrain.toml" in done.stderr and done.stderr.strip(), done


def test_it_listens_where_the_settings_say_and_nowhere_unless_asked(servers, clients):
    server = servers("--no-fetch", toml='[urlfrontier]\nlisten = "127.0.0.1:0"', frontier="configured").start()
    clients(server).discover("http://a.example/")
    silent = servers("--no-fetch").start()
    silent.process.terminate()
    assert silent.process.stdout.read() == b"", "it says where it listens, and it listens for HTTP alone"


@pytest.fixture
def server_scheduled(frontiers):
    """All crawls of it are scheduled by the server; hosts need no rest."""

    def make(**settings):
        frontier = frontiers(toml='[urlfrontier]\nschedule = "server"', **settings)
        frontier.delay("", 0)
        return frontier

    return make


class Crawler:
    """Fetches what it is served from a made-up web, and says what came of it as StormCrawler does: the date is its own business."""

    def __init__(self, frontier, date=0):
        self.frontier, self.date, self.visits, self.pages = frontier, date, collections.Counter(), {}

    def add(self, url, page, **metadata):
        """`page`: gives what is told of a visit, by the number of the visit."""
        self.pages[url] = page
        self.frontier.discover(url, metadata=metadata)

    def step(self):
        served = self.frontier.get(each=1, lease=10, crawl=ANY)
        items = []
        for info in served:
            told = self.pages[info.url](self.visits[info.url])
            self.visits[info.url] += 1
            items.append(self.frontier.known(info.url, self.date, key=info.key, crawl=info.crawlID, metadata={**plain(info.metadata), **told}))
        if items:
            self.frontier.put(*items)
        else:
            time.sleep(0.01)
        return len(items)

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()
        return self

    def until(self, what, true):
        wait_until(what, lambda: self.step() + 1 and true(), every=0)


def restless(visit):
    """Another signature at every visit."""
    return {"fetch.statusCode": "200", "signature": str(visit), **({"signatureOld": str(visit - 1)} if visit else {})}


def still(visit):
    """The same signature at every visit. As StormCrawler has it, there is no old one to compare with at the first."""
    return {"fetch.statusCode": "200", "signature": "same", **({"signatureOld": "same"} if visit else {})}


def unmodified(visit):
    """Nothing new, by HTTP: then there is no new signature."""
    return {"fetch.statusCode": "304" if visit else "200", "signature": "same"}


def gone(status):
    return lambda visit: {"fetch.statusCode": str(status), "error.cause": "NOT FOUND"}


def test_a_date_of_zero_does_not_end_a_page(server_scheduled):
    """The Scrapy client always sends 0."""
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    crawler.add("http://a.example/", lambda visit: {})
    crawler.until("it is served again and again", lambda: crawler.visits["http://a.example/"] >= 3)
    assert frontier.due("http://a.example/") > 0 and frontier.stats().counts["completed"] == 0 and frontier.stats().size == 1


def test_a_far_date_is_advice_at_most(server_scheduled):
    frontier = server_scheduled()
    crawler = Crawler(frontier, now() + YEAR)
    crawler.add("http://a.example/", restless)
    crawler.until("it is served again all the same", lambda: crawler.visits["http://a.example/"] >= 3)


def test_what_changes_is_served_more_often_than_what_does_not(server_scheduled):
    frontier = server_scheduled(rate=SCARCE)
    server, crawler = frontier.server, Crawler(frontier)
    for number in range(10):
        crawler.add(f"http://restless{number}.example/", restless)
        crawler.add(f"http://still{number}.example/", still if number % 2 else unmodified)
    crawler.add("http://gone404.example/", gone(404))
    crawler.add("http://gone410.example/", gone(410))

    def visits(kind):
        return sum(count for url, count in crawler.visits.items() if kind in url)

    begun = time.monotonic()
    crawler.until("what changes is visited more often", lambda: sum(crawler.visits.values()) >= 80 and visits("restless") > 1.5 * visits("still") > 0)
    # The budget is kept, whoever fetches.
    assert sum(crawler.visits.values()) <= 20 * (time.monotonic() - begun + 2), crawler.visits

    def outcomes(host):
        return [look["outcome"] for look in server.get(f"/v1/pages/{server.number(f'http://{host}.example/')}/history").ok()["looks"]]

    assert len(outcomes("restless0")) >= 3 and "changed" in outcomes("restless0") and "changed" not in outcomes("still1") + outcomes("still2")
    # Nothing is there any more: it is not looked at as others are.
    assert visits("gone404") <= 2 and visits("gone410") <= 2, crawler.visits
    assert server.page("http://gone404.example/")["state"] == server.page("http://gone410.example/")["state"] == "gone"
    # What was learned is kept.
    server.kill()
    server.start()
    before = {kind: visits(kind) for kind in ("restless", "still")}
    crawler.until("some more are made", lambda: visits("restless") + visits("still") >= sum(before.values()) + 40)
    assert visits("restless") - before["restless"] > 1.5 * (visits("still") - before["still"]), (before, crawler.visits)


def test_one_signature_after_another_is_enough(server_scheduled):
    """Without an old signature beside it: the one that was told at the visit before is known."""
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    crawler.add("http://a.example/", lambda visit: {"fetch.statusCode": "200", "signature": str(visit)})
    crawler.add("http://b.example/", lambda visit: {"fetch.statusCode": "200", "signature": "same"})
    crawler.until("both are visited", lambda: min(crawler.visits[f"http://{host}.example/"] for host in "ab") >= 3)
    outcomes = {}
    for host in "ab":
        history = frontier.server.get(f"/v1/pages/{frontier.server.number(f'http://{host}.example/')}/history").ok()
        outcomes[host] = [look["outcome"] for look in history["looks"]]
    assert "changed" in outcomes["a"] and "changed" not in outcomes["b"], outcomes


def test_what_is_told_of_a_page_is_known_of_it(server_scheduled):
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    crawler.add("http://a.example/", lambda visit: {"fetch.statusCode": "200", "signature": "1", "last-modified": "Sun, 15 Nov 2026 12:00:00 GMT", "protocol.etag": '"x"'})
    crawler.until("it is visited", lambda: crawler.visits["http://a.example/"])
    page = frontier.server.page("http://a.example/")
    assert (page["status"], page["etag"], page["state"]) == (200, '"x"', "active") and page["last_modified"], page
    assert page["fetched"] and page["failures"] == 0


@pytest.mark.parametrize("told", [{"fetch.statusCode": "503"}, {"fetch.statusCode": "500", "error.cause": "SERVER ERROR"}, {"error.cause": "timeout"},
                                  {"fetch.statusCode": "200", "fetch.error.count": "1"}, {"fetch.statusCode": "200", "fetch.exception": "Socket timeout fetching"}])
def test_a_failure_is_no_end_and_no_change(server_scheduled, told):
    """Where there was no answer, StormCrawler may still send the status of the visit before: the count of errors says better."""
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    crawler.add("http://a.example/", lambda visit: told)
    crawler.until("it is visited", lambda: crawler.visits["http://a.example/"])
    page = frontier.server.page("http://a.example/")
    assert page["failures"] == 1 and page["state"] == "active" and page["changed"] is None, page
    assert frontier.due("http://a.example/") > 0


def test_nonsense_in_metadata_is_not_believed(server_scheduled):
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    told = [{"fetch.statusCode": "abc"}, {"fetch.statusCode": "-1", "signature": ""}, {"fetch.statusCode": "999999999999", "last-modified": "yesterday"},
            {"fetch.statusCode": "200", "signature": "x" * 100_000, "sitemap.lastModified": "\0"}, {"isFeed": "perhaps"}, {"signature": "ü", "protocol.etag": "y" * 100_000}]
    for number, one in enumerate(told):
        crawler.add(f"http://h{number}.example/", lambda visit, one=one: one)
    crawler.until("all are visited", lambda: len(crawler.visits) == len(told))
    assert frontier.stats().size == len(told) and len(frontier.list()) == len(told)


def test_feeds_and_sitemaps_are_hubs(server_scheduled):
    frontier = server_scheduled()
    frontier.put(frontier.discovered("http://a.example/feed", metadata={"isFeed": "true"}), frontier.discovered("http://a.example/map", metadata={"isSitemap": "true"}),
                 frontier.discovered("http://a.example/page", metadata={"isFeed": "false", "isSitemap": "false"}), frontier.discovered("http://a.example/found-out"))
    # What a page is may be found out by fetching it.
    frontier.put(frontier.known("http://a.example/found-out", 0, metadata={"isSitemap": "true", "fetch.statusCode": "200"}))
    roles = {path: frontier.server.page(f"http://a.example/{path}")["role"] for path in ("feed", "map", "page", "found-out")}
    assert roles == {"feed": "feed", "map": "sitemap", "page": "page", "found-out": "sitemap"}


def test_what_a_page_led_to_makes_it_a_hub(server_scheduled):
    """StormCrawler says of a new URL by which way it came to it; the last step is the page that showed it."""
    frontier = server_scheduled()
    hub, looks = "http://a.example/front", iter("123456789")

    def found(*paths):
        way = {"url.path": ["http://a.example/", hub], "depth": "2"}
        frontier.batches(("x", [frontier.info(f"http://a.example{path}", metadata=way) for path in paths]))

    def looked():
        frontier.put(frontier.known(hub, 0, metadata={"fetch.statusCode": "200", "signature": next(looks)}))

    def shown():
        page = frontier.server.get("/hubs").body.decode()
        row = next((row for row in page.split("<tr>") if "/front<" in row), "")
        return [int(re.search(f'data-name="{name}">([0-9,]+)<', row).group(1)) for name in ("visits", "news")] if row else None

    frontier.discover(hub)
    found("/old/1", "/old/2")
    looked()  # for the first time: what it shows may be old
    found("/old/3")
    time.sleep(10.5)  # what is told later was not shown then
    found("/new/1", "/new/2", "/old/1")
    looked()
    assert wait_until("it is a hub", shown) == [1, 2], "and what was known before is no news"
    found("/new/3")
    looked()
    wait_until("it is learned", lambda: shown() == [2, 3])
    number = frontier.server.number("http://a.example/new/1")
    assert frontier.server.get(f"/v1/pages/{number}").ok()["found"] == "urlfrontier"


def test_pages_that_nobody_fetches_hold_nobody_up(server_scheduled):
    """Pages for fetchers that never come are many, and of hosts of their own."""
    frontier = server_scheduled(rate='"200/s"')
    frontier.server.add(*(f"http://nobody-{number}.example/" for number in range(300)))
    addresses = [f"http://h{number}.example/" for number in range(50)]
    frontier.discover(*addresses)
    found = set()

    def all_served():
        found.update(urls(frontier.get(lease=1000)))
        return found == set(addresses)

    wait_until("all are served", all_served)


def test_a_page_that_is_removed_leaves_its_queue(server_scheduled):
    frontier = server_scheduled()
    frontier.discover("http://a.example/1", "http://a.example/2", "http://b.example/")
    for url in ("http://a.example/1", "http://b.example/"):
        assert frontier.server.ask("DELETE", f"/v1/pages/{frontier.server.number(url)}").status in (200, 204)
    wait_until("they are gone", lambda: urls(frontier.list()) == ["http://a.example/2"])
    assert list(frontier.queues(inactive=True).values) == ["a.example"]
    frontier.server.kill()
    frontier.server.start()
    assert urls(frontier.list()) == ["http://a.example/2"]
    # Who finds it again has found it.
    frontier.discover("http://b.example/")
    assert frontier.due("http://b.example/") > 0
    frontier.server.stop()
    frontier.server.check()


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%SZ", "%a %b %d %H:%M:%S UTC %Y"], ids=["iso", "java"])
def test_a_sitemaps_date_is_a_signal_for_its_page(server_scheduled, form):
    """It comes with the page as one that was discovered, of which nothing else is news. StormCrawler writes dates as Java does; no date is ""."""
    frontier = server_scheduled()
    crawler = Crawler(frontier)
    crawler.add("http://a.example/", still)
    crawler.until("it is visited", lambda: crawler.visits["http://a.example/"] >= 2)
    number = frontier.server.number("http://a.example/")
    assert frontier.server.get(f"/v1/pages/{number}/history").ok()["signals"] == []
    for nothing in ("", "soon"):
        frontier.put(frontier.discovered("http://a.example/", metadata={"isSitemap": "false", "sitemap.lastModified": nothing}))
    assert frontier.server.get(f"/v1/pages/{number}/history").ok()["signals"] == []
    stamp = time.strftime(form, time.gmtime(now() + 1))
    time.sleep(1.1)
    frontier.put(frontier.discovered("http://a.example/", metadata={"isSitemap": "false", "sitemap.lastModified": stamp}))
    signals = wait_until("it is heard", lambda: frontier.server.get(f"/v1/pages/{number}/history").ok()["signals"])
    assert [signal["kind"] for signal in signals] == ["sitemap"], signals
    assert "sitemap.lastModified" not in plain(frontier.status("http://a.example/").known.info.metadata), "otherwise it is ignored, as it is elsewhere"


def test_leases_delays_and_blocks_hold_for_the_server_too(server_scheduled):
    frontier = server_scheduled()
    for host in "abc":
        frontier.discover(f"http://{host}.example/1", f"http://{host}.example/2")
    frontier.block("a.example", now() + 1000)
    frontier.delay("b.example", 1000)
    frontier.limit("c.example", 1)
    found, nothing = collections.Counter(), 0
    while nothing < 50:
        served = frontier.get(each=1, lease=1000)
        nothing = 0 if served or len(found) < 2 else nothing + 1
        found.update(info.key for info in served)
        frontier.put(*(frontier.known(info.url, 0, metadata=restless(0)) for info in served))
        time.sleep(0.02)
    assert found == {"b.example": 1, "c.example": 1}, found


def test_what_it_would_serve_is_leased(server_scheduled):
    frontier = server_scheduled()
    frontier.discover("http://a.example/")
    begun = time.monotonic()
    first = frontier.get_soon(lease=8)
    assert frontier.stats().inProcess == 1
    again = frontier.get_soon("nothing came of it")
    assert time.monotonic() - begun > 6.9 and urls(again) == urls(first)


def explained(server, url):
    """What `refrain explain` says of a page, to people and to programs."""
    assert server.run("explain", url, "--json", "--data", str(server.data)).stdout.startswith("{")
    return server.run("explain", url, "--data", str(server.data)).stdout


def test_its_pages_are_to_be_seen_as_all_others_are(server_scheduled):
    """In the API, the dashboard, and by `refrain explain`."""
    frontier = server_scheduled()
    server = frontier.server
    frontier.put(*(frontier.discovered(f"http://h{number}.example/page", crawl="mine", metadata={"depth": "1"}) for number in range(5)))
    listed = [page["url"] for page in server.get("/v1/pages", {"limit": 100}).ok()["pages"]]
    assert sorted(listed) == [f"http://h{number}.example/page" for number in range(5)]
    page = server.page("http://h3.example/page")
    assert page["state"] == "active" and page["role"] == "page" and page["fetched"] is None
    assert server.get(f"/v1/pages/{page['id']}/explanation").status == 200
    assert server.get("/v1/pages", {"host": "h3.example"}).ok()["pages"][0]["id"] == page["id"]
    board = server.get("/pages", headers={"Accept": "text/html"})
    assert board.status == 200 and b"h3.example" in board.body
    board = server.get(f"/pages/{page['id']}", headers={"Accept": "text/html"})
    assert board.status == 200
    said = explained(server, "http://h3.example/page")
    assert "http://h3.example/page" in said and "crawl mine" in said and "server scheduled" in said, said
    assert server.get("/v1/crawls").ok()["crawls"] == [{"name": "mine", "schedule": "server", "queues": 5, "urls": 5, "completed": 0}]
    assert {url["page"] for url in server.get("/v1/crawls/mine/urls").ok()["urls"]} >= {page["id"]}
    frontier.delete_crawl("mine")
    assert server.get("/v1/pages").ok()["pages"] == []
    assert server.get("/v1/page?" + urllib.parse.urlencode({"url": "http://h3.example/page"})).status == 404


def test_urls_that_their_client_decides_about_are_to_be_seen(frontiers):
    """They are no pages of ours, and are listed with their crawl."""
    frontier = frontiers()
    server = frontier.server
    frontier.put(*(frontier.discovered(f"http://h{number}.example/page", crawl="my own/ü") for number in range(5)),
                 frontier.known("http://h0.example/done", 0, crawl="my own/ü"), frontier.known("http://h0.example/", now() + 1000, crawl="other"))
    crawls = {crawl.pop("name"): crawl for crawl in server.get("/v1/crawls").ok()["crawls"]}
    assert crawls == {"my own/ü": {"schedule": "client", "queues": 5, "urls": 6, "completed": 1}, "other": {"schedule": "client", "queues": 1, "urls": 1, "completed": 0}}
    found, cursor = [], None
    while True:
        part = server.get(f"/v1/crawls/{urllib.parse.quote('my own/ü', safe='')}/urls", {"limit": 2, **({"cursor": cursor} if cursor else {})}).ok()
        found += part["urls"]
        cursor = part["next"]
        if not cursor:
            break
    assert [url["url"] for url in found] == [f"http://h{number}.example/page" for number in range(5)] + ["http://h0.example/done"]
    assert found[0]["key"] == "h0.example" and found[0]["due"] and not found[0]["completed"] and found[5]["completed"] and found[5]["due"] is None
    some = server.get("/v1/crawls/other/urls", {"contains": "h0", "key": "h0.example"}).ok()
    assert [url["url"] for url in some["urls"]] == ["http://h0.example/"] and some["next"] is None
    assert server.get("/v1/crawls/nobodys/urls").status == 404
    said = explained(server, "http://h3.example/page")
    assert "crawl my own/ü" in said and "client scheduled" in said, said
    assert "never again" in explained(server, "http://h0.example/done")
