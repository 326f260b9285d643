-- SPDX-License-Identifier: MIT
-- Where a profile comes from, explained in docs/reference/schema.md. A profile of schema version
-- 3 that was written before there were origins has not got these tables. Their text is compared
-- as that of schema.sql is.

CREATE TABLE IF NOT EXISTS origin (
	id INTEGER PRIMARY KEY,
	name TEXT,
	host TEXT,
	program TEXT,
	pid INTEGER NOT NULL,
	recorded_at INTEGER NOT NULL,
	samples REAL NOT NULL,
	executions REAL NOT NULL
);

-- The rest has rows only in merged profiles.
CREATE TABLE IF NOT EXISTS origin_count (
	id INTEGER PRIMARY KEY,
	origin INTEGER NOT NULL REFERENCES origin,
	instruction INTEGER NOT NULL REFERENCES instruction,
	count REAL NOT NULL,
	next_count REAL
);

CREATE TABLE IF NOT EXISTS origin_cost (
	id INTEGER PRIMARY KEY,
	origin INTEGER NOT NULL REFERENCES origin,
	instruction INTEGER NOT NULL REFERENCES instruction,
	event INTEGER NOT NULL REFERENCES event,
	value REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS origin_edge (
	id INTEGER PRIMARY KEY,
	origin INTEGER NOT NULL REFERENCES origin,
	edge INTEGER NOT NULL REFERENCES edge,
	count REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS origin_total (
	origin INTEGER NOT NULL REFERENCES origin,
	event INTEGER NOT NULL REFERENCES event,
	value REAL NOT NULL,
	PRIMARY KEY (origin, event)
) WITHOUT ROWID;
