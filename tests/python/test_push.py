"""What others push: hubs, sites that speak by IndexNow, and what happens to it when the server is killed. tests/push.rs has the rest."""

import contextlib
import sqlite3
import threading
import time

import pytest
from support import fetch, wait_until

KEY = "abcdef12345678"


def feed(site, hub, *entries):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    links = f"<link rel='hub' href='{hub}'/><link rel='self' href='{site.url('/feed')}'/>" if hub else ""
    entries = "".join(f"<entry><link href='{entry}'/><updated>{now}</updated><id>{entry}</id></entry>" for entry in entries)
    return f"<feed xmlns='http://www.w3.org/2005/Atom'>{links}{entries}</feed>".encode()


def with_feed(site, hub):
    site.html("/", "<link rel=alternate type='application/atom+xml' href=/feed><p>home")
    site.html("/news", "<p>news")
    site.pages["/feed"] = (200, {"Content-Type": "application/atom+xml"}, feed(site, hub, site.url("/news")))
    site.pages[f"/{KEY}.txt"] = (200, {"Content-Type": "text/plain"}, KEY)
    return site


def open_to_the_world(servers, **more):
    """A server whose public address is where it listens: hubs can reach it."""
    server = servers(**more)
    server.start()
    server.stop()
    server.args += ["--public-url", f"{server.url}/"]
    return server.start()


def heard(server, url, kind):
    page = server.number(url)
    return [signal for signal in server.get(f"/v1/pages/{page}/history").ok()["signals"] if signal["kind"] == kind]


def subscribed(server, hub, site):
    server.add(site.url("/"), site.url("/news"))
    wait_until("the hub was asked, and came", lambda: hub.verified or not hub.verifies and hub.asked)
    question = hub.asked[0]
    assert question["mode"] == "subscribe" and question["topic"] == site.url("/feed") and len(question["secret"]) >= 32
    return question


def test_hubs_are_believed_by_their_signature_only(servers, site, hubs):
    hub = hubs()
    with_feed(site, hub.url)
    server = open_to_the_world(servers)
    question = subscribed(server, hub, site)
    assert hub.verified[0].status == 200 and hub.verified[0].body == b"echo me"
    server.fetched(site.url("/news"))
    body = feed(site, hub.url, site.url("/news"))
    for wrong in ["", "sha256=", "sha256=00", "md5=00", "nonsense", "sha256=" + "0" * 64, "sha1=" + "0" * 40]:
        assert hub.distribute(question, body, signature=wrong).status == 202
    assert hub.distribute(question, body, secret="another").status == 202
    assert heard(server, site.url("/news"), "websub") == []
    for number, algorithm in enumerate(("sha1", "sha256", "sha384", "sha512")):
        time.sleep(1.05)  # the time of an entry has whole seconds: it must be a later one to be news
        before = len(heard(server, site.url("/news"), "websub"))
        body = feed(site, hub.url, site.url("/news"))
        assert hub.distribute(question, body, algorithm=algorithm).status == 202
        wait_until(f"{algorithm} is heard", lambda: len(heard(server, site.url("/news"), "websub")) > before)
        # The same again says nothing.
        assert hub.distribute(question, body, algorithm=algorithm).status == 202
    assert len(heard(server, site.url("/news"), "websub")) == 4
    # Nobody else can confirm, deny or end it.
    for path in ("nobody", "%00", "x" * 500):
        assert server.get(f"/push/websub/{path}?hub.mode=subscribe&hub.topic=x&hub.challenge=y").status == 404
        assert server.post(f"/push/websub/{path}", b"x").status == 410
    assert hub.verify(question, topic="http://other.example/").status == 404
    assert hub.verify(question, mode="unsubscribe").status == 404
    server.stop()
    server.check()


@pytest.mark.parametrize("verifies", [True, False], ids=["after the hub came", "before the hub came"])
def test_subscriptions_survive_kill_9(servers, site, hubs, verifies):
    hub = hubs()
    hub.verifies = verifies
    with_feed(site, hub.url)
    server = open_to_the_world(servers)
    question = subscribed(server, hub, site)
    server.kill()
    assert hub.verify(question).status == 0, "it is down"
    server.start()
    if not verifies:
        assert hub.verify(question).body == b"echo me"
    server.fetched(site.url("/news"))

    def push():
        assert hub.distribute(question, feed(site, hub.url, site.url("/news"))).status == 202
        return heard(server, site.url("/news"), "websub")

    wait_until("it is heard", push, every=0.3)
    body = feed(site, hub.url, site.url("/news"))
    hub.distribute(question, body)
    wait_until("that is on the disk", lambda: heard(server, site.url("/news"), "websub"))
    server.kill()
    server.start()
    assert heard(server, site.url("/news"), "websub")
    assert all(asked["callback"] == question["callback"] and asked["secret"] == question["secret"] for asked in hub.asked)


def test_leases_are_renewed_and_denials_are_taken(servers, site, hubs):
    hub = hubs(lease=12)
    with_feed(site, hub.url)
    server = open_to_the_world(servers)
    question = subscribed(server, hub, site)
    wait_until("it is asked again", lambda: len(hub.verified) >= 2)
    assert hub.asked[1]["callback"] == question["callback"] and hub.asked[1]["secret"] == question["secret"]
    denied = hub.verify(question, mode="denied", challenge="", lease_seconds="", reason="no")
    assert denied.status in (200, 202, 204, 404), denied


def test_sites_speak_for_themselves(servers, sites):
    site, other = with_feed(sites(), ""), with_feed(sites(), "")
    server = servers().start()
    server.add(site.url("/news"), other.url("/news"))
    for each in (site, other):
        server.fetched(each.url("/news"))

    def call(url, key=KEY, **more):
        return server.get("/indexnow", {"url": url, "key": key, **more})

    assert call(site.url("/news"), "another-key-1").status == 403
    assert call(site.url("/news"), "short").status == 422
    assert call("http://stranger.example/").status == 422
    assert call("nothing").status == 422
    assert heard(server, site.url("/news"), "indexnow") == []
    assert call(site.url("/news")).status in (200, 202)
    wait_until("it is heard", lambda: len(heard(server, site.url("/news"), "indexnow")) == 1)
    assert call(site.url("/news")).status == 200, "the same call again"
    assert len(heard(server, site.url("/news"), "indexnow")) == 1
    assert len(site.asked(f"/{KEY}.txt")) == 1
    # A site speaks for itself only, and below the folder of its key only.
    many = {"host": f"127.0.0.1:{site.port}", "key": KEY, "urlList": [site.url("/news"), other.url("/news")]}
    assert server.post("/indexnow", many).status == 422
    assert heard(server, other.url("/news"), "indexnow") == []
    other.pages["/blog/key.txt"] = (200, {}, KEY)
    assert call(other.url("/news"), keyLocation=other.url("/blog/key.txt")).status == 422
    assert call(other.url("/news"), keyLocation=site.url(f"/{KEY}.txt")).status == 422
    for wrong in [[], {}, {"host": "x"}, {"host": "x", "key": KEY, "urlList": []}, {"host": "x", "key": KEY, "urlList": ["http://x/"] * 10_001}]:
        assert server.post("/indexnow", wrong).status in (400, 422)
    gap = min(two[0] - one[1] for one, two in zip(site.asked(), site.asked()[1:]))
    assert gap >= 0.0195, "the key is asked for as politely as pages are"
    # Killed in the middle: what was acknowledged with 200 is there, and it is asked for again if it was not.
    assert call(other.url("/news")).status in (200, 202)
    wait_until("it is heard", lambda: heard(server, other.url("/news"), "indexnow"))
    server.kill()
    server.start()
    assert heard(server, other.url("/news"), "indexnow") and heard(server, site.url("/news"), "indexnow")


def test_a_site_that_is_down_when_it_calls(servers, sites):
    """The key file takes its time, and the server is killed meanwhile: whoever calls again is heard."""
    site = with_feed(sites(), "")
    server = servers().start()
    server.add(site.url("/news"))
    server.fetched(site.url("/news"))
    site.delay = 3
    answers = []
    caller = threading.Thread(target=lambda: answers.append(fetch("GET", f"{server.url}/indexnow?url={site.url('/news')}&key={KEY}")))
    caller.start()
    wait_until("the key is asked for", lambda: f"/{KEY}.txt" in site.begun)
    server.kill()
    caller.join()
    assert answers[0].status in (0, 202), answers
    site.delay = 0
    server.start()
    assert server.get("/indexnow", {"url": site.url("/news"), "key": KEY}).status in (200, 202)
    wait_until("it is heard", lambda: heard(server, site.url("/news"), "indexnow"))


def test_webhooks_say_it_once(servers, site):
    site.html("/", "<p>one")
    server = servers().start()
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    token = server.run("token", "create", "--data", str(server.data), "--scope", "signal,read", "--source", "cdn", "--host", site.host).stdout.split()[-1]
    server.token = token

    def post(body, **headers):
        return server.post("/push/webhook", body, headers={"Content-Type": "application/json", **headers})

    wait_until("the token is known", lambda: post("[]").status == 400)
    body = '{"urls":["%s"]}' % site.url("/")
    assert post(body, Authorization="Bearer rfr_wrong").status == 401
    assert post('["http://stranger.example/"]').status == 403
    assert post(body, **{"Webhook-Id": "1", "Webhook-Timestamp": str(int(time.time()) - 3600)}).status == 400
    assert post(body, **{"Webhook-Id": "1", "Webhook-Timestamp": str(int(time.time()))}).ok()["news"] == 1
    assert post(body, **{"Webhook-Id": "1"}).status == 200
    server.kill()
    server.start()
    assert post(body, **{"Webhook-Id": "1"}).status == 200
    assert len(heard(server, site.url("/"), "cdn")) == 1, "once, after a kill, too"
    for wrong in ["", "{", "1", '{"urls":1}', '["nothing"]', "[[[[]]]]"]:
        assert post(wrong).status == 400


def test_pings_are_heard_of_what_is_known(server, site):
    site.html("/", "<p>one")
    server.add(site.url("/"))
    assert server.get("/ping", {"sitemap": "http://stranger.example/sitemap.xml"}).status == 404
    assert server.get("/ping?sitemap=nothing").status in (400, 404, 422)
    assert server.get("/ping").status == 400


def kept(server, question):
    """What is kept of a subscription, on the disk."""
    name = "websub." + question["callback"].rsplit("/", 1)[1]
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/refrain.db?mode=ro", uri=True)) as database:
        return database.execute("SELECT value FROM meta WHERE key = ?", (name,)).fetchall()


def test_hubs_are_told_of_the_end(servers, site, hubs):
    hub = hubs()
    with_feed(site, hub.url)
    server = open_to_the_world(servers)
    question = subscribed(server, hub, site)
    assert kept(server, question)
    # Nobody finds the feed again.
    site.html("/", "<p>home")
    for path in ("/", "/feed"):
        assert server.delete(f"/v1/pages/{server.number(site.url(path))}").status == 204
    # Whatever is distributed of it reminds us of that at once.
    hub.distribute(question, feed(site, hub.url, site.url("/news")))
    ends = lambda: [asked for asked in hub.asked if asked["mode"] == "unsubscribe"]
    wait_until("the hub is asked to end it, and comes", lambda: ends() and len(hub.verified) >= 2)
    assert ends()[0]["callback"] == question["callback"] and ends()[0]["topic"] == question["topic"] and "secret" not in ends()[0]
    assert (hub.verified[-1].status, hub.verified[-1].body) == (200, b"echo me")
    assert hub.distribute(question, feed(site, hub.url, site.url("/more"))).status == 410
    assert kept(server, question) == [], "nothing is left of it"
    assert hub.verify(ends()[0]).status == 404
