-- SPDX-License-Identifier: MIT
-- The sequences of mining runs, explained in docs/reference/schema.md. They are many, and have
-- few different elements, and often the supports of others: both are stored once.

CREATE TABLE mined_element (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	attributes TEXT NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

-- Columns event_1, event_2 … follow, as many as the run with the most events needs, and a view
-- sequence_event that names them. They and the weight are in units of 1e-8, as SQLite stores whole
-- numbers in few bytes.
CREATE TABLE mined_support (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	places INTEGER NOT NULL,
	functions INTEGER NOT NULL,
	weight REAL NOT NULL,
	frequency REAL NOT NULL,
	executions REAL NOT NULL,
	count REAL NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

CREATE TABLE mined_sequence (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	elements TEXT NOT NULL,
	support INTEGER NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;
