"""What operators are given: the unit for systemd, and the dashboard, whose every expression Prometheus must understand."""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.parse

import pytest
from support import PATIENCE, ROOT, binary, fetch, wait_until
from test_metrics import scrape

DASHBOARD = json.loads((ROOT / "contrib" / "grafana" / "refrain.json").read_text())


def expressions():
    """All that the dashboard asks for, with what Grafana puts in the place of its variables."""
    variables = [one["query"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query"]
    texts = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
    for one in variables:
        query = one["query"] if isinstance(one, dict) else one
        found = re.fullmatch(r"label_values\((.+), *\w+\)", query)
        assert found, query
        texts.append(found[1])
    return [text.replace("$instance", ".*").replace("$__rate_interval", "30s").replace("$__interval", "5s").replace("$__range", "1m") for text in texts]


def names(text):
    return set(re.findall(r"\brefrain_\w+", text))


@pytest.fixture
def crawled(server, site):
    """A crawl that is going on, with all kinds of things to count."""
    for number in range(5):
        site.pages[f"/{number}"] = lambda _, number=number: (200, {"Content-Type": "text/html"}, f"<p>{number} at {time.monotonic()}")
    server.add(*(site.url(f"/{number}") for number in range(6)))
    server.fetched(site.url("/0"))
    server.post("/v1/signals", {"signals": [{"url": site.url("/0")}]}).ok()
    fetch("GET", f"{server.url}/ping?sitemap={site.url('/nothing.xml')}")
    fetch("POST", f"{server.url}/push/webhook", b"x", {"Authorization": "Bearer nobody"})
    return server


def test_the_dashboard_asks_for_what_there_is(crawled):
    texts = expressions()
    assert len(texts) > 30 and not [text for text in texts if "$" in text], texts
    asked = set().union(*(names(text) for text in texts))
    there = {name for name, _ in scrape(crawled)}
    assert asked - there == set(), "the dashboard asks for what there is not"


def test_prometheus_understands_the_dashboard(crawled, tmp_path):
    if not shutil.which("prometheus"):
        pytest.skip("prometheus is not installed (Debian: prometheus)")
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [{"job_name": "refrain", "static_configs": [{"targets": [f"127.0.0.1:{crawled.port}"]}]}]}
    (tmp_path / "prometheus.yml").write_text(json.dumps(config))  # YAML is more than JSON
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["prometheus", f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"]
    with open(tmp_path / "log.txt", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)

    def ask(text):
        answer = fetch("GET", f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': text})}")
        return answer.json if answer.kind == "application/json" else None

    try:
        # Rates need some of each.
        count = "count_over_time(refrain_requests_total[1m])"
        wait_until("there are some samples", lambda: (found := ask(count)) and found["status"] == "success" and
                   any(float(one["value"][1]) >= 4 for one in found["data"]["result"]))
        silent = []
        for text in expressions():
            found = ask(text)
            assert found and found["status"] == "success", (text, found)
            if not found["data"]["result"]:
                silent.append(text)
        # What nobody did has no rate yet; but there are series of everything that was done.
        assert all(re.search("histogram_quantile|pushes|signals", text) for text in silent), silent
        alerts = ask("up")
        assert [one["value"][1] for one in alerts["data"]["result"]] == ["1"]
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_systemd_understands_the_unit(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed (Debian: systemd)")
    text = (ROOT / "contrib" / "refrain.service").read_text()
    unit = tmp_path / "refrain.service"
    unit.write_text(text.replace("/usr/local/bin/refrain", binary()))
    assert binary() in unit.read_text()
    checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    complaints = [line for line in checked.stderr.splitlines() if "refrain.service" in line]
    assert checked.returncode == 0 and not complaints, checked
    secure = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)], capture_output=True, text=True)
    assert secure.returncode == 0, secure.stdout[-300:]
