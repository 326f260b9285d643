-- SPDX-License-Identifier: MIT
-- Which stores misses due to sharing were due to, explained in docs/reference/schema.md. A
-- profile of schema version 3 that was written before they were kept has not got this table. Its
-- text is compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS line_store (
	id INTEGER PRIMARY KEY,
	sample INTEGER NOT NULL REFERENCES memory_sample,
	thread INTEGER NOT NULL REFERENCES thread,
	function INTEGER REFERENCES function,
	location INTEGER REFERENCES location,
	pc INTEGER NOT NULL,
	address INTEGER NOT NULL,
	size INTEGER NOT NULL,
	misses INTEGER NOT NULL
);
