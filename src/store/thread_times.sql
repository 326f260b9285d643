-- SPDX-License-Identifier: MIT
-- When threads ran, explained in docs/reference/schema.md. A profile of schema version 3 that
-- was written before context switches were read has not got this table. Its text is compared as
-- that of schema.sql is.

CREATE TABLE IF NOT EXISTS thread_time (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	name TEXT,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	running_ns REAL NOT NULL,
	preempted_ns REAL NOT NULL,
	switches REAL NOT NULL
);
