-- From version 1 to version 2: what sites announce. The comments are in schema.sql.

ALTER TABLE pages ADD COLUMN role TEXT NOT NULL DEFAULT 'page' CHECK (role IN ('page', 'sitemap', 'feed'));
ALTER TABLE pages ADD COLUMN hub INTEGER;
ALTER TABLE pages ADD COLUMN born INTEGER;
ALTER TABLE pages ADD COLUMN decay REAL;
ALTER TABLE pages ADD COLUMN hint INTEGER;

ALTER TABLE signals ADD COLUMN said INTEGER;
ALTER TABLE signals ADD COLUMN worth REAL;
ALTER TABLE signals ADD COLUMN came_true INTEGER;
CREATE INDEX signals_open ON signals (page) WHERE came_true IS NULL;

CREATE TABLE announced (
    page INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    said INTEGER NOT NULL,
    PRIMARY KEY (page, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE voices (
    host      INTEGER NOT NULL REFERENCES hosts (id),
    kind      TEXT NOT NULL,
    intervals REAL NOT NULL,
    precision REAL NOT NULL,
    recall    REAL NOT NULL,
    heard     INTEGER NOT NULL,
    learned   BLOB NOT NULL,
    PRIMARY KEY (host, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE hubs (
    page    INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    visits  INTEGER NOT NULL,
    news    INTEGER NOT NULL,
    rate    REAL NOT NULL,
    profit  REAL NOT NULL,
    decay   REAL NOT NULL,
    learned BLOB NOT NULL
) STRICT;
