"""A real Scrapy crawl against the frontier, with the scheduler of examples/: what the guide says of it is true."""

import json
import os
import subprocess
import sys

from frontier_client import plain
from support import PATIENCE, ROOT, wait_until

SPIDER = '''
import os
import sys
import scrapy
from scrapy.crawler import CrawlerProcess


class Spider(scrapy.Spider):
    name = "news"

    async def start(self):
        for url in sys.argv[2:]:
            yield scrapy.Request(url, self.parse_front)

    def parse_front(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse_article, cb_kwargs={"front": response.url})

    def parse_article(self, response, front):
        yield {"url": response.url, "front": front}


process = CrawlerProcess({
    "SCHEDULER": "scrapy_frontier.FrontierScheduler", "FRONTIER_ADDRESS": sys.argv[1], "FRONTIER_IDLE": 3, "LOG_LEVEL": "INFO",
    "FRONTIER_LEASE": 5 if "PAGES" in os.environ else 60, "CLOSESPIDER_PAGECOUNT": int(os.environ.get("PAGES", 0)),
    "ROBOTSTXT_OBEY": True, "TELNETCONSOLE_ENABLED": False, "RETRY_TIMES": 1, "FEEDS": {"items.jsonl": {"format": "jsonlines", "overwrite": False}},
})
process.crawl(Spider)
process.start()
'''


def scrapy(folder, urlfrontier, server, *seeds, pages=None):
    """Runs the spider until nothing comes any more, or so many pages came: what it scraped, and what it said."""
    (folder / "spider.py").write_text(SPIDER)
    stubs = os.path.dirname(urlfrontier.pb.__file__)
    own = {**os.environ, "PYTHONPATH": os.pathsep.join([stubs, str(ROOT / "examples")]), **({"PAGES": str(pages)} if pages else {})}
    done = subprocess.run([sys.executable, "spider.py", f"127.0.0.1:{server.frontier_port}", *seeds], cwd=folder, env=own, capture_output=True, text=True, timeout=3 * PATIENCE)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-3000:]
    items = folder / "items.jsonl"
    return [json.loads(line) for line in items.read_text().splitlines()] if items.exists() else [], done.stderr


def furnish(site):
    site.html("/", "<title>front</title><a href='/one'>1</a> <a href='/two'>2</a> <a href='/gone'>gone</a> <a href='/forbidden/x'>no</a> <a href='/moved'>moved</a>")
    for path in ("/one", "/two"):
        site.html(path, f"<p>article {path}")
    site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /forbidden/\n")
    site.pages["/gone"] = (404, {"Content-Type": "text/plain"}, "gone")
    site.pages["/moved"] = (302, {"Location": "/one"}, "")


def test_a_spider_finds_all_and_says_what_it_saw(frontiers, site, tmp_path, urlfrontier):
    frontier = frontiers()
    furnish(site)
    items, said = scrapy(tmp_path, urlfrontier, frontier.server, site.url("/"))
    assert sorted(item["url"] for item in items) == [site.url("/one"), site.url("/two")] and {item["front"] for item in items} == {site.url("/")}, (items, said[-2000:])
    assert not site.asked("/forbidden/x")
    seen = {item.known.info.url: item.known for item in frontier.list(crawl="news")}
    assert set(seen) == {site.url(path) for path in ("/", "/one", "/two", "/gone", "/forbidden/x", "/moved")}
    status = {url.removeprefix(site.host): plain(known.info.metadata).get("fetch.statusCode") for url, known in seen.items()}
    assert status == {"/": ["200"], "/one": ["200"], "/two": ["200"], "/gone": ["404"], "/forbidden/x": None, "/moved": ["302"]}
    one = plain(seen[site.url("/one")].info.metadata)
    assert len(one["signature"][0]) == 64 and one["url.path"] == [site.url("/")]
    # All but what failed is completed: in a client scheduled crawl a page comes once.
    assert {url for url, known in seen.items() if known.refetchable_from_date} == {site.url("/forbidden/x")}
    asked = len(site.asked("/one"))
    items, _ = scrapy(tmp_path, urlfrontier, frontier.server, site.url("/"))
    assert len(items) == 2 and len(site.asked("/one")) == asked, "nothing was fetched again"


def test_in_a_server_scheduled_crawl_pages_come_again(frontiers, site, tmp_path, urlfrontier):
    frontier = frontiers(rate='"50/s"', gap='"10ms"', toml='[[urlfrontier.crawl]]\npattern = "news"\nschedule = "server"')
    furnish(site)
    # Pages come again for as long as the budget lasts, which is for ever.
    scrapy(tmp_path, urlfrontier, frontier.server, site.url("/"), pages=20)
    forbidden = frontier.server.page(site.url("/forbidden/x"))
    assert forbidden["state"] == "disallowed", forbidden
    page = wait_until("it is a page as others", lambda: frontier.server.get(f"/v1/pages/{frontier.server.number(site.url('/one'))}").ok())
    assert page["state"] == "active" and page["fetched"]
    site.html("/one", "<p>article /one, anew")
    asked = len(site.asked("/one"))

    def changed():
        scrapy(tmp_path, urlfrontier, frontier.server, pages=20)
        history = frontier.server.get(f"/v1/pages/{page['id']}/history").ok()
        return len(site.asked("/one")) > asked and "changed" in [look["outcome"] for look in history["looks"]]

    wait_until("it was fetched again, and has changed", changed)
