-- SPDX-License-Identifier: MIT
-- Observations of windows, which were executed step by step; docs/reference/schema.md explains
-- them. Profiles of schema versions 3 and 4 do not have these tables. Their text is compared as
-- is that of schema.sql.

-- One row when there were windows, else none.
CREATE TABLE IF NOT EXISTS window_recording (
	id INTEGER PRIMARY KEY,
	windows INTEGER NOT NULL,
	steps INTEGER NOT NULL,
	unresolved_steps INTEGER NOT NULL,
	dropped_samples INTEGER NOT NULL,
	dropped_weight REAL NOT NULL,
	user_seconds REAL NOT NULL,
	system_seconds REAL NOT NULL
);

CREATE TABLE IF NOT EXISTS window_edge (
	source INTEGER NOT NULL REFERENCES instruction,
	target INTEGER NOT NULL REFERENCES instruction,
	steps INTEGER NOT NULL,
	windows INTEGER NOT NULL,
	PRIMARY KEY (source, target)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS window_instruction (
	id INTEGER PRIMARY KEY,
	instruction INTEGER NOT NULL REFERENCES instruction,
	steps INTEGER NOT NULL,
	outcomes INTEGER NOT NULL,
	unforetold INTEGER NOT NULL,
	denormals INTEGER NOT NULL,
	accesses INTEGER NOT NULL,
	repeated INTEGER NOT NULL,
	strided INTEGER NOT NULL,
	stride INTEGER NOT NULL,
	lines INTEGER NOT NULL,
	pages INTEGER NOT NULL,
	line_bytes INTEGER NOT NULL,
	split INTEGER NOT NULL,
	stored INTEGER NOT NULL,
	part_stored INTEGER NOT NULL,
	store_steps INTEGER NOT NULL,
	conflicting INTEGER NOT NULL
);

-- Since schema version 6: facts that few instructions have.
CREATE TABLE IF NOT EXISTS window_fact (
	id INTEGER PRIMARY KEY,
	instruction INTEGER NOT NULL REFERENCES instruction,
	fact TEXT NOT NULL,
	n INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS window_process (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	name TEXT,
	obstacle TEXT,
	windows INTEGER NOT NULL,
	steps INTEGER NOT NULL
);

CREATE VIEW IF NOT EXISTS observed_edge AS
	SELECT e.source, e.target, p.function_name AS function,
		printf('0x%x', p.address) AS address, printf('0x%x', t.address) AS target_address,
		1.0 * e.steps / sum(e.steps) OVER (PARTITION BY e.source) AS share,
		e.steps, e.windows
	FROM window_edge e
	JOIN instruction_place p ON p.instruction = e.source
	JOIN instruction t ON t.id = e.target;

CREATE VIEW IF NOT EXISTS observed_instruction AS
	SELECT w.instruction, p.function_name AS function, printf('0x%x', p.address) AS address,
		p.file, p.line, w.steps, w.outcomes, w.unforetold, w.denormals, w.accesses,
		w.repeated, w.strided, w.stride, w.lines, w.pages, w.line_bytes, w.split,
		w.stored, w.part_stored, w.store_steps, w.conflicting
	FROM window_instruction w
	JOIN instruction_place p ON p.instruction = w.instruction;
