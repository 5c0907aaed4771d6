-- From version 5 to version 6: what counts under the limits of queues, and a column by its right name. The comments are in schema.sql.

CREATE TABLE counted (
    queue INTEGER NOT NULL,
    item  INTEGER NOT NULL,
    PRIMARY KEY (queue, item)
) STRICT, WITHOUT ROWID;
INSERT INTO counted (queue, item)
    SELECT i.queue, i.id FROM items i JOIN queues q ON q.id = i.queue WHERE q.most IS NOT NULL AND i.due = 0;
ALTER TABLE samples RENAME COLUMN watched TO foretold;
