-- SPDX-License-Identifier: MIT
-- Who called the code that accessed memory, explained in docs/reference/schema.md. A profile of
-- schema version 3 that was written before call chains were read has not got these tables. Their
-- text is compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS access_call (
	id INTEGER PRIMARY KEY,
	function TEXT,
	place TEXT NOT NULL,
	outer_call INTEGER REFERENCES access_call
);

CREATE TABLE IF NOT EXISTS access_path_of (
	id INTEGER PRIMARY KEY REFERENCES memory_sample,
	call INTEGER REFERENCES access_call
);
