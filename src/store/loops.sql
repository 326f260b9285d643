-- SPDX-License-Identifier: MIT
-- Loops and the bounds of an iteration; docs/reference/schema.md explains them. Profiles of schema
-- versions up to 5 do not have this table. Its text is compared as is that of schema.sql.

CREATE TABLE IF NOT EXISTS loop (
	id INTEGER PRIMARY KEY,
	head INTEGER NOT NULL REFERENCES instruction,
	iterations REAL NOT NULL,
	instructions REAL NOT NULL,
	weight REAL,
	calls REAL NOT NULL,
	is_innermost INTEGER NOT NULL,
	unmodelled REAL NOT NULL,
	recurrence TEXT,
	recurrence_cycles REAL,
	other_recurrence TEXT,
	other_cycles REAL,
	divider REAL NOT NULL,
	load REAL NOT NULL,
	store REAL NOT NULL,
	branch REAL NOT NULL,
	alu REAL NOT NULL,
	float REAL NOT NULL,
	vector REAL NOT NULL,
	ports REAL NOT NULL,
	width REAL NOT NULL,
	iteration_ns REAL,
	iteration_error_ns REAL,
	iteration_source TEXT,
	load_bytes REAL,
	store_bytes REAL
);

CREATE VIEW IF NOT EXISTS loop_bound AS
	SELECT l.id AS loop, l.head, p.function_name AS function,
		printf('0x%x', p.address) AS address, p.file, p.line, l.iterations, l.instructions,
		l.weight, l.is_innermost, l.recurrence, l.recurrence_cycles, l.other_recurrence, l.other_cycles,
		max(l.divider, l.load, l.store, l.branch, l.alu, l.float, l.vector, l.ports,
			l.width) AS unit_cycles, l.iteration_ns, l.iteration_error_ns
	FROM loop l
	JOIN instruction_place p ON p.instruction = l.head;
