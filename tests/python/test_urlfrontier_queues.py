"""Queues that are blocked or limited, and crawls: BlockQueueUntil, SetCrawlLimit, ListQueues, DeleteQueue, ListCrawls, DeleteCrawl."""

import time

import grpc
import pytest
from frontier_client import YEAR, now, refused, urls
from support import wait_until
from test_urlfrontier_gets import fill, hosts


def test_a_blocked_queue_is_not_served_until_its_second(frontier):
    fill(frontier, queues=2, each=2)
    until = now() + 2
    frontier.block("h0.example", until)
    assert hosts(frontier.get(each=1)) == ["h1.example"] and frontier.get(key="h0.example") == []
    served = frontier.get_soon("it is not blocked any more", key="h0.example")
    assert time.time() >= until, "before its second"
    assert len(served) == 2


def test_a_block_of_zero_is_none(frontier):
    fill(frontier)
    frontier.block("h0.example", now() + YEAR)
    assert frontier.get() == []
    frontier.block("h0.example", 0)
    assert len(frontier.get()) == 1


def test_a_block_in_the_past_is_none(frontier):
    fill(frontier)
    frontier.block("h0.example", now() - 100)
    assert len(frontier.get()) == 1


def test_a_block_is_of_one_queue_in_one_crawl(frontier):
    other = frontier.crawl + "-other"
    frontier.discover("http://a.example/", "http://b.example/")
    frontier.discover("http://a.example/", crawl=other)
    frontier.block("a.example", now() + YEAR)
    assert urls(frontier.get()) == ["http://b.example/"] and urls(frontier.get(crawl=other)) == ["http://a.example/"]


def test_what_is_put_into_a_blocked_queue_is_there(frontier):
    fill(frontier)
    frontier.block("h0.example", now() + YEAR)
    frontier.discover("http://h0.example/more")
    frontier.put(frontier.known("http://h0.example/0", 0))
    assert frontier.count() == 2 and frontier.get() == []


def serve_all(frontier, **more):
    """Whatever is served until nothing is, all of it completed."""
    found, nothing = [], 0
    while nothing < 10:
        served = frontier.get(**more)
        frontier.complete(*served)
        found += served
        nothing = 0 if served else nothing + 1
        time.sleep(0.05)
    return found


def test_no_more_of_a_queue_is_served_than_its_limit(frontier):
    fill(frontier, queues=2, each=10)
    for queue in range(2):
        frontier.delay(f"h{queue}.example", 0)
    frontier.limit("h0.example", 3)
    found = hosts(serve_all(frontier, each=2))
    assert found.count("h0.example") == 3 and found.count("h1.example") == 10
    # Up to it, then to the end.
    frontier.limit("h0.example", 5)
    assert len(serve_all(frontier, each=1)) == 2
    frontier.limit("h0.example", 0)
    assert len(serve_all(frontier)) == 5


def test_what_was_completed_before_counts_against_the_limit(frontier):
    fill(frontier, each=10)
    frontier.delay("h0.example", 0)
    frontier.put(*(frontier.known(f"http://h0.example/{page}", 0) for page in range(4)))
    frontier.limit("h0.example", 5)
    assert len(serve_all(frontier)) == 1
    frontier.limit("h0.example", 4)
    assert serve_all(frontier) == []


def test_a_limit_cuts_a_serving_short(frontier):
    fill(frontier, each=10)
    frontier.limit("h0.example", 4)
    assert len(frontier.get()) == 4, "not all that are due"


def test_a_limit_is_of_one_queue_in_one_crawl(frontier):
    other = frontier.crawl + "-other"
    for crawl in (frontier.crawl, other):
        frontier.discover("http://a.example/1", "http://a.example/2", "http://b.example/1", "http://b.example/2", crawl=crawl)
    frontier.limit("a.example", 1)
    assert sorted(hosts(frontier.get())) == ["a.example", "b.example", "b.example"]
    assert len(frontier.get(crawl=other)) == 4


def test_a_hundred_queues_are_listed_unless_more_are_asked_for(frontier):
    fill(frontier, queues=150)
    names = {f"h{queue}.example" for queue in range(150)}
    first = frontier.queues()
    assert len(first.values) == 100 and (first.start, first.total, first.crawlID) == (0, 150, frontier.crawl)
    rest = frontier.queues(start=100)
    assert len(rest.values) == 50 and rest.start == 100 and set(first.values) | set(rest.values) == names
    assert set(frontier.queues(size=1000).values) == names
    pages = [frontier.queues(start=start, size=40) for start in range(0, 200, 40)]
    assert [len(page.values) for page in pages] == [40, 40, 40, 30, 0] and {name for page in pages for name in page.values} == names
    assert [page.size for page in pages] == [40, 40, 40, 30, 0], "the size of the page, not the one that was asked for"
    assert list(frontier.queues(start=4_294_967_295, size=4_294_967_295).values) == []


def test_queues_with_nothing_to_do_are_listed_on_request(frontier):
    fill(frontier, queues=4, each=2)
    frontier.put(*(frontier.known(f"http://h1.example/{page}", 0) for page in range(2)))
    frontier.put(frontier.known("http://h2.example/0", 0), frontier.known("http://h2.example/1", now() + YEAR))
    frontier.block("h3.example", now() + YEAR)
    assert sorted(frontier.queues().values) == ["h0.example", "h2.example"], "not due is not inactive"
    listed = frontier.queues(inactive=True)
    assert sorted(listed.values) == [f"h{queue}.example" for queue in range(4)] and listed.total == 4
    frontier.block("h3.example", 0)
    assert sorted(frontier.queues().values) == ["h0.example", "h2.example", "h3.example"]


def test_queues_of_a_crawl_that_is_none(frontier):
    assert list(frontier.queues(crawl="nobody's", inactive=True).values) == []


def test_a_deleted_queue_is_gone_and_nothing_else(frontier):
    other = frontier.crawl + "-other"
    fill(frontier, queues=2, each=3)
    frontier.discover("http://h0.example/0", crawl=other)
    frontier.put(frontier.known("http://h0.example/2", 0))
    assert frontier.delete_queue("h0.example") == 3, "completed ones among them"
    with refused(grpc.StatusCode.NOT_FOUND):
        frontier.status("http://h0.example/0")
    assert list(frontier.queues(inactive=True).values) == ["h1.example"] and frontier.count() == 3 and frontier.count(crawl=other) == 1
    assert set(hosts(frontier.get())) == {"h1.example"}
    assert frontier.delete_queue("h0.example") == 0 and frontier.delete_queue("nobody.example") == 0
    frontier.discover("http://h0.example/0")
    assert urls(frontier.get_soon(key="h0.example")) == ["http://h0.example/0"], "what comes anew is new"


def test_no_queue_is_without_a_key(frontier):
    fill(frontier)
    assert frontier.delete_queue("") == 0
    frontier.block("", now() + YEAR)
    assert frontier.count() == 1 and len(frontier.get()) == 1


def test_a_limit_is_of_a_queue_that_is_there(frontier):
    with refused(grpc.StatusCode.NOT_FOUND):
        frontier.limit("nobody.example", 5)
    assert frontier.crawl not in frontier.crawls()
    # A block and a delay are promises to a host, and hold also for a queue that is still to come.
    frontier.block("a.example", now() + YEAR)
    frontier.delay("b.example", 1000)
    frontier.discover("http://a.example/1", "http://b.example/1", "http://b.example/2")
    assert urls(frontier.get(each=1)) == ["http://b.example/1"] and frontier.get() == []


def test_a_shorter_block_or_delay_does_not_undercut_a_longer_one(frontier):
    """Several clients may hear from one host how long it wants to be left alone."""
    fill(frontier, queues=2, each=2)
    frontier.block("h0.example", now() + YEAR)
    frontier.block("h0.example", now() - 5)
    frontier.block("h0.example", now() + 1)
    frontier.delay("h1.example", 1000)
    frontier.delay("h1.example", 1)
    assert hosts(frontier.get(each=1)) == ["h1.example"]
    end = time.monotonic() + 2.2
    while time.monotonic() < end:
        assert frontier.get() == []
        time.sleep(0.1)
    # 0 takes it back, and a shorter one may follow.
    frontier.block("h0.example", 0)
    frontier.delay("h1.example", 0)
    frontier.delay("h1.example", 1)
    served = []
    wait_until("all are served", lambda: served.extend(frontier.get()) or len(served) == 3)


def test_a_blank_crawl_is_the_default(frontiers):
    frontier = frontiers()
    frontier.discover("http://a.example/", crawl=" \t")
    assert frontier.crawls() == ["DEFAULT"] and frontier.count(crawl="  ") == 1
    assert [info.crawlID for info in frontier.get(crawl=" ")] == ["DEFAULT"]


def test_what_is_leased_may_be_deleted(frontier):
    fill(frontier, each=2)
    served = frontier.get()
    assert frontier.delete_queue("h0.example") == 2
    assert frontier.stats().inProcess == 0
    # Whoever still fetches it says what came of it, and that is taken.
    frontier.complete(served[0])
    assert frontier.due(served[0].url) == 0 and frontier.count() == 1


def test_crawls_are_listed_and_deleted(frontier):
    other = frontier.crawl + "-other"
    assert frontier.crawl not in frontier.crawls()
    fill(frontier, queues=3, each=2)
    frontier.put(frontier.known("http://h0.example/0", 0))
    frontier.discover("http://h0.example/0", crawl=other)
    assert {frontier.crawl, other} <= set(frontier.crawls()) and len(frontier.crawls()) == len(set(frontier.crawls()))
    assert frontier.delete_crawl() == 6, "completed ones among them"
    assert frontier.crawl not in frontier.crawls() and other in frontier.crawls()
    assert frontier.count() == 0 and frontier.get() == [] and list(frontier.queues(inactive=True).values) == [] and frontier.list() == []
    assert frontier.count(crawl=other) == 1
    assert frontier.delete_crawl() == 0 and frontier.delete_crawl("nobody's") == 0
    frontier.discover("http://h0.example/0")
    assert frontier.crawl in frontier.crawls() and len(frontier.get()) == 1


def test_a_deletion_without_a_name_is_of_the_default_crawl(frontiers):
    frontier = frontiers()
    frontier.put(frontier.discovered("http://a.example/"), frontier.discovered("http://a.example/", crawl="other"))
    assert frontier.delete_crawl("") == 1 and frontier.crawls() == ["other"]


@pytest.mark.parametrize("local", [False, True])
def test_local_makes_no_difference_on_one_node(frontier, local):
    pb = frontier.pb
    fill(frontier, queues=2, each=2)
    assert frontier.crawl in frontier.call("ListCrawls", pb.Local(local=local)).values
    assert len(frontier.call("ListQueues", pb.Pagination(crawlID=frontier.crawl, local=local)).values) == 2
    assert frontier.call("GetStats", pb.QueueWithinCrawlParams(crawlID=frontier.crawl, local=local)).size == 4
    assert len(list(frontier.call("ListURLs", pb.ListUrlParams(crawlID=frontier.crawl, local=local, size=10)))) == 4
    assert frontier.call("CountURLs", pb.CountUrlParams(crawlID=frontier.crawl, local=local)).value == 4
    assert frontier.call("GetActive", pb.Local(local=local)).state
    frontier.call("BlockQueueUntil", pb.BlockQueueParams(key="h0.example", time=now() + YEAR, crawlID=frontier.crawl, local=local))
    frontier.call("SetDelay", pb.QueueDelayParams(key="h1.example", delay_requestable=1000, crawlID=frontier.crawl, local=local))
    frontier.call("SetCrawlLimit", pb.CrawlLimitParams(key="h1.example", limit=1, crawlID=frontier.crawl, local=local))
    assert hosts(frontier.get()) == ["h1.example"]
    assert frontier.call("DeleteQueue", pb.QueueWithinCrawlParams(key="h0.example", crawlID=frontier.crawl, local=local)).value == 2
    assert frontier.call("DeleteCrawl", pb.DeleteCrawlMessage(value=frontier.crawl, local=local)).value == 2
