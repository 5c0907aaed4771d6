"""Who may come in to the frontier: tokens and TLS, as at the other doors."""

import json

import grpc
import pytest
from frontier_client import refused
from support import PATIENCE, trusting, wait_until
from test_tokens import certify, create
from test_urlfrontier_proto import CALLS

READS = {"ListNodes", "ListCrawls", "ListQueues", "GetStats", "GetActive", "GetURLStatus", "ListURLs", "CountURLs"}
NOBODY, FORBIDDEN = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED


def code(client, name, metadata=None):
    """How a call of next to nothing ends."""
    request = getattr(client.pb, CALLS[name][0].removeprefix("*"))()
    if name == "SetActive":
        request.state = True
    asked = iter([request]) if CALLS[name][0].startswith("*") else request
    try:
        answer = getattr(client.stub, name)(asked, metadata=client.metadata if metadata is None else metadata, timeout=PATIENCE)
        if CALLS[name][1].startswith("*"):
            list(answer)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def test_every_call_needs_its_scope(frontiers, clients):
    frontier = frontiers()
    server = frontier.server
    assert code(frontier, "GetStats") == grpc.StatusCode.OK, "on loopback everybody may come in until there is a token"
    tokens = {scope: create(server, "--scope", scope) for scope in ("read", "write", "signal", "read,write")}
    with_token = {scope: clients(server, token=token) for scope, token in tokens.items()}
    wait_until("doors need a token", lambda: code(frontier, "GetStats") == NOBODY)
    wait_until("the last one is known", lambda: code(with_token["read,write"], "GetStats") == grpc.StatusCode.OK)
    for name in CALLS:
        needed = "read" if name in READS else "write"
        assert code(frontier, name) == NOBODY, name
        for wrong in ("rfr_wrong", tokens["read,write"][:-1], tokens["read,write"] + "x", ""):
            assert code(frontier, name, [("authorization", f"Bearer {wrong}")]) == NOBODY, name
        assert code(frontier, name, [("authorization", "Basic YTpi")]) == NOBODY, name
        assert code(frontier, name, [("authorization", tokens["read,write"])]) == NOBODY, name
        for scope, client in with_token.items():
            found = code(client, name)
            if needed in scope.split(","):
                assert found not in (NOBODY, FORBIDDEN), (name, scope)
            else:
                assert found == FORBIDDEN, (name, scope, found)
    # Nothing that opens a door is written down.
    assert not any(token in server.said() for token in tokens.values())


def test_what_a_proxy_passes_on_needs_a_token(frontiers, clients):
    frontier = frontiers()
    passed_on = [("x-forwarded-for", "192.0.2.1")]
    assert code(frontier, "GetStats", passed_on) == FORBIDDEN
    assert code(frontier, "GetStats") == grpc.StatusCode.OK
    address = f"127.0.0.1:{frontier.server.frontier_port}"
    for authority, expected in [("localhost:7070", grpc.StatusCode.OK), ("evil.example", FORBIDDEN)]:
        with grpc.insecure_channel(address, options=[("grpc.default_authority", authority)]) as channel:
            call = channel.unary_unary("/urlfrontier.URLFrontier/GetActive")
            try:
                call(b"", timeout=PATIENCE)
                found = grpc.StatusCode.OK
            except grpc.RpcError as error:
                found = error.code()
            assert found == expected, authority
    token = create(frontier.server, "--scope", "read")
    wait_until("doors need a token", lambda: code(frontier, "GetStats") == NOBODY)
    assert code(frontier, "GetStats", [*passed_on, ("authorization", f"Bearer {token}")]) == grpc.StatusCode.OK


def test_nothing_is_done_for_those_who_may_not(frontiers, clients):
    frontier = frontiers()
    frontier.discover("http://a.example/")
    reader = clients(frontier.server, token=create(frontier.server, "--scope", "read"))
    writer = clients(frontier.server, token=create(frontier.server, "--scope", "write"))
    wait_until("doors need a token", lambda: code(frontier, "GetStats") == NOBODY and code(reader, "GetStats") == grpc.StatusCode.OK)
    wait_until("the other is known", lambda: code(writer, "SetActive") == grpc.StatusCode.OK)
    for client, expected in ((frontier, NOBODY), (reader, FORBIDDEN)):
        with refused(expected):
            client.put(client.discovered("http://b.example/"))
        with refused(expected):
            client.get()
        with refused(expected):
            client.delete_crawl("DEFAULT")
        with refused(expected):
            client.activate(False)
    with refused(FORBIDDEN):
        writer.list()
    assert reader.count() == 1 and reader.is_active() and reader.stats().inProcess == 0
    assert len(writer.get()) == 1


def test_a_token_that_is_revoked_opens_nothing_any_more(frontiers, clients):
    frontier = frontiers()
    token = create(frontier.server, "--scope", "read,write")
    other = clients(frontier.server, token=create(frontier.server, "--scope", "read"))
    client = clients(frontier.server, token=token)
    wait_until("it is known", lambda: code(client, "GetStats") == grpc.StatusCode.OK and code(other, "GetStats") == grpc.StatusCode.OK)
    listed = frontier.server.run("token", "list", "--json", "--data", str(frontier.server.data)).stdout
    first = json.loads(listed.splitlines()[0])["id"]
    frontier.server.run("token", "revoke", first, "--data", str(frontier.server.data))
    wait_until("it is over", lambda: code(client, "GetStats") == NOBODY)
    assert code(other, "GetStats") == grpc.StatusCode.OK


def test_others_may_not_come_in_without_a_token(servers):
    server = servers("--no-fetch")
    for address in ("0.0.0.0:0", "[::]:0"):
        done = server.run("serve", "--no-fetch", "--listen", "127.0.0.1:0", "--urlfrontier", address, check=False)
        assert done.returncode != 0 and "token" in done.stderr and "--urlfrontier" in done.stderr, done
        assert "urlfrontier on" not in done.stdout


def test_with_a_public_address_a_token_is_needed(frontiers, clients):
    frontier = frontiers("--public-url", "https://refrain.example/")
    assert code(frontier, "GetStats") == NOBODY
    client = clients(frontier.server, token=create(frontier.server, "--scope", "read"))
    wait_until("it is known", lambda: code(client, "GetStats") == grpc.StatusCode.OK)


@pytest.fixture
def secure(servers):
    server = servers("--no-fetch", "--tls-cert", "cert.pem", "--tls-key", "key.pem", frontier="127.0.0.1")
    certify(server.folder)
    server.context = trusting(server.folder / "cert.pem")
    return server.start()


def test_the_certificate_of_https_is_that_of_the_frontier(secure, clients):
    frontier = clients(secure, credentials=grpc.ssl_channel_credentials((secure.folder / "cert.pem").read_bytes()))
    frontier.discover("http://a.example/1", "http://a.example/2")
    assert len(frontier.get()) == 2
    token = create(secure, "--scope", "read")
    wait_until("doors need a token", lambda: code(frontier, "GetStats") == NOBODY)
    known = clients(secure, token=token, credentials=grpc.ssl_channel_credentials((secure.folder / "cert.pem").read_bytes()))
    wait_until("it is known", lambda: code(known, "GetStats") == grpc.StatusCode.OK)


def test_nobody_comes_in_without_tls_where_there_is_a_certificate(secure, clients, tmp_path):
    plain = clients(secure)
    assert code(plain, "GetStats") == grpc.StatusCode.UNAVAILABLE
    certify(tmp_path, "somebody else")
    stranger = clients(secure, credentials=grpc.ssl_channel_credentials((tmp_path / "cert.pem").read_bytes()))
    assert code(stranger, "GetStats") == grpc.StatusCode.UNAVAILABLE, "this certificate is not its own"
    trusted = clients(secure, credentials=grpc.ssl_channel_credentials((secure.folder / "cert.pem").read_bytes()))
    assert code(trusted, "GetStats") == grpc.StatusCode.OK
