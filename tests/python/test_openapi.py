"""The description of the API, held against what the server does, by a property tester."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

SECONDS = 300  # of a machine that is busy with something else


@pytest.fixture
def inhabited(servers, site):
    """A server with something behind every door."""
    server = servers(serve='requests = "100000/s"').start()
    site.html("/", "<p>one</p>")
    site.html("/2", "<p>two</p>")
    server.add(site.url("/"), site.url("/2"), site.url("/gone"))
    page = server.fetched(site.url("/"))["id"]
    server.fetched(site.url("/2"))
    site.html("/", "<p>another</p>")
    server.post(f"/v1/pages/{page}/fetch")
    server.get("/v1/changes?after=2&wait_seconds=10").ok()
    return server


def test_the_description_is_true(inhabited, tmp_path):
    here = pathlib.Path(__file__).parent
    st = pathlib.Path(sys.executable).with_name("st")
    assert st.exists(), "schemathesis is missing; scripts/test installs it"
    command = [str(st), "--config-file", str(here / "schemathesis.toml"), "run", f"{inhabited.url}/openapi.json",
               "--checks", "all", "--phases", "examples,coverage,fuzzing", "--max-examples", "12", "--seed", "20261117", "--generation-database", "none",
               "--request-timeout", "60", "--workers", "1", "--continue-on-failure", "--no-color", "--suppress-health-check", "all",
               # A stream has no end, so nobody can hold its body against a description.
               "--exclude-path", "/v1/changes/stream"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=2 * SECONDS, env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(here)})
    assert inhabited.lives() and "panicked" not in inhabited.said(), inhabited.said() + done.stdout[-3000:]
    assert done.returncode == 0, done.stdout[-15_000:] + done.stderr[-2000:]


def test_every_door_is_described(scheduler):
    description = scheduler.get("/openapi.json").ok()
    assert description["openapi"].startswith("3.1")
    for path, item in description["paths"].items():
        for method, operation in item.items():
            assert operation["summary"], (method, path)
            assert "application/problem+json" in operation["responses"]["400"]["content"], (method, path)
            if path.startswith("/v1"):
                assert operation["security"], (method, path)
    text = json.dumps(description)
    for name in description["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, f"{name} is described, and used nowhere"
