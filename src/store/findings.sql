-- SPDX-License-Identifier: MIT
-- The findings of mining runs, explained in docs/reference/schema.md. A profile of schema
-- version 3 that was written before there were findings has not got these tables; the first run
-- that is added makes them. Their text is compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS run_findings (
	run INTEGER PRIMARY KEY NOT NULL REFERENCES run,
	is_counted INTEGER NOT NULL,
	base REAL NOT NULL,
	explained REAL NOT NULL,
	single REAL NOT NULL,
	samples REAL NOT NULL,
	findings INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS finding (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	kind TEXT NOT NULL, -- pattern, place
	items TEXT NOT NULL,
	focus INTEGER NOT NULL,
	time REAL NOT NULL,
	time_error REAL NOT NULL,
	each REAL NOT NULL,
	each_error REAL NOT NULL,
	executed REAL,
	places INTEGER NOT NULL,
	functions INTEGER NOT NULL,
	spread REAL NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS finding_place (
	run INTEGER NOT NULL REFERENCES run,
	finding INTEGER NOT NULL,
	position INTEGER NOT NULL,
	instruction INTEGER NOT NULL REFERENCES instruction,
	time REAL NOT NULL,
	PRIMARY KEY (run, finding, position)
) WITHOUT ROWID;
