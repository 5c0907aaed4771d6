"""What monitoring systems read."""

import math
import re

from support import wait_until

LINE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)( \S+)?$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')


def parsed(text):
    """Samples by name and labels; types by name. Whatever a scraper would stumble over is an error."""
    samples, types, lines = {}, {}, text.split("\n")
    assert lines[-1] == "" and lines[-2] == "# EOF", lines[-3:]
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} comes twice"
            types[name] = kind
            continue
        if line.startswith(("# HELP ", "# UNIT ")):
            continue
        found = LINE.match(line)
        assert found, line
        name, labels, value = found[1], tuple(sorted(LABEL.findall(found[2] or ""))), float(found[3])
        assert (name, labels) not in samples, line
        samples[name, labels] = value
        family = next((kind for kind in (name, *(name.removesuffix(end) for end in ("_total", "_bucket", "_sum", "_count"))) if kind in types), None)
        assert family, f"{name} has no type"
    for name, kind in types.items():
        if kind == "histogram":
            series = {}
            for (own, labels), value in samples.items():
                if own == f"{name}_bucket":
                    rest = tuple(label for label in labels if label[0] != "le")
                    series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
            for rest, buckets in series.items():
                counts = [count for _, count in sorted(buckets)]
                assert counts == sorted(counts) and sorted(buckets)[-1][0] == math.inf
                assert counts[-1] == samples[f"{name}_count", rest]
    return samples, types


def scrape(server):
    answer = server.get("/metrics")
    assert answer.status == 200 and answer.kind == "application/openmetrics-text", answer
    return parsed(answer.body.decode())[0]


def value(samples, name, **labels):
    return sum(number for (own, those), number in samples.items() if own == name and set(labels.items()) <= set(those))


def test_what_was_done_is_counted(server, site):
    site.html("/", "<p>one")
    server.add(site.url("/"), site.url("/gone"))
    server.fetched(site.url("/"))
    wait_until("it is gone", lambda: server.page(site.url("/gone"))["state"] == "gone")
    server.post("/v1/signals", {"signals": [{"url": site.url("/")}]}).ok()
    server.get("/v1/nothing/at/all")
    server.ask("BREW", "/v1/status")
    server.get("/v1/pages/999")
    samples = wait_until("it is told", lambda: value(found := scrape(server), "refrain_pages") >= 1 and value(found, "refrain_looks_total") >= 2 and found)
    assert value(samples, "refrain_looks_total", outcome="first") == 1
    assert value(samples, "refrain_http_requests_total", route="/v1/pages", method="POST", status="200") == 1
    assert value(samples, "refrain_http_requests_total", route="/v1/pages/{id}", status="404") == 1
    assert value(samples, "refrain_http_requests_total", route="other", status="404") >= 1
    assert value(samples, "refrain_requests_total") >= 3 and value(samples, "refrain_received_bytes_total") > 0
    assert value(samples, "refrain_signals_total", kind="api") == 1
    assert value(samples, "refrain_budget_requests_per_second") == 500
    assert value(samples, "refrain_hosts") == 1 and value(samples, "refrain_changes_total") == 0
    before = value(samples, "refrain_http_requests_total", route="/metrics")
    assert value(scrape(server), "refrain_http_requests_total", route="/metrics") > before
    # Nobody can make it remember what they make up.
    for number in range(50):
        server.get(f"/made/up/{number}")
        server.ask(f"MADE{number}", "/v1/status")
    names = {labels for _, labels in scrape(server)}
    assert not any("made" in text.lower() for labels in names for _, text in labels)


def test_leases_are_counted(scheduler):
    scheduler.add("http://a.example/", "http://b.example/")
    given = []
    while len(given) < 2:
        given += scheduler.post("/v1/fetches/next", {"knows_robots": True, "wait_seconds": 10, "lease_seconds": 1}).ok()["fetches"]
    scheduler.post("/v1/fetches/results", {"results": [{"lease": given[0]["lease"], "status": 200, "changed": True}]}).ok()
    samples = wait_until("one expires", lambda: value(found := scrape(scheduler), "refrain_leases_expired_total") == 1 and found)
    assert value(samples, "refrain_leases_given_total") == 2 and value(samples, "refrain_leases_answered_total") == 1
    assert value(samples, "refrain_leases_open") == 0


def test_this_machine_needs_no_token_and_others_do(scheduler):
    scheduler.run("token", "create", "--scope", "read", "--data", str(scheduler.data))
    wait_until("doors need a token", lambda: scheduler.get("/v1/status").status == 401)
    assert scheduler.get("/metrics").status == 200
    scheduler.get("/metrics", headers={"X-Forwarded-For": "192.0.2.1"}).problem(401)
