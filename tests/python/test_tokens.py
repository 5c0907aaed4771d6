"""Who may come in."""

import json
import signal
import ssl
import subprocess

import pytest
from support import PATIENCE, trusting, wait_until


def create(server, *args):
    return server.run("token", "create", "--data", str(server.data), *args).stdout.split()[-1]


def ask(server, token, method, path, body=None):
    return server.ask(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})


def test_tokens_open_doors_and_close_them(scheduler):
    assert scheduler.get("/v1/status").status == 200
    read = create(scheduler, "--scope", "read")
    wait_until("doors need a token", lambda: scheduler.get("/v1/status").status == 401)
    problem = scheduler.get("/v1/status")
    problem.problem(401)
    assert problem.headers["WWW-Authenticate"].startswith("Bearer")
    write = create(scheduler, "--scope", "write")
    wait_until("the token is known", lambda: ask(scheduler, write, "POST", "/v1/pages", ["http://a.example/1"]).status == 200)
    signal = create(scheduler, "--scope", "signal", "--source", "shop", "--host", "http://a.example")
    both = create(scheduler, "--scope", "read,write,signal")
    given = ask(scheduler, write, "POST", "/v1/fetches/next", {"knows_robots": True, "wait_seconds": 10}).ok()
    seen = {"lease": given["fetches"][0]["lease"], "status": 200, "changed": True}
    assert ask(scheduler, write, "POST", "/v1/fetches/results", {"results": [seen]}).ok()["results"][0]["result"] == "taken"
    said = {"signals": [{"url": "http://a.example/1"}, {"url": "http://b.example/1"}]}
    wait_until("both are known", lambda: ask(scheduler, both, "GET", "/v1/status").status == 200)
    doors = [("GET", "/v1/status", None, "read"), ("GET", "/v1/changes", None, "read"), ("POST", "/v1/pages", [], "write"),
             ("POST", "/v1/fetches/next", {}, "write"), ("PUT", "/v1/budget", {"rate_per_second": 1}, "write"), ("POST", "/v1/signals", said, "signal")]
    for method, path, body, scope in doors:
        for token, scopes in [(read, "read"), (write, "write"), (signal, "signal"), (both, "read,write,signal")]:
            answer = ask(scheduler, token, method, path, body)
            if scope in scopes.split(","):
                assert answer.status == 200, (path, scopes, answer)
            else:
                answer.problem(403, "forbidden")
        for token in [None, "rfr_wrong", read[:-1], read + "x", read.upper()]:
            ask(scheduler, token, method, path, body).problem(401)
        scheduler.ask(method, path, body, {"Authorization": "Basic YTpi"}).problem(401)
    # To count what is read changes how much it matters: that is no matter of reading alone.
    for token, status in [(read, 403), (write, 403), (signal, 403), (both, 404), (None, 401)]:
        ask(scheduler, token, "GET", "/v1/read?url=http://a.example/1").problem(status)
    ask(scheduler, read, "GET", "/v1/pages/1/copy").problem(404, "no-such-version")
    results = ask(scheduler, signal, "POST", "/v1/signals", said).ok()["results"]
    assert [one["result"] for one in results][1] == "refused"
    history = ask(scheduler, read, "GET", "/v1/pages/1/history").ok()
    assert {signal["kind"] for signal in history["signals"]} <= {"shop", "api"} and history["signals"]
    for path in ("/health", "/ready", "/openapi.json"):
        assert scheduler.get(path).status == 200
    # Nothing that opens a door is written down.
    listed = scheduler.run("token", "list", "--json", "--data", str(scheduler.data)).stdout
    kept = (scheduler.data / "tokens.json").read_text()
    assert not any(token in text for token in (read, write, signal, both) for text in (listed, kept, scheduler.said()))
    ids = [json.loads(line)["id"] for line in listed.splitlines()]
    assert len(ids) == 4
    scheduler.run("token", "revoke", ids[0], "--data", str(scheduler.data))
    wait_until("it is over", lambda: ask(scheduler, read, "GET", "/v1/status").status == 401)
    assert ask(scheduler, both, "GET", "/v1/status").status == 200
    # The last one that is revoked does not open the doors to everybody in the middle of it all without a restart being needed.
    scheduler.kill()
    scheduler.start()
    assert scheduler.get("/v1/status").status == 401 and ask(scheduler, both, "GET", "/v1/status").status == 200


def test_others_may_not_come_in_without_a_token(servers):
    server = servers("--no-fetch")
    done = server.run("serve", "--no-fetch", "--listen", "0.0.0.0:0", check=False)
    assert done.returncode != 0 and "token" in done.stderr and "Listening" not in done.stdout, done
    done = server.run("serve", "--no-fetch", "--listen", "[::]:0", check=False)
    assert done.returncode != 0 and "token" in done.stderr, done


def test_with_a_public_address_the_api_needs_a_token(servers):
    server = servers("--no-fetch", "--public-url", "https://refrain.example/").start()
    server.get("/v1/status").problem(401)
    server.token = create(server, "--scope", "read")
    wait_until("the token is known", lambda: server.get("/v1/status").status == 200)


@pytest.mark.parametrize("lines", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                                   {"Sec-Fetch-Site": "same-site"}, {"Host": ""}])
def test_browsers_are_not_lured(scheduler, lines):
    for method, path, body in [("GET", "/v1/status", None), ("POST", "/v1/pages", ["http://a.example/"]), ("GET", "/metrics", None)]:
        assert scheduler.ask(method, path, body, lines).status in (400, 401, 403)
    assert scheduler.get("/v1/pages").ok()["pages"] == []


PASSED_ON = ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: crawler.example.org", "Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.1",
             "CF-Connecting-IP: 192.0.2.1"]


def heard(server, target, *lines, version="1.1"):
    """The status, and the answer, of a request made of these lines."""
    said = "\r\n".join([f"GET {target} HTTP/{version}", *lines, "Connection: close", "", ""])
    answer = server.raw(said.encode())
    return int(answer.split(b" ")[1]), answer.decode()


@pytest.mark.parametrize("lines", [["Host: [::1].evil"], ["Host: localhost:7070@evil"], ["Host: me@localhost"], ["Host: localhost", "Host: localhost"],
                                   ["Host: localhost", "Host: evil.example"], ["Host: localhost:x"], ["Host: localhost/"], ["Host: localhost, evil.example"]])
def test_a_request_names_one_host(scheduler, lines):
    for target in ("/v1/status", "/metrics", "/", "/openapi.json"):
        assert heard(scheduler, target, *lines)[0] == 400
    for target in ("http://evil.example/v1/status", "http://localhost:7070@evil.example/v1/status", "http://me@localhost/v1/status"):
        assert heard(scheduler, target, "Host: localhost")[0] == 400
    for target, own in [("/v1/status", "localhost"), ("http://localhost/v1/status", "localhost"), ("/v1/status", "[::1]:7070")]:
        assert heard(scheduler, target, f"Host: {own}")[0] == 200
    assert heard(scheduler, "/v1/status", "Host: evil.example")[0] == 403


def test_what_a_proxy_passes_on_needs_a_token(scheduler):
    scheduler.add("http://a.example/")
    here = f"Host: 127.0.0.1:{scheduler.port}"
    for target in ("/v1/status", "/metrics", "/", "/pages"):
        assert heard(scheduler, target, here)[0] == 200
        for line in PASSED_ON:
            status, answer = heard(scheduler, target, here, line, "Accept: text/html", "Sec-Fetch-Dest: document", "Sec-Fetch-Site: none")
            assert status == 403 and "proxy" in answer and "refrain token create" in answer, answer
        # As nginx passes on what strangers ask, if nothing is configured but where to.
        assert heard(scheduler, target, here, version="1.0")[0] == 403
    for target in ("/health", "/ready", "/openapi.json"):
        assert heard(scheduler, target, here, *PASSED_ON)[0] == 200 and heard(scheduler, target, here, version="1.0")[0] == 200
    token = create(scheduler, "--scope", "read")
    wait_until("doors need a token", lambda: heard(scheduler, "/v1/status", here)[0] == 401)
    bearer = f"Authorization: Bearer {token}"
    for version in ("1.0", "1.1"):
        assert heard(scheduler, "/v1/status", here, *PASSED_ON, bearer, version=version)[0] == 200
        assert heard(scheduler, "/metrics", here, *PASSED_ON, version=version)[0] == 401
    assert heard(scheduler, "/metrics", here)[0] == 200, "a monitor on this machine"
    assert heard(scheduler, "/metrics", here, version="1.0")[0] == 401


def certify(folder, name="refrain"):
    """A certificate of our own, and its key."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "key.pem", "-out",
                    "cert.pem", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1"],
                   cwd=folder, check=True, capture_output=True)
    return (folder / "cert.pem").read_text()


def shown(server):
    """The certificate that it shows."""
    return ssl.get_server_certificate(("127.0.0.1", server.port), timeout=PATIENCE)


def test_a_new_certificate_is_shown_and_a_broken_one_is_not(servers):
    server = servers("--no-fetch", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
    first = certify(server.folder)
    server.context = trusting(server.folder / "cert.pem")
    server.start()
    assert shown(server) == first
    kept = server.connect()
    kept.request("GET", "/health")
    assert kept.getresponse().read()
    second = certify(server.folder, "renewed")
    assert second != first
    server.process.send_signal(signal.SIGHUP)
    wait_until("it is shown", lambda: shown(server) == second)
    kept.request("GET", "/health")
    assert kept.getresponse().status == 200, "connections go on"
    kept.close()
    server.context = trusting(server.folder / "cert.pem")
    assert server.get("/health").status == 200
    for broken in ("", "nothing", first):
        (server.folder / "cert.pem").write_text(broken)
        before = server.said().count("the certificate from before is shown")
        server.process.send_signal(signal.SIGHUP)
        wait_until("it is said", lambda: server.said().count("the certificate from before is shown") > before)
        assert shown(server) == second
    third = certify(server.folder, "again")
    server.process.send_signal(signal.SIGHUP)
    wait_until("it is shown", lambda: shown(server) == third)
    server.stop()


def test_https(servers):
    server = servers("--no-fetch", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
    done = server.run("serve", "--no-fetch", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", check=False)
    assert done.returncode != 0 and "cert.pem" in done.stderr, "there is no certificate yet"
    certify(server.folder)
    server.context = trusting(server.folder / "cert.pem")
    server.start()
    assert server.scheme == "https" and server.get("/v1/status").status == 200
    assert server.add("http://a.example/")["added"] == 1
    # Who does not speak TLS gets nothing, and takes nothing away.
    server.raw(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    server.raw(b"\x16\x03\x01\xff\xff" + b"\0" * 1000)
    assert server.get("/health").status == 200
    server.stop()
