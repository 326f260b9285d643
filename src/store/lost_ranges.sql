-- SPDX-License-Identifier: MIT
-- The objects that samples without an address lie in, explained in docs/reference/schema.md. A
-- profile that was written before they were kept has not got this table. Its text is compared as
-- that of schema.sql is.

CREATE TABLE IF NOT EXISTS lost_range (
	id INTEGER PRIMARY KEY,
	sample INTEGER NOT NULL REFERENCES memory_sample,
	start_address INTEGER NOT NULL,
	size INTEGER NOT NULL
);
