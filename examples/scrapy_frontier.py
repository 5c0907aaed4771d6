"""A scheduler for Scrapy that keeps its requests in a frontier: Refrain, or any other that speaks URLFrontier.

Copy this file beside your spiders, make the stubs once, and name it in the settings:

    pip install scrapy grpcio grpcio-tools
    python -m grpc_tools.protoc -I crates/app/proto --python_out=. --grpc_python_out=. urlfrontier.proto

    SCHEDULER = "scrapy_frontier.FrontierScheduler"
    FRONTIER_ADDRESS = "127.0.0.1:7071"
    FRONTIER_CRAWL = "news"       # by default the name of the spider
    FRONTIER_LEASE = 600          # seconds after which a URL that was not brought back is given to somebody else
    FRONTIER_QUEUES = 50          # hosts per call
    FRONTIER_EACH = 5             # URLs of each
    FRONTIER_TOKEN = None         # of `refrain token create --scope read,write`
    FRONTIER_IDLE = None          # seconds without anything to fetch after which the spider ends; None: never

New requests are put there once they are yielded; what became of a URL is said when its response is there: its status, a digest of its body
(`signature`), its validators, and when the page is not to be fetched again. In a server scheduled crawl Refrain learns from that how often
each page changes, and serves it again when that is worth it. With another frontier, or in a client scheduled crawl, a page comes again if
`request.meta["refetch_after"]` (seconds) says so, and else never.

Only what a frontier keeps comes back: requests are GETs of their URL, with `callback` and `cb_kwargs` as long as these are text, `priority`
aside. Requests with a body, other methods, or `meta["frontier"] = False` never leave the process.
"""

import hashlib
import json
import logging
import time
from collections import deque
from urllib.parse import urlsplit

import grpc
from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.utils.request import request_from_dict

import urlfrontier_pb2 as pb
from urlfrontier_pb2_grpc import URLFrontierStub

log = logging.getLogger(__name__)

TIMEOUT = 30.0  # seconds for a call
PAUSE = (0.2, 5.0)  # seconds between two calls that gave nothing, at first and at most
TOGETHER = 256  # what is said is said together


class FrontierScheduler(BaseScheduler):
    def __init__(self, settings, stats, spider=None):
        self.address = settings.get("FRONTIER_ADDRESS", "127.0.0.1:7071")
        self.crawl = settings.get("FRONTIER_CRAWL")
        self.lease = settings.getint("FRONTIER_LEASE", 600)
        self.queues = settings.getint("FRONTIER_QUEUES", 50)
        self.each = settings.getint("FRONTIER_EACH", 5)
        self.idle_for = settings.get("FRONTIER_IDLE")
        token = settings.get("FRONTIER_TOKEN")
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self.stats = stats
        self.own = deque()  # what never leaves the process
        self.given = deque()  # what the frontier gave, and nobody fetches yet
        self.said = []  # what is to be said to the frontier
        self.under_way = {}  # what was given, by URL, until it is brought back
        self.pause, self.next_call, self.last_given = PAUSE[0], 0.0, time.monotonic()

    @classmethod
    def from_crawler(cls, crawler):
        scheduler = cls(crawler.settings, crawler.stats)
        crawler.signals.connect(scheduler.response_received, signals.response_received)
        crawler.signals.connect(scheduler.idle, signals.spider_idle)
        return scheduler

    # What Scrapy asks.

    def open(self, spider):
        self.spider = spider
        self.crawl = self.crawl or spider.name
        self.channel = grpc.insecure_channel(self.address)
        self.stub = URLFrontierStub(self.channel)

    def close(self, reason):
        self.flush()
        self.channel.close()

    def has_pending_requests(self):
        return bool(self.own or self.given)

    def enqueue_request(self, request):
        if request.method != "GET" or request.body or request.meta.get("frontier") is False:
            self.own.append(request)
            return True
        is_redirect = "redirect_urls" in request.meta
        if request.url in self.under_way and request.dont_filter and not is_redirect:
            # It is tried again, and still ours.
            self.own.append(request)
            return True
        if is_redirect:
            self.redirected(request.meta["redirect_urls"][-1], request.meta["redirect_reasons"][-1])
        info = pb.URLInfo(url=request.url, crawlID=self.crawl, metadata=kept(request))
        self.say(pb.URLItem(discovered=pb.DiscoveredURLItem(info=info)))
        self.count("enqueued")
        return True

    def next_request(self):
        if self.own:
            return self.own.popleft()
        if not self.given:
            self.ask()
        if not self.given:
            return None
        info = self.given.popleft()
        self.under_way[info.url] = info
        return self.request(info)

    # What the frontier is told, and asked.

    def say(self, item):
        self.said.append(item)
        if len(self.said) >= TOGETHER:
            self.flush()

    def flush(self):
        """Says what is to be said; what is not acknowledged is said again."""
        if not self.said:
            return
        items, self.said = self.said, []
        for number, item in enumerate(items):
            item.ID = str(number)
        left = dict(enumerate(items))
        try:
            for ack in self.stub.PutURLs(iter(items), metadata=self.metadata, timeout=TIMEOUT):
                if ack.status == pb.AckMessage.Status.FAIL:
                    continue
                if ack.status == pb.AckMessage.Status.SKIPPED:
                    self.count("skipped")
                left.pop(int(ack.ID), None)
        except grpc.RpcError as error:
            log.warning("the frontier did not take %d URLs, they are sent again: %s", len(left), error.details())
            self.hold()
        self.said = list(left.values()) + self.said

    def ask(self):
        """Takes what may be fetched now, unless it was asked in vain a moment ago."""
        if time.monotonic() < self.next_call:
            return
        self.flush()
        params = pb.GetParams(max_urls_per_queue=self.each, max_queues=self.queues, delay_requestable=self.lease, crawlID=self.crawl)
        try:
            self.given.extend(self.stub.GetURLs(params, metadata=self.metadata, timeout=TIMEOUT))
        except grpc.RpcError as error:
            log.warning("the frontier gave nothing: %s", error.details())
        if self.given:
            self.pause, self.last_given = PAUSE[0], time.monotonic()
            self.count("served", len(self.given))
        else:
            self.hold()

    def hold(self):
        self.next_call = time.monotonic() + self.pause
        self.pause = min(2 * self.pause, PAUSE[1])

    def request(self, info):
        values = {key: list(value.values) for key, value in info.metadata.items()}
        made = json.loads(values["scrapy.request"][0]) if values.get("scrapy.request") else {}
        # Which pages are new is for the frontier to know.
        request = request_from_dict({"url": info.url, "dont_filter": True, **made}, spider=self.spider)
        return request.replace(errback=self.failed)

    def response_received(self, response, request, spider):
        info = self.under_way.pop(request.url, None)
        if info is None:
            return
        headers = response.headers
        seen = {"fetch.statusCode": str(response.status), "signature": None, "protocol.etag": text(headers.get("ETag")),
                "last-modified": text(headers.get("Last-Modified")), "error.cause": None}
        if response.status == 200:
            seen["signature"] = hashlib.sha256(response.body).hexdigest()
        self.bring_back(info, seen, request.meta.get("refetch_after"))

    def redirected(self, url, status):
        """A page leads elsewhere; where that is has been put into the frontier."""
        if (info := self.under_way.pop(url, None)) is not None:
            self.bring_back(info, {"fetch.statusCode": str(status), "error.cause": None}, None)

    def failed(self, failure):
        """There is no response, and there will be none: nobody answers, or robots.txt forbids it."""
        if (info := self.under_way.pop(failure.request.url, None)) is not None:
            is_forbidden = failure.check(IgnoreRequest) and "robots.txt" in failure.getErrorMessage()
            cause = "robots.txt" if is_forbidden else failure.type.__name__
            self.bring_back(info, {"fetch.statusCode": None, "error.cause": cause}, 3600)

    def bring_back(self, info, seen, after):
        for key, value in seen.items():
            info.metadata.pop(key, None)
            if value is not None:
                info.metadata[key].values.append(value)
        due = int(time.time() + after) if after else 0
        self.say(pb.URLItem(known=pb.KnownURLItem(info=info, refetchable_from_date=due)))
        self.count("brought_back")

    def idle(self, spider):
        """The spider stays for as long as the frontier may have something for it."""
        self.flush()
        quiet = time.monotonic() - self.last_given
        if self.said or self.idle_for is None or quiet < float(self.idle_for):
            raise DontCloseSpider

    def count(self, what, number=1):
        if self.stats:
            self.stats.inc_value(f"frontier/{what}", number)


def kept(request):
    """What of a request the frontier keeps, and who led there."""
    metadata = {}
    callback = getattr(request.callback, "__name__", None)
    made = {"callback": callback, "cb_kwargs": request.cb_kwargs} if callback or request.cb_kwargs else {}
    try:
        if made:
            metadata["scrapy.request"] = pb.StringList(values=[json.dumps(made)])
    except TypeError:
        log.warning("%s: its cb_kwargs are more than text; they are lost", request.url)
    referer = text(request.headers.get("Referer"))
    if referer and urlsplit(referer).scheme in ("http", "https"):
        metadata["url.path"] = pb.StringList(values=[referer])
    return metadata


def text(header):
    return header.decode("latin-1") if header else None
