#!/usr/bin/env python3
"""A fetcher for `refrain serve --no-fetch`: Refrain decides what is fetched when, this fetches it.

    refrain serve --no-fetch --rate 20/s &
    python3 examples/fetcher.py --agent MyCrawler --contact me@example.net

It takes work in batches, asks hosts only for what has changed, follows nobody elsewhere (a redirect is a result like others), brings
results back in batches, waits longer and longer when nobody answers, and gives back what it has not fetched when it is stopped (Ctrl-C, or SIGTERM). Python's standard library is all it needs.
"""

import argparse
import base64
import calendar
import datetime
import http.client
import ipaddress
import json
import os
import queue
import random
import signal
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

LARGEST = 10_000_000  # bytes of a body; what is longer is not brought back
BATCH_BYTES = 8_000_000  # of results in one request
BATCH_SECONDS = 1.0  # no result waits for longer


def lasts(until):
    """Seconds until a moment. This clock and the server's should not be far apart."""
    return calendar.timegm(time.strptime(until[:19], "%Y-%m-%dT%H:%M:%S")) - time.time()


class Door:
    """The API of a server."""

    def __init__(self, server, token):
        self.server = server.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def post(self, path, content, timeout, key=None):
        headers = dict(self.headers, **({"Idempotency-Key": key} if key else {}))
        data = json.dumps(content).encode()
        request = urllib.request.Request(self.server + path, data=data, headers=headers, method="POST")
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)

    def post_until_taken(self, path, content, timeout, stopped, key=None):
        """Again and again until there is an answer: what is posted here may come twice and counts once."""
        pause = 0.5
        while True:
            try:
                return self.post(path, content, timeout, key)
            except urllib.error.HTTPError as error:
                detail = error.read(1000).decode(errors="replace")
                if error.code not in (408, 429) and error.code < 500:
                    raise SystemExit(f"{path}: {error.code} {detail}") from error
                wait = float(error.headers.get("Retry-After") or pause)
                print(f"{path}: {error.code}; again in {wait:.1f} s", flush=True)
            except (OSError, ValueError) as error:
                wait = pause * random.uniform(0.5, 1.5)
                print(f"{path}: {error}; again in {wait:.1f} s", flush=True)
            pause = min(2 * pause, 30)
            if stopped.wait(wait):
                return None


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Leave was given for one address. Where it leads is told to the server, which gives that out when its host may be asked."""

    def redirect_request(self, *_):
        return None


class Public:
    """Connections to public addresses only, whatever names say: nobody out there sends us to machines in here."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self._create_connection = self.to_public

    @staticmethod
    def to_public(address, *args, **more):
        peer = socket.create_connection(address, *args, **more)
        found = ipaddress.ip_address(peer.getpeername()[0])
        found = getattr(found, "ipv4_mapped", None) or found
        if not found.is_global or found.is_multicast:
            peer.close()
            raise OSError(f"{found} is not a public address; --allow-private goes there")
        return peer


class PublicHTTP(Public, http.client.HTTPConnection):
    pass


class PublicHTTPS(Public, http.client.HTTPSConnection):
    pass


class OpensHTTP(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(PublicHTTP, request)


class OpensHTTPS(urllib.request.HTTPSHandler):
    def https_open(self, request):
        return self.do_open(PublicHTTPS, request)


class Fetcher:
    def __init__(self, args):
        self.args = args
        self.door = Door(args.server, args.token)
        self.stopped = threading.Event()
        self.work = queue.Queue(maxsize=2 * args.threads)
        self.done = queue.Queue()
        agent = f"{args.agent} (+{args.contact})" if args.contact else args.agent
        public = [] if args.allow_private else [OpensHTTP, OpensHTTPS]
        self.opener = urllib.request.build_opener(NoRedirects, *public)
        self.opener.addheaders = [("User-Agent", agent), ("Accept-Encoding", "identity")]

    def fetch(self, order):
        """One fetch, as the server wants to hear of it."""
        result = {"lease": order["lease"]}
        request = urllib.request.Request(order["url"])
        if order.get("etag"):
            request.add_header("If-None-Match", order["etag"])
        if order.get("last_modified"):
            request.add_header("If-Modified-Since", order["last_modified"])
        begun, sent = time.monotonic(), datetime.datetime.now(datetime.timezone.utc).isoformat()
        try:
            answer = self.open(request)
            if order["kind"] == "robots":
                answer = self.led_to_rules(order["url"], answer)
            with answer:
                result["response_seconds"] = time.monotonic() - begun
                result["status"] = answer.status
                result["headers"] = {name: value for name, value in answer.headers.items() if name.lower() != "set-cookie"}
                if answer.status == 200:
                    body = answer.read(LARGEST + 1)
                    if len(body) > LARGEST:
                        raise ValueError(f"the body is longer than {LARGEST} bytes")
                    result["bytes"] = len(body)
                    result["body_base64"] = base64.b64encode(body).decode()
        except Exception as error:  # whatever a stranger's server does, the next page is fetched
            result = {"lease": order["lease"], "error": f"{type(error).__name__}: {error}"[:300]}
        result["duration_seconds"] = time.monotonic() - begun
        result["fetched_at"] = sent  # signals that came later announce what this copy may not have
        return result

    def open(self, request):
        try:
            return self.opener.open(request, timeout=self.args.timeout)
        except urllib.error.HTTPError as error:
            return error  # 304, 404 and the like are answers, too

    def led_to_rules(self, url, answer):
        """A robots.txt that is elsewhere on the same machine. Anywhere else it counts as having none, as the server sees it."""
        for _ in range(5):
            target = urllib.parse.urljoin(url, answer.headers.get("Location") or "")
            here, there = urllib.parse.urlsplit(url), urllib.parse.urlsplit(target)
            is_near = there.hostname == here.hostname and there.scheme in ("http", "https") and target != url
            if answer.status not in (301, 302, 303, 307, 308) or not is_near:
                break
            answer.close()
            time.sleep(1)
            url, answer = target, self.open(urllib.request.Request(target))
        return answer

    def worker(self):
        while True:
            order = self.work.get()
            if order is None:
                return
            if self.stopped.is_set() or time.monotonic() > order["until"]:
                self.done.put({"lease": order["lease"], "given_back": True})
            else:
                self.done.put(self.fetch(order))

    def hand_in(self):
        """Brings results back in batches, until all are."""
        batch, size, since, over = [], 0, time.monotonic(), False
        while not over:
            try:
                result = self.done.get(timeout=BATCH_SECONDS)
                over = result is None
                if result is not None:
                    batch.append(result)
                    size += len(result.get("body_base64", "")) + 1000
            except queue.Empty:
                pass
            late = time.monotonic() - since > BATCH_SECONDS
            if batch and (over or late or len(batch) >= 100 or size > BATCH_BYTES):
                # At the end it is tried for a while, too: what was fetched is worth something.
                patience = threading.Event()
                timer = threading.Timer(20, patience.set) if self.stopped.is_set() else None
                if timer:
                    timer.start()
                answer = self.door.post_until_taken("/v1/fetches/results", {"results": batch}, 60, patience)
                if timer:
                    timer.cancel()
                for receipt in (answer or {}).get("results", []):
                    if receipt["result"] != "taken":
                        print(f"{receipt['lease']}: {receipt['result']} {receipt.get('detail', '')}", flush=True)
                if answer:
                    print(f"{len(batch)} results handed in", flush=True)
                batch, size = [], 0
            if not batch:
                since = time.monotonic()

    def run(self):
        workers = [threading.Thread(target=self.worker) for _ in range(self.args.threads)]
        hander = threading.Thread(target=self.hand_in)
        for thread in [*workers, hander]:
            thread.start()
        try:
            while not self.stopped.is_set():
                wanted = {"most": self.args.threads, "wait_seconds": 10, "lease_seconds": self.args.lease}
                # The same key until there is an answer: if one is lost, the same work is given again.
                grant = self.door.post_until_taken("/v1/fetches/next", wanted, 40, self.stopped, str(uuid.uuid4()))
                fetches = (grant or {}).get("fetches", [])
                # Nothing is begun that may not be over before the lease is: then the host is somebody else's.
                until = time.monotonic() + (lasts(grant["until"]) if fetches else 0) - self.args.timeout
                for order in fetches:
                    self.work.put(dict(order, until=until))
        finally:
            self.stopped.set()
            for _ in workers:
                self.work.put(None)
            for thread in workers:
                thread.join()
            self.done.put(None)
            hander.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", default="http://127.0.0.1:7070", help="where `refrain serve` listens")
    parser.add_argument("--token", default=os.environ.get("REFRAIN_TOKEN"), help="with the scope write [env: REFRAIN_TOKEN]")
    parser.add_argument("--agent", required=True, help="the crawler's name, for User-Agent")
    parser.add_argument("--contact", help="who answers for it, for User-Agent")
    parser.add_argument("--threads", type=int, default=16, help="fetches at the same time")
    parser.add_argument("--timeout", type=float, default=30, help="seconds that a host has to answer")
    parser.add_argument("--lease", type=float, default=120, help="seconds for which work is ours")
    parser.add_argument("--allow-private", action="store_true", help="fetch from addresses that are not public, too (and through proxies there)")
    args = parser.parse_args()
    if args.lease < 2 * args.timeout:
        parser.error("--lease: expected at least twice --timeout, or hosts would be asked by two at a time")
    socket.setdefaulttimeout(args.timeout)
    fetcher = Fetcher(args)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: fetcher.stopped.set())
    fetcher.run()


if __name__ == "__main__":
    main()
