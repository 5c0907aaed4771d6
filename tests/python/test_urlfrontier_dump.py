"""All of a frontier as lines of JSON, and back."""

import json
import subprocess

from frontier_client import YEAR, now, plain
from google.protobuf import json_format
from support import binary, wait_until


def dump(server, *more):
    return [json.loads(line) for line in server.run("frontier", "dump", "--data", str(server.data), *more).stdout.splitlines()]


def by_place(lines):
    return {(line["crawl"], line["key"], line["url"]): line for line in lines}


def furnish(frontier):
    later = now() + YEAR
    frontier.put(frontier.discovered("http://a.example/1", metadata={"m": ["1", "2"], "ü": ["\"\n\0"]}), frontier.known("http://a.example/done", 0),
                 frontier.known("http://b.example/later", later, metadata={"empty": []}), frontier.known("http://b.example/later", later + 1, crawl="other", key="k"),
                 frontier.known("http://old.example/", later, created=1_500_000_000, crawl="other"))
    return later


def everything(frontier):
    return {crawl: [item.SerializeToString(deterministic=True) for item in frontier.list(crawl=crawl)] for crawl in sorted(frontier.crawls())}


def test_a_line_says_all_of_a_url(frontiers):
    frontier = frontiers()
    later = furnish(frontier)
    lines = dump(frontier.server)
    assert all(set(line) == {"crawl", "key", "url", "created", "due", "metadata"} for line in lines), lines
    found = by_place(lines)
    assert len(found) == len(lines) == 5
    line = found["DEFAULT", "a.example", "http://a.example/1"]
    assert line["metadata"] == {"m": ["1", "2"], "ü": ["\"\n\0"]} and 0 < line["due"] <= now() + 1 and abs(line["created"] - now()) < 60
    assert found["DEFAULT", "a.example", "http://a.example/done"]["due"] == 0
    assert found["DEFAULT", "b.example", "http://b.example/later"]["due"] == later and found["DEFAULT", "b.example", "http://b.example/later"]["metadata"] == {"empty": []}
    assert found["other", "k", "http://b.example/later"]["due"] == later + 1
    assert found["other", "old.example", "http://old.example/"]["created"] == 1_500_000_000
    # While it runs, and when it does not, it is the same.
    frontier.server.stop()
    assert dump(frontier.server) == lines
    assert by_place(dump(frontier.server, "--crawl", "other")) == {place: line for place, line in found.items() if place[0] == "other"}
    assert dump(frontier.server, "--crawl", "nobody's") == []


def test_what_is_dumped_and_loaded_is_the_same_frontier(frontiers, servers, clients):
    frontier = frontiers()
    furnish(frontier)
    before = everything(frontier)
    frontier.server.stop()
    other = servers("--no-fetch", frontier="127.0.0.1")
    (other.folder / "dump.jsonl").write_text(frontier.server.run("frontier", "dump", "--data", str(frontier.server.data)).stdout)
    other.run("frontier", "load", "--data", str(other.data), "dump.jsonl")
    assert by_place(dump(other)) == by_place(dump(frontier.server))
    loaded = clients(other.start())
    after = everything(loaded)
    assert {crawl: sorted(items) for crawl, items in after.items()} == {crawl: sorted(items) for crawl, items in before.items()}
    served = loaded.get()
    assert [info.url for info in served] == ["http://a.example/1"] and plain(served[0].metadata)["m"] == ["1", "2"]
    # Again: nothing is there twice.
    other.stop()
    other.run("frontier", "load", "--data", str(other.data), "dump.jsonl")
    assert len(dump(other)) == 5
    other.check()


def test_who_decides_is_part_of_a_dump(frontiers, servers, clients):
    frontier = frontiers()
    frontier.discover("http://a.example/", "http://a.example/feed", crawl="valued", metadata={"refrain.schedule": "server", "isFeed": "true"})
    frontier.discover("http://b.example/")
    lines = dump(frontier.server)
    assert [(line["crawl"], line.get("schedule")) for line in lines] == [("valued", "server"), ("valued", "server"), ("DEFAULT", None)]
    other = servers("--no-fetch", frontier="127.0.0.1")
    file = other.folder / "dump.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for _ in range(2):
        other.run("frontier", "load", "--data", str(other.data), "dump.jsonl")
    assert sorted(map(json.dumps, dump(other))) == sorted(map(json.dumps, lines))
    other.check()
    loaded = clients(other.start())
    assert other.page("http://a.example/feed")["role"] == "feed"
    loaded.put(loaded.known("http://a.example/", 0, crawl="valued"), loaded.known("http://b.example/", 0))
    assert loaded.due("http://a.example/", crawl="valued") > 0 and loaded.due("http://b.example/") == 0, "each as it was"
    assert {info.url for info in loaded.get_soon(crawl="valued")} <= {"http://a.example/", "http://a.example/feed"}
    other.stop()
    # A crawl is one or the other.
    file.write_text(json.dumps({key: value for key, value in lines[0].items() if key != "schedule"}) + "\n")
    done = other.run("frontier", "load", "--data", str(other.data), "dump.jsonl", check=False)
    assert done.returncode == 2 and "server scheduled" in done.stderr, done


def test_a_line_that_is_none_is_named_and_nothing_is_loaded_silently(servers):
    server = servers("--no-fetch", frontier="127.0.0.1")
    good = json.dumps({"crawl": "c", "key": "a.example", "url": "http://a.example/", "created": 1, "due": 0, "metadata": {}})
    for bad in ("{", "[]", '{"crawl":"c"}', json.dumps({**json.loads(good), "due": -1}), json.dumps({**json.loads(good), "url": ""}), json.dumps({**json.loads(good), "key": ""}),
                json.dumps({**json.loads(good), "metadata": {"a": "not a list"}}), json.dumps({**json.loads(good), "more": 1})):
        (server.folder / "bad.jsonl").write_text(f"{good}\n{bad}\n")
        done = server.run("frontier", "load", "--data", str(server.data), "bad.jsonl", check=False)
        assert done.returncode == 2 and "bad.jsonl" in done.stderr and "2" in done.stderr, (bad, done)
    done = server.run("frontier", "load", "--data", str(server.data), "nowhere.jsonl", check=False)
    assert done.returncode != 0 and "nowhere.jsonl" in done.stderr


def test_load_does_not_meddle_with_a_frontier_that_runs(frontiers):
    frontier = frontiers()
    frontier.discover("http://a.example/")
    (frontier.server.folder / "x.jsonl").write_text(json.dumps({"crawl": "c", "key": "b.example", "url": "http://b.example/", "created": 1, "due": 0, "metadata": {}}) + "\n")
    done = frontier.server.run("frontier", "load", "--data", str(frontier.server.data), "x.jsonl", check=False)
    assert done.returncode != 0 and done.stderr.strip(), "one writes at a time"
    assert frontier.crawls() == ["DEFAULT"] and frontier.count() == 1


def test_a_dump_of_the_reference_can_be_put_in(frontiers):
    """Its client writes items as JSON, one a line, and sends them again to wherever it is told."""
    frontier = frontiers()
    lines = ['{"known":{"info":{"url":"http://a.example/1","key":"a.example","metadata":{"depth":{"values":["0"]}},"crawlID":"DEFAULT"},"refetchableFromDate":"4102444800"},'
             '"creationDate":"1700000000"}',
             '{"known":{"info":{"url":"http://a.example/2","key":"a.example","crawlID":"DEFAULT"}},"creationDate":"1700000001"}']
    frontier.put(*(json_format.Parse(line, frontier.pb.URLItem()) for line in lines))
    found = {line["url"]: line for line in dump(frontier.server)}
    assert found["http://a.example/1"] == {"crawl": "DEFAULT", "key": "a.example", "url": "http://a.example/1", "created": 1_700_000_000, "due": 4_102_444_800,
                                           "metadata": {"depth": ["0"]}}
    assert found["http://a.example/2"]["due"] == 0


def test_a_dump_that_nobody_reads_to_its_end_ends(frontiers):
    """`| head` is no error."""
    frontier, count = frontiers(), 3000
    frontier.batches(*((str(start), [frontier.info(f"http://h.example/{start + number}", metadata={"x": "y" * 500}) for number in range(100)]) for start in range(0, count, 100)))
    process = subprocess.Popen([binary(), "frontier", "dump", "--data", str(frontier.server.data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert json.loads(process.stdout.readline())["key"] == "h.example"
    process.stdout.close()
    wait_until("it ends", lambda: process.poll() is not None)
    assert b"panicked" not in process.stderr.read()
    process.stderr.close()
