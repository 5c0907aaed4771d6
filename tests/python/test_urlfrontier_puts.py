"""What is put into the frontier, and what is said of it: PutURLs, PutDiscovered, GetURLStatus."""

import re

import grpc
import pytest
from frontier_client import OK, SKIPPED, YEAR, Puts, now, plain, refused, urls

INVALID = ["", " ", "no address at all", "http://", "http:///path", "/only/a/path", "//a.example/", "http://a b.example/", "http://" + "a" * 70_000 + "/",
           "http://a.example/" + "x" * 100_000]


def test_a_new_url_is_there_and_due(frontier):
    before = now()
    frontier.discover("http://a.example/1", metadata={"depth": "2", "path": ["http://a.example/", "http://b.example/"]})
    item = frontier.status("http://a.example/1")
    assert item.WhichOneof("item") == "known", "a discovered URL is told as a known one"
    assert 0 < item.known.refetchable_from_date <= now() + 1
    assert before - 1 <= item.creation_date <= now() + 1
    info = item.known.info
    assert (info.url, info.key, info.crawlID) == ("http://a.example/1", "a.example", frontier.crawl)
    assert plain(info.metadata) == {"depth": ["2"], "path": ["http://a.example/", "http://b.example/"]}
    assert urls(frontier.get()) == ["http://a.example/1"]


def test_no_key_is_the_host_name_and_no_crawl_is_default(frontiers):
    frontier = frontiers()
    frontier.put(frontier.discovered("https://www.a.example:8443/x?y=http://b.example/"), frontier.discovered("http://b.example?q=c.example/"),
                 frontier.discovered("http://c.example/", key="of mine"))
    queues = frontier.queues(crawl="DEFAULT")
    assert sorted(queues.values) == ["b.example", "of mine", "www.a.example"] and queues.crawlID == "DEFAULT"
    assert frontier.crawls() == ["DEFAULT"]
    assert frontier.status("http://c.example/", key="of mine", crawl="DEFAULT").known.info.crawlID == "DEFAULT"
    assert frontier.status("http://b.example?q=c.example/").known.info.key == "b.example"


def test_the_same_url_in_two_crawls_is_two(frontier):
    other = frontier.crawl + "-other"
    frontier.put(frontier.discovered("http://a.example/", metadata={"of": "one"}), frontier.known("http://a.example/", now() + YEAR, crawl=other, metadata={"of": "two"}))
    assert plain(frontier.status("http://a.example/").known.info.metadata) == {"of": ["one"]}
    item = frontier.status("http://a.example/", crawl=other)
    assert plain(item.known.info.metadata) == {"of": ["two"]} and item.known.refetchable_from_date > now() + YEAR - 60
    assert urls(frontier.get()) == ["http://a.example/"] and frontier.get(crawl=other) == []


def test_who_is_unknown_is_not_found(frontier):
    frontier.discover("http://a.example/1")
    for url, key, crawl in [("http://a.example/2", "", None), ("http://a.example/1", "b.example", None), ("http://a.example/1", "", "nobody's"), ("", "", None)]:
        with refused(grpc.StatusCode.NOT_FOUND, *([grpc.StatusCode.INVALID_ARGUMENT] if not url else [])):
            frontier.status(url, key, crawl)


def test_every_item_is_acknowledged_by_its_id_or_by_its_url(frontier):
    found = frontier.put(
        frontier.discovered("http://a.example/1", id="one"),
        frontier.discovered("http://a.example/2"),
        frontier.known("http://a.example/3", 0, id="http://something.else/"),
        frontier.known("http://a.example/4", now()),
        frontier.discovered("nonsense", id="five"),
        frontier.discovered("more nonsense"),
        frontier.pb.URLItem(ID="seven"),
    )
    assert found == {"one": OK, "http://a.example/2": OK, "http://something.else/": OK, "http://a.example/4": OK, "five": SKIPPED, "more nonsense": SKIPPED,
                     "seven": SKIPPED}


def test_a_url_that_comes_again_in_a_stream_is_acknowledged_again(frontier):
    acks = frontier.acks([frontier.discovered("http://a.example/", id=str(number)) for number in range(100)])
    assert sorted(int(ack.ID) for ack in acks) == list(range(100))
    assert sorted(ack.status for ack in acks) == [OK] + [SKIPPED] * 99
    assert frontier.count() == 1


def test_a_discovered_url_that_is_known_changes_nothing(frontier):
    due = now() + YEAR
    frontier.put(frontier.known("http://a.example/", due, metadata={"first": "yes"}))
    created = frontier.status("http://a.example/").creation_date
    found = frontier.put(frontier.discovered("http://a.example/", metadata={"second": "yes"}, created=12))
    assert set(found.values()) == {SKIPPED}, "it need not come again, as the reference says"
    item = frontier.status("http://a.example/")
    assert plain(item.known.info.metadata) == {"first": ["yes"]}
    assert item.known.refetchable_from_date == due and item.creation_date == created
    # One that is completed stays so.
    frontier.put(frontier.known("http://a.example/done", 0), frontier.discovered("http://a.example/done"))
    assert frontier.due("http://a.example/done") == 0 and frontier.get() == []


def test_a_known_url_is_created_or_changed(frontier):
    due = now() + YEAR
    frontier.put(frontier.known("http://a.example/", due, metadata={"a": "1", "b": "2"}))
    assert frontier.due("http://a.example/") == due
    created = frontier.status("http://a.example/").creation_date
    assert abs(created - now()) < 60
    frontier.put(frontier.known("http://a.example/", due + 5, metadata={"b": ["3", "4"], "c": "5"}))
    item = frontier.status("http://a.example/")
    assert item.known.refetchable_from_date == due + 5 and item.creation_date == created
    assert plain(item.known.info.metadata) == {"b": ["3", "4"], "c": ["5"]}, "what is said last is what holds"
    frontier.put(frontier.known("http://a.example/", now() - 5, metadata={"d": "6"}))
    served = frontier.get()
    assert urls(served) == ["http://a.example/"] and plain(served[0].metadata) == {"d": ["6"]}


def test_a_date_of_zero_is_the_end_and_a_later_one_a_new_beginning(frontier):
    frontier.discover("http://a.example/1", "http://a.example/2")
    frontier.complete(*frontier.get())
    assert frontier.due("http://a.example/1") == frontier.due("http://a.example/2") == 0
    frontier.delay("a.example", 0)
    assert frontier.get() == []
    frontier.put(frontier.known("http://a.example/1", now()))
    assert urls(frontier.get_soon()) == ["http://a.example/1"]


def test_a_date_of_creation_that_is_given_is_kept(frontier):
    """So a dump of another frontier, put in here, keeps its ages."""
    frontier.put(frontier.known("http://a.example/", now() + YEAR, created=1_500_000_000))
    assert frontier.status("http://a.example/").creation_date == 1_500_000_000
    frontier.put(frontier.known("http://a.example/", now() + YEAR, created=1_600_000_000))
    assert frontier.status("http://a.example/").creation_date == 1_500_000_000, "it is created once"


def test_invalid_urls_are_skipped_and_others_beside_them_are_not(frontier):
    items = []
    for number, url in enumerate(INVALID):
        items += [frontier.discovered(url, id=f"d{number}"), frontier.known(url, now(), id=f"k{number}"), frontier.discovered(f"http://a.example/{number}", id=f"ok{number}")]
    found = frontier.put(*items)
    assert found == {f"{kind}{number}": SKIPPED for number in range(len(INVALID)) for kind in "dk"} | {f"ok{number}": OK for number in range(len(INVALID))}
    assert frontier.count() == len(INVALID)


@pytest.mark.parametrize("url", ["http://a.example", "http://a.example/%7Ex/../y?b=2&a=1#part", "HTTP://a.example:80/x", "http://a.example/ü?q=é",
                                 "http://a.example/a b", "https://a.example/" + "x" * 2000, "http://xn--bcher-kva.example/", "http://10.0.0.1/", "http://[2001:db8::1]:8080/"])
def test_a_url_comes_back_letter_by_letter(frontier, url):
    """Clients use it as an identifier; which spellings are the same page is for them to say."""
    assert frontier.put(frontier.discovered(url, key="q")) == {url: OK}
    served = frontier.get()
    assert urls(served) == [url] and served[0].key == "q" and served[0].crawlID == frontier.crawl
    frontier.complete(*served)
    assert frontier.due(url, key="q") == 0 and urls(frontier.list()) == [url]


@pytest.mark.parametrize("url", ["file:///etc/hosts", "ftp://files.example/pub", "s3://bucket/key", "http://user:password@a.example/", "data:text/plain,x", "no address",
                                 "urn:isbn:0451450523", "http://a.example/" + "x" * 10_000])
def test_a_client_that_decides_may_keep_whatever_it_fetches(frontier, url):
    assert frontier.put(frontier.discovered(url, key="q", metadata={"m": "1"})) == {url: OK}
    served = frontier.get()
    assert urls(served) == [url] and served[0].key == "q" and plain(served[0].metadata) == {"m": ["1"]}
    frontier.complete(*served)
    assert frontier.due(url, key="q") == 0


def test_the_host_of_a_url_of_any_scheme_is_its_key(frontier):
    frontier.discover("ftp://files.example:21/pub", "s3://bucket/key", "http://user:password@a.example:8080/")
    assert sorted(frontier.queues().values) == ["a.example", "bucket", "files.example"]


def refusals(server):
    """Counters of refused items, by reason."""
    text = server.get("/metrics").body.decode()
    return {reason: int(count) for reason, count in re.findall(r'frontier_putURLs_refused_total\{reason="(\w+)"\} (\d+)', text)}


def test_every_refusal_says_why(frontiers):
    """To operators: the client is told SKIPPED alone, and takes that for done."""
    frontier = frontiers()
    server = frontier.server
    assert set(refusals(server).values()) == {0}
    items = {
        "no_url": frontier.discovered("", key="k", id="1"), "no_key": frontier.discovered("file:///etc/hosts"), "long_url": frontier.known("x" * 40_000, 0, key="k"),
        "long_name": frontier.discovered("http://a.example/", key="k" * 5000), "large_metadata": frontier.discovered("http://a.example/", metadata={"m": "x" * (5 << 20)}),
        "not_a_page": frontier.discovered("ftp://a.example/", key="k", crawl="valued", metadata={"refrain.schedule": "server"}),
    }
    for reason, item in items.items():
        assert set(frontier.put(item).values()) == {SKIPPED}, reason
    assert refusals(server) == {**dict.fromkeys(items, 1), "no_room": 0}
    said = server.said()
    assert said.count("an item of a frontier client is refused") == len(items) and "file:///etc/hosts" in said and "ftp://a.example/" in said, said
    # In a stream of many, the log has the first.
    frontier.put(*(frontier.discovered(f"file:///{number}") for number in range(100)))
    assert refusals(server)["no_key"] == 101 and server.said().count("file:///") == 2
    assert frontier.put(frontier.discovered("http://a.example/"), frontier.discovered("http://a.example/", id="again")) == {"http://a.example/": OK, "again": SKIPPED}
    assert sum(refusals(server).values()) == 106, "what is known is not refused"


def test_metadata_come_back_as_they_were(frontier):
    lists = {"": [""], "empty": [], "one": ["1"], "same": ["x", "x", "x"], "order": [str(number) for number in range(100)], "ключ": ["значение", "\0\n\t\"'"],
             "a.b": ["c"], "long": ["y" * 10_000], "refrain-like": ["%_*?"]}
    frontier.put(frontier.known("http://a.example/", now() - 1, metadata=lists))
    served = frontier.get()
    assert plain(served[0].metadata) == lists
    assert plain(frontier.list()[0].known.info.metadata) == lists


def test_acknowledgements_come_while_the_stream_is_written(frontier):
    """A crawler keeps one stream for all of its life, and waits for what it said before it says more."""
    stream = Puts(frontier)
    for number in range(20):
        stream.say(frontier.discovered(f"http://a.example/{number}"))
        ack = stream.hear()
        assert (ack.ID, ack.status) == (f"http://a.example/{number}", OK)
        assert frontier.due(f"http://a.example/{number}") > 0, "what is acknowledged is there"
    assert stream.end() == []


def test_batches_are_acknowledged_as_a_whole_in_order(frontier):
    batches = []
    for number in range(20):
        items = [frontier.info(f"http://h{number}.example/{page}", metadata={"n": str(page)}) for page in range(50)]
        items[7] = frontier.info("nonsense")
        items[49] = frontier.info("http://" + "a" * 70_000 + "/")
        batches.append((f"batch-{number}", items))
    found = frontier.batches(*batches)
    expected = [OK] * 50
    expected[7] = expected[49] = SKIPPED
    assert sorted(found) == sorted((f"batch-{number}", expected) for number in range(20))
    assert frontier.count() == 20 * 48 and frontier.count(key="h3.example") == 48
    assert plain(frontier.status("http://h3.example/5").known.info.metadata) == {"n": ["5"]}
    # All of it again: nothing is new, and nothing is to be sent again.
    for _, statuses in frontier.batches(*batches):
        assert statuses == [SKIPPED] * 50
    assert frontier.count() == 20 * 48


def test_an_empty_batch_is_acknowledged(frontier):
    """That is how clients find out whether there are batches."""
    assert frontier.batches(("probe", [])) == [("probe", [])]
    assert frontier.batches(("", [])) == [("", [])]
    assert frontier.batches() == []


def test_a_batch_may_name_many_crawls_and_queues_and_the_same_url_twice(frontier):
    other = frontier.crawl + "-other"
    items = [frontier.info("http://a.example/1"), frontier.info("http://a.example/1"), frontier.info("http://a.example/1", crawl=other), frontier.info("http://a.example/2", key="k")]
    [(_, statuses)] = frontier.batches(("x", items))
    assert statuses == [OK, SKIPPED, OK, OK]
    assert sorted(frontier.queues().values) == ["a.example", "k"] and frontier.count() == 2 and frontier.count(crawl=other) == 1


def test_batches_are_acknowledged_while_the_stream_is_written(frontier):
    stream = Puts(frontier, "PutDiscovered")
    for number in range(5):
        stream.say(frontier.pb.DiscoveredBatch(ID=str(number), items=[frontier.info(f"http://a.example/{number}")]))
        ack = stream.hear()
        assert (ack.ID, list(ack.statuses)) == (str(number), [OK])
        assert frontier.due(f"http://a.example/{number}") > 0
    assert stream.end() == []


def test_what_a_batch_found_is_served_as_any_other(frontier):
    frontier.batches(("x", [frontier.info("http://a.example/1", metadata={"m": "1"})]))
    served = frontier.get()
    assert urls(served) == ["http://a.example/1"] and plain(served[0].metadata) == {"m": ["1"]}
    item = frontier.status("http://a.example/1")
    assert item.known.refetchable_from_date > 0 and abs(item.creation_date - now()) < 60
