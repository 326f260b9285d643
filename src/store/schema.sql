-- SPDX-License-Identifier: MIT
-- The tables of a profile, explained in docs/reference/schema.md. A reader compares the text of
-- each table with this one, so that any change to a table needs a new LODE_SCHEMA_VERSION;
-- comments, views and indexes may change freely.

CREATE TABLE meta (
	key TEXT PRIMARY KEY NOT NULL,
	value
) WITHOUT ROWID;

CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	description TEXT,
	kind TEXT NOT NULL, -- count, recorded, sampled, derived
	is_attribute INTEGER NOT NULL,
	total REAL NOT NULL
);

CREATE TABLE event_term (
	event INTEGER NOT NULL REFERENCES event,
	position INTEGER NOT NULL,
	source INTEGER NOT NULL REFERENCES event,
	factor REAL NOT NULL,
	PRIMARY KEY (event, position)
) WITHOUT ROWID;

CREATE TABLE image (
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	build_id TEXT,
	kind TEXT NOT NULL -- file, jit, unresolved, graphs
);

CREATE TABLE function (
	id INTEGER PRIMARY KEY,
	image INTEGER NOT NULL REFERENCES image,
	source TEXT NOT NULL, -- symbol, unwind, recorded, given
	name TEXT NOT NULL,
	symbol TEXT,
	address INTEGER NOT NULL,
	size INTEGER NOT NULL,
	calls REAL NOT NULL,
	code BLOB
);

CREATE TABLE block (
	id INTEGER PRIMARY KEY,
	function INTEGER NOT NULL REFERENCES function,
	address INTEGER NOT NULL,
	end_address INTEGER NOT NULL,
	count REAL NOT NULL,
	loop_depth INTEGER NOT NULL,
	is_loop_head INTEGER NOT NULL
);

CREATE TABLE attribute (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL
);

CREATE TABLE attribute_set (
	id INTEGER PRIMARY KEY,
	size INTEGER NOT NULL
);

CREATE TABLE attribute_set_member (
	attribute_set INTEGER NOT NULL REFERENCES attribute_set,
	attribute INTEGER NOT NULL REFERENCES attribute,
	PRIMARY KEY (attribute_set, attribute)
) WITHOUT ROWID;

CREATE TABLE string (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL
);

CREATE TABLE location (
	id INTEGER PRIMARY KEY,
	file INTEGER REFERENCES string,
	line INTEGER NOT NULL,
	inlined INTEGER REFERENCES string
);

CREATE TABLE instruction (
	id INTEGER PRIMARY KEY,
	function INTEGER NOT NULL REFERENCES function,
	block INTEGER REFERENCES block,
	address INTEGER NOT NULL,
	size INTEGER NOT NULL,
	count REAL NOT NULL,
	next_count REAL,
	attribute_set INTEGER NOT NULL REFERENCES attribute_set,
	location INTEGER REFERENCES location,
	name TEXT
);

CREATE TABLE cost (
	instruction INTEGER NOT NULL REFERENCES instruction,
	event INTEGER NOT NULL REFERENCES event,
	value REAL NOT NULL,
	PRIMARY KEY (instruction, event)
) WITHOUT ROWID;

CREATE TABLE edge (
	id INTEGER PRIMARY KEY,
	source INTEGER NOT NULL REFERENCES instruction,
	target INTEGER NOT NULL REFERENCES instruction,
	kind TEXT NOT NULL, -- fall-through, taken, jump, call, return, repeat, given
	count REAL NOT NULL
);

CREATE TABLE unresolved (
	id INTEGER PRIMARY KEY,
	reason TEXT NOT NULL,
	example TEXT,
	count REAL NOT NULL,
	weight REAL NOT NULL,
	places INTEGER NOT NULL,
	samples REAL NOT NULL
);

-- One row when data addresses were recorded, else none.
CREATE TABLE memory_recording (
	id INTEGER PRIMARY KEY,
	has_allocations INTEGER NOT NULL,
	is_stall_weighted INTEGER NOT NULL,
	has_fixed_addresses INTEGER NOT NULL
);

CREATE TABLE thread (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	name TEXT,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER
);

CREATE TABLE mapping (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	start_address INTEGER NOT NULL,
	end_address INTEGER NOT NULL,
	protection INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	name TEXT NOT NULL
);

CREATE TABLE allocation_site (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	stack TEXT,
	allocations INTEGER NOT NULL,
	bytes INTEGER NOT NULL
);

CREATE TABLE allocation (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	site INTEGER NOT NULL REFERENCES allocation_site,
	thread INTEGER REFERENCES thread,
	address INTEGER NOT NULL,
	size INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	end_ns INTEGER
);

-- Its members are those with the ids first_member + 1 … first_member + members.
CREATE TABLE data_type (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	size INTEGER NOT NULL,
	first_member INTEGER NOT NULL,
	members INTEGER NOT NULL
);

CREATE TABLE data_member (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	type_name TEXT NOT NULL,
	offset INTEGER NOT NULL,
	size INTEGER NOT NULL,
	bit_offset INTEGER NOT NULL,
	bit_size INTEGER NOT NULL,
	stride INTEGER NOT NULL,
	repeats INTEGER NOT NULL
);

CREATE TABLE data_object (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	layer TEXT NOT NULL, -- type, variable, allocation, mapping
	type INTEGER REFERENCES data_type,
	member INTEGER REFERENCES data_member,
	site INTEGER REFERENCES allocation_site,
	variable TEXT,
	mapping TEXT
);

CREATE TABLE memory_sample (
	id INTEGER PRIMARY KEY,
	weight REAL NOT NULL,
	time_ns INTEGER NOT NULL,
	pc INTEGER NOT NULL,
	access_pc INTEGER NOT NULL,
	address INTEGER NOT NULL,
	data_source INTEGER NOT NULL,
	latency INTEGER NOT NULL,
	thread INTEGER NOT NULL REFERENCES thread,
	event INTEGER NOT NULL REFERENCES event,
	instruction INTEGER REFERENCES instruction,
	access_instruction INTEGER REFERENCES instruction,
	access_function INTEGER REFERENCES function,
	access_location INTEGER REFERENCES location,
	object INTEGER REFERENCES data_object,
	mapping INTEGER REFERENCES mapping,
	allocation INTEGER REFERENCES allocation,
	cpu INTEGER,
	node INTEGER,
	size INTEGER NOT NULL,
	rule TEXT NOT NULL, -- hardware, at-pc, forward, backward, traced, none
	reason TEXT NOT NULL, -- why there is no address; none
	access TEXT NOT NULL, -- load, store, modify, none
	operand INTEGER NOT NULL,
	is_unverified INTEGER NOT NULL,
	is_next INTEGER NOT NULL
);

CREATE TABLE run (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	weight TEXT,
	parameters TEXT NOT NULL,
	is_complete INTEGER NOT NULL,
	seconds REAL NOT NULL,
	sequences INTEGER NOT NULL,
	summary_lines INTEGER
);

CREATE TABLE run_attribute (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

CREATE TABLE run_event (
	run INTEGER NOT NULL REFERENCES run,
	id INTEGER NOT NULL,
	name TEXT NOT NULL,
	PRIMARY KEY (run, id)
) WITHOUT ROWID;

CREATE TABLE summary_line (
	run INTEGER NOT NULL REFERENCES run,
	position INTEGER NOT NULL,
	depth INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	new_weight REAL NOT NULL,
	variants INTEGER NOT NULL,
	cost_ratio REAL NOT NULL,
	PRIMARY KEY (run, position)
) WITHOUT ROWID;

CREATE VIEW all_edge AS
	SELECT source, target, kind, count FROM edge
	UNION ALL
	SELECT i.id, i.id + 1, iif(f.source = 'given', 'given', 'fall-through'), i.next_count
	FROM instruction i JOIN function f ON f.id = i.function
	WHERE i.next_count IS NOT NULL;

CREATE VIEW memory_access AS
	SELECT s.id AS sample, s.weight, e.name AS event, t.pid, t.tid, t.ordinal AS thread, s.cpu,
		s.rule, s.reason, s.access, printf('0x%x', s.address) AS address, s.size,
		o.name AS object, o.layer, f.name AS function, l.line, m.name AS mapping
	FROM memory_sample s
	JOIN event e ON e.id = s.event
	JOIN thread t ON t.id = s.thread
	LEFT JOIN data_object o ON o.id = s.object
	LEFT JOIN function f ON f.id = s.access_function
	LEFT JOIN location l ON l.id = s.access_location
	LEFT JOIN mapping m ON m.id = s.mapping;

CREATE VIEW instruction_attribute AS
	SELECT i.id AS instruction, a.id AS attribute, a.name
	FROM instruction i
	JOIN attribute_set_member m ON m.attribute_set = i.attribute_set
	JOIN attribute a ON a.id = m.attribute;

CREATE VIEW instruction_place AS
	SELECT i.id AS instruction, i.function AS function, i.address, i.count, g.path AS image,
		f.name AS function_name, s.text AS file, nullif(l.line, 0) AS line,
		n.text AS inlined
	FROM instruction i
	JOIN function f ON f.id = i.function
	JOIN image g ON g.id = f.image
	LEFT JOIN location l ON l.id = i.location
	LEFT JOIN string s ON s.id = l.file
	LEFT JOIN string n ON n.id = l.inlined;

-- What the value of an event is made of: itself, or the terms of a derived one.
CREATE VIEW event_source AS
	SELECT event, source, factor FROM event_term
	UNION ALL
	SELECT id, id, 1.0 FROM event WHERE kind <> 'derived';

CREATE VIEW event_value AS
	SELECT instruction, event, sum(value) AS value FROM (
		SELECT c.instruction AS instruction, s.event AS event, s.factor * c.value AS value
		FROM cost c JOIN event_source s ON s.source = c.event
		UNION ALL
		SELECT i.id, s.event, s.factor * i.count
		FROM event e JOIN event_source s ON s.source = e.id CROSS JOIN instruction i
		WHERE e.kind = 'count')
	GROUP BY instruction, event;

CREATE VIEW hot_instruction AS
	SELECT p.instruction, v.value AS weight, v.value / nullif(e.total, 0) AS share, p.count,
		p.image, p.function_name AS function, printf('0x%x', p.address) AS address,
		p.file, p.line, p.inlined
	FROM event e
	JOIN event_value v ON v.event = e.id
	JOIN instruction_place p ON p.instruction = v.instruction
	WHERE e.id = (SELECT value FROM meta WHERE key = 'weight_event')
	ORDER BY v.value DESC;

CREATE VIEW hot_function AS
	SELECT f.id AS function, f.name, g.path AS image, sum(v.value) AS weight,
		sum(v.value) / nullif(e.total, 0) AS share
	FROM event e
	JOIN event_value v ON v.event = e.id
	JOIN instruction i ON i.id = v.instruction
	JOIN function f ON f.id = i.function
	JOIN image g ON g.id = f.image
	WHERE e.id = (SELECT value FROM meta WHERE key = 'weight_event')
	GROUP BY f.id
	ORDER BY weight DESC;
