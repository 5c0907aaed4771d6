"""A client of the URLFrontier interface: grpcio, with stubs made from the .proto when the tests run."""

import contextlib
import importlib
import os
import queue
import sys
import threading
import time
import types

# Processes are started beside open connections; they exec at once, and need nothing of gRPC.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
from grpc_tools import protoc
from support import PATIENCE, ROOT, wait_until

PROTO = ROOT / "crates" / "app" / "proto" / "urlfrontier.proto"
SERVICE = "urlfrontier.URLFrontier"
OK, SKIPPED, FAIL = 0, 1, 2
ANY = object()  # of whatever crawl
YEAR = 365 * 86400


def stubs(folder):
    """What protoc makes of the .proto, in a folder that is thrown away: `pb` (messages) and `rpc` (the service)."""
    done = protoc.main(["protoc", f"-I{PROTO.parent}", f"--python_out={folder}", f"--grpc_python_out={folder}", PROTO.name])
    assert done == 0, f"{PROTO} does not compile"
    sys.path.insert(0, str(folder))
    return types.SimpleNamespace(pb=importlib.import_module("urlfrontier_pb2"), rpc=importlib.import_module("urlfrontier_pb2_grpc"))


def now():
    return int(time.time())


def urls(items):
    """The addresses of what was served or listed."""
    return [item.url if hasattr(item, "url") else item.known.info.url for item in items]


def plain(metadata):
    """A map of lists, as Python has them."""
    return {key: list(value.values) for key, value in metadata.items()}


@contextlib.contextmanager
def refused(*codes, words=True):
    """The call ends with one of these codes, and with words for people."""
    try:
        yield
    except grpc.RpcError as error:
        assert error.code() in codes, (error.code(), error.details())
        assert error.details() or not words, f"{error.code()} without a word"
    else:
        raise AssertionError(f"expected {codes}, and it went well")


class Client:
    """Calls, in short. What is said of no crawl is said of `crawl`; "" is the wire's default."""

    def __init__(self, made, address, crawl="", token=None, credentials=None, options=()):
        self.pb, self.crawl, self.address, self.server = made.pb, crawl, address, None
        # Every client has its own connection, as clients on different machines have.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", 64 << 20), ("grpc.min_reconnect_backoff_ms", 100),
                   ("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 200), *options]
        if credentials:
            self.channel = grpc.secure_channel(address, credentials, options)
        else:
            self.channel = grpc.insecure_channel(address, options)
        self.stub = made.rpc.URLFrontierStub(self.channel)
        self.metadata = [("authorization", f"Bearer {token}")] if token else []

    def close(self):
        self.channel.close()

    def call(self, name, request, **more):
        more.setdefault("timeout", PATIENCE)
        return getattr(self.stub, name)(request, metadata=self.metadata, wait_for_ready=True, **more)

    # What is said.

    def which(self, crawl):
        return self.crawl if crawl is None else crawl

    def info(self, url, key="", crawl=None, metadata=None):
        lists = {name: self.pb.StringList(values=[value] if isinstance(value, str) else value) for name, value in (metadata or {}).items()}
        return self.pb.URLInfo(url=url, key=key, crawlID=self.which(crawl), metadata=lists)

    def discovered(self, url, id="", created=0, **more):
        return self.pb.URLItem(discovered=self.pb.DiscoveredURLItem(info=self.info(url, **more)), ID=id, creation_date=created)

    def known(self, url, due, id="", created=0, **more):
        item = self.pb.KnownURLItem(info=self.info(url, **more), refetchable_from_date=due)
        return self.pb.URLItem(known=item, ID=id, creation_date=created)

    # Calls.

    def acks(self, items, **more):
        """The acknowledgements of items, in the order in which they come."""
        return list(self.call("PutURLs", iter(items), **more))

    def put(self, *items):
        """The status of each item, by its ID."""
        items = list(items)
        acks = self.acks(items)
        assert len(acks) == len(items), f"{len(acks)} acknowledgements of {len(items)} items"
        return {ack.ID: ack.status for ack in acks}

    def discover(self, *addresses, **more):
        """New URLs, all of which are taken."""
        found = self.put(*(self.discovered(url, **more) for url in addresses))
        assert set(found.values()) == {OK}, found

    def complete(self, *served):
        """Of what was served: it is done, and never wanted again."""
        items = [self.pb.URLItem(known=self.pb.KnownURLItem(info=info, refetchable_from_date=0)) for info in served]
        found = self.put(*items)
        assert set(found.values()) <= {OK}, found

    def batches(self, *batches):
        """Batches as (ID, items), and what is acknowledged of each."""
        sent = (self.pb.DiscoveredBatch(ID=id, items=items) for id, items in batches)
        return [(ack.ID, list(ack.statuses)) for ack in self.call("PutDiscovered", sent)]

    def asking(self, queues=0, each=0, key="", crawl=None, lease=0):
        params = self.pb.GetParams(max_urls_per_queue=each, max_queues=queues, key=key, delay_requestable=lease)
        if crawl is ANY:
            params.anyCrawlID.SetInParent()
        elif crawl is not None or self.crawl:
            params.crawlID = self.which(crawl)
        return params

    def get(self, queues=0, each=0, **more):
        return list(self.call("GetURLs", self.asking(queues, each, **more)))

    def get_soon(self, what="something is served", **more):
        """As `get`, again and again until something is served."""
        return wait_until(what, lambda: self.get(**more))

    def status(self, url, key="", crawl=None):
        return self.call("GetURLStatus", self.pb.URLStatusRequest(url=url, key=key, crawlID=self.which(crawl)))

    def due(self, url, **more):
        """From when on it may be fetched."""
        item = self.status(url, **more)
        assert item.WhichOneof("item") == "known", item
        return item.known.refetchable_from_date

    def list(self, key="", crawl=None, start=0, size=1 << 20, **more):
        return list(self.call("ListURLs", self.pb.ListUrlParams(start=start, size=size, key=key, crawlID=self.which(crawl), **more)))

    def count(self, key="", crawl=None, **more):
        return self.call("CountURLs", self.pb.CountUrlParams(key=key, crawlID=self.which(crawl), **more)).value

    def purge(self, days, key="", crawl=None):
        return self.call("PurgeURLs", self.pb.PurgeUrlParams(key=key, crawlID=self.which(crawl), days=days)).value

    def stats(self, key="", crawl=None):
        return self.call("GetStats", self.pb.QueueWithinCrawlParams(key=key, crawlID=self.which(crawl)))

    def queues(self, crawl=None, start=0, size=0, inactive=False):
        return self.call("ListQueues", self.pb.Pagination(start=start, size=size, include_inactive=inactive, crawlID=self.which(crawl)))

    def crawls(self):
        return list(self.call("ListCrawls", self.pb.Local()).values)

    def delete_queue(self, key, crawl=None):
        return self.call("DeleteQueue", self.pb.QueueWithinCrawlParams(key=key, crawlID=self.which(crawl))).value

    def delete_crawl(self, crawl=None):
        return self.call("DeleteCrawl", self.pb.DeleteCrawlMessage(value=self.which(crawl))).value

    def delay(self, key, seconds, crawl=None):
        self.call("SetDelay", self.pb.QueueDelayParams(key=key, delay_requestable=seconds, crawlID=self.which(crawl)))

    def block(self, key, until, crawl=None):
        self.call("BlockQueueUntil", self.pb.BlockQueueParams(key=key, time=until, crawlID=self.which(crawl)))

    def limit(self, key, most, crawl=None):
        self.call("SetCrawlLimit", self.pb.CrawlLimitParams(key=key, limit=most, crawlID=self.which(crawl)))

    def activate(self, state):
        self.call("SetActive", self.pb.Active(state=state))

    def is_active(self):
        return self.call("GetActive", self.pb.Local()).state


class Puts:
    """A stream of PutURLs (or PutDiscovered) that stays open: items are said one by one, acknowledgements heard as they come."""

    def __init__(self, client, name="PutURLs", timeout=PATIENCE):
        self.items = queue.SimpleQueue()
        self.said = 0
        self.heard = client.call(name, self.flow(), timeout=timeout)

    def flow(self):
        while (item := self.items.get()) is not None:
            self.said += 1
            yield item

    def say(self, *items):
        for item in items:
            self.items.put(item)

    def hear(self):
        return next(self.heard)

    def end(self):
        """No more is said; what is still to be heard."""
        self.items.put(None)
        return list(self.heard)

    def cut(self):
        self.items.put(None)
        self.heard.cancel()


def together(*jobs):
    """Runs jobs at the same time, and gives what they return; what goes wrong in one of them goes wrong here."""
    results, wrong, gate = [None] * len(jobs), [], threading.Barrier(len(jobs))

    def run(number, job):
        try:
            gate.wait(PATIENCE)
            results[number] = job()
        except BaseException as why:  # noqa: BLE001 - it is raised again below
            wrong.append(why)

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    if wrong:
        raise wrong[0]
    assert not any(thread.is_alive() for thread in threads), "somebody still waits"
    return results
