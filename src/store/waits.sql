-- SPDX-License-Identifier: MIT
-- Where threads waited, explained in docs/reference/schema.md. A profile of schema version 3 that
-- was written before waits were recorded has not got these tables. Their text is compared as that
-- of schema.sql is.

CREATE TABLE IF NOT EXISTS wait (
	id INTEGER PRIMARY KEY,
	reason TEXT NOT NULL,
	call TEXT,
	object TEXT,
	thread_name TEXT,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	stack INTEGER REFERENCES stack,
	holder_stack INTEGER REFERENCES stack,
	holder_call TEXT,
	holder_share REAL NOT NULL,
	cause INTEGER REFERENCES wait_cause,
	waiting_ns REAL NOT NULL,
	path_ns REAL NOT NULL,
	count REAL NOT NULL,
	longest_ns REAL NOT NULL,
	looks REAL NOT NULL,
	is_idle INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_cause (
	id INTEGER PRIMARY KEY,
	high_ns REAL NOT NULL,
	low_ns REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_total (
	id INTEGER PRIMARY KEY,
	clock_ns REAL NOT NULL,
	running_ns REAL NOT NULL,
	waiting_ns REAL NOT NULL,
	seen_ns REAL NOT NULL,
	refused_ns REAL NOT NULL, -- of it
	has_path INTEGER NOT NULL,
	path_running_ns REAL NOT NULL,
	path_sure REAL NOT NULL,
	path_threads REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_program (
	id INTEGER PRIMARY KEY,
	name TEXT,
	processes REAL NOT NULL,
	running_ns REAL NOT NULL,
	lives_ns REAL NOT NULL,
	lived_ns REAL NOT NULL,
	path_ns REAL NOT NULL,
	alone_ns REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_process (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	parent INTEGER REFERENCES wait_process,
	name TEXT,
	command TEXT,
	directory TEXT,
	input TEXT,
	output TEXT,
	environment INTEGER NOT NULL,
	is_cut INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	running_ns REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_start (
	id INTEGER PRIMARY KEY,
	process INTEGER NOT NULL REFERENCES wait_process,
	function TEXT,
	file TEXT NOT NULL,
	line INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS wait_slice (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	kind TEXT NOT NULL,
	wait INTEGER REFERENCES wait,
	time_ns REAL NOT NULL,
	path_ns REAL NOT NULL
);
