-- From version 2 to version 3: what is decided about hosts, work for other fetchers, what people read. The comments are in schema.sql.

ALTER TABLE hosts ADD COLUMN wanted_gap INTEGER;
ALTER TABLE hosts ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
CREATE INDEX pages_by_host ON pages (host, id);

CREATE TABLE grants (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    until INTEGER NOT NULL,
    key   TEXT,
    pages BLOB NOT NULL
) STRICT;

CREATE TABLE reads (
    page  INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    count REAL NOT NULL,
    time  INTEGER NOT NULL
) STRICT;
