"""Fetchers that are not Refrain's: examples/fetcher.py, several at once, killed and restarted, and one that does as it pleases."""

import signal
import subprocess
import sys
import time
import urllib.parse

import pytest
from support import FETCHER, PATIENCE, wait_until

GAP = 0.15


class Fetcher:
    """A process of examples/fetcher.py."""

    def __init__(self, server, lease=20, *more):
        self.log = open(server.folder / f"fetcher-{time.monotonic_ns()}.txt", "w+")
        command = [sys.executable, "-X", "faulthandler", str(FETCHER), "--server", server.url, "--agent", "Tester", "--contact", "me@example.net",
                   "--threads", "8", "--timeout", str(min(5, lease / 2)), "--lease", str(lease), *(more or ["--allow-private"])]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            assert self.process.wait(PATIENCE) == 0, self.said()
        except subprocess.TimeoutExpired:
            # Where it hangs.
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(PATIENCE)
            raise AssertionError(f"it does not end: {self.said()}") from None
        assert "Traceback" not in self.said(), self.said()

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.log.close()


@pytest.fixture
def fetchers():
    made = []

    def make(*args, **more):
        made.append(Fetcher(*args, **more))
        return made[-1]

    yield make
    for fetcher in made:
        fetcher.kill()


def small_web(sites, count=3, pages=5):
    """Sites with something forbidden each, and one that wants to be asked less often."""
    web = [sites("User-agent: *\nDisallow: /private\n", delay=0.02) for _ in range(count)]
    slow = sites("User-agent: Tester\nDisallow: /private\nCrawl-delay: 0.5\n", delay=0.02)
    for site in [*web, slow]:
        for number in range(pages):
            site.html(f"/{number}", f"<p>{number} of {site.port}</p>", ETag=f'"{number}"')
            site.html(f"/private/{number}", "<p>secret")
    return web, slow


def add_all(server, web, pages=5):
    server.add(*(site.url(f"{path}/{number}") for site in web for number in range(pages) for path in ("", "/private")))


def assert_peace(web, slow):
    for site in web:
        log = site.assert_polite(GAP)
        assert log and not [entry for entry in log if entry[2].startswith("/private")], log
        assert log[0][2] == "/robots.txt", log
    log = slow.assert_polite(GAP)
    assert log[0][2] == "/robots.txt" and not [entry for entry in log if entry[2].startswith("/private")], log
    for one, two in zip(log[1:], log[2:]):
        assert two[0] - one[1] >= 0.4995, (one, two)


def all_there(server, web, pages=5):
    return all(server.page(site.url(f"/{number}"))["fetched"] for site in web for number in range(pages))


def assert_copies(server, web, pages=5):
    for site in web:
        for number in range(pages):
            page = server.number(site.url(f"/{number}"))
            assert server.get(f"/v1/pages/{page}/copy").body == f"<p>{number} of {site.port}</p>".encode()
            forbidden = server.page(site.url(f"/private/{number}"))
            assert forbidden["fetched"] is None and forbidden["state"] in ("active", "disallowed")


def test_two_fetchers_at_once_are_polite(servers, sites, fetchers):
    server = servers("--no-fetch", gap=f'"{GAP}s"', rate='"1000/s"').start()
    web, slow = small_web(sites)
    add_all(server, [*web, slow])
    two = [fetchers(server), fetchers(server)]
    wait_until("all is fetched", lambda: all_there(server, [*web, slow]))
    # And again, until both have fetched plenty.
    wait_until("plenty is fetched", lambda: all(len(site.asked()) >= 10 for site in web))
    assert all("handed in" in fetcher.said() for fetcher in two), [fetcher.said() for fetcher in two]
    for fetcher in two:
        fetcher.stop()
    assert_peace(web, slow)
    assert_copies(server, [*web, slow])
    wait_until("nothing is leased", lambda: server.get("/v1/status").ok()["under_way"] == 0)
    assert sum(entry[3] == 200 for site in web for entry in site.asked()) >= 20
    server.stop()
    server.check()


def test_kill_9_in_the_middle_loses_nothing_and_breaks_no_peace(servers, sites, fetchers):
    server = servers("--no-fetch", gap=f'"{GAP}s"', rate='"1000/s"').start()
    web, slow = small_web(sites)
    add_all(server, [*web, slow])
    two = [fetchers(server, lease=6), fetchers(server, lease=6)]
    known = []
    for round in range(3):
        asked = sum(len(site.asked()) for site in web)
        wait_until("it is in the middle of it", lambda: sum(len(site.asked()) for site in web) >= asked + 8)
        known = server.changes()
        server.kill()
        server.start()
        assert server.changes()[: len(known)] == known, "what was told is there"
    wait_until("all is fetched", lambda: all_there(server, [*web, slow]))
    for fetcher in two:
        fetcher.stop()
    assert_peace(web, slow)
    assert_copies(server, [*web, slow])
    server.stop()
    server.check()


def test_who_dies_with_leases_is_replaced(servers, sites, fetchers):
    server = servers("--no-fetch", gap=f'"{GAP}s"', rate='"1000/s"').start()
    site = sites("", delay=60)
    server.add(site.url("/0"))
    begun = time.monotonic()
    first = fetchers(server, lease=6)
    wait_until("it is asking", lambda: server.get("/v1/status").ok()["under_way"] == 1)
    first.kill()
    site.delay = 0
    site.html("/0", "<p>0")
    fetchers(server, lease=6)
    server.fetched(site.url("/0"))
    # The lease began after this.
    assert time.monotonic() - begun >= 6, "a lease lasts"


def test_a_fetcher_goes_nowhere_uninvited(servers, sites, fetchers):
    server = servers("--no-fetch", gap=f'"{GAP}s"', rate='"1000/s"').start()
    here, there = sites("", delay=0.02), sites("User-agent: *\nDisallow: /private\n")
    here.pages["/robots.txt"] = (301, {"Location": "/rules.txt"}, "")
    here.pages["/rules.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /secret\n")
    here.html("/secret", "<p>secret")
    for number in range(3):
        here.pages[f"/{number}"] = (302, {"Location": there.url(f"/{number}")}, "moved")
        there.html(f"/{number}", f"<p>{number}")
    here.pages["/to-private"] = (302, {"Location": there.url("/private/x")}, "")
    there.html("/private/x", "<p>private")
    here.pages["/nowhere"] = (302, {}, "")
    here.pages["/round"] = (302, {"Location": "/round"}, "")
    server.add(*(here.url(path) for path in ("/0", "/1", "/2", "/to-private", "/nowhere", "/round", "/secret")))
    fetcher = fetchers(server)
    for number in range(3):
        wait_until("where it leads is known", lambda: server.get("/v1/page", {"url": there.url(f"/{number}")}).status == 200)
        page = server.fetched(there.url(f"/{number}"))
        assert page["found"] == "redirect"
        assert server.get(f"/v1/pages/{page['id']}/copy").body == f"<p>{number}".encode()
        page = server.page(here.url(f"/{number}"))
        assert (page["status"], page["redirect"], page["fetched"], page["failures"]) == (302, there.url(f"/{number}"), None, 0), page
        assert server.get(f"/v1/pages/{page['id']}/history").ok()["looks"][0]["outcome"] == "redirected"
    wait_until("it is forbidden", lambda: server.page(there.url("/private/x"))["state"] == "disallowed")
    for path in ("/nowhere", "/round"):
        wait_until("it fails", lambda: server.page(here.url(path))["failures"])
    wait_until("its rules were found", lambda: server.page(here.url("/secret"))["state"] == "disallowed")
    fetcher.stop()
    log = there.assert_polite(GAP)
    assert log[0][2] == "/robots.txt" and not [entry for entry in log if entry[2].startswith("/private")], log
    # Each is asked once: a page that leads elsewhere is not asked again soon.
    assert all(len(here.asked(f"/{number}")) == 1 for number in range(3))
    server.stop()
    server.check()


def test_a_fetcher_stays_away_from_private_addresses(servers, site, fetchers):
    server = servers("--no-fetch").start()
    server.add(site.url("/"))
    fetcher = fetchers(server, 20, "--threads", "1")
    host = "/v1/hosts/" + urllib.parse.quote(site.host, safe="")
    wait_until("it was tried", lambda: server.get(host).ok()["back_off_until"])
    assert site.begun == [], "nobody was asked, not even for robots.txt"
    fetcher.stop()


def take(server, **more):
    return server.post("/v1/fetches/next", {"knows_robots": True, **more}).ok()


def bring(server, *results):
    return [one["result"] for one in server.post("/v1/fetches/results", {"results": list(results)}).ok()["results"]]


def test_the_same_key_gets_the_same_work(scheduler):
    scheduler.add(*(f"http://h{number}.example/" for number in range(5)))
    asked = {"knows_robots": True, "most": 3, "wait_seconds": 10}
    one = scheduler.post("/v1/fetches/next", asked, headers={"Idempotency-Key": "mine"}).ok()
    two = scheduler.post("/v1/fetches/next", asked, headers={"Idempotency-Key": "mine"}).ok()
    leases = [fetch["lease"] for fetch in one["fetches"]]
    assert len(leases) == 3 and [fetch["lease"] for fetch in two["fetches"]] == leases and one["until"] == two["until"]
    scheduler.kill()
    scheduler.start()
    three = scheduler.post("/v1/fetches/next", asked, headers={"Idempotency-Key": "mine"}).ok()
    assert [fetch["lease"] for fetch in three["fetches"]] == leases, "after a kill, too"
    result = {"status": 200, "digest": "sha256:" + "0" * 64}
    assert bring(scheduler, *({"lease": lease, **result} for lease in leases)) == ["taken"] * 3
    assert bring(scheduler, *({"lease": lease, **result} for lease in leases)) == ["over"] * 3
    scheduler.kill()
    scheduler.start()
    assert bring(scheduler, {"lease": leases[0], **result}) == ["over"]
    other = take(scheduler, wait_seconds=10)
    assert not {fetch["lease"] for fetch in other["fetches"]} & set(leases)


def test_results_of_all_kinds(scheduler):
    scheduler.add(*(f"http://h{number}.example/" for number in range(8)))
    leases = {}
    while len(leases) < 8:
        for fetch in take(scheduler, wait_seconds=10)["fetches"]:
            leases[fetch["url"]] = fetch["lease"]
    lease = [leases[f"http://h{number}.example/"] for number in range(8)]
    assert bring(
        scheduler,
        {"lease": lease[0], "status": 200, "headers": {"Content-Type": "text/html", "ETag": '"1"'}, "body": "<title>T</title><p>x"},
        {"lease": lease[1], "status": 200, "content_type": "text/html", "body_base64": "PHA+eA==", "url": "http://elsewhere.example/"},
        {"lease": lease[2], "status": 404},
        {"lease": lease[3], "error": "no answer"},
        {"lease": lease[4], "disallowed": True},
        {"lease": lease[5], "given_back": True},
        {"lease": lease[6], "status": 503, "retry_after_seconds": 3600},
        {"lease": lease[7], "status": 200},
    ) == ["taken"] * 7 + ["refused"]
    wrong = [{}, {"status": 200, "error": "x"}, {"status": 99}, {"status": 200, "body": "x", "body_base64": "eA=="}, {"status": 200, "body_base64": "?"},
             {"status": 200, "digest": "x"}, {"status": 200, "changed": True, "headers": {"a b": "c"}}, {"status": 200, "body": "x", "headers": {"a": "b\nc"}},
             {"status": 200, "body": "x", "url": "nothing"}]
    assert bring(scheduler, *({"lease": lease[7], **one} for one in wrong)) == ["refused"] * len(wrong)
    assert bring(scheduler, {"lease": lease[7], "status": 200, "changed": True}) == ["taken"], "who errs may try again"
    assert bring(scheduler, {"lease": "9999.0.1", "status": 200}, {"lease": "x", "status": 200}, {"lease": "1.0.1.1", "given_back": True}) == ["unknown", "refused", "refused"]
    page = scheduler.page("http://h0.example/")
    assert (page["title"], page["etag"], page["status"]) == ("T", '"1"', 200)
    assert scheduler.get(f"/v1/pages/{page['id']}/copy").body == b"<title>T</title><p>x"
    assert scheduler.page("http://h2.example/")["state"] == "gone"
    assert scheduler.page("http://h3.example/")["failures"] == 1
    assert scheduler.page("http://h4.example/")["state"] == "disallowed"
    assert scheduler.get("/v1/hosts/http%3A%2F%2Fh6.example").ok()["back_off_until"]
    again = [fetch["url"] for fetch in take(scheduler, wait_seconds=10)["fetches"]]
    assert "http://h5.example/" in again and "http://h6.example/" not in again


def test_redirects_lead_on_but_not_for_ever(servers):
    scheduler = servers("--no-fetch", allow_private="false").start()
    scheduler.add({"url": "http://a.example/0", "importance": 7, "max_age_seconds": 3600}, "http://b.example/", "http://c.example/", "http://d.example/")
    wrong = {"http://b.example/": "http://127.0.0.1/admin", "http://c.example/": "http://[::1]:80/", "http://d.example/": "http://localhost/"}
    for number in range(20):
        for fetch in take(scheduler, wait_seconds=1)["fetches"]:
            url = fetch["url"]
            target = wrong.get(url) or f"/{int(url.rsplit('/', 1)[1]) + 1}"
            assert bring(scheduler, {"lease": fetch["lease"], "status": 301, "headers": {"Location": target}}) == ["taken"]
        if scheduler.get("/v1/page", {"url": "http://a.example/5"}).status == 200 and number > 8:
            break
    page = scheduler.page("http://a.example/3")
    assert (page["importance"], page["max_age_seconds"], page["found"]) == (7, 3600, "redirect"), page
    pages = [page["url"] for page in scheduler.get("/v1/pages", {"limit": 100}).ok()["pages"]]
    most = max(int(url.rsplit("/", 1)[1]) for url in pages if "a.example" in url)
    assert most == 5 and len(pages) == most + 4, pages
    for url in wrong:
        page = scheduler.page(url)
        assert page["redirect"] is None and page["failures"] == 1, page


def test_a_host_is_one_fetchers_at_a_time(scheduler):
    scheduler.add(*(f"http://a.example/{number}" for number in range(5)), *(f"http://b.example/{number}" for number in range(5)))
    first = take(scheduler, wait_seconds=10)
    assert sorted(fetch["url"].split("/")[2] for fetch in first["fetches"]) == ["a.example", "b.example"]
    assert take(scheduler)["fetches"] == [], "both hosts are taken"
    scheduler.kill()
    scheduler.start()
    assert take(scheduler)["fetches"] == [], "after a kill, too"
    # A page that is forgotten or paused while somebody fetches it: the host is free when that is over, and not before.
    page = first["fetches"][0]["page"]
    assert scheduler.delete(f"/v1/pages/{page}").status == 204
    assert take(scheduler)["fetches"] == []
    scheduler.patch(f"/v1/pages/{first['fetches'][1]['page']}", {"state": "paused"}).ok()
    assert take(scheduler)["fetches"] == []
    bring(scheduler, *({"lease": fetch["lease"], "status": 200, "changed": True} for fetch in first["fetches"]))
    more = []
    wait_until("both are free", lambda: more.extend(take(scheduler, wait_seconds=5)["fetches"]) or len(more) >= 2)
    assert sorted(fetch["url"].split("/")[2] for fetch in more) == ["a.example", "b.example"]


def test_a_host_stays_taken_when_its_page_is_paused_and_the_server_killed(scheduler):
    scheduler.add("http://a.example/1", "http://a.example/2")
    given = take(scheduler, wait_seconds=10)["fetches"]
    scheduler.patch(f"/v1/pages/{given[0]['page']}", {"state": "paused"}).ok()
    assert take(scheduler)["fetches"] == []
    scheduler.kill()
    scheduler.start()
    assert take(scheduler, wait_seconds=1)["fetches"] == [], "somebody may still be asking it"


def test_a_host_stays_taken_when_its_page_is_forgotten_and_the_server_killed(scheduler):
    scheduler.add("http://a.example/1", "http://a.example/2")
    given = take(scheduler, wait_seconds=10)["fetches"]
    assert scheduler.delete(f"/v1/pages/{given[0]['page']}").status == 204
    for _ in range(2):
        scheduler.kill()
        scheduler.start()
        assert take(scheduler)["fetches"] == [], "somebody may still be asking it"
    assert bring(scheduler, {"lease": given[0]["lease"], "status": 200, "changed": True}) == ["taken"]
    other = take(scheduler, wait_seconds=10)["fetches"]
    assert [fetch["url"].split("/")[2] for fetch in other] == ["a.example"], "it is free when that is over"


def test_robots_txt_is_asked_for_and_obeyed(scheduler):
    scheduler.add("http://a.example/open", "http://a.example/shut/1")
    ask = {"wait_seconds": 10}
    one = scheduler.post("/v1/fetches/next", ask).ok()["fetches"]
    assert [(fetch["kind"], fetch["url"]) for fetch in one] == [("robots", "http://a.example/robots.txt")]
    assert bring(scheduler, {"lease": one[0]["lease"], "status": 200, "body": "User-agent: *\nDisallow: /shut"}) == ["taken"]
    two = wait_until("a page is given", lambda: scheduler.post("/v1/fetches/next", {"wait_seconds": 5}).ok()["fetches"])
    assert [fetch["url"] for fetch in two] == ["http://a.example/open"]
    bring(scheduler, {"lease": two[0]["lease"], "status": 200, "changed": True})
    wait_until("it is known to be forbidden", lambda: scheduler.post("/v1/fetches/next", {}).ok() and
               scheduler.page("http://a.example/shut/1")["state"] == "disallowed")


def test_nonsense_is_refused(scheduler):
    for wrong in [{"most": 0}, {"most": 1001}, {"wait_seconds": -1}, {"wait_seconds": 61}, {"lease_seconds": 0}, {"lease_seconds": 1501}, {"x": 1}, [], {"most": 1.5}]:
        scheduler.post("/v1/fetches/next", wrong).problem(422)
    for key in ["", "x" * 129, "\xff"]:
        scheduler.post("/v1/fetches/next", {}, headers={"Idempotency-Key": key}).problem(400)
    for wrong in [{}, {"results": 1}, {"results": [{}]}, {"results": [], "x": 1}, {"results": [{"lease": 1}]}]:
        scheduler.post("/v1/fetches/results", wrong).problem(422)
    scheduler.post("/v1/fetches/results", {"results": [{"lease": "1.0.1", "given_back": True}] * 1001}).problem(422, "too-many")
