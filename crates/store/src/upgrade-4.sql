-- From version 3 to version 4: how it went over time. The comments are in schema.sql.

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
