"""A site that wants to run something in the browser of whoever looks at copies of it."""

import itertools

RUNS = "window.pwned=1;document.title='pwned'"
TITLE = f"</title><script>{RUNS}</script><img src=x onerror=\"{RUNS}\">\" onmouseover=\"{RUNS}"


def body(canary, number=0):
    """Everything that a page can do by itself."""
    out = canary.url
    return f"""<!doctype html><html><head><title>&lt;/title&gt;&lt;script&gt;{RUNS}&lt;/script&gt;"'</title>
<LINK rel=preconnect href="{out()}"><link rel=dns-prefetch href="{out()}"><link rel=stylesheet href="{out('css')}"><link rel=prefetch href="{out('next')}">
<link rel=icon href="{out('icon')}"><meta http-equiv=refresh content="1;url={out('refresh')}"><base href="{out()}">
<style>body {{ background: url({out('background')}); }} @import "{out('import')}"; @font-face {{ font-family: x; src: url({out('font')}); }} p {{ font-family: x; }}</style>
<script>{RUNS};fetch("{out('fetch')}")</script><script src="{out('script')}"></script></head>
<body onload="{RUNS}"><p onclick="{RUNS}">version {number} &lt;script&gt;{RUNS}&lt;/script&gt; <b>bold</b></p>
<img src="{out('img')}" onerror="{RUNS}"><img srcset="{out('srcset')} 2x"><video src="{out('video')}" autoplay></video><audio src="{out('audio')}" autoplay></audio>
<iframe src="{out('frame')}"></iframe><object data="{out('object')}"></object><embed src="{out('embed')}"><svg onload="{RUNS}"><image href="{out('svg')}"/></svg>
<form action="{out('form')}"><input autofocus onfocus="{RUNS}"></form><a href="javascript:{RUNS}" ping="{out('ping')}">a link</a></body></html>"""


def furnish(site, canary):
    """Pages of it, of which some change whenever they are looked at."""
    numbers = itertools.count(1)
    html = {"Content-Type": "text/html"}
    robots = f"User-agent: *\nAllow: /<script>{RUNS}</script>\nDisallow: /forbidden\nSitemap: {site.url('/sitemap.xml')}\n"
    site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, robots)
    site.pages["/hostile"] = lambda _: (200, html, body(canary, next(numbers)))
    site.pages["/changing"] = lambda _: (200, html, f"<title>Changing</title><h1>News</h1><p>The same line.</p><p>The price is {next(numbers)} today.</p><p>The end.</p>")
    site.html("/", "<title>Home</title><h1>Home</h1><p>Nothing changes here.</p><a href=/changing>news</a>")
    site.html("/quiet", "<title>Quiet</title><p>Nothing changes here either.</p>")
    site.pages["/picture"] = (200, {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n")
    site.pages["/sitemap.xml"] = lambda _: (200, {"Content-Type": "application/xml"}, sitemap(site))
    paths = ["/", "/changing", "/quiet", "/hostile", "/picture", "/forbidden", "/missing", "/a?b='><script>alert(1)</script>&c=\"onload=x"]
    site.html("/a?b=%27%3E%3Cscript%3Ealert(1)%3C/script%3E&c=%22onload=x", f"<title>{TITLE}</title><p>x")
    return [site.url(path) for path in paths]


def sitemap(site):
    from datetime import datetime, timezone

    now = datetime.now(timezone.utc).isoformat()
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{site.url('/changing')}</loc><lastmod>{now}</lastmod></url></urlset>"
