"""The dashboard as pages over HTTP: who comes in, what they are told, and that nothing of strangers runs. What it looks like is in test_browser.py."""

import re
import signal
import subprocess
import urllib.parse

import pytest
from browser import Canary
from hostile_site import furnish
from support import PATIENCE, binary, wait_until
from test_tokens import create

PAGES = ["/", "/pages", "/hosts", "/signals", "/hubs", "/plan"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def own(server, **more):
    """What a browser says that sends a form from here."""
    return {**FORM, "Origin": server.url, "Sec-Fetch-Site": "same-origin", **more}


def send(server, path, headers=None, **fields):
    return server.ask("POST", path, urllib.parse.urlencode(fields), own(server) if headers is None else headers)


def sign_in(server, token, **more):
    """The cookie of who signs in."""
    answer = send(server, "/sign-in", own(server), token=token, **more)
    assert answer.status == 303, answer
    line = answer.headers["Set-Cookie"]
    return line.split(";")[0], line, answer.headers["Location"]


@pytest.fixture
def canary():
    canary = Canary()
    yield canary
    canary.close()


def test_every_page_is_protected_and_complete(server, site, canary):
    urls = furnish(site, canary)
    server.add(*urls)
    server.fetched(site.url("/hostile"))
    server.fetched(urls[-1])
    number = server.number(site.url("/hostile"))
    wait_until("it has changed", lambda: len(server.get(f"/v1/pages/{number}/versions").ok()["versions"]) > 1)
    version = server.get(f"/v1/pages/{number}/versions").ok()["versions"][0]["version"]
    host = "/hosts/" + urllib.parse.quote(site.host, safe="")
    paths = PAGES + [f"/pages/{number}", f"/pages/{number}/changes", f"/pages/{number}/changes?raw=yes", f"/pages/{number}/copy/{version}",
                     f"/pages/{number}/copy/{version}?as=page", host, f"/pages/{server.number(urls[-1])}", "/?span=30d", "/pages?sort=value&turned=yes", "/nothing"]
    for path in paths:
        answer = server.get(path, headers={"Accept": "text/html"})
        assert answer.status == (404 if path == "/nothing" else 200) and answer.kind == "text/html", (path, answer)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy and "form-action 'self'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff" and answer.headers["Referrer-Policy"] == "same-origin"
        assert len(answer.body) < 100_000, (path, len(answer.body))
        page = answer.body.decode()
        # Nothing of strangers is markup; nothing is inline; nothing comes from elsewhere.
        assert "<script>" not in page and "onerror=\"" not in page.replace("onerror=&quot;", "") and " style=" not in page and "<style" not in page, path
        assert not re.search(r"<[^>]*\son\w+=", page), path
        for link in re.findall(r"(?:src|href|action)=\"([^\"]*)\"", page):
            assert link.startswith(("/", "#", "http://127.0.0.1")), (path, link)
        assert not re.search(r"(?:src|action)=\"http", page), path
    body = server.get(f"/pages/{number}/copy/{version}/body")
    policy = body.headers["Content-Security-Policy"]
    assert policy.startswith("sandbox; default-src 'none'") and "script" not in policy and b"<link" not in body.body.lower().replace(b"<no-link", b"")
    # The API's own words stay what they were.
    server.get("/v1/nothing", headers={"Accept": "text/html"}).problem(404)
    server.get("/nothing", headers={"Accept": "*/*"}).problem(404)
    assert server.get("/v1/pages/99999").problem(404) and b"There is no page 99999" in server.get("/pages/99999").body


def test_files_are_kept_for_long_and_change_their_names(scheduler):
    page = scheduler.get("/").body.decode()
    files = set(re.findall(r"\"(/assets/[^\"]+)\"", page))
    assert {path.split(".")[-1] for path in files} == {"css", "js", "svg"}
    for path in files:
        answer = scheduler.get(path)
        assert answer.status == 200 and "immutable" in answer.headers["Cache-Control"]
        other = re.sub(r"/assets/\w+/", "/assets/0/", path)
        assert scheduler.get(other).headers["Cache-Control"] == "no-cache"
    assert scheduler.get("/assets/0/../../etc/passwd").status == 404


def test_forms_come_from_here(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    path = f"/pages/{server.number(site.url('/'))}"
    for headers in [FORM, {**FORM, "Origin": "https://evil.example"}, {**FORM, "Origin": "null"}, {**FORM, "Sec-Fetch-Site": "cross-site"},
                    {**FORM, "Sec-Fetch-Site": "same-site", "Origin": server.url}, {**FORM, "Origin": server.url, "Host": "evil.example"}]:
        answer = send(server, path, headers, do="pause")
        assert answer.status == 403 and answer.kind == "text/html", (headers, answer)
    assert server.page(site.url("/"))["state"] == "active"
    # Who follows a link of another site sees the page; another site's page does not.
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"}
    assert server.get("/", headers=followed).status == 200
    assert server.get("/", headers={**followed, "Host": "evil.example"}).status == 403
    assert server.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"}).status == 403
    done = send(server, path, do="pause")
    assert done.status == 303 and done.headers["Location"] == f"{path}?done=pause"
    assert server.page(site.url("/"))["state"] == "paused"
    assert b"It is paused" in server.get(done.headers["Location"]).body
    for fields, status in [({"do": "dance"}, 422), ({}, 422), ({"do": "importance", "importance": "much"}, 422), ({"do": "importance", "importance": "-1"}, 422),
                           ({"do": "max-age", "max-age": "soon"}, 422), ({"do": "fetch"}, 409), ({"do": "importance", "importance": "1" * 70_000}, 413)]:
        answer = send(server, path, **fields)
        assert answer.status == status and answer.kind == "text/html" and b"<h1>" in answer.body, (fields, answer)
    assert b"expected a number from 0" in send(server, path, do="importance", importance="much").body
    assert send(server, "/plan", do="what-if").status == 422


def test_people_sign_in_with_a_token(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    path = f"/pages/{server.number(site.url('/'))}"
    assert b"Fetch now" in server.get(path).body
    read, both = create(server, "--scope", "read"), create(server, "--scope", "read,write")
    signal_only = create(server, "--scope", "signal")
    asked = wait_until("it asks who it is", lambda: (answer := server.get("/pages?q=x")).status == 303 and answer)
    assert asked.headers["Location"] == "/sign-in?to=%2Fpages%3Fq%3Dx"
    assert server.get("/live").status == 303 and server.get("/assets/0/board.css").status == 200
    # A link of another site comes without our cookie, the first time.
    bounced = server.get("/pages", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"})
    assert bounced.status == 200 and b"http-equiv=\"refresh\"" in bounced.body and b"url=/pages" in bounced.body
    for wrong in ("", "rfr_wrong", read[:-1], signal_only):
        answer = send(server, "/sign-in", token=wrong)
        assert answer.status == 401 and "Set-Cookie" not in answer.headers and b"not known" in answer.body
    assert send(server, "/sign-in", FORM, token=read).status == 403
    cookie, line, to = sign_in(server, read, to="/pages?q=x")
    assert to == "/pages?q=x" and "HttpOnly" in line and "SameSite=Strict" in line and "Max-Age=604800" in line and read not in line
    assert sign_in(server, read, to="//evil.example/")[2] == "/"
    seen = server.get(path, headers={"Cookie": cookie})
    assert seen.status == 200 and b"Fetch now" not in seen.body and b"Sign out" in seen.body
    refused = send(server, path, own(server, Cookie=cookie), do="pause")
    assert refused.status == 403 and b"reading only" in refused.body
    writer, _, _ = sign_in(server, both)
    assert b"Fetch now" in server.get(path, headers={"Cookie": writer}).body
    assert send(server, path, {**FORM, "Cookie": writer, "Origin": "https://evil.example"}, do="pause").status == 403
    assert server.get("/", headers={"Cookie": writer, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "empty"}).status == 403
    assert send(server, path, own(server, Cookie=writer), do="pause").status == 303
    # A session opens pages for people, not the API.
    server.get("/v1/status", headers={"Cookie": writer}).problem(401)
    left = send(server, "/sign-out", own(server, Cookie=writer))
    assert left.status == 303 and "Max-Age=0" in left.headers["Set-Cookie"]
    assert server.get(path, headers={"Cookie": writer}).status == 303
    # Whoever has a token may show it with every request.
    assert server.ask("GET", path, headers={"Authorization": f"Bearer {read}"}).status == 200
    assert server.ask("GET", path, headers={"Authorization": "Bearer rfr_wrong"}).status == 401
    # A token that is revoked ends its sessions, and what they look at.
    connection = server.connect()
    connection.request("GET", "/live", headers={"Cookie": cookie})
    stream = connection.getresponse()
    assert stream.status == 200
    identity = next(line.split()[0] for line in server.run("token", "list", "--data", str(server.data)).stdout.splitlines() if "read" in line and "write" not in line and "scope" not in line.lower())
    server.run("token", "revoke", identity, "--data", str(server.data))
    wait_until("it is over", lambda: server.get("/", headers={"Cookie": cookie}).status == 303)
    assert b"event: pulse" in stream.read(), "until then, and no longer"
    connection.close()


def test_wrong_tokens_cost_time(server):
    create(server, "--scope", "read")
    wait_until("it asks who it is", lambda: server.get("/").status == 303)
    statuses = {send(server, "/sign-in", token=f"rfr_{number}").status for number in range(400)}
    assert statuses == {401, 429}
    assert int(send(server, "/sign-in", token="rfr_x").headers.get("Retry-After", "1")) >= 1


def test_what_was_is_there_after_a_restart(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    points = rb"\d\d:\d\d: expected \d+\.\d %, by looks "
    wait_until("some time has passed", lambda: re.search(points, server.get("/").body), every=0.3)
    server.stop()
    server.start()
    # Before anything is remembered of the new process: from the disk.
    for span in ("1h", "24h", "30d"):
        assert re.search(points, server.get(f"/?span={span}").body), span
    server.stop()
    server.check()


def test_what_has_just_begun_is_seen_by_the_second(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    lines = rb"<path class=\"line\" d=\"(M[^\"]*)\""
    wait_until("there is a line through several points", lambda: any(path.count(b"L") >= 3 for path in re.findall(lines, server.get("/").body)), every=0.3)
    # All of it within seconds: it is still drawn by the second.
    seconds = re.findall(rb"<tr><th scope=\"row\">[^<]*:(\d\d)</th>", server.get("/").body)
    assert len(set(seconds)) >= 4, seconds


def test_robots_txt_is_shown_as_it_came(server, site):
    came = "# Be <b>kind</b>.\nUser-agent: OtherBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private # no\nCrawl-delay: 0.1\n"
    site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, came)
    site.html("/", "<p>home")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    path = "/hosts/" + urllib.parse.quote(site.host, safe="")

    def shown():
        return [text.replace("&lt;", "<").replace("&gt;", ">") for text in re.findall(r"<pre[^>]*>([^<]*)</pre>", server.get(path).body.decode())]

    wait_until("it is known", shown)
    assert shown() == [came, "User-agent: *\nCrawl-delay: 0.1\nDisallow: /private\n"]
    server.stop()
    server.start()
    assert shown()[0] == came, "also after a restart"
    # One that is long is kept as far as it concerns us.
    long = "".join(f"# line {number}\n" for number in range(5000)) + "User-agent: *\nDisallow: /long\n"
    other = site.__class__()
    try:
        other.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, long)
        other.html("/", "<p>home")
        server.add(other.url("/"))
        server.fetched(other.url("/"))
        path = "/hosts/" + urllib.parse.quote(other.host, safe="")
        assert wait_until("it is known", shown) == ["User-agent: *\nDisallow: /long\n"]
        assert "All of it that concerns" in server.get(path).body.decode()
    finally:
        other.close()


def test_copies_are_downloaded_by_who_is_signed_in(server, site):
    site.html("/", "<p>home & away")
    server.add(site.url("/"))
    server.fetched(site.url("/"))
    number = server.number(site.url("/"))
    version = wait_until("it is kept", lambda: server.get(f"/v1/pages/{number}/versions").ok()["versions"])[0]["version"]
    token = create(server, "--scope", "read")
    wait_until("it asks who it is", lambda: server.get("/").status == 303)
    cookie, _, _ = sign_in(server, token)
    page = server.get(f"/pages/{number}/copy/{version}", headers={"Cookie": cookie}).body.decode()
    path = re.search(r"<a href=\"([^\"]*)\" download", page)[1]
    came = server.get(path, headers={"Cookie": cookie})
    assert came.status == 200 and came.body == b"<p>home & away" and came.kind == "application/octet-stream"
    assert came.headers["Content-Disposition"].startswith("attachment") and came.headers["Content-Security-Policy"].startswith("sandbox")
    assert server.get(path).status == 303


def test_nobody_goes_beyond_the_end(scheduler):
    scheduler.add("http://a.example/")
    for path in ("/pages", "/signals", "/hubs"):
        for skip in (10**6, 2**64 - 1):
            answer = scheduler.get(path, {"skip": skip})
            assert answer.status == 200 and b"skip=" not in answer.body.replace(b"skip=0", b""), (path, skip, answer)
        assert scheduler.get(path, {"skip": 2**64}).status == 400
    assert scheduler.get("/hosts", {"after": 2**63 - 1}).status == 200


def test_pages_are_found(scheduler):
    scheduler.add(*({"url": f"http://h{number % 3}.example/Section/page-{number}", "importance": number} for number in range(200)))
    assert scheduler.patch(f"/v1/pages/{scheduler.number('http://h0.example/Section/page-3')}", {"state": "paused"}).status == 200

    def found(**query):
        page = scheduler.get("/pages", query).body.decode()
        return re.findall(r"<a href=\"/pages/\d+\">([^<]*)</a>", page), page

    wait_until("pages are ranked", lambda: "1 to 50 of 200 pages" in found()[1])
    urls, page = found(sort="importance")
    assert urls[:2] == ["http://h1.example/Section/page-199", "http://h0.example/Section/page-198"] and "The next 50" in page
    assert found(sort="importance", turned="yes")[0][0].endswith("page-0")
    assert found(sort="importance", skip=150)[0][-1].endswith("page-0") and "The next" not in found(skip=150)[1]
    assert found(q="SECTION/PAGE-19", sort="importance")[0] == [f"http://h{number % 3}.example/Section/page-{number}" for number in [*range(199, 189, -1), 19]]
    assert {url[:17] for url in found(host="h2.example")[0]} == {"http://h2.example"}
    wait_until("it is known to be paused", lambda: found(state="paused")[0] == ["http://h0.example/Section/page-3"])
    assert found(only="never")[1].count("missing") == 50 and found(only="failing")[0] == []
    assert "No such pages" in found(q="<script>alert(1)</script>")[1]
    assert scheduler.get("/pages", {"sort": "beauty"}).status == 400
    assert found(skip=10**9)[0] == []


def test_numbers_come_every_second(server, site):
    site.html("/", "<p>home")
    server.add(site.url("/"))
    connection = server.connect()
    connection.request("GET", "/live")
    answer = connection.getresponse()
    assert answer.getheader("Content-Type") == "text/event-stream"
    events = [line for line in (answer.readline() for _ in range(10)) if line.startswith(b"data: ")]
    assert len(events) >= 2 and b"\"fresh\"" in events[0]
    # It ends with the server, at once.
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(PATIENCE) == 0
    connection.close()
    server.closed()


def test_the_log_is_replayed_with_other_budgets(servers, site):
    numbers = iter(range(10**9))
    for path in ("/a", "/b"):
        site.pages[path] = lambda _: (200, {"Content-Type": "text/html"}, f"<p>now {next(numbers)}")
    server = servers("--decisions", "log").start()
    server.add(site.url("/a"), site.url("/b"))
    wait_until("it was looked at often", lambda: server.get("/v1/status").ok()["changed"] > 20)
    assert b"Replay the log" in server.get("/plan").body
    assert send(server, "/plan", do="what-if").status == 303

    def outcome():
        page = server.get("/plan").body.decode()
        assert "could not be replayed" not in page, page
        return "0.5 times" in page and page

    page = wait_until("it is replayed", outcome)
    assert "recorded" in page and "4 times" in page and "Replay it again" in page


def watched(command, folder, stream):
    """Something that shows itself in a browser, and where."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in getattr(process, stream):
        if found := re.search(r"Watch it: http://127\.0\.0\.1:(\d+)/", line):
            return process, int(found[1])
    raise AssertionError((process.wait(), process.stderr.read()))


@pytest.mark.parametrize("how", ["crawl", "demo"])
def test_crawls_show_themselves(how, tmp_path, site):
    from support import fetch

    site.html("/", "<title>Home</title><p>home")
    crawl = [binary(), "crawl", site.url("/"), "--allow-private", "--agent", "Tester", "--contact", "me@example.net", "--rate", "10/s", "--plain", "--dashboard=127.0.0.1:0"]
    demo = [binary(), "demo", "--for", "3s", "--data", "demo", "--dashboard", "127.0.0.1:0", "--stay"]
    process, port = watched(crawl if how == "crawl" else demo, tmp_path, "stderr" if how == "crawl" else "stdout")
    try:
        for path in PAGES:
            answer = fetch("GET", f"http://127.0.0.1:{port}{path}")
            assert answer.status == 200 and b"</html>" in answer.body, (path, answer)
        assert fetch("GET", f"http://127.0.0.1:{port}/v1/pages").status == 404
        assert b"openapi" not in fetch("GET", f"http://127.0.0.1:{port}/").body, "there is no API"
        if how == "demo":
            for line in process.stdout:
                if "It is over" in line:
                    break
            for path in [*PAGES, "/pages/1"]:
                assert fetch("GET", f"http://127.0.0.1:{port}{path}").status == 200, path
            # Nobody takes the end for what is going on.
            assert b"The crawl is over" in fetch("GET", f"http://127.0.0.1:{port}/").body
            plan = fetch("GET", f"http://127.0.0.1:{port}/plan").body
            assert b"Fetch now" not in fetch("GET", f"http://127.0.0.1:{port}/pages/1").body
            assert b"The crawl is over" in plan and b"requests a second buy" in plan and b"Spend this" not in plan
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_a_dashboard_is_not_for_everybody(tmp_path):
    done = subprocess.run([binary(), "crawl", "http://a.example/", "--agent", "T", "--contact", "a@b", "--rate", "1/s", "--dashboard=0.0.0.0:0"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "there is no token" in done.stderr
    done = subprocess.run([binary(), "serve", "--dashboard", "--no-fetch", "--rate", "1/s"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "--dashboard" in done.stderr
