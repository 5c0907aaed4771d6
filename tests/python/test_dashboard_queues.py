"""Queues of other crawlers in the dashboard: what is in them, however much it is and whoever wrote it."""

import re
import shutil
import urllib.parse

from frontier_client import YEAR, now

HOSTILE = "<script>alert(1)</script>\"'&\x1b"


def path(**query):
    return "/queues?" + urllib.parse.urlencode(query)


def page(server, where):
    answer = server.get(where, headers={"Accept": "text/html"})
    assert answer.status == 200 and len(answer.body) < 100_000, (where, answer.status, len(answer.body))
    text = answer.body.decode()
    assert "<script>" not in text and not re.search(r"<[^>]*\son\w+=", text) and " style=" not in text, where
    return text


def test_nobody_is_told_of_queues_that_nobody_has(scheduler, frontiers):
    assert "/queues" not in page(scheduler, "/")
    assert "--urlfrontier" in page(scheduler, "/queues")
    frontier = frontiers()
    assert 'href="/queues"' in page(frontier.server, "/") and "No URL came yet" in page(frontier.server, "/queues")
    frontier.discover("http://a.example/", crawl="some")
    assert ">some<" in page(frontier.server, "/queues")


def test_queues_whose_door_is_closed_are_told_of(frontiers, servers):
    frontier = frontiers()
    frontier.discover("http://a.example/", crawl="some")
    frontier.server.stop()
    other = servers("--no-fetch")
    shutil.copytree(frontier.server.data, other.data, dirs_exist_ok=True)
    found = page(other.start(), "/queues")
    assert "is closed" in found and "some" in found and 'href="/queues"' in page(other, "/")


def test_crawls_queues_and_urls(frontiers):
    frontier = frontiers()
    frontier.discover("http://a.example/1", "http://a.example/2", metadata={"depth": "3", "m": ["1", "2"]})
    frontier.put(frontier.known("http://a.example/done", 0), frontier.known("http://b.example/later", now() + YEAR))
    frontier.discover("http://v.example/", crawl="valued", metadata={"refrain.schedule": "server"})
    frontier.block("b.example", now() + 1000)
    frontier.delay("a.example", 7)
    frontier.limit("a.example", 5)
    assert len(frontier.get(key="a.example", crawl="DEFAULT", each=1, lease=1000)) == 1
    crawls = page(frontier.server, "/queues")
    assert re.search(r">DEFAULT</a>.*>client<.*>2<.*>4<.*>1<.*>valued</a>.*>server<", crawls, re.S), crawls
    listed = page(frontier.server, path(crawl="DEFAULT"))
    assert "blocked" in listed and "2 of 5 allowed" in listed and "7 s" in listed, listed
    assert "a.example" not in page(frontier.server, path(crawl="DEFAULT", q="b.ex")).split("</form>")[1]
    found = page(frontier.server, path(crawl="DEFAULT", key="a.example"))
    for expected in ("http://a.example/1", "completed", "depth: 3", "m: 1, 2", "3, 1 of them completed", "1 to 3 of 3"):
        assert expected in found, (expected, found)
    number = frontier.server.number("http://v.example/")
    assert f'href="/pages/{number}"' in page(frontier.server, path(crawl="valued", key="v.example")), "a page as others"
    assert frontier.server.get(path(crawl="DEFAULT", key="nobody"), headers={"Accept": "text/html"}).status == 404
    assert "No such queues" in page(frontier.server, path(crawl="nobody")) and "No such crawls" in page(frontier.server, path(q="nobody"))
    frontier.activate(False)
    assert "It is paused" in page(frontier.server, "/queues")


def test_nothing_of_strangers_is_markup_and_nothing_is_too_much(frontiers):
    frontier = frontiers()
    crawl, key = f"crawl {HOSTILE} ü/?#", f"key {HOSTILE} " + "k" * 100
    frontier.discover("http://a.example/<script>?\"'", crawl=crawl, key=key, metadata={HOSTILE: [HOSTILE, "\0"], "long": "y" * 100_000})
    frontier.discover(*(f"http://a.example/{number}" for number in range(120)), crawl=crawl, key=key, metadata={f"key-{number}": "<" * 300 for number in range(40)})
    # Whatever it is called, a list of it is no longer.
    frontier.batches(("x", [frontier.info("http://b.example/", crawl=crawl, key=f"{number}" + "ü<" * 1300) for number in range(60)] +
                           [frontier.info("http://b.example/", crawl=f"{number}" + "&\"" * 2000, key="k") for number in range(60)]))
    page(frontier.server, path(crawl=crawl, **{"from": 1}))
    page(frontier.server, path(**{"from": 1}))
    frontier.put(*(frontier.discovered(f"http://c.example/{number}/{'%22' * 2600}", crawl="long") for number in range(60)))
    page(frontier.server, path(crawl="long", key="c.example"))
    links = page(frontier.server, "/queues")
    for _ in range(2):
        link = next(link for link in re.findall(r'href="(/queues\?crawl=[^"]+)"', links) if "key=" in link or _ == 0)
        links = page(frontier.server, link.replace("&amp;", "&"))
    assert "bytes of metadata: too many" in links and "1 to 50 of 121" in links
    following = re.search(r'href="([^"]+)" rel="next"', links).group(1).replace("&amp;", "&")
    assert "51 to 100 of 121" in page(frontier.server, following)
    assert "There are no more" in page(frontier.server, path(crawl=crawl, key=key, **{"from": 999}))


def test_many_crawls_and_queues_come_in_parts(frontiers):
    frontier = frontiers()
    frontier.batches(("x", [frontier.info(f"http://h{number}.example/", crawl="one") for number in range(250)] +
                           [frontier.info("http://a.example/", crawl=f"crawl-{number}") for number in range(120)]))
    where, seen = path(crawl="one"), set()
    while where:
        text = page(frontier.server, where)
        seen.update(re.findall(r">(h\d+\.example)<", text))
        following = re.search(r'href="([^"]+)" rel="next"', text)
        where = following and following.group(1).replace("&amp;", "&")
    assert len(seen) == 250
    text = page(frontier.server, "/queues")
    assert 'rel="next"' in text and ">crawl-119<" not in text and ">crawl-119<" in page(frontier.server, path(q="-119"))
