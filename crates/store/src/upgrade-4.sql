-- From version 3 to version 4: hosts that are addresses of IPv6 have brackets around them. Without, `https://::1:8443` could be two hosts, so names are
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
