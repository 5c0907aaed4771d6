-- From version 4 to version 5: queues of crawlers that fetch by themselves. The comments are in schema.sql.

CREATE TABLE crawls (
    name     TEXT PRIMARY KEY,
    schedule TEXT NOT NULL CHECK (schedule IN ('client', 'server'))
) STRICT, WITHOUT ROWID;
CREATE TABLE queues (
    id            INTEGER PRIMARY KEY,
    crawl         TEXT NOT NULL,
    key           TEXT NOT NULL,
    delay         INTEGER,
    blocked_until INTEGER,
    most          INTEGER,
    served        INTEGER,
    UNIQUE (crawl, key)
) STRICT;
CREATE TABLE items (
    id       INTEGER PRIMARY KEY,
    queue    INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    due      INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    page     INTEGER,
    url      TEXT NOT NULL,
    metadata BLOB NOT NULL
) STRICT;
CREATE TABLE served (
    id    INTEGER PRIMARY KEY,
    until INTEGER NOT NULL,
    items BLOB NOT NULL
) STRICT;
