import itertools
import os
import pathlib
import subprocess

import pytest
from frontier_client import Client, stubs
from support import Hub, Server, Site, binary


def pytest_configure(config):
    if not pathlib.Path(binary()).exists():
        raise pytest.UsageError(f"{binary()} is missing; expected `cargo build -p refrain` first, or REFRAIN=path")
    # Settings of whoever runs the tests are not ours.
    for name in ("REFRAIN_TOKEN", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        os.environ.pop(name, None)


def reads_report(item):
    return "report" in item.fixturenames


def pytest_collection_modifyitems(items):
    # What has to wait for a long measurement comes last.
    items.sort(key=reads_report)


@pytest.fixture(scope="session", autouse=True)
def whole_report(request, tmp_path_factory):
    """All experiments of the lab at quick scale: they take minutes, and are measured beside the other tests with what these leave of the processors."""
    if not any(map(reads_report, request.session.items)):
        yield None
        return
    folder = tmp_path_factory.mktemp("report")
    with open(folder / "log", "w+") as log:
        process = subprocess.Popen(
            ["nice", "-n", "15", binary(), "lab", "run", "all", "--out", str(folder)], stdout=log, stderr=subprocess.STDOUT
        )

        def finished():
            code = process.wait(timeout=1800)
            log.seek(0)
            assert code == 0, log.read()
            return folder / "report.html"

        yield finished
        process.kill()


@pytest.fixture
def servers(tmp_path):
    """Makes servers, which do not outlive the test."""
    made, numbers = [], itertools.count()

    def make(*args, **settings):
        server = Server(tmp_path / f"server-{next(numbers)}", *args, **settings)
        made.append(server)
        return server

    yield make
    for server in made:
        server.kill()


@pytest.fixture
def server(servers):
    """A server that crawls."""
    return servers().start()


@pytest.fixture
def scheduler(servers):
    """A server that only schedules."""
    return servers("--no-fetch").start()


@pytest.fixture
def sites():
    """Makes sites."""
    made = []

    def make(*args, **more):
        made.append(Site(*args, **more))
        return made[-1]

    yield make
    for site in made:
        site.close()


@pytest.fixture
def site(sites):
    return sites()


@pytest.fixture
def hubs():
    made = []

    def make(*args, **more):
        made.append(Hub(*args, **more))
        return made[-1]

    yield make
    for hub in made:
        hub.close()


@pytest.fixture(scope="session")
def urlfrontier(tmp_path_factory):
    """The messages and the service, as clients in Python have them."""
    return stubs(tmp_path_factory.mktemp("urlfrontier"))


@pytest.fixture
def clients(urlfrontier):
    """Makes clients of a frontier, of their own connections."""
    made = []

    def make(server, **more):
        made.append(Client(urlfrontier, f"127.0.0.1:{server.frontier_port}", **more))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def frontiers(servers, clients):
    """Makes servers that are a frontier, each with a client; the server is the client's `server`."""

    def make(*args, **settings):
        server = servers("--no-fetch", *args, **{"frontier": "127.0.0.1", **settings}).start()
        client = clients(server)
        client.server = server
        return client

    return make


@pytest.fixture(scope="module")
def shared_frontier(tmp_path_factory):
    """One for all tests of a file that only look at crawls of their own."""
    server = Server(tmp_path_factory.mktemp("frontier"), "--no-fetch", frontier="127.0.0.1").start()
    yield server
    server.kill()


CRAWLS = itertools.count()


@pytest.fixture
def frontier(shared_frontier, clients):
    """A client with a crawl of its own, at the server of the file."""
    client = clients(shared_frontier, crawl=f"crawl-{next(CRAWLS)}")
    client.server = shared_frontier
    yield client
    assert shared_frontier.lives(), shared_frontier.said()
    assert "panicked" not in shared_frontier.said(), shared_frontier.said()
