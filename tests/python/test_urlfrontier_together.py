"""Several clients at once, on connections of their own: nobody breaks a queue's peace, and nothing is lost or served twice."""

import collections
import random
import time

from frontier_client import OK, SKIPPED, now, together, urls
from support import PATIENCE, wait_until
from test_urlfrontier_gets import fill

CLIENTS = 8


def many(clients, frontier, count=CLIENTS):
    return [clients(frontier.server, crawl=frontier.crawl) for _ in range(count)]


def test_two_polls_at_once_never_break_the_rest_of_a_queue(frontier, clients):
    fill(frontier, queues=5, each=60)
    for queue in range(5):
        frontier.delay(f"h{queue}.example", 1)
    times, end = collections.Counter(), time.monotonic() + PATIENCE

    def poll(client, key):
        found = []
        while min(times[f"h{queue}.example"] for queue in range(5)) < 3:
            assert time.monotonic() < end, times
            asked = time.monotonic()
            served = client.get(each=1, key=key)
            heard = time.monotonic()
            found += [(asked, heard, info) for info in served]
            if served:
                client.complete(*served)
            times.update(info.key for info in served)
        return found

    # Some ask for a queue, some for whatever there is.
    others = many(clients, frontier)
    keys = ["h0.example", "h0.example", "h1.example", "", "", "", "", ""]
    served = [one for found in together(*(lambda client=client, key=key: poll(client, key) for client, key in zip(others, keys))) for one in found]
    assert len({info.url for _, _, info in served}) == len(served), "nothing is served twice"
    for queue in range(5):
        own = sorted((heard, asked, info.url) for asked, heard, info in served if info.key == f"h{queue}.example")
        assert len(own) >= 3, "it was served again"
        for one, two in zip(own, own[1:]):
            # Whenever exactly they were served: not as far apart as this.
            assert two[0] - one[1] >= 0.99, f"{two[0] - one[1]:.3f} s between {one} and {two}"


def test_a_queue_with_one_under_way_is_nobody_elses(frontier, clients):
    fill(frontier, queues=40, each=5)
    for queue in range(40):
        frontier.delay(f"h{queue}.example", 0)
    found = []

    def poll(client):
        def some():
            found.extend(client.get(queues=random.randint(0, 5), each=1, lease=1000))

        wait_until("each was served", lambda: some() or len(found) >= 40, every=0)
        for _ in range(5):
            some()

    together(*(lambda client=client: poll(client) for client in many(clients, frontier)))
    assert sorted(info.key for info in found) == sorted(f"h{queue}.example" for queue in range(40)), "one of each, whoever asked"


def test_a_limit_holds_whoever_asks(frontier, clients):
    fill(frontier, each=100)
    frontier.delay("h0.example", 0)
    frontier.limit("h0.example", 17)
    found = []

    def poll(client):
        def some():
            served = client.get(each=random.choice([2, 3, 5]))
            if served:
                client.complete(*served)
            found.extend(served)

        wait_until("all are served", lambda: some() or len(found) >= 17, every=0)
        for _ in range(5):
            some()

    together(*(lambda client=client: poll(client) for client in many(clients, frontier)))
    assert len(found) == 17 == len(set(urls(found)))


def test_a_block_holds_once_it_is_said(frontier, clients):
    fill(frontier, queues=1, each=300)
    frontier.delay("h0.example", 0)
    blocked = []

    def poll(client):
        late, after = [], 0
        while after < 5:
            asked_after = bool(blocked)
            after += asked_after
            served = client.get(each=1)
            if served and asked_after:
                late += served
            if served:
                client.complete(*served)
        return late

    def block():
        wait_until("it is being served", lambda: frontier.stats().counts["completed"] > 10)
        frontier.block("h0.example", now() + 1000)
        blocked.append(True)
        return []

    late = together(block, *(lambda client=client: poll(client) for client in many(clients, frontier, 4)))
    assert not any(late)
    assert frontier.stats().counts["completed"] > 0


def test_the_same_urls_from_everybody_are_there_once(frontier, clients):
    addresses = [f"http://h{number % 20}.example/{number}" for number in range(2000)]

    def put(client, number):
        mine = addresses[:]
        random.shuffle(mine)
        if number % 2:
            return list(client.put(*(client.discovered(url) for url in mine)).values())
        batches = [(str(start), [client.info(url) for url in mine[start:start + 100]]) for start in range(0, len(mine), 100)]
        return [status for _, statuses in client.batches(*batches) for status in statuses]

    found = together(*(lambda client=client, number=number: put(client, number) for number, client in enumerate(many(clients, frontier))))
    assert all(len(statuses) == 2000 and set(statuses) <= {OK, SKIPPED} for statuses in found)
    assert frontier.count() == 2000 == len(set(urls(frontier.list())))
    assert frontier.stats().numberOfQueues == 20


def test_crawlers_find_fetch_and_finish_together(frontiers, clients):
    """As crawls go: all fetch, find what others find, and say what came of it, until there is nothing left; every URL was fetched once."""
    frontier, size, queues = frontiers(), 400, 20
    frontier.delay("", 0)
    frontier.discover("http://h0.example/0")
    begun = time.monotonic()

    def crawl(client):
        fetched = []
        while client.stats().counts["completed"] < size:
            assert time.monotonic() - begun < PATIENCE, client.stats()
            served = client.get(each=20)
            for info in served:
                number = int(info.url.rsplit("/", 1)[1])
                found = [(2 * number + more) % size for more in (1, 2, 3)]
                client.put(*(client.discovered(f"http://h{page % queues}.example/{page}") for page in found))
                fetched.append(info.url)
            client.complete(*served)
        return fetched

    fetched = [url for found in together(*(lambda client=client: crawl(client) for client in many(clients, frontier, 4))) for url in found]
    assert len(fetched) == size == len(set(fetched))
    assert frontier.stats().size == 0
