"""The dashboard in a real browser: every page, by day and by night, on a desk and on a phone, with a crawl running."""

import time
import urllib.parse

import pytest
from browser import DESKTOP, PHONE, Browser, Canary
from frontier_client import Client, now
from hostile_site import furnish
from support import Server, Site, wait_until
from test_tokens import create


@pytest.fixture(scope="module")
def canary():
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture(scope="module")
def site(canary):
    site = Site()
    site.addresses = furnish(site, canary)
    yield site
    site.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory, site):
    server = Server(tmp_path_factory.mktemp("browser"), rate='"20/s"', gap='"50ms"', toml='[decisions]\nfolder = "log"', frontier="127.0.0.1").start()
    server.add(*site.addresses, "http://127.0.0.1:9/unreachable")
    server.fetched(site.url("/hostile"))
    server.fetched(site.url("/changing"))
    for path in ("/hostile", "/changing"):
        number = server.number(site.url(path))
        wait_until("it has changed", lambda: len(server.get(f"/v1/pages/{number}/versions").ok()["versions"]) > 2)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def queues(server, urlfrontier):
    """Queues of other crawlers, with names, URLs and metadata that strangers chose."""
    hostile = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 2'>"
    client = Client(urlfrontier, f"127.0.0.1:{server.frontier_port}", crawl=f"crawl {hostile}")
    key = f"key {hostile} " + "k" * 300
    client.discover(*(f"http://a.example/{number}/{'x' * 200}{hostile}" for number in range(60)), key=key, metadata={hostile: [hostile, "y" * 500], "depth": "1"})
    client.put(client.known("http://a.example/done", 0, key=key), client.known("http://b.example/later", now() + 1000))
    client.block("b.example", now() + 1000)
    client.limit("b.example", 5)
    client.close()
    return {"crawls": "/queues", "queues": "/queues?" + urllib.parse.urlencode({"crawl": client.crawl}),
            "queue": "/queues?" + urllib.parse.urlencode({"crawl": client.crawl, "key": key}), "no queues": "/queues?q=nothing"}


@pytest.fixture(scope="module")
def browser():
    browser = Browser()
    # Streams are remembered, for who wants to speak through them.
    browser.tell("Page.addScriptToEvaluateOnNewDocument", source="window.streams = []; window.EventSource = class extends EventSource { constructor(...all) { super(...all); window.streams.push(this); } };")
    yield browser
    browser.close()


def paths(server, site):
    number, hostile = server.number(site.url("/changing")), server.number(site.url("/hostile"))
    version = server.get(f"/v1/pages/{hostile}/versions").ok()["versions"][0]["version"]
    return {
        "overview": "/", "overview of a month": "/?span=30d", "pages": "/pages", "found pages": "/pages?q=a&sort=changes", "no pages": "/pages?q=nothing+like+it",
        "page": f"/pages/{number}", "hostile page": f"/pages/{hostile}", "gone page": f"/pages/{server.number(site.url('/missing'))}",
        "changes": f"/pages/{number}/changes", "hostile changes": f"/pages/{hostile}/changes?raw=yes", "copy": f"/pages/{hostile}/copy/{version}",
        "hosts": "/hosts", "host": "/hosts/" + urllib.parse.quote(site.host, safe=""), "signals": "/signals", "hubs": "/hubs", "plan": "/plan", "nowhere": "/nowhere",
    }


@pytest.mark.parametrize("size, dark, with_axe", [(DESKTOP, False, True), (PHONE, True, True), (DESKTOP, True, False), (PHONE, False, False)],
                         ids=["desk by day", "phone by night", "desk by night", "phone by day"])
def test_every_page(browser, server, site, queues, canary, size, dark, with_axe):
    browser.look(size, dark)
    browser.complaints(), browser.asked()
    for name, path in {**paths(server, site), **queues}.items():
        browser.open(server.url + path)
        if path != "/nowhere":
            browser.live()
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
        assert browser.run("return window.pwned") is None and browser.driver.title != "pwned", name
        wrong = [entry for entry in browser.complaints() if "/nowhere" not in entry["message"]]
        assert not wrong, (name, wrong)
        if with_axe:
            assert browser.findings() == [], name
            browser.complaints()
    strangers = [url for url in browser.asked() if not url.startswith((server.url, "data:", "about:"))]
    assert not strangers and not canary.visits, (strangers, canary.visits)


def test_copies_of_strangers_do_nothing(browser, server, site, canary):
    browser.look(DESKTOP)
    number = server.number(site.url("/hostile"))
    version = server.get(f"/v1/pages/{number}/versions").ok()["versions"][0]["version"]
    for path in (f"/pages/{number}/copy/{version}?as=page", f"/pages/{number}/copy/{version}/body"):
        browser.open(server.url + path)
        if path.endswith("page"):
            frame = browser.one("iframe.copy")
            assert frame.get_attribute("sandbox") == ""
            browser.driver.switch_to.frame(frame)
        assert "version" in browser.text(), "the copy can be read"
        time.sleep(1.5)  # longer than it takes to be sent elsewhere
        assert browser.run("return window.pwned") is None and browser.run("return document.title") != "pwned"
        browser.driver.switch_to.default_content()
        assert browser.driver.current_url == server.url + path
    assert not canary.visits, canary.visits
    browser.complaints()


def test_people_change_things(browser, server, site):
    browser.look(DESKTOP)
    url = site.url("/quiet")
    number = server.number(url)
    browser.open(f"{server.url}/pages/{number}").live()
    asked = len(site.asked("/quiet"))
    browser.press("Fetch now")
    assert "It is fetched next" in browser.one(".flash").text
    wait_until("it was fetched", lambda: len(site.asked("/quiet")) > asked)
    field = browser.one("#importance")
    field.clear()
    field.send_keys("7.5")
    browser.follow(browser.one("form:has(#importance) button"))
    assert server.page(url)["importance"] == 7.5 and "It matters that much" in browser.text()
    browser.one("#max-age").send_keys("90m")
    browser.follow(browser.one("form:has(#max-age) button"))
    assert server.page(url)["max_age_seconds"] == 5400 and browser.one("#max-age").get_attribute("value") == "90m"
    browser.press("Pause")
    assert server.page(url)["state"] == "paused" and "It is paused" in browser.one(".answer").text
    browser.press("Crawl it again")
    assert server.page(url)["state"] == "active"
    host = "/hosts/" + urllib.parse.quote(site.host, safe="")
    browser.open(server.url + host)
    browser.one("#gap").send_keys("0.07")
    browser.press("Set")
    assert server.get("/v1" + host).ok()["gap_wanted_seconds"] == 0.07
    browser.press("Pause")
    assert server.get("/v1" + host).ok()["paused"]
    browser.press("Visit it again")
    assert not server.get("/v1" + host).ok()["paused"]
    browser.open(server.url + "/plan").live()
    rate = browser.one("#rate")
    rate.clear()
    rate.send_keys("12")
    browser.press("Spend this from now on")
    assert server.get("/v1/budget").ok()["rate_per_second"] == 12
    assert not browser.complaints()


def test_the_slider_answers_at_once(browser, server):
    browser.open(server.url + "/plan").live()
    assert not browser.one("main form button").is_displayed()
    before = browser.one("#chosen-rate").text
    slider = browser.one("input[type=range]")
    for key in ("\ue012",) * 40:  # to the left
        slider.send_keys(key)
    assert float(browser.one("#chosen-rate").text) < float(before)
    assert browser.one("#rate").get_attribute("value") == browser.one("#chosen-rate").text
    assert "%" in browser.one("#chosen-polite").text


def test_charts_are_read_out(browser, server, site):
    browser.open(f"{server.url}/pages/{server.number(site.url('/changing'))}").live()
    chart = browser.one("#value-curve .area")
    browser.run("arguments[0].focus()", chart)
    chart.send_keys("\ue012")
    said = browser.one("#value-curve .readout").text
    assert "worth" in said and "20" in said, said
    browser.one("#value-curve summary").click()
    assert len(browser.all("#value-curve tbody tr")) > 5


def test_a_live_page_for_an_hour(browser, server):
    """An hour of events in seconds: what is on the page changes, and nothing grows."""
    browser.open(server.url + "/").live()
    browser.run("""
        const real = Date.now.bind(Date);
        window.later = 0;
        window.fetches = 0;
        const fetched = window.fetch.bind(window);
        window.fetch = (...all) => { window.fetches += 1; return fetched(...all); };
        Date.now = () => real() + window.later;
    """)
    hour = """
        const [from, to, done] = arguments;
        const stream = window.streams.at(-1);
        const go = async () => {
            for (let second = from; second < to; second += 1) {
                window.later += 1000;
                stream.dispatchEvent(new MessageEvent("pulse", { data: JSON.stringify({ fresh: `${second % 100}.0 %`, requests: `${second}` }) }));
                if (second % 5 === 0) await new Promise((next) => setTimeout(next, 8));
            }
            done(document.querySelector("[data-n=fresh]").textContent);
        };
        go();
    """

    def held():
        browser.tell("HeapProfiler.collectGarbage")
        counters = browser.tell("Memory.getDOMCounters")
        return browser.run("return performance.memory.usedJSHeapSize"), counters["nodes"], counters["jsEventListeners"]

    browser.driver.set_script_timeout(120)
    browser.driver.execute_async_script(hour, 0, 300)
    before = held()
    assert browser.driver.execute_async_script(hour, 300, 3900).endswith("%")
    time.sleep(0.5)
    after = held()
    print(f"JS heap, nodes, listeners: after 5 minutes {before}, after 65 {after}")
    assert after[0] < 1.2 * before[0] + 300_000, (before, after)
    assert after[1] < 1.3 * before[1] + 500 and after[2] < 1.3 * before[2] + 50, (before, after)
    assert browser.run("return window.fetches") > 300, "what is on the page was replaced again and again"
    assert len(browser.run("return window.streams")) == 1, "one stream"


def test_a_stream_comes_back(browser, server):
    browser.open(server.url + "/").live()
    browser.run("window.streams.at(-1).dispatchEvent(new Event('error'))")
    assert not browser.run("return document.body.classList.contains('is-live')")
    browser.live()
    assert browser.run("return window.streams.filter((one) => one.readyState < 2).length") == 1


def test_everything_is_there_without_scripts(server, site, queues):
    browser = Browser(PHONE, scripts=False)
    try:
        for name, path in {**paths(server, site), **queues}.items():
            browser.open(server.url + path)
            assert browser.all("main h1"), name
        browser.open(server.url + "/pages")
        browser.one("#q").send_keys("quiet")
        browser.press("Show")
        browser.follow(browser.one("table a[href^='/pages/']"))
        assert "Quiet" in browser.one("h1").text
        browser.press("Fetch now")
        assert "It is fetched next" in browser.one(".flash").text
        browser.one("#value-curve summary").click()
        assert browser.one("#value-curve table").is_displayed()
        browser.open(server.url + "/plan")
        browser.follow(browser.one("main form button"))
        assert "at=" in browser.driver.current_url and "requests a second buy" in browser.text()
    finally:
        browser.close()


def test_people_sign_in(tmp_path, site):
    server = Server(tmp_path / "tokens").start()
    browser = Browser()
    try:
        server.add(site.url("/quiet"))
        read = create(server, "--scope", "read")
        wait_until("doors need a token", lambda: server.get("/v1/status").status == 401)
        browser.open(server.url + "/pages")
        assert browser.driver.title.startswith("Sign in")
        assert browser.findings() == []
        browser.one("#token").send_keys("rfr_wrong")
        browser.press("Sign in")
        assert "not known" in browser.one("[role=alert]").text
        browser.one("#token").send_keys(read)
        browser.press("Sign in")
        assert browser.driver.current_url == server.url + "/pages"
        browser.live()
        browser.open(server.url + "/pages/1")
        assert "You may look, not change" in browser.text() and not browser.all(".actions")
        browser.press("Sign out")
        assert "/sign-in" in browser.driver.current_url
        browser.open(server.url + "/hosts")
        assert "/sign-in" in browser.driver.current_url
    finally:
        browser.close()
        server.kill()
