-- SPDX-License-Identifier: MIT
-- How memory was allocated, explained in docs/reference/schema.md. A profile of schema version 3
-- that was written before these tables has not got them. Their text is compared as that of
-- schema.sql is.

CREATE TABLE IF NOT EXISTS allocation_call (
	id INTEGER PRIMARY KEY,
	function TEXT,
	place TEXT NOT NULL,
	inner_call INTEGER REFERENCES allocation_call,
	role TEXT NOT NULL -- program, runtime, allocator, passes-size, skipped
);

CREATE TABLE IF NOT EXISTS allocation_path (
	id INTEGER PRIMARY KEY,
	site INTEGER NOT NULL REFERENCES allocation_site,
	call INTEGER REFERENCES allocation_call,
	allocations INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	allocations_at_peak INTEGER NOT NULL,
	bytes_at_peak INTEGER NOT NULL,
	allocations_at_end INTEGER NOT NULL,
	bytes_at_end INTEGER NOT NULL,
	lifetime_ns REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS allocation_site_peak (
	id INTEGER PRIMARY KEY REFERENCES allocation_site,
	bytes INTEGER NOT NULL,
	time_ns INTEGER NOT NULL
);

-- One row when allocations were recorded, else none.
CREATE TABLE IF NOT EXISTS heap_peak (
	id INTEGER PRIMARY KEY,
	bytes INTEGER NOT NULL,
	time_ns INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS allocation_path_of (
	id INTEGER PRIMARY KEY REFERENCES allocation,
	path INTEGER NOT NULL REFERENCES allocation_path
);
