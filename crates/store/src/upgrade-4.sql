-- From version 3 to version 4: looks at a page are a chain; hosts have other names; how it went over time. The comments are in schema.sql.

ALTER TABLE pages ADD COLUMN observation INTEGER;
ALTER TABLE pages ADD COLUMN bodies INTEGER NOT NULL DEFAULT 0;

-- Without their foreign keys, which cannot be dropped otherwise.
CREATE TABLE looks (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    page     INTEGER NOT NULL,
    time     INTEGER NOT NULL,
    elapsed  INTEGER,
    outcome  TEXT NOT NULL CHECK (outcome IN ('first', 'changed', 'unchanged', 'not modified', 'gone', 'redirected',
                                              'disallowed', 'slow down', 'failed')),
    counted  TEXT,
    status   INTEGER,
    bytes    INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    digest   BLOB,
    before   INTEGER,
    change   INTEGER
) STRICT;
CREATE TEMP TABLE seen AS SELECT observation AS id, seq FROM changes;
CREATE UNIQUE INDEX temp.seen_by_id ON seen (id);
CREATE TEMP TABLE chain (id INTEGER PRIMARY KEY, before INTEGER);
INSERT INTO chain SELECT id, lag(id) OVER (PARTITION BY page ORDER BY time, id) FROM observations;
INSERT INTO looks
    SELECT o.id, o.page, o.time, o.elapsed, o.outcome, o.counted, o.status, o.bytes, o.duration, o.digest,
           (SELECT before FROM chain WHERE id = o.id), (SELECT seq FROM seen WHERE id = o.id)
    FROM observations o ORDER BY o.id;
UPDATE pages SET
    observation = (SELECT id FROM observations o WHERE o.page = pages.id ORDER BY time DESC, id DESC LIMIT 1),
    bodies = (SELECT count(new) FROM changes c WHERE c.page = pages.id);

CREATE TABLE news (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    page        INTEGER NOT NULL,
    time        INTEGER NOT NULL,
    old         BLOB,
    new         BLOB,
    observation INTEGER NOT NULL
) STRICT;
INSERT INTO news SELECT seq, page, time, old, new, observation FROM changes ORDER BY seq;

-- Numbers of what was removed are not used again.
DELETE FROM sqlite_sequence WHERE name IN ('looks', 'news');
INSERT INTO sqlite_sequence (name, seq) SELECT 'looks', seq FROM sqlite_sequence WHERE name = 'observations';
INSERT INTO sqlite_sequence (name, seq) SELECT 'news', seq FROM sqlite_sequence WHERE name = 'changes';

DROP TABLE observations;
DROP TABLE changes;
ALTER TABLE looks RENAME TO observations;
ALTER TABLE news RENAME TO changes;
CREATE INDEX changes_by_time ON changes (time);
DROP TABLE temp.seen;
DROP TABLE temp.chain;

-- Hosts that are addresses of IPv6 have brackets around them. Without, `https://::1:8443` could be two hosts, so names are
-- made anew from the addresses of pages; what robots.txt said is asked for again, for nobody knows of which it was.

CREATE TEMP TABLE moved AS
    SELECT DISTINCT host AS old, substr(url, 1, instr(substr(url, 9), '/') + 7) AS name FROM pages
    WHERE (url >= 'http://[' AND url < 'http://\') OR (url >= 'https://[' AND url < 'https://\');
DELETE FROM moved WHERE name = (SELECT name FROM hosts WHERE id = old);

INSERT OR IGNORE INTO hosts (name, gap, back_off_until, failures, wanted_gap, paused)
    SELECT moved.name, gap, back_off_until, failures, wanted_gap, paused FROM moved JOIN hosts ON hosts.id = old;
INSERT OR IGNORE INTO voices (host, kind, intervals, precision, recall, heard, learned)
    SELECT hosts.id, kind, intervals, precision, recall, heard, learned
    FROM moved JOIN hosts ON hosts.name = moved.name JOIN voices ON voices.host = old;
UPDATE pages SET host = (SELECT id FROM hosts WHERE name = substr(url, 1, instr(substr(url, 9), '/') + 7))
    WHERE host IN (SELECT old FROM moved)
      AND ((url >= 'http://[' AND url < 'http://\') OR (url >= 'https://[' AND url < 'https://\'));

DELETE FROM voices WHERE host IN (SELECT old FROM moved WHERE NOT EXISTS (SELECT 1 FROM pages WHERE host = old));
DELETE FROM meta WHERE key IN (SELECT 'hours ' || hosts.name FROM hosts JOIN moved ON hosts.id = old);
DELETE FROM hosts WHERE id IN (SELECT old FROM moved WHERE NOT EXISTS (SELECT 1 FROM pages WHERE host = old));
DROP TABLE moved;

-- What is not kept any more has no row; before, it had an empty one.
DELETE FROM meta WHERE length(value) = 0;

CREATE TABLE samples (
    time      INTEGER PRIMARY KEY,
    span      INTEGER NOT NULL,
    freshness REAL,
    fresh     REAL NOT NULL,
    watched   REAL NOT NULL,
    rate      REAL NOT NULL,
    price     REAL NOT NULL,
    requests  INTEGER NOT NULL,
    looks     INTEGER NOT NULL,
    changed   INTEGER NOT NULL,
    unchanged INTEGER NOT NULL,
    failed    INTEGER NOT NULL
) STRICT;
