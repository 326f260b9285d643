-- SPDX-License-Identifier: MIT
-- Where inlined functions are called, explained in docs/reference/schema.md. A profile of schema
-- version 3 that was written before these calls were kept has not got these tables. Their text
-- is compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS inlining (
	id INTEGER PRIMARY KEY,
	location INTEGER NOT NULL REFERENCES location,
	outer_inlining INTEGER REFERENCES inlining
);

CREATE TABLE IF NOT EXISTS inlining_of (
	id INTEGER PRIMARY KEY REFERENCES instruction,
	inlining INTEGER REFERENCES inlining
);
