"""Streams that are cut, clients that read slowly or not at all, giants, and those who mean no good: the frontier lives, and others are served."""

import contextlib
import pathlib
import random
import socket
import struct
import threading
import time

import grpc
import pytest
from frontier_client import FAIL, OK, SERVICE, SKIPPED, Client, Puts, now, plain, urls
from support import PATIENCE, wait_until
from test_urlfrontier_gets import fill

#: A connection of which little is under way: 64 KiB, whatever the network would bear.
NARROW = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65536)]


@pytest.fixture(scope="module", autouse=True)
def idle(shared_frontier, urlfrontier):
    """A crawler that says something, and then nothing for a while: it is still there when all of this is over."""
    client = Client(urlfrontier, f"127.0.0.1:{shared_frontier.frontier_port}", crawl="idle")
    streams = [Puts(client, timeout=None), Puts(client, "PutDiscovered", timeout=None)]
    streams[0].say(client.discovered("http://a.example/1"))
    assert streams[0].hear().status == OK
    yield client, streams, time.monotonic()
    client.close()


def test_streams_that_are_cut_leave_what_was_acknowledged(frontier):
    stream = Puts(frontier)
    heard = []
    for number in range(50):
        stream.say(frontier.discovered(f"http://a.example/{number}"))
    for _ in range(20):
        heard.append(stream.hear().ID)
    stream.cut()
    there = set(urls(frontier.list()))
    assert set(heard) <= there <= {f"http://a.example/{number}" for number in range(50)}
    frontier.discover("http://b.example/")


class Scissors:
    """Stands between a client and the server, and cuts the connection after so many bytes from the client, wherever in a message that is."""

    def __init__(self, port, after):
        self.door = socket.create_server(("127.0.0.1", 0))
        self.port, self.to, self.after = self.door.getsockname()[1], port, after
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            near, _ = self.door.accept()
            self.door.close()
            far = socket.create_connection(("127.0.0.1", self.to))
            threading.Thread(target=self.back, args=(far, near), daemon=True).start()
            left = self.after
            while left > 0 and (some := near.recv(min(left, 4096))):
                far.sendall(some)
                left -= len(some)
            # An end, or a reset.
            for peer in (far, near):
                if self.after % 2:
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    with contextlib.suppress(OSError):
                        peer.shutdown(socket.SHUT_RDWR)
                peer.close()

    @staticmethod
    def back(far, near):
        with contextlib.suppress(OSError):
            while some := far.recv(65536):
                near.sendall(some)


def test_connections_that_are_cut_anywhere_leave_nothing_half_done(frontier, urlfrontier):
    random.seed(11)
    acknowledged = {}
    for round in range(20):
        scissors = Scissors(frontier.server.frontier_port, random.randint(50, 60_000))
        client = Client(urlfrontier, f"127.0.0.1:{scissors.port}", crawl=frontier.crawl)
        try:
            items = (client.known(f"http://r{round}.example/{number}", now() + 1000, metadata={"round": str(round), "fill": "x" * 200, "number": str(number)})
                     for number in range(100_000))
            for ack in client.call("PutURLs", items, timeout=10):
                assert ack.status == OK
                acknowledged[ack.ID] = round
        except grpc.RpcError:
            pass
        client.close()
    assert acknowledged
    there = {item.known.info.url: plain(item.known.info.metadata) for item in frontier.list()}
    assert set(acknowledged) <= set(there)
    for url, metadata in there.items():
        round, number = url.removeprefix("http://r").split(".example/")
        assert metadata == {"round": [round], "fill": ["x" * 200], "number": [number]}, "half of a message is no message"


def test_what_was_served_into_a_stream_that_is_cut_is_served_again(frontier):
    fill(frontier, queues=10, each=100)
    call = frontier.call("GetURLs", frontier.asking(lease=1))
    for _ in range(3):
        next(call)
    call.cancel()
    found = set()
    wait_until("all are served, some of them again", lambda: found.update(urls(frontier.get(lease=1000))) or len(found) == 1000)


def stands_still(said):
    """Whether no more is said within a while."""
    before = said[0]
    time.sleep(1.5)
    return said[0] == before


def test_whoever_does_not_read_acknowledgements_is_held_back(frontier, clients):
    """They are not kept for it without bound: it cannot go on writing. When it reads, nothing is missing."""
    client = clients(frontier.server, crawl=frontier.crawl, options=NARROW)
    total, said = 4000, [0]

    def items():
        for number in range(total):
            said[0] = number + 1
            yield client.discovered(f"http://a.example/{number}", id=f"{number:08}" + "x" * 16_000)

    acks = client.call("PutURLs", items(), timeout=2 * PATIENCE)

    wait_until("it is held back, or has said everything", lambda: said[0] > 0 and stands_still(said))
    assert said[0] < total, "64 MB of acknowledgements wait for a client that does not read"
    # Others are not held back with it.
    frontier.discover("http://b.example/")
    assert frontier.get(key="b.example")
    numbers = {int(ack.ID[:8]) for ack in acks if ack.status == OK}
    assert numbers == set(range(total))


def memory(server):
    """What it holds in memory, in bytes."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_a_client_with_many_small_messages_is_held_back_and_not_cut_off(frontier, clients):
    """HTTP/2 libraries take many small frames that are not read yet for an attack, and end the connection: so they must not come that far."""
    client = clients(frontier.server, crawl=frontier.crawl, options=NARROW)
    many, said = 60_000, [0]

    def items():
        for number in range(many):
            said[0] = number + 1
            yield client.discovered(f"http://a/{number}", id="x")

    acks = client.call("PutURLs", items())
    wait_until("it is held back, or has said everything", lambda: said[0] > 0 and stands_still(said))
    assert sum(1 for ack in acks if ack.status == OK) == many


def test_whoever_reads_a_list_slowly_holds_up_nobody(frontiers, clients):
    """Ten of them do not make it keep ten copies of the list, nor keep others out; and they get all of it in the end."""
    frontier = frontiers()
    size, text = 1500, "y" * 16_000
    for start in range(0, size, 100):
        frontier.batches(("x", [frontier.info(f"http://h{number % 10}.example/{number}", metadata={"text": text}) for number in range(start, start + 100)]))
    before = memory(frontier.server)
    slow = []
    for number in range(10):
        client = clients(frontier.server, options=NARROW)
        params = client.pb.ListUrlParams(size=2**31 - 1)
        slow.append(client.call("ListURLs", params, timeout=2 * PATIENCE))
        assert next(slow[-1]).known.info.url
    time.sleep(1)
    assert memory(frontier.server) - before < 5 * size * len(text), "the list is there many times"
    frontier.discover("http://meanwhile.example/")
    assert urls(frontier.get(key="meanwhile.example", crawl="DEFAULT")) == ["http://meanwhile.example/"]
    assert frontier.delete_queue("meanwhile.example") == 1
    found = {item.known.info.url for item in slow[3]}
    assert len(found - {"http://meanwhile.example/"}) == size - 1, "and the one that was read before"
    for call in slow:
        call.cancel()


def test_whoever_reads_what_is_served_slowly_holds_up_nobody(frontier, clients):
    fill(frontier, queues=2, each=1)
    frontier.put(*(frontier.known(f"http://slow.example/{number}", now() - 1, metadata={"text": "y" * 8_000}) for number in range(1000)))
    client = clients(frontier.server, crawl=frontier.crawl, options=NARROW)
    call = client.call("GetURLs", client.asking(key="slow.example", lease=1000))
    first = next(call)
    time.sleep(0.5)
    assert len(frontier.get(key="h0.example")) == 1
    frontier.complete(first)
    assert frontier.due(first.url) == 0
    assert len(list(call)) == 999


def test_giant_metadata_are_kept(frontier):
    """A message may have four megabytes, as with other servers."""
    many = {f"key-{number}": [f"value {number}"] for number in range(5000)}
    frontier.put(frontier.known("http://a.example/long", now() - 1, metadata={"long": "z" * 1_000_000, "longer": "ü" * 1_000_000}),
                 frontier.known("http://a.example/many", now() - 1, metadata=many), frontier.known("http://a.example/values", now() - 1, metadata={"v": ["x"] * 50_000}))
    served = {info.url: plain(info.metadata) for info in frontier.get()}
    assert served["http://a.example/long"] == {"long": ["z" * 1_000_000], "longer": ["ü" * 1_000_000]}
    assert served["http://a.example/many"] == many and served["http://a.example/values"] == {"v": ["x"] * 50_000}
    assert len(frontier.list()) == 3


def test_what_is_too_large_is_refused_and_nothing_else(frontier):
    giant = frontier.known("http://a.example/giant", now(), metadata={"x": "z" * 40_000_000})
    try:
        assert [ack.status for ack in frontier.acks([giant])] == [SKIPPED]
    except grpc.RpcError as error:
        assert error.code() in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.INVALID_ARGUMENT), error
    frontier.discover("http://a.example/usual")
    assert urls(frontier.list()) == ["http://a.example/usual"]


def test_metadata_are_bounded_item_by_item(frontier):
    """A message may be longer than what is kept of one URL; what is too much spoils nothing that comes with it."""
    long = {"x": "z" * (31 << 20)}
    many = {f"{number}": "" for number in range(60_000)}
    acks = frontier.acks([frontier.discovered("http://a.example/1"), frontier.discovered("http://a.example/long", metadata=long),
                          frontier.known("http://a.example/many", now(), metadata=many),
                          frontier.discovered("http://a.example/values", metadata={"x": ["y"] * 100_000}), frontier.discovered("http://a.example/2")])
    assert [ack.status for ack in acks] == [OK, SKIPPED, SKIPPED, SKIPPED, OK]
    batch = [frontier.info("http://a.example/3"), frontier.info("http://a.example/long", metadata={"x": "z" * (5 << 20)}), frontier.info("http://a.example/4")]
    assert frontier.batches(("one", batch)) == [("one", [OK, SKIPPED, OK])]
    assert sorted(urls(frontier.list())) == [f"http://a.example/{number}" for number in (1, 2, 3, 4)]


def test_streams_that_are_never_ended_are_served(frontier):
    """One of crawler4j's clients opens a stream for every page, and ends none of them, all on one connection."""
    streams = [Puts(frontier) for _ in range(600)]
    for number, stream in enumerate(streams):
        stream.say(frontier.discovered(f"http://a.example/{number}"))
    for number, stream in enumerate(streams):
        assert stream.hear().ID == f"http://a.example/{number}"
    assert frontier.count() == 600
    for stream in streams:
        stream.cut()


NAMES = ["PutURLs", "PutDiscovered", "GetURLs", "ListURLs", "GetStats", "SetDelay", "DeleteCrawl", "GetURLStatus", "BlockQueueUntil"]


@pytest.mark.parametrize("name", NAMES)
def test_messages_that_are_none(frontier, name):
    """Not one that a client can understand as success, and not the end of the server."""
    call = frontier.channel.stream_stream(f"/{SERVICE}/{name}", request_serializer=bytes, response_deserializer=bytes)
    for message in (b"\xff" * 100, b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05ab", b"\x0a\x02\xc3\x28\x12\x02\xc3\x28\x1a\x02\xc3\x28", b"\x08" + b"\x80" * 11, b"\x0b" * 5000,
                    b"\x0a\x80\x80\x80\x80\x08" + b"x" * 100):
        try:
            for answer in call(iter([message]), timeout=PATIENCE):
                if name == "PutURLs":
                    assert frontier.pb.AckMessage.FromString(answer).status in (SKIPPED, FAIL)
        except grpc.RpcError as error:
            assert error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), error
    assert frontier.count() == 0


def test_names_that_nobody_expected(frontier):
    """Whatever keys and crawls are called, they are only names."""
    names = ["\0", "a\nb", "../../etc/passwd", "'; DROP TABLE pages; --", "%", "_", "*", "ключ", " ", "k" * 1000]
    for name in names:
        crawl = f"{frontier.crawl} {name}"
        found = frontier.put(*(frontier.discovered(f"http://a.example/{number}", key=name, crawl=crawl, id=str(number)) for number in range(3)))
        if set(found.values()) == {SKIPPED}:
            continue
        assert set(found.values()) == {OK}
        assert list(frontier.queues(crawl=crawl).values) == [name] and crawl in frontier.crawls() and frontier.count(key=name, crawl=crawl) == 3
        served = frontier.get(crawl=crawl, key=name, each=1)
        assert [(info.key, info.crawlID) for info in served] == [(name, crawl)]
        assert frontier.delete_queue(name, crawl) == 3 and crawl not in frontier.crawls()
    for length in (100_000, 1_000_000):
        found = frontier.put(frontier.discovered("http://a.example/", key="k" * length, id="1"), frontier.discovered("http://a.example/", crawl="c" * length, id="2"))
        assert set(found) == {"1", "2"}, "taken or skipped, but acknowledged"
    frontier.delete_crawl("c" * 100_000)
    frontier.delete_crawl("c" * 1_000_000)


def test_numbers_that_nobody_expected(frontier):
    fill(frontier, each=3)
    most, more = 2**32 - 1, 2**64 - 1
    frontier.delay("h0.example", most)
    frontier.limit("h0.example", most)
    assert len(frontier.get(queues=most, each=most, lease=most)) == 3
    assert frontier.get(lease=most) == []
    frontier.put(frontier.known("http://h0.example/far", more, created=more), frontier.known("http://h0.example/farther", 2**63))
    assert frontier.due("http://h0.example/far") > now() and frontier.due("http://h0.example/farther") > now()
    frontier.block("h0.example", more)
    frontier.block("h0.example", 0)
    assert frontier.purge(most) == 0 and frontier.count() == 5 and len(frontier.list()) == 5
    assert frontier.stats().size == 5


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 2000, b"\0" * 10_000,
                                  b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\x04\0\0\0\0\0" + b"\0\0\x04\x03\0\0\0\0\x07\0\0\0\0",
                                  b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500], ids=range(5))
def test_those_who_do_not_speak_grpc(frontier, said):
    with socket.create_connection(("127.0.0.1", frontier.server.frontier_port), 10) as peer:
        with contextlib.suppress(OSError):
            peer.sendall(said)
            peer.shutdown(socket.SHUT_WR)
            peer.settimeout(PATIENCE)
            while peer.recv(65536):
                pass
    frontier.discover("http://a.example/")


def test_those_who_open_streams_only_to_cut_them(frontier, clients):
    for _ in range(5):
        client = clients(frontier.server, crawl=frontier.crawl)
        for number in range(200):
            stream = Puts(client)
            if number % 2:
                stream.say(client.discovered(f"http://a.example/{number}"))
            stream.cut()
    frontier.discover("http://b.example/")
    assert frontier.count() <= 101


def test_a_browser_is_not_lured(frontier):
    """A page can make a browser post to a port of this machine; that is no call."""
    with socket.create_connection(("127.0.0.1", frontier.server.frontier_port), 10) as peer:
        body = b"\0\0\0\0\0"
        with contextlib.suppress(OSError):
            peer.sendall(b"POST /urlfrontier.URLFrontier/DeleteCrawl HTTP/1.1\r\nHost: evil.example\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\n"
                         b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            peer.settimeout(PATIENCE)
            got = b""
            while some := peer.recv(65536):
                got += some
            assert not got.startswith(b"HTTP/1.1 200"), got


def test_a_stream_may_be_silent_for_a_while(idle):
    """At the end of the file: crawlers keep theirs open for as long as they run. HTTP's patience with those who dawdle is ten seconds."""
    client, streams, begun = idle
    time.sleep(max(0, 12 - (time.monotonic() - begun)))
    streams[0].say(client.discovered("http://a.example/2"))
    ack = streams[0].hear()
    assert (ack.ID, ack.status) == ("http://a.example/2", OK)
    streams[1].say(client.pb.DiscoveredBatch(ID="late", items=[client.info("http://a.example/3")]))
    assert list(streams[1].hear().statuses) == [OK]
    assert streams[0].end() == [] and streams[1].end() == []
    assert client.count() == 3
