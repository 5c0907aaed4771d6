import itertools
import os
import pathlib

import pytest
from support import Hub, Server, Site, binary


def pytest_configure(config):
    if not pathlib.Path(binary()).exists():
        raise pytest.UsageError(f"{binary()} is missing; expected `cargo build -p refrain` first, or REFRAIN=path")
    # Settings of whoever runs the tests are not ours.
    for name in ("REFRAIN_TOKEN", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
        os.environ.pop(name, None)


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
