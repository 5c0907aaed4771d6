"""Every door of the API, as a program uses it."""

import contextlib
import datetime
import json
import socket
import sqlite3
import threading
import urllib.parse

import pytest
from support import wait_until


def lines(pages):
    return "\n".join(page if isinstance(page, str) else json.dumps(page) for page in pages)


def add_lines(server, body, kind="application/x-ndjson"):
    return server.post("/v1/pages", body, headers={"Content-Type": kind})


def listed(server, **query):
    """All pages of a list, by going on and on."""
    found, cursor = [], None
    while True:
        answer = server.get("/v1/pages", {**query, **({"cursor": cursor} if cursor else {})}).ok()
        found += answer["pages"]
        cursor = answer["next"]
        if not cursor:
            return found


def test_twenty_thousand_lines_good_and_bad(scheduler):
    pages = []
    for number in range(20_000):
        if number % 1000 == 7:
            pages.append('{"url": ')
        elif number % 1000 == 8:
            pages.append('"no address"')
        elif number % 1000 == 9:
            pages.append('{"url":"http://a.example/x","importance":-1}')
        elif number % 2:
            pages.append(json.dumps(f"http://h{number % 50}.example/{number}"))
        else:
            pages.append(json.dumps({"url": f"http://h{number % 50}.example/{number}", "importance": number}))
    done = add_lines(scheduler, lines(pages)).ok()
    assert (done["added"], done["known"], done["refused"]) == (19_940, 0, 60)
    assert [refusal["line"] for refusal in done["refusals"]][:6] == [8, 9, 10, 1008, 1009, 1010]
    assert all(refusal["detail"] for refusal in done["refusals"])
    again = add_lines(scheduler, lines(pages) + "\n").ok()
    assert (again["added"], again["known"], again["refused"]) == (0, 19_940, 60)
    assert scheduler.page("http://h44.example/19994")["importance"] == 19994
    assert len(listed(scheduler, limit=1000)) == 19_940
    # What was acknowledged is there, whatever happens.
    scheduler.kill()
    scheduler.start()
    assert len(listed(scheduler, limit=1000)) == 19_940


def test_lists_of_json(scheduler):
    good = ["http://a.example/1", {"url": "http://a.example/2", "importance": 3, "max_age_seconds": 60}]
    done = scheduler.add(*good, "ftp://a.example/", "http://a.example/1#part")
    assert (done["added"], done["known"], done["refused"]) == (2, 1, 1)
    assert done["refusals"][0]["line"] == 3
    page = scheduler.page("HTTP://A.example:80/2")
    assert (page["importance"], page["max_age_seconds"], page["state"], page["found"]) == (3, 60, "active", "api")
    assert scheduler.add()["added"] == 0
    for wrong, status in [("[", 400), ("[1]", 422), ('{"url":"http://a.example/"}', 422), ('[{"url":1}]', 422), ("", 400)]:
        add_lines(scheduler, wrong, "application/json").problem(status)
    add_lines(scheduler, '[{"url":"http://a.example/","what":1}]', "application/json").problem(422)
    add_lines(scheduler, "[]", "text/plain").problem(415)
    scheduler.post("/v1/pages", b"[]").problem(415)


def test_no_more_pages_than_there_may_be(servers):
    server = servers("--no-fetch", max_pages="3").start()
    done = server.add("nothing", *(f"http://a.example/{number}" for number in range(5)))
    assert (done["added"], done["refused"]) == (3, 3)
    assert [refusal["line"] for refusal in done["refusals"]] == [1, 5, 6]


def test_addresses_that_no_page_can_have(scheduler):
    label = "a" * 63
    long = [f"http://{'.'.join([label] * count)}.example/" for count in (4, 20, 120)]
    assert scheduler.add(*long, f"http://{label}.{label}.{label}.example/")["added"] == 1
    said = scheduler.post("/v1/signals", {"signals": [{"url": url, "add": True} for url in long]}).ok()
    assert said["refused"] == 3
    add_lines(scheduler, lines(json.dumps(url) for url in long)).ok()
    assert scheduler.get("/ready").status == 200 and len(listed(scheduler)) == 1


def test_lists_see_every_page_once_while_others_are_added(scheduler):
    before = [f"http://h{number % 7}.example/{number:04}" for number in range(1500)]
    scheduler.add(*before)
    over = threading.Event()

    def add():
        number = 0
        while not over.is_set():
            scheduler.add(*(f"http://new{number % 7}.example/{number}-{part}" for part in range(50)))
            number += 1

    adder = threading.Thread(target=add)
    adder.start()
    try:
        by_number = [page["url"] for page in listed(scheduler, limit=37)]
        by_address = [page["url"] for page in listed(scheduler, prefix="http://h", limit=41)]
    finally:
        over.set()
        adder.join()
    assert len(by_number) == len(set(by_number)) and set(before) <= set(by_number)
    assert by_address == sorted(before)


def test_filters(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"), site.url("/missing"), "http://127.0.0.1:9/", {"url": "http://a.invalid/", "importance": 0})
    server.fetched(site.url("/"))
    wait_until("one is gone", lambda: server.page(site.url("/missing"))["state"] == "gone")
    paused = server.number("http://a.invalid/")
    server.patch(f"/v1/pages/{paused}", {"state": "paused"}).ok()
    wait_until("one fails", lambda: server.page("http://127.0.0.1:9/")["failures"] > 0)

    def urls(**query):
        return [page["url"] for page in listed(server, **query)]

    assert urls(state="gone") == [site.url("/missing")]
    assert urls(state="paused") == ["http://a.invalid/"]
    assert set(urls(host=site.host)) == {site.url("/"), site.url("/missing")}
    assert urls(host="a.invalid") == ["http://a.invalid/"]
    assert urls(host="nobody.example") == []
    assert "http://127.0.0.1:9/" in urls(failing="true") and site.url("/") not in urls(failing="true")
    assert urls(never_fetched="false") == [site.url("/")]
    assert urls(url=site.url("/")) == [site.url("/")]
    assert urls(prefix=site.host, state="active", limit=1) == [site.url("/")]
    for wrong in ["limit=0", "limit=1001", "limit=x", "state=lost", "failing=maybe", "what=1", "cursor=%FF", "cursor=nonsense", "url=x"]:
        server.get(f"/v1/pages?{wrong}").problem(400)
    cursor = server.get("/v1/pages?limit=1").ok()["next"]
    server.get(f"/v1/pages?limit=1&prefix=http&cursor={cursor}").problem(400)


@pytest.mark.parametrize("number", ["0", "-1", "+1", "01", "1.0", "x", "99999999999999999999", "%00", "%FF", "1%2F2", "9223372036854775808"])
def test_numbers_that_are_none(scheduler, number):
    for method, path in [("GET", ""), ("DELETE", ""), ("PATCH", ""), ("GET", "/copy"), ("GET", "/versions"), ("GET", "/diff"),
                         ("GET", "/history"), ("GET", "/explanation"), ("POST", "/fetch"), ("GET", "/versions/1")]:
        body = {} if method == "PATCH" else None
        scheduler.ask(method, f"/v1/pages/{number}{path}", body).problem(400, "bad-request")
    scheduler.get(f"/v1/pages/1/versions/{number}").problem(400)


def test_pages_that_are_not_there(scheduler):
    far = (1 << 63) - 1
    for path in ["", "/copy", "/versions", "/versions/1", "/diff", "/history", "/explanation"]:
        scheduler.get(f"/v1/pages/{far}{path}").problem(404)
    scheduler.delete(f"/v1/pages/{far}").problem(404, "no-such-page")
    scheduler.patch(f"/v1/pages/{far}", {"importance": 1}).problem(404)
    scheduler.post(f"/v1/pages/{far}/fetch").problem(404)
    scheduler.get("/v1/page", {"url": "http://a.example/"}).problem(404)
    scheduler.get("/v1/page?url=nothing").problem(400)
    scheduler.get("/v1/page").problem(400)
    scheduler.get("/v1/hosts/http%3A%2F%2Fa.example").problem(404, "no-such-host")
    scheduler.patch("/v1/hosts/%00", {"paused": True}).problem(404)
    scheduler.get("/v1/nothing").problem(404, "no-such-door")
    scheduler.delete("/v1/status").problem(405)


def test_edit_pause_resume_and_delete(server, site):
    for path in ("/a", "/b"):
        site.html(path, path)
    server.add(site.url("/a"), site.url("/b"))
    a, b = (server.fetched(site.url(path))["id"] for path in ("/a", "/b"))
    page = server.patch(f"/v1/pages/{a}", {"importance": 7.5, "max_age_seconds": 3600}).ok()
    assert (page["importance"], page["max_age_seconds"]) == (7.5, 3600)
    assert server.patch(f"/v1/pages/{a}", {"max_age_seconds": None}).ok()["max_age_seconds"] is None
    assert server.patch(f"/v1/pages/{a}", {}).ok()["importance"] == 7.5
    many = {"pages": [{"page": a, "state": "paused"}, {"url": site.url("/b"), "importance": 2}, {"page": 999, "importance": 1}]}
    assert server.patch("/v1/pages", many).ok() == {"changed": 2, "unknown": [3]}
    assert server.get(f"/v1/pages/{a}").ok()["state"] == "paused"
    server.post(f"/v1/pages/{a}/fetch").problem(409)
    assert server.get(f"/v1/pages/{a}/explanation").ok()["crawled"] is False
    assert server.patch(f"/v1/pages/{a}", {"state": "active"}).ok()["state"] == "active"
    before = len(site.asked("/a"))
    assert server.post(f"/v1/pages/{a}/fetch").status == 202
    wait_until("it is fetched again", lambda: len(site.asked("/a")) > before)
    for wrong in [{"importance": -1}, {"importance": "a"}, {"importance": 1e31}, {"max_age_seconds": 0}, {"state": "gone"}, {"what": 1}, []]:
        server.patch(f"/v1/pages/{a}", wrong).problem(422)
    server.patch("/v1/pages", {"pages": [{"importance": 1}]}).problem(422)
    server.patch("/v1/pages", {"pages": [{"url": "nothing", "importance": 1}]}).problem(400)
    assert server.delete(f"/v1/pages/{b}").status == 204
    server.get(f"/v1/pages/{b}").problem(404)
    server.delete(f"/v1/pages/{b}").problem(404)
    server.stop()
    server.start()
    assert [page["id"] for page in listed(server)] == [a]
    assert server.get(f"/v1/pages/{a}").ok()["importance"] == 7.5
    # A page that comes back is another one.
    server.add(site.url("/b"))
    assert server.number(site.url("/b")) > b


def test_versions_copies_and_differences(servers, site):
    # Looks that saw the same again are versions, too, unless they are not kept.
    server = servers(toml="[keep]\nrevisits = false").start()
    site.html("/", "<p>one</p><p>same</p>", ETag='"1"')
    server.add(site.url("/"))
    page = server.fetched(site.url("/"))["id"]
    path = f"/v1/pages/{page}"
    assert server.get(f"{path}/diff").ok()["hunks"] == []
    site.html("/", "<p>two</p><p>same</p>", ETag='"2"')
    server.post(f"{path}/fetch")
    versions = wait_until("there are two", lambda: (found := server.get(f"{path}/versions").ok()["versions"]) and len(found) == 2 and found)
    new, old = (version["version"] for version in versions)
    copy = server.get(f"{path}/copy")
    assert copy.body == b"<p>two</p><p>same</p>" and copy.kind == "text/html"
    for name, value in [("Content-Security-Policy", "sandbox"), ("X-Content-Type-Options", "nosniff"), ("Content-Disposition", "attachment"),
                        ("Memento-Datetime", "GMT"), ("Link", site.url("/")), ("Refrain-Version", str(new))]:
        assert value in copy.headers[name], name
    same = server.get(f"{path}/copy", headers={"If-None-Match": copy.headers["ETag"]})
    assert (same.status, same.body) == (304, b"")
    assert server.get(f"{path}/versions/{old}").body == b"<p>one</p><p>same</p>"
    assert server.get(f"{path}/copy", {"at": versions[1]["time"]}).body == b"<p>one</p><p>same</p>"
    server.get(f"{path}/copy", {"at": "1980-01-01T00:00:00Z"}).problem(404)
    server.get(f"{path}/copy", {"at": "yesterday"}).problem(400)
    diff = server.get(f"{path}/diff").ok()
    assert [line for hunk in diff["hunks"] for line in hunk["lines"] if line[0] in "+-"] == ["-one", "+two"]
    back = server.get(f"{path}/diff", {"from": new, "to": old}).ok()
    assert [line for hunk in back["hunks"] for line in hunk["lines"] if line[0] in "+-"] == ["-two", "+one"]
    server.get(f"{path}/diff", {"from": 12345}).problem(404)
    first = server.get(f"{path}/versions", {"limit": 1}).ok()
    rest = server.get(f"{path}/versions", {"limit": 1, "cursor": first["next"]}).ok()
    assert [first["versions"][0]["version"], rest["versions"][0]["version"], rest["next"]] == [new, old, None]
    server.get(f"{path}/versions", {"cursor": "bjk5OQ"}).problem(400)
    history = server.get(f"{path}/history").ok()
    outcomes = [look["outcome"] for look in history["looks"]]
    assert outcomes[-1] == "first" and "changed" in outcomes
    why = server.get(f"{path}/explanation").ok()
    assert why["crawled"] and why["host"]["name"] == site.host and why["host"]["robots"]["allowed"]
    assert 0 <= why["stale_probability"] <= 1 and why["value"] >= 0 and why["looks"]


def test_hosts_have_gaps_and_are_left_alone(server, site):
    for number in range(8):
        site.html(f"/{number}", f"{number}")
    name = urllib.parse.quote(site.host, safe="")
    server.add(site.url("/0"))
    server.fetched(site.url("/0"))
    host = server.patch(f"/v1/hosts/{name}", {"gap_seconds": 0.4}).ok()
    assert (host["gap_seconds"], host["gap_wanted_seconds"], host["name"]) == (0.4, 0.4, site.host)
    begun = len(site.asked())
    server.add(*(site.url(f"/{number}") for number in range(1, 5)))
    for number in range(1, 5):
        server.fetched(site.url(f"/{number}"))
    log = site.asked()[begun:]
    assert all(two[0] - one[1] >= 0.3995 for one, two in zip(log, log[1:])), log
    assert server.patch(f"/v1/hosts/{name}", {"paused": True}).ok()["paused"] is True
    wait_until("nothing is under way", lambda: server.get(f"/v1/hosts/{name}").ok()["in_flight"] == 0)
    before = len(site.asked())
    # Another one is visited meanwhile, this one is not; nor after a restart.
    server.add(site.url("/5"))
    server.stop()
    server.start()
    host = server.get(f"/v1/hosts/{name}").ok()
    assert (host["paused"], host["gap_wanted_seconds"]) == (True, 0.4)
    wait_until("a second has passed", lambda: server.get("/v1/status").ok()["pages"] >= 6)
    assert len(site.asked()) == before
    server.patch(f"/v1/hosts/{name}", {"paused": False, "gap_seconds": None}).ok()
    server.fetched(site.url("/5"))
    until = "2100-01-01T00:00:00Z"
    assert server.patch(f"/v1/hosts/{name}", {"back_off_until": until}).ok()["back_off_until"].startswith("2100-01-01T00:00:00")
    assert server.patch(f"/v1/hosts/{name}", {"back_off_until": None}).ok()["back_off_until"] is None
    for wrong in [{"gap_seconds": -1}, {"gap_seconds": 1e10}, {"gap_seconds": "1"}, {"paused": None, "x": 1}, {"back_off_until": "soon"}]:
        server.patch(f"/v1/hosts/{name}", wrong).problem(422)
    found = server.get("/v1/hosts", {"limit": 1}).ok()
    assert [host["name"] for host in found["hosts"]] == [site.host] and found["next"] is None


def test_hosts_are_listed_once_each(scheduler):
    scheduler.add(*(f"http://h{number}.example/" for number in range(25)))
    names, cursor = [], None
    while True:
        some = scheduler.get("/v1/hosts", {"limit": 7, **({"cursor": cursor} if cursor else {})}).ok()
        names += [host["name"] for host in some["hosts"]]
        if not (cursor := some["next"]):
            break
    assert sorted(names) == sorted(f"http://h{number}.example" for number in range(25))
    for cursor in ["x", "YQ", "bi0x", "bjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk"]:
        assert scheduler.get("/v1/hosts", {"cursor": cursor}).status in (200, 400)


def test_the_budget_is_a_rate_or_a_price_and_survives(scheduler):
    assert scheduler.get("/v1/budget").ok()["rate_per_second"] == 500
    assert scheduler.put("/v1/budget", {"rate_per_second": 20}).ok()["rate_per_second"] == 20
    scheduler.kill()
    scheduler.start()
    assert scheduler.get("/v1/budget").ok()["rate_per_second"] == 20
    priced = scheduler.put("/v1/budget", {"price_seconds": 0.5, "cap_per_second": 3}).ok()
    assert (priced["price_seconds"], priced["cap_per_second"], priced["rate_per_second"]) == (0.5, 3, None)
    scheduler.stop()
    scheduler.start()
    priced = scheduler.get("/v1/budget").ok()
    assert (priced["price_seconds"], priced["cap_per_second"], priced["rate_per_second"]) == (0.5, 3, None)
    for wrong in [{}, {"price_seconds": 1}, {"cap_per_second": 1}, {"rate_per_second": 1, "price_seconds": 1, "cap_per_second": 1}, {"rate_per_second": 0},
                  {"rate_per_second": -1}, {"rate_per_second": 1e10}, {"price_seconds": -1, "cap_per_second": 1}, {"rate_per_second": None}]:
        scheduler.put("/v1/budget", wrong).problem(422)
    scheduler.ask("PUT", "/v1/budget", b'{"rate_per_second":1e999}', {"Content-Type": "application/json"}).problem(400)
    assert scheduler.get("/v1/budget").ok()["price_seconds"] == 0.5


def test_a_rate_is_kept(servers, sites):
    """Whoever changes the budget sees it: so many requests, and no more."""
    server = servers(rate='"2/s"').start()
    few = [sites() for _ in range(12)]
    server.add(*(site.url("/") for site in few))
    wait_until("it has begun", lambda: sum(len(site.asked()) for site in few) >= 4)
    server.put("/v1/budget", {"rate_per_second": 300}).ok()
    wait_until("all were asked", lambda: all(site.asked("/") for site in few), 10)
    wait_until("it is said", lambda: server.get("/v1/status").ok()["rate_per_second"] == 300)


def test_forecasts(scheduler):
    scheduler.get("/v1/forecast").problem(409, "no-pages")
    scheduler.add(*(f"http://h{number}.example/" for number in range(50)))
    cast = scheduler.get("/v1/forecast", {"rate_per_second": 0.001, "freshness": 0.5}).ok()
    assert cast["pages"] == cast["sample"] == 50
    assert 0 <= cast["half"]["freshness"] < cast["budget"]["freshness"] < cast["double"]["freshness"] <= 1
    assert abs(cast["wanted"]["freshness"] - 0.5) < 1e-6
    for wrong in ["rate_per_second=0", "rate_per_second=nan", "rate_per_second=inf", "freshness=1", "freshness=-1", "x=1", "freshness="]:
        scheduler.get(f"/v1/forecast?{wrong}").problem(400)


def reads_of(server):
    """How often each page was asked for, as it is on the disk."""
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/refrain.db?mode=ro", uri=True)) as database:
        return dict(database.execute("SELECT url, count FROM reads JOIN pages ON pages.id = page"))


def test_what_is_told_twice_under_one_key_counts_once(scheduler):
    page, other = "http://a.example/", "http://b.example/"
    scheduler.add(page, other)

    def tell(body, key, kind="application/json"):
        return scheduler.post("/v1/requests", body, headers={"Idempotency-Key": key, "Content-Type": kind})

    first, said = [{"url": page, "count": 3}], {"counted": 1, "unknown": 0, "refused": 0}
    assert tell(json.dumps(first), "one").ok() == said and tell(json.dumps(first), "one").ok() == said
    lines = "".join(f'{{"url":"{other}"}}\n' for _ in range(25_000)) + "x\n"
    many = {"counted": 25_000, "unknown": 0, "refused": 1}
    assert tell(lines, "many", "application/x-ndjson").ok() == many
    # Whoever is cut off in the middle sends all of it again: what was counted is known, part by part.
    with socket.create_connection(("127.0.0.1", scheduler.port)) as peer:
        head = f"POST /v1/requests HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: cut\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(lines)}\r\n\r\n"
        peer.sendall((head + lines[: len(lines) // 2]).encode())
        wait_until("a part of it is counted", lambda: reads_of(scheduler).get(other, 0) > 30_000)
    assert reads_of(scheduler)[other] < 36_000
    assert tell(lines, "cut", "application/x-ndjson").ok() == many
    tell(json.dumps([{"url": page}]), "one").problem(409, "key-reused")
    scheduler.kill()
    assert reads_of(scheduler)[page] == 3, "what was answered is on the disk"
    scheduler.start()
    assert tell(json.dumps(first), "one").ok() == said
    assert tell(lines, "many", "application/x-ndjson").ok() == many
    assert tell(json.dumps(first), "two").ok() == said
    for key in ["", "x" * 129, "a b"]:
        tell(json.dumps(first), key).problem(400)
    scheduler.stop()
    counts = reads_of(scheduler)
    assert abs(counts[page] - 6) < 0.01 and abs(counts[other] - 50_000) < 1, counts


def test_signals_under_one_key_are_heard_once(scheduler):
    page = "http://a.example/"
    scheduler.add(page)
    number = scheduler.number(page)
    given = scheduler.post("/v1/fetches/next", {"knows_robots": True, "wait_seconds": 10}).ok()["fetches"][0]
    scheduler.post("/v1/fetches/results", {"results": [{"lease": given["lease"], "status": 200, "changed": True}]}).ok()

    def say(key):
        headers = {"Idempotency-Key": key}
        return scheduler.post("/v1/signals", {"signals": [{"url": page}, {"url": "http://b.example/", "add": True}]}, headers=headers).ok()["results"]

    assert say("one") == [{"result": "news"}, {"result": "added"}]
    assert say("one") == [{"result": "known"}, {"result": "known"}]
    scheduler.kill()
    scheduler.start()
    assert say("one") == [{"result": "known"}, {"result": "known"}]
    assert len(scheduler.get(f"/v1/pages/{number}/history").ok()["signals"]) == 1
    assert say("two") == [{"result": "news"}, {"result": "known"}]


def test_requests_make_pages_matter(server, site):
    for path in ("/a", "/b", "/c"):
        site.html(path, f"<p>{path}")
    server.add(site.url("/a"), site.url("/b"), site.url("/c"))
    a, b, c = (server.fetched(site.url(path))["id"] for path in ("/a", "/b", "/c"))

    def matters(page):
        return server.get(f"/v1/pages/{page}/explanation").ok()["importance_now"]

    assert matters(a) == matters(b) == matters(c)
    told = [{"page": a, "count": 500}, {"url": site.url("/a")}, {"url": "http://nobody.example/"}, {"page": 999}]
    assert server.post("/v1/requests", told).ok() == {"counted": 2, "unknown": 2, "refused": 0}
    text = lines([{"page": a, "count": 3}, "{", {"page": b, "url": "x"}, {"count": 1}, {"page": b, "count": -1}, ""])
    assert server.post("/v1/requests", text, headers={"Content-Type": "application/x-ndjson"}).ok() == {"counted": 1, "unknown": 0, "refused": 4}
    for wrong in [[{"count": 1}], [{"page": 0}], [{"page": 1, "count": 1e10}], [{"url": "x"}], {}, [1]]:
        server.post("/v1/requests", wrong).problem(422)
    # Reads are counted without being told.
    for _ in range(100):
        assert server.get("/v1/read", {"url": site.url("/b")}).body == b"<p>/b"
    wait_until("it counts", lambda: matters(a) > matters(b) > matters(c))
    server.get("/v1/read", {"url": "http://nobody.example/"}).problem(404)


def test_signals_hurry_pages_and_are_remembered(server, site):
    site.html("/", "<p>one")
    server.add(site.url("/"))
    page = server.fetched(site.url("/"))["id"]
    # A little ahead, as clocks may be: the crawl may look at the page at any moment, and what was before that is no news.
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30)
    now = soon.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    said = [{"url": site.url("/"), "changed": now}, {"url": "http://nobody.invalid/"}, {"url": "nothing"}]
    done = server.post("/v1/signals", {"signals": said}).ok()
    assert [one["result"] for one in done["results"]] == ["news", "unknown", "refused"]
    assert (done["news"], done["unknown"], done["refused"]) == (1, 1, 1)
    again = server.post("/v1/signals", {"signals": said[:1]}).ok()
    assert again["known"] == 1
    added = server.post("/v1/signals", {"signals": [{"url": site.url("/new"), "add": True}]}).ok()
    assert added["added"] == 1 and server.page(site.url("/new"))["id"]
    heard = server.get(f"/v1/pages/{page}/history").ok()["signals"]
    assert [(signal["kind"], signal["said"][:19]) for signal in heard] == [("api", now[:19])]
    # What changed before the last look is no news.
    old = server.post("/v1/signals", {"signals": [{"url": site.url("/"), "changed": "2001-01-01T00:00:00Z"}]}).ok()
    assert old["known"] == 1
    for wrong in [{}, {"signals": 1}, {"signals": [{}]}, {"signals": [{"url": "x", "changed": "now"}]}, [], {"signals": [], "x": 1}]:
        server.post("/v1/signals", wrong).problem(422)
    server.post("/v1/signals", {"signals": [{"url": "http://a.example/"}] * 10_001}).problem(422, "too-many")


def test_a_signal_of_a_moment_to_come_counts_once(scheduler):
    scheduler.add("http://a.example/")
    given = scheduler.post("/v1/fetches/next", {"knows_robots": True, "wait_seconds": 10}).ok()["fetches"]
    scheduler.post("/v1/fetches/results", {"results": [{"lease": given[0]["lease"], "status": 200, "changed": True}]}).ok()
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=30)
    said = {"signals": [{"url": "http://a.example/", "changed": later.isoformat()}]}
    assert scheduler.post("/v1/signals", said).ok()["news"] == 1
    assert scheduler.post("/v1/signals", said).ok()["known"] == 1


def test_status_counts(server, site):
    site.html("/", "<a href=/2>two</a>")
    server.add(site.url("/"), site.url("/gone"))
    server.fetched(site.url("/"))
    wait_until("it is gone", lambda: server.page(site.url("/gone"))["state"] == "gone")
    status = wait_until("it is counted", lambda: (now := server.get("/v1/status").ok())["looks"] >= 2 and now)
    assert status["first"] == 1 and status["gone"] + status["failed"] >= 1 and status["hosts"] == 1
    assert status["requests"] >= 3 and status["bytes"] > 0 and status["last_change"] >= 1
    assert server.get("/health").ok() == {"status": "ok"} and server.get("/ready").ok() == {"status": "ok"}
    for path in ("/health", "/ready", "/v1/status", "/v1/budget"):
        server.get(f"{path}?x=1").problem(400)


def test_a_crawl_that_ends_is_sound(server, site):
    site.html("/", "<p>one")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    server.stop()
    server.check()
    server.start()
    server.kill()
    server.check()
