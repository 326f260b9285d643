-- SPDX-License-Identifier: MIT
-- The sequences of a profile of schema version 3, in place of the tables of sequences.sql. Columns
-- event_1, event_2 … follow, as many as the run with the most events needs. The first run that is
-- added to such a profile makes it one of version 4.

CREATE TABLE sequence (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	items TEXT NOT NULL,
	size INTEGER NOT NULL,
	places INTEGER NOT NULL,
	functions INTEGER NOT NULL,
	weight REAL NOT NULL,
	frequency REAL NOT NULL,
	executions REAL NOT NULL,
	count REAL NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;
