-- SPDX-License-Identifier: MIT
-- The call stacks of samples, explained in docs/reference/schema.md. A profile of schema version
-- 3 that was written before call stacks were read has not got these tables. Their text is
-- compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS frame (
	id INTEGER PRIMARY KEY,
	function TEXT,
	image TEXT,
	address INTEGER NOT NULL,
	file TEXT,
	line INTEGER NOT NULL,
	is_inlined INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS stack (
	id INTEGER PRIMARY KEY,
	frame INTEGER NOT NULL REFERENCES frame,
	outer_stack INTEGER REFERENCES stack
);

CREATE TABLE IF NOT EXISTS stack_thread (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	name TEXT
);

CREATE TABLE IF NOT EXISTS stack_sample (
	id INTEGER PRIMARY KEY,
	time_ns INTEGER NOT NULL,
	thread INTEGER NOT NULL REFERENCES stack_thread,
	event INTEGER NOT NULL REFERENCES event,
	weight REAL NOT NULL,
	stack INTEGER REFERENCES stack
);
