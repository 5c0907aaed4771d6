"""Those who come from elsewhere: limits per address, from addresses that are not loopback, in networks that the tests make."""

import contextlib
import http.client
import subprocess
import time

import pytest
from networks import Distant, networks
from support import PATIENCE, binary, wait_until

ONE, TWO, THREE = (f"192.0.2.{number}" for number in (2, 3, 4))


@pytest.fixture(scope="module")
def cable():
    with networks() as made:
        yield made


@pytest.fixture
def distant(cable, tmp_path):
    made = []

    def make(**settings):
        server = Distant(cable, tmp_path / f"server-{len(made)}", "--no-fetch", **settings)
        created = server.run("token", "create", "--scope", "read,write", "--data", str(server.data))
        server.secret = created.stdout.split()[-1]
        assert server.secret.startswith("rfr_"), created
        made.append(server)
        return server.start()

    yield make
    for server in made:
        server.kill()


def many(server, count, source=None, path="/health", headers=None):
    """The statuses of requests on one connection, as fast as they go, and the last answer's headers."""
    statuses = []
    with contextlib.closing(server.connect(source=source)) as connection:
        for _ in range(count):
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            statuses.append(answer.status)
            answer.read()
    return statuses, answer.headers


def test_nobody_listens_to_others_without_a_token(cable, tmp_path):
    command = ["ip", "netns", "exec", cable.home, binary(), "serve", "--no-fetch", "--rate", "1/s", "--listen", "192.0.2.1:0", "--data", str(tmp_path / "data")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "there is no token" in done.stderr, done


def test_who_asks_too_often_waits(distant):
    server = distant(serve='requests = "5/s"')
    statuses, headers = many(server, 30, ONE)
    # Two seconds of the rate at once, and what came meanwhile.
    assert 10 <= statuses.count(200) <= 14 and set(statuses) == {200, 429}, statuses
    assert statuses[:10] == [200] * 10 and statuses[-1] == 429, statuses
    wait = int(headers["retry-after"])
    assert wait == 1 and headers["content-type"] == "application/problem+json"
    assert many(server, 5, TWO)[0] == [200] * 5, "another address is not to blame"
    assert many(server, 100)[0] == [200] * 100, "this machine itself may ask a hundred times as much"
    time.sleep(wait)
    assert server.status("/health", ONE)[0] == 200, "after the pause that was asked for"
    # A token is no leave to ask more often.
    statuses, _ = many(server, 30, ONE, "/v1/status", {"Authorization": f"Bearer {server.secret}"})
    assert 429 in statuses, statuses


def test_a_network_of_ipv6_counts_as_one(distant):
    server = distant(serve='requests = "5/s"')
    assert 429 in many(server, 30, "2001:db8::2")[0]
    assert server.status("/health", "2001:db8::3")[0] == 429, "the same network"
    assert server.status("/health", "2001:db8:0:1::2")[0] == 200, "another one"


def is_served(connection):
    """Whether a connection is one: it is answered."""
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        return answer.status == 200
    except (http.client.HTTPException, OSError):
        return False


def test_connections_are_limited_by_address_and_in_all(distant):
    server = distant(serve="connections = 8\nconnections_per_address = 3")
    with contextlib.ExitStack() as stack:
        def connect(source=None):
            return stack.enter_context(contextlib.closing(server.connect(source=source)))

        first = [connect(ONE) for _ in range(3)]
        assert all(is_served(one) for one in first)
        assert not is_served(connect(ONE)), "the fourth of an address"
        second = [connect(TWO) for _ in range(3)]
        assert all(is_served(one) for one in second), "another address"
        first[0].close()
        wait_until("its place is free", lambda: is_served(connect(ONE)))
        # There are 6 of 8. This machine itself may have more than three, but not more than there are.
        near = [connect() for _ in range(2)]
        assert all(is_served(one) for one in near)
        late = stack.enter_context(server.socket(THREE))
        late.sendall(b"GET /health HTTP/1.1\r\nHost: refrain.test\r\n\r\n")
        late.settimeout(1)
        with pytest.raises(TimeoutError):
            late.recv(9)
        near[0].close()
        late.settimeout(PATIENCE)
        assert late.recv(12) == b"HTTP/1.1 200", "when there is a place again"
    near = []
    with contextlib.ExitStack() as stack:
        for _ in range(6):
            near.append(stack.enter_context(contextlib.closing(server.connect())))
        assert all(is_served(one) for one in near), "this machine itself has no limit but that of all"


def test_wrong_tokens_slow_down_whoever_tries_them(distant):
    server = distant(serve='requests = "50/s"')
    wrong = {"Authorization": "Bearer rfr_" + "x" * 43}
    statuses, headers = many(server, 40, ONE, "/v1/status", wrong)
    assert statuses[0] == 401 and set(statuses) == {401, 429} and statuses.count(401) <= 10, statuses
    assert int(headers["retry-after"]) >= 1
    right = {"Authorization": f"Bearer {server.secret}"}
    assert many(server, 40, TWO, "/v1/status", right)[0] == [200] * 40, "others are not held up"
    # Whoever mistyped is let in after the pause, and not locked out for longer.
    time.sleep(int(headers["retry-after"]))
    assert server.status("/v1/status", ONE, right)[0] == 200
    # Who has none at all is told so, and pays what everybody pays.
    assert many(server, 40, THREE, "/v1/status")[0] == [401] * 40


def test_metrics_are_not_for_strangers(distant):
    server = distant()
    assert server.status("/metrics")[0] == 200, "this machine itself"
    status, headers = server.status("/metrics", ONE)
    assert status == 401 and headers["www-authenticate"].startswith("Bearer")
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert server.status("/metrics", ONE, {"Host": f"{name}:{server.port}"})[0] == 401, "whatever they call us"
    assert server.status("/metrics", "2001:db8::2")[0] == 401
    assert server.status("/metrics", ONE, {"Authorization": f"Bearer {server.secret}"})[0] == 200
    for door in ("/v1/status", "/v1/pages"):
        assert server.status(door, ONE)[0] == 401 and server.status(door)[0] == 401
    for door in ("/health", "/ready", "/openapi.json"):
        assert server.status(door, ONE)[0] == 200
