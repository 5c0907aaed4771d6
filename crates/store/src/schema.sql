-- Refrain's data directory, version 7. Times are whole milliseconds since 1970-01-01 UTC, lengths of time whole milliseconds,
-- digests SHA-256 as 32 bytes. What each column means to people who query it is told in docs/store.md.

CREATE TABLE hosts (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL UNIQUE,           -- scheme, name and port: https://example.org:8443, http://[::1]
    gap            INTEGER,                        -- least time between the starts of two requests; NULL: the default
    back_off_until INTEGER,                        -- not to be visited before
    failures       INTEGER NOT NULL DEFAULT 0,     -- in a row
    robots         BLOB,                           -- robots.txt as it came; of a long one, what concerns us
    robots_fetched INTEGER,
    robots_status  INTEGER,                        -- HTTP status; NULL: never asked, or no answer
    wanted_gap     INTEGER,                        -- the gap that somebody wants, beside what robots.txt asks for; NULL: no such wish
    paused         INTEGER NOT NULL DEFAULT 0      -- left alone until somebody says otherwise
) STRICT;

CREATE TABLE pages (
    id            INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of a removed page is never used again
    url           TEXT NOT NULL UNIQUE,
    host          INTEGER NOT NULL REFERENCES hosts (id),
    state         TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'gone', 'disallowed')),
    importance    REAL NOT NULL,
    max_age       INTEGER,                         -- the copy should never be older; NULL: no such wish
    added         INTEGER NOT NULL,
    found         TEXT NOT NULL,                   -- how: seed, link, sitemap, feed, …
    looked        INTEGER,                         -- the last look, whatever came of it
    fetched       INTEGER,                         -- the last look that confirmed or replaced the copy
    changed       INTEGER,                         -- the last look that saw another body than before, the first included
    status        INTEGER,                         -- HTTP status of the last look; NULL: no answer
    failures      INTEGER NOT NULL DEFAULT 0,      -- failed looks in a row
    digest        BLOB,                            -- of the body seen last; NULL: none, or the page is gone
    etag          TEXT,
    last_modified TEXT,
    redirect      TEXT,                            -- where it leads
    title         TEXT,
    history       BLOB,                            -- what was learned of its changes, compact; for the crawler
    kept          BLOB,                            -- what its next body is compared with; for the crawler
    role          TEXT NOT NULL DEFAULT 'page' CHECK (role IN ('page', 'sitemap', 'feed')),
    hub           INTEGER,                         -- the page that it was found on
    born          INTEGER,                         -- when it appeared; NULL: when it was added
    decay         REAL,                            -- importance falls by this share per second from then on; NULL: it stays
    hint          INTEGER,                         -- what is promised of its changes, as a number; for the crawler
    observation   INTEGER,                         -- the last look at it
    bodies        INTEGER NOT NULL DEFAULT 0       -- how many bodies were seen, kept or not
) STRICT;

CREATE INDEX pages_by_host ON pages (host, id);

-- Every look at every page. Rows are only ever added, at the end: the looks at a page are a chain, from the last one (pages.observation)
-- to the one before it and so on. An index by page would be written in another place for each look.
CREATE TABLE observations (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    page     INTEGER NOT NULL,
    time     INTEGER NOT NULL,
    elapsed  INTEGER,                              -- since the look that the outcome is relative to; NULL: there is none
    outcome  TEXT NOT NULL CHECK (outcome IN ('first', 'changed', 'unchanged', 'not modified', 'gone', 'redirected',
                                              'disallowed', 'slow down', 'failed')),
    counted  TEXT,                                 -- what counted as the change
    status   INTEGER,
    bytes    INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    digest   BLOB,                                 -- of the body, where there was one
    before   INTEGER,                              -- the look at the page before this one; NULL: this was the first
    change   INTEGER                               -- the change that it saw, by its place in the feed; NULL: none
) STRICT;

-- The files warc/NNNNNN.warc.gz. What lies beyond `length` was never committed.
CREATE TABLE segments (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    length  INTEGER NOT NULL,
    retired INTEGER                                -- since when nothing refers to it; its file is about to be removed
) STRICT;

-- Where bodies are. A revisit says that a page still had the body of an earlier version.
CREATE TABLE versions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    page     INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    time     INTEGER NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('response', 'revisit')),
    digest   BLOB NOT NULL,                        -- of the body
    url      TEXT,                                 -- who answered, if it was not the page's own address
    segment  INTEGER NOT NULL REFERENCES segments (id),
    "offset" INTEGER NOT NULL,
    length   INTEGER NOT NULL,                     -- compressed, with the request if that was kept
    body     INTEGER REFERENCES versions (id) ON DELETE CASCADE, -- revisit: the version that has the body
    CHECK ((kind = 'revisit') = (body IS NOT NULL))
) STRICT;
CREATE INDEX versions_by_page ON versions (page, time);
CREATE INDEX versions_by_place ON versions (segment, "offset", length);
CREATE INDEX versions_by_body ON versions (body) WHERE body IS NOT NULL;

-- The change feed. Numbers grow, in the order in which changes were committed, and are never used twice.
CREATE TABLE changes (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    page        INTEGER NOT NULL,
    time        INTEGER NOT NULL,
    old         BLOB,                              -- digest before; NULL: there was nothing
    new         BLOB,                              -- digest after; NULL: the page is gone
    observation INTEGER NOT NULL
) STRICT;
CREATE INDEX changes_by_time ON changes (time);

-- Hints that a page changed.
CREATE TABLE signals (
    id        INTEGER PRIMARY KEY,
    page      INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,                       -- sitemap, feed, …
    time      INTEGER NOT NULL,                    -- when it came
    said      INTEGER,                             -- when the page is said to have changed
    worth     REAL,                                -- by how much a fetch of the page was worth more then; NULL: not known
    came_true INTEGER                              -- whether the next look saw a change; NULL: there was none yet
) STRICT;
CREATE INDEX signals_by_page ON signals (page, time);
CREATE INDEX signals_open ON signals (page) WHERE came_true IS NULL;

-- When each kind of announcement last said that a page changed: what is newer is a signal.
CREATE TABLE announced (
    page INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    said INTEGER NOT NULL,
    PRIMARY KEY (page, kind)
) STRICT, WITHOUT ROWID;

-- How far each kind of announcement can be believed, host by host.
CREATE TABLE voices (
    host      INTEGER NOT NULL REFERENCES hosts (id),
    kind      TEXT NOT NULL,
    intervals REAL NOT NULL,                       -- between two looks at pages that it speaks about
    precision REAL NOT NULL,                       -- the share of its signals that is true
    recall    REAL NOT NULL,                       -- the share of changes that it announces
    heard     INTEGER NOT NULL,                    -- whether its signals count
    learned   BLOB NOT NULL,                       -- for the crawler
    PRIMARY KEY (host, kind)
) STRICT, WITHOUT ROWID;

-- Pages, sitemaps and feeds that show what is new.
CREATE TABLE hubs (
    page    INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    visits  INTEGER NOT NULL,                      -- since it was known to be one
    news    INTEGER NOT NULL,                      -- new links and signals that they showed
    rate    REAL NOT NULL,                         -- news per second, as believed now
    profit  REAL NOT NULL,                         -- what one of them is worth when it is new: seconds, times importance
    decay   REAL NOT NULL,                         -- how fast that falls, per second
    learned BLOB NOT NULL                          -- for the crawler
) STRICT;

-- Fetches under way.
CREATE TABLE leases (
    page  INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    "order" INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- What other fetchers were given, and have not answered. Numbers are never used twice.
CREATE TABLE grants (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    until INTEGER NOT NULL,                        -- when it is given up
    key   TEXT,                                    -- what the fetcher calls it
    pages BLOB NOT NULL                            -- its pages, 8 bytes each, little end first; 0: answered, negative: its robots.txt
) STRICT;

-- How often people ask for pages.
CREATE TABLE reads (
    page  INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    count REAL NOT NULL,                           -- reads, each worth the less the older it is
    time  INTEGER NOT NULL                         -- as of this moment
) STRICT;

-- How far each reader of the change feed has come.
CREATE TABLE consumers (
    name      TEXT PRIMARY KEY,
    delivered INTEGER NOT NULL                     -- the last change it has got
) STRICT, WITHOUT ROWID;

-- How it went, span by span: seconds at first, then a minute each, after some days an hour.
CREATE TABLE samples (
    time      INTEGER PRIMARY KEY,                 -- when the span ended
    span      INTEGER NOT NULL,                    -- how long it was
    freshness REAL,                                -- expected: the share of copies that are fresh, by importance; NULL: no pages
    fresh     REAL NOT NULL,                       -- seconds, times importance, for which copies turned out to be fresh between two looks,
    foretold  REAL NOT NULL,                       -- and for how many that had been expected of the same copies
    rate      REAL NOT NULL,                       -- the budget: requests per second
    price     REAL NOT NULL,                       -- what a fetch was worth; 0: not known yet
    requests  INTEGER NOT NULL,                    -- that were spent
    looks     INTEGER NOT NULL,
    changed   INTEGER NOT NULL,                    -- looks that saw a change,
    unchanged INTEGER NOT NULL,                    -- that saw none,
    failed    INTEGER NOT NULL                     -- and that saw nothing of use
) STRICT;

-- What belongs to the whole crawl.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Crawls of crawlers that fetch by themselves and speak URLFrontier.
CREATE TABLE crawls (
    name     TEXT PRIMARY KEY,
    schedule TEXT NOT NULL CHECK (schedule IN ('client', 'server')) -- who decides when to come back
) STRICT, WITHOUT ROWID;

-- Their queues.
CREATE TABLE queues (
    id            INTEGER PRIMARY KEY,
    crawl         TEXT NOT NULL,
    key           TEXT NOT NULL,
    delay         INTEGER,                         -- between two turns; NULL: that of all queues
    blocked_until INTEGER,                         -- nothing is given before
    most          INTEGER,                         -- at most so many are completed or given; NULL: any number
    served        INTEGER,                         -- the last turn in which something was given
    UNIQUE (crawl, key)
) STRICT;

-- What is in them. Rows are found by their numbers only: an index would be written in another place for each of them. Dates are whole seconds.
CREATE TABLE items (
    id       INTEGER PRIMARY KEY,                  -- used again when the item is gone
    queue    INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,                     -- 0: never again
    since    INTEGER NOT NULL,                     -- what was given up to this number was given before the last news
    page     INTEGER,                              -- the page that decides when it is due; NULL: the client does
    url      TEXT NOT NULL,
    metadata BLOB NOT NULL                         -- a URLInfo message with only its metadata
) STRICT;

-- What was given, until its leases end.
CREATE TABLE served (
    id    INTEGER PRIMARY KEY,
    until INTEGER NOT NULL,                        -- whole seconds
    items BLOB NOT NULL                            -- their numbers, four bytes each, the lowest first
) STRICT;

-- What counts under the limits of queues, since it was completed or given once.
CREATE TABLE counted (
    queue INTEGER NOT NULL,
    item  INTEGER NOT NULL,
    PRIMARY KEY (queue, item)
) STRICT, WITHOUT ROWID;
