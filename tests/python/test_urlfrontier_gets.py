"""What is served, to whom, and when again: GetURLs, leases, delays, rotation."""

import time

from frontier_client import ANY, YEAR, now, plain, urls
from support import PATIENCE, wait_until


def fill(frontier, queues=1, each=1, name="h"):
    frontier.discover(*(f"http://{name}{queue}.example/{page}" for queue in range(queues) for page in range(each)))


def hosts(served):
    return [info.key for info in served]


def test_nothing_is_served_of_nothing(frontier):
    """And the stream ends: a crawler that waits for its end would wait for ever."""
    assert frontier.get() == [] and frontier.get(key="a.example") == [] and frontier.get(queues=3, each=2, lease=5) == []


def test_all_that_is_due_is_served_unless_less_is_asked_for(frontier):
    fill(frontier, queues=3, each=5)
    frontier.put(*(frontier.known(f"http://h{queue}.example/later", now() + YEAR) for queue in range(3)))
    served = frontier.get()
    assert sorted(urls(served)) == sorted(f"http://h{queue}.example/{page}" for queue in range(3) for page in range(5))
    assert all((info.crawlID, info.key) == (frontier.crawl, info.url.split("/")[2]) for info in served)


def test_no_more_than_asked_for_of_each_queue_and_of_queues(frontier):
    fill(frontier, queues=6, each=5)
    served = frontier.get(queues=2, each=3)
    assert len(served) == 6 and sorted(hosts(served).count(host) for host in set(hosts(served))) == [3, 3]
    served = frontier.get(queues=1)
    assert len(served) == 5 and len(set(hosts(served))) == 1
    served = frontier.get(each=1)
    assert len(served) == 3 == len(set(hosts(served))), "of all others, one each"


def test_queues_take_turns(frontier):
    fill(frontier, queues=6, each=4)
    for queue in range(6):
        frontier.delay(f"h{queue}.example", 0)
    rounds = []
    for _ in range(3):
        seen = []
        for _ in range(3):
            served = frontier.get_soon(queues=2, each=1)
            assert len(served) == 2, hosts(served)
            frontier.complete(*served)
            seen += hosts(served)
        rounds.append(seen)
    assert all(sorted(seen) == [f"h{queue}.example" for queue in range(6)] for seen in rounds), rounds


def test_a_key_is_one_queue(frontier):
    fill(frontier, queues=3, each=2)
    frontier.discover("http://h1.example/of-another-crawl", crawl=frontier.crawl + "-other")
    assert sorted(urls(frontier.get(key="h1.example"))) == ["http://h1.example/0", "http://h1.example/1"]
    assert frontier.get(key="nobody.example") == []
    assert urls(frontier.get(key="h1.example", crawl=frontier.crawl + "-other")) == ["http://h1.example/of-another-crawl"]


def test_one_crawl_any_crawl_or_the_default(frontiers):
    frontier = frontiers()
    frontier.put(*(frontier.discovered(f"http://{crawl or 'none'}-{page}.example/", crawl=crawl) for crawl in ("", "one", "two") for page in range(3)))
    assert urls(frontier.get(queues=1, crawl="one")) in [[f"http://one-{page}.example/"] for page in range(3)]
    assert len(frontier.get(crawl="one")) == 2
    assert sorted(info.crawlID for info in frontier.get(queues=1, crawl="DEFAULT")) == ["DEFAULT"]
    # An empty name is the default's.
    assert [info.crawlID for info in frontier.get(queues=1, crawl="")] == ["DEFAULT"]
    assert sorted(info.crawlID for info in frontier.get(crawl=ANY)) == ["DEFAULT", "two", "two", "two"]
    # Who names none asks for any: so do StormCrawler's spout and Scrapy's scheduler where no crawl is configured.
    frontier.put(*(frontier.discovered(f"http://again-{crawl or 'none'}.example/", crawl=crawl) for crawl in ("", "one", "two")))
    params = frontier.pb.GetParams()
    assert params.WhichOneof("item") is None
    assert sorted(info.crawlID for info in frontier.call("GetURLs", params)) == ["DEFAULT", "one", "two"]


def test_what_was_served_is_leased_and_served_again_if_nothing_came_of_it(frontier):
    fill(frontier, each=3)
    frontier.delay("h0.example", 0)
    begun = time.monotonic()
    first = frontier.get(lease=8)
    assert len(first) == 3 and frontier.stats().inProcess == 3
    assert frontier.get() == []
    frontier.complete(first[0])
    frontier.put(frontier.known(first[1].url, now() + YEAR))
    again = frontier.get_soon("the lease is over")
    # Whole seconds: it may have begun at the end of one.
    assert time.monotonic() - begun > 6.9, "before the lease was over"
    assert urls(again) == [first[2].url], "and of the others something came"


def test_a_lease_is_half_a_minute_unless_another_is_asked_for(frontier):
    fill(frontier, each=1)
    frontier.delay("h0.example", 0)
    assert len(frontier.get(lease=0)) == 1
    end = time.monotonic() + 2.2
    while time.monotonic() < end:
        assert frontier.get() == []
        time.sleep(0.1)
    assert frontier.stats().inProcess == 1


def test_an_update_ends_the_lease(frontier):
    fill(frontier, each=1)
    frontier.delay("h0.example", 0)
    served = frontier.get(lease=1000)
    frontier.put(frontier.known(served[0].url, now(), metadata={"visits": "1"}))
    assert frontier.stats().inProcess == 0
    again = frontier.get_soon("it is due again")
    assert urls(again) == urls(served) and plain(again[0].metadata) == {"visits": ["1"]}


def test_a_date_is_kept_to_the_second(frontier):
    due = now() + 2
    frontier.put(frontier.known("http://a.example/", due))
    while not (served := frontier.get()):
        assert time.time() < due + PATIENCE, "it is never served"
        time.sleep(0.05)
    assert time.time() >= due, "before it was due"
    assert urls(served) == ["http://a.example/"]


def test_a_queue_that_was_served_rests_for_a_second(frontier):
    fill(frontier, queues=2, each=10)
    served = []
    while len(served) < 2:
        asked = time.monotonic()
        found = frontier.get(key="h0.example", each=1)
        if found:
            served.append((asked, time.monotonic()))
            frontier.complete(*found)
        time.sleep(0.02)
    for one, two in zip(served, served[1:]):
        assert two[1] - one[0] >= 0.99, served
    assert len(frontier.get(key="h1.example", each=1)) == 1, "others need not rest with it"


def test_the_rest_of_a_queue_is_what_was_set(frontier):
    fill(frontier, queues=2, each=10)
    frontier.delay("h0.example", 2)
    frontier.delay("h1.example", 0)
    begun = time.monotonic()
    frontier.complete(*frontier.get(key="h0.example", each=1))
    for _ in range(5):
        frontier.complete(*frontier.get_soon("no rest", key="h1.example", each=1))
    served = frontier.get_soon("it has rested", key="h0.example", each=1)
    assert time.monotonic() - begun > 1.9
    assert len(served) == 1


def test_a_delay_without_a_key_is_that_of_all_queues_without_one(frontiers):
    frontier = frontiers()
    fill(frontier, queues=3, each=5)
    frontier.delay("h2.example", 0)
    frontier.delay("", 1000)
    assert len(frontier.get(each=1, lease=1000)) == 3
    frontier.discover("http://new.example/1", "http://new.example/2", "http://of-another.example/1", crawl="another")
    assert len(frontier.get(each=1, lease=1000, crawl="another")) == 2
    end = time.monotonic() + 1.5
    seen = []
    while time.monotonic() < end:
        seen += hosts(frontier.get(each=10, crawl=ANY))
        time.sleep(0.1)
    assert set(seen) == {"h2.example"}, "its own delay goes before the default"
    # As Scrapy's scheduler does when it starts: a crawl is named, and the default is that of all.
    frontier.delay("", 0, crawl="another")
    found = []
    wait_until("all are served", lambda: found.extend(hosts(frontier.get(each=10, crawl=ANY))) or {"h0.example", "h1.example", "new.example"} <= set(found))


def test_a_queue_of_which_nothing_was_served_need_not_rest(frontier):
    frontier.put(frontier.known("http://a.example/later", now() + YEAR))
    frontier.delay("a.example", 1000)
    for _ in range(3):
        assert frontier.get() == [] and frontier.get(key="a.example") == []
    frontier.discover("http://a.example/new")
    assert urls(frontier.get()) == ["http://a.example/new"]


def test_a_queue_with_enough_under_way_is_passed_over(frontier):
    """Whoever wants one URL of each queue does not get a second one while the first is being fetched."""
    fill(frontier, queues=2, each=5)
    for queue in range(2):
        frontier.delay(f"h{queue}.example", 0)
    first = frontier.get(each=1, lease=1000)
    assert len(first) == 2
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        assert frontier.get(each=1, lease=1000) == []
        time.sleep(0.1)
    frontier.complete(first[0])
    second = frontier.get_soon("it is free again", each=1, lease=1000)
    assert hosts(second) == hosts(first[:1])


def test_nothing_is_served_while_it_is_not_active(frontiers):
    frontier = frontiers()
    fill(frontier, each=2)
    assert frontier.is_active()
    frontier.activate(False)
    assert not frontier.is_active()
    assert frontier.get() == [] and frontier.get(key="h0.example", crawl="DEFAULT") == []
    frontier.discover("http://meanwhile.example/")
    frontier.batches(("x", [frontier.info("http://meanwhile.example/2")]))
    assert frontier.count() == 4
    frontier.activate(True)
    assert frontier.is_active() and len(frontier.get()) == 4
