"""What is in the frontier: ListURLs, CountURLs, PurgeURLs, GetStats."""

import json

import pytest
from frontier_client import YEAR, now, plain, urls
from support import wait_until
from test_urlfrontier_gets import fill

DAY = 86400


def dates(items):
    return [item.known.refetchable_from_date for item in items]


def test_every_url_is_listed_with_its_date_and_its_creation(frontier):
    frontier.discover("http://a.example/discovered", metadata={"m": ["1", "2"]})
    frontier.put(frontier.known("http://a.example/done", 0), frontier.known("http://a.example/later", now() + YEAR))
    found = {item.known.info.url: item for item in frontier.list()}
    assert all(item.WhichOneof("item") == "known" and abs(item.creation_date - now()) < 60 for item in found.values())
    assert 0 < found["http://a.example/discovered"].known.refetchable_from_date <= now() + 1
    assert found["http://a.example/done"].known.refetchable_from_date == 0
    assert found["http://a.example/later"].known.refetchable_from_date > now()
    info = found["http://a.example/discovered"].known.info
    assert (info.key, info.crawlID, plain(info.metadata)) == ("a.example", frontier.crawl, {"m": ["1", "2"]})
    assert len(found) == 3


def test_what_is_leased_is_listed_too(frontier):
    fill(frontier, each=3)
    frontier.get(each=2)
    assert len(frontier.list()) == 3 and all(date > 0 for date in dates(frontier.list()))


@pytest.mark.parametrize("queues", [1, 3])
def test_completed_urls_come_first(frontier, queues):
    fill(frontier, queues=queues, each=6)
    frontier.put(*(frontier.known(f"http://h{queue}.example/{page}", 0) for queue in range(queues) for page in (1, 3, 5)))
    found = [date == 0 for date in dates(frontier.list())]
    assert found == [True] * 3 * queues + [False] * 3 * queues


def test_pages_of_a_list_are_the_list(frontier):
    fill(frontier, queues=7, each=11)
    frontier.put(*(frontier.known(f"http://h{queue}.example/{page}", 0) for queue in range(7) for page in range(0, 11, 3)))
    whole = urls(frontier.list())
    assert len(whole) == len(set(whole)) == 77
    for size in (1, 10, 76, 77, 78):
        pages = [urls(frontier.list(start=start, size=size)) for start in range(0, 77, size)]
        assert [url for page in pages for url in page] == whole, size
    assert frontier.list(start=77) == [] and frontier.list(start=4_294_967_295, size=4_294_967_295) == []
    assert len(frontier.list(size=2**31 - 1)) == 77, "the greatest number of Java: all of it"
    part = urls(frontier.list(key="h3.example"))
    assert len(part) == 11
    assert [url for start in range(0, 11, 4) for url in urls(frontier.list(key="h3.example", start=start, size=4))] == part
    assert frontier.list(key="nobody.example") == [] and frontier.list(crawl="nobody's") == []


def test_a_filter_is_a_part_of_the_url_to_the_letter(frontier):
    frontier.discover("http://a.example/News/1", "http://a.example/news/2", "http://b.example/100%_a*b?[x]", "http://b.example/100xyaab", "http://b.example/'; DROP TABLE--")
    cases = [("news", {}, 1), ("News", {}, 1), ("NEWS", {}, 0), ("NEWS", {"ignoreCase": True}, 2), ("news", {"ignoreCase": True}, 2), ("news", {"ignoreCase": False}, 1),
             ("%", {}, 1), ("_", {}, 1), ("100%_a", {}, 1), ("a*b", {}, 1), (".*", {}, 0), ("[x]", {}, 1), ("b.example", {}, 3), ("b_example", {}, 0),
             ("'; DROP", {}, 1), ("", {}, 5), ("nowhere", {}, 0), ("\\", {}, 0)]
    for text, more, expected in cases:
        assert frontier.count(filter=text, **more) == expected, (text, more)
        assert len(frontier.list(filter=text, **more)) == expected, (text, more)
    assert frontier.count(key="a.example", filter="b.example") == 0
    assert frontier.count(key="b.example", filter="100") == 2


def test_pages_of_a_filtered_list_are_of_what_is_left(frontier):
    fill(frontier, queues=4, each=10)
    whole = urls(frontier.list(filter="/3"))
    assert len(whole) == 4
    assert [url for start in range(4) for url in urls(frontier.list(filter="/3", start=start, size=1))] == whole


def test_urls_are_counted(frontier):
    other = frontier.crawl + "-other"
    fill(frontier, queues=3, each=4)
    frontier.put(frontier.known("http://h0.example/0", 0), frontier.discovered("http://h0.example/0", crawl=other))
    assert frontier.count() == 12, "completed ones among them"
    assert frontier.count(key="h0.example") == 4 and frontier.count(key="nobody.example") == 0
    assert frontier.count(crawl=other) == 1 and frontier.count(crawl="nobody's") == 0


def test_what_is_old_is_purged(frontier):
    frontier.put(*(frontier.known(f"http://{host}.example/{days}", 0 if days % 2 else now() + YEAR, created=now() - days * DAY - 60)
                   for host in "ab" for days in range(6)))
    frontier.discover("http://a.example/new")
    assert frontier.purge(10) == 0 and frontier.count() == 13
    assert frontier.purge(4, key="a.example") == 2, "four days and a minute, and five"
    assert sorted(urls(frontier.list(key="a.example"))) == sorted(["http://a.example/new", *(f"http://a.example/{days}" for days in range(4))])
    assert frontier.purge(2) == 2 + 4
    assert sorted(urls(frontier.list())) == ["http://a.example/0", "http://a.example/1", "http://a.example/new", "http://b.example/0", "http://b.example/1"]
    assert frontier.purge(2) == 0 and frontier.purge(0, crawl="nobody's") == 0
    frontier.discover("http://a.example/5")
    assert abs(frontier.status("http://a.example/5").creation_date - now()) < 60, "what comes anew is new"


def test_what_is_loaded_with_its_age_is_purged_by_it(servers, clients):
    server = servers("--no-fetch", frontier="127.0.0.1")
    lines = [{"crawl": "c", "key": "a.example", "url": f"http://a.example/{days}", "created": now() - days * DAY - 60, "due": now(), "metadata": {}} for days in range(5)]
    (server.folder / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    server.run("frontier", "load", "--data", str(server.data), "old.jsonl")
    server.start()
    frontier = clients(server, crawl="c")
    assert frontier.count() == 5 and frontier.purge(3) == 2
    assert sorted(urls(frontier.list())) == [f"http://a.example/{days}" for days in range(3)]


def test_statistics_of_a_crawl_and_of_a_queue(frontier):
    fill(frontier, queues=4, each=3)
    frontier.put(*(frontier.known(f"http://h0.example/{page}", 0) for page in range(3)), frontier.known("http://h1.example/0", 0), frontier.known("http://h1.example/1", now() + YEAR))
    stats = frontier.stats()
    assert (stats.size, stats.inProcess, stats.numberOfQueues, stats.crawlID) == (8, 0, 4, frontier.crawl)
    assert stats.counts["completed"] == 4 and stats.counts["active_queues"] == 3
    served = frontier.get(key="h2.example", each=2)
    assert len(served) == 2
    stats = frontier.stats()
    assert (stats.size, stats.inProcess) == (8, 2), "what is leased is not completed"
    frontier.complete(served[0])
    stats = frontier.stats()
    assert (stats.size, stats.inProcess, stats.counts["completed"]) == (7, 1, 5)
    stats = frontier.stats(key="h1.example")
    assert (stats.size, stats.inProcess, stats.numberOfQueues, stats.counts["completed"], stats.counts["active_queues"]) == (2, 0, 1, 1, 1)
    stats = frontier.stats(key="h2.example")
    assert (stats.size, stats.inProcess, stats.counts["completed"]) == (2, 1, 1)


def test_statistics_of_nothing_are_zero(frontier):
    for stats in (frontier.stats(), frontier.stats(key="nobody.example"), frontier.stats(crawl="nobody's")):
        assert (stats.size, stats.inProcess, stats.numberOfQueues) == (0, 0, 0)
        assert stats.counts["completed"] == 0 and stats.counts["active_queues"] == 0


def test_leases_that_ended_are_not_under_way(frontier):
    fill(frontier)
    frontier.get(lease=1)
    assert frontier.stats().inProcess == 1
    frontier.delay("h0.example", 1000)
    wait_until("the lease is over", lambda: frontier.stats().inProcess == 0)
    assert frontier.stats().size == 1
