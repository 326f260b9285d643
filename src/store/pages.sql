-- SPDX-License-Identifier: MIT
-- Where pages lay, explained in docs/reference/schema.md. A profile of schema version 3 that was
-- written before lode asked for it has not got this table. Its text is compared as that of
-- schema.sql is.

CREATE TABLE IF NOT EXISTS memory_pages (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	start_address INTEGER NOT NULL,
	end_address INTEGER NOT NULL,
	page_size INTEGER NOT NULL,
	node INTEGER NOT NULL
);
