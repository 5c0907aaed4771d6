"""A frontier that is stopped, or killed in the middle: what was acknowledged is there, and whoever had to wait still has to."""

import threading
import time

import grpc
import pytest
from frontier_client import OK, YEAR, now, plain, urls
from support import PATIENCE, wait_until
from test_urlfrontier_gets import fill, hosts

ENDS = ["stop", "kill"]


def again(frontier, end):
    """It ends, as a service manager or as a power cut ends it, and starts anew."""
    getattr(frontier.server, end)()
    frontier.server.start()


@pytest.mark.parametrize("end", ENDS)
def test_urls_dates_and_metadata_are_kept(frontiers, end):
    frontier = frontiers()
    later = now() + YEAR
    frontier.discover("http://a.example/discovered", metadata={"m": ["1", "2"], "ü": [""]})
    frontier.put(frontier.known("http://a.example/later", later, metadata={"n": "3"}), frontier.known("http://b.example/done", 0),
                 frontier.known("http://b.example/other", later, crawl="other", key="k"), frontier.discovered("http://b.example/gone", crawl="gone"))
    frontier.batches(("x", [frontier.info("http://c.example/", metadata={"o": "4"})]))
    frontier.delete_crawl("gone")
    before = [[item.SerializeToString(deterministic=True) for item in frontier.list(crawl=crawl)] for crawl in ("", "other", "gone")]
    assert [len(some) for some in before] == [4, 1, 0]
    again(frontier, end)
    assert [[item.SerializeToString(deterministic=True) for item in frontier.list(crawl=crawl)] for crawl in ("", "other", "gone")] == before
    assert sorted(frontier.crawls()) == ["DEFAULT", "other"]
    assert frontier.stats().counts["completed"] == 1 and frontier.stats().size == 3
    served = {info.url: plain(info.metadata) for info in frontier.get()}
    assert served == {"http://a.example/discovered": {"m": ["1", "2"], "ü": [""]}, "http://c.example/": {"o": ["4"]}}
    frontier.server.stop()
    frontier.server.check()


@pytest.mark.parametrize("end", ENDS)
def test_delays_blocks_limits_and_leases_are_kept(frontiers, end):
    frontier = frontiers()
    fill(frontier, queues=7, each=4)
    frontier.delay("h0.example", 1000)  # and served: it rests
    frontier.delay("h1.example", 0)  # and leased, for long
    frontier.delay("h2.example", 0)  # and leased, not for long
    frontier.block("h3.example", now() + 1000)
    frontier.limit("h4.example", 2)
    frontier.delay("h4.example", 0)
    frontier.block("h5.example", now() + 1000)
    frontier.block("h5.example", 0)
    first = {key: frontier.get(key=key, crawl="DEFAULT", **more) for key, more in {"h0.example": {"each": 1}, "h1.example": {"lease": 1000}, "h2.example": {"lease": 2}}.items()}
    assert [len(served) for served in first.values()] == [1, 4, 4]
    frontier.complete(*first["h0.example"])
    assert len(frontier.get(key="h4.example", crawl="DEFAULT", each=1)) == 1
    in_process = frontier.stats().inProcess
    assert in_process >= 5
    again(frontier, end)
    assert frontier.stats(key="h1.example").inProcess == 4
    served, over, begun = [], None, time.monotonic()
    while over is None or time.monotonic() < over:
        assert time.monotonic() - begun < PATIENCE, hosts(served)
        if over is None and hosts(served).count("h2.example") == 4:
            over = time.monotonic() + 0.7  # for those who would come too soon
        some = frontier.get()
        frontier.complete(*some)
        served += some
        time.sleep(0.05)
    found = hosts(served)
    assert found.count("h0.example") == 0, "it still rests"
    assert found.count("h1.example") == 0, "they are still leased"
    assert found.count("h2.example") == 4, "nothing came of them, and their leases are over"
    assert found.count("h3.example") == 0, "it is still blocked"
    assert found.count("h4.example") == 1, "one of two was served before"
    assert found.count("h5.example") == 4 and found.count("h6.example") == 4
    # And all of it can still be changed.
    frontier.delay("h0.example", 0)
    frontier.block("h3.example", 0)
    frontier.limit("h4.example", 0)
    seen = set()
    wait_until("they are served", lambda: seen.update(hosts(frontier.get())) or {"h0.example", "h3.example", "h4.example"} <= seen)


def test_the_default_delay_is_kept(frontiers):
    frontier = frontiers()
    frontier.delay("", 1000)
    fill(frontier, queues=2, each=2)
    assert hosts(frontier.get(queues=1, each=1)) in (["h0.example"], ["h1.example"])
    again(frontier, "kill")
    assert len(frontier.get(each=10, lease=1)) == 2, "the one that was not served"
    time.sleep(1.6)
    assert frontier.get(each=10) == [], "both rest"


def test_a_deleted_queue_stays_deleted(frontiers):
    frontier = frontiers()
    fill(frontier, queues=2, each=2)
    frontier.put(frontier.known("http://old.example/", now() + YEAR, created=now() - 10 * 86400))
    assert frontier.delete_queue("h0.example") == 2 and frontier.purge(5) == 1
    again(frontier, "kill")
    assert sorted(urls(frontier.list())) == ["http://h1.example/0", "http://h1.example/1"]


class Writer(threading.Thread):
    """Puts URLs until it is cut off, and knows which of them were acknowledged."""

    def __init__(self, client, name, batches):
        super().__init__(daemon=True)
        self.client, self.name, self.batches, self.acknowledged = client, name, batches, []
        self.start()

    def url(self, number):
        return f"http://{self.name}-{number % 50}.example/{number}"

    def run(self):
        try:
            if self.batches:
                self.run_batches()
            else:
                for ack in self.client.call("PutURLs", self.items()):
                    assert ack.status == OK
                    self.acknowledged.append(int(ack.ID))
        except grpc.RpcError:
            pass  # it was killed

    def items(self):
        """Every third is completed."""
        for number in range(1_000_000):
            if number % 3 == 0:
                yield self.client.known(self.url(number), 0, id=str(number), metadata={"n": str(number)})
            else:
                yield self.client.discovered(self.url(number), id=str(number), metadata={"n": str(number)})

    def run_batches(self):
        sent = (self.client.pb.DiscoveredBatch(ID=str(start), items=[self.client.info(self.url(number), metadata={"n": str(number)}) for number in range(start, start + 20)])
                for start in range(0, 1_000_000, 20))
        for ack in self.client.call("PutDiscovered", sent):
            assert list(ack.statuses) == [OK] * 20
            self.acknowledged += range(int(ack.ID), int(ack.ID) + 20)


def test_kill_9_loses_nothing_that_was_acknowledged(frontiers, clients):
    frontier = frontiers()
    writers = []
    for round in range(3):
        new = [Writer(clients(frontier.server), f"{kind}{round}", kind == "batch") for kind in ("batch", "single")]
        wait_until("it is in the middle of it", lambda: all(len(writer.acknowledged) > 20 for writer in new), every=0.01)
        frontier.server.kill()
        for writer in new:
            writer.join(PATIENCE)
            assert not writer.is_alive()
        frontier.server.start()
        writers += new
        there = {item.known.info.url: item for item in frontier.list()}
        for writer in writers:
            for number in writer.acknowledged:
                item = there.get(writer.url(number))
                assert item is not None, f"{writer.url(number)} was acknowledged, and is lost"
                assert plain(item.known.info.metadata) == {"n": [str(number)]}
                assert (item.known.refetchable_from_date == 0) == (number % 3 == 0 and not writer.batches)
    frontier.server.stop()
    frontier.server.check()


def test_kill_9_in_the_middle_of_serving_breaks_no_peace(frontiers):
    """What was served before is not served again to somebody else while the first may still be fetching it."""
    frontier = frontiers()
    fill(frontier, queues=30, each=5)
    for queue in range(30):
        frontier.delay(f"h{queue}.example", 1000)
    served = []
    for _ in range(3):
        for _ in range(3):
            served += frontier.get(queues=3, each=1, lease=1000)
        frontier.server.kill()
        frontier.server.start()
    served += frontier.get(each=1, lease=1000)
    assert sorted(hosts(served)) == sorted(f"h{queue}.example" for queue in range(30)), "each queue once"
    assert frontier.get() == []


@pytest.mark.parametrize("end", ENDS)
def test_what_came_back_counts_under_a_limit_after_a_restart(frontiers, end):
    frontier = frontiers()
    frontier.discover(*(f"http://a.example/{number}" for number in range(6)))
    frontier.limit("a.example", 3)
    frontier.delay("a.example", 0)
    # One is brought back and due again, one is never brought back, and its lease ends.
    back = frontier.get(each=1, key="a.example", crawl="DEFAULT")
    frontier.put(frontier.known(back[0].url, now() + 1))
    lost = frontier.get(each=1, key="a.example", crawl="DEFAULT", lease=1)
    wait_until("its lease ends", lambda: frontier.stats().inProcess == 0)
    again(frontier, end)
    served = set(urls(back + lost))
    assert len(served) == 2
    while some := frontier.get(key="a.example", crawl="DEFAULT", lease=1000):
        served.update(urls(some))
    assert len(served) == 3, "three of six, whenever and how often they were served"
    again(frontier, end)
    assert frontier.get(key="a.example", crawl="DEFAULT") == []
    # Without a limit nothing counts; under another one what is leased then.
    leased = frontier.stats().inProcess
    frontier.limit("a.example", 0)
    frontier.limit("a.example", leased + 1)
    again(frontier, end)
    assert len(frontier.get_soon(key="a.example", crawl="DEFAULT")) == 1
    frontier.server.stop()
    frontier.server.check()
