-- SPDX-License-Identifier: MIT
-- The sequences for whoever asks with SQL. CROSS JOIN: in the order of the elements.

CREATE VIEW sequence AS
	SELECT q.run, q.id,
		(SELECT json_group_array(json(e.attributes))
			FROM json_each(q.elements) AS one
			CROSS JOIN mined_element e ON e.run = q.run AND e.id = one.value) AS items,
		(SELECT sum(json_array_length(e.attributes))
			FROM json_each(q.elements) AS one
			CROSS JOIN mined_element e ON e.run = q.run AND e.id = one.value) AS size,
		s.places, s.functions, s.weight / 1e8 AS weight, s.frequency,
		s.executions, s.count
	FROM mined_sequence q JOIN mined_support s ON s.run = q.run AND s.id = q.support;

-- Attributes as people read them: what it is, where, what happens; the usual ones without namespace.
CREATE VIEW sequence_text AS
	SELECT r.name AS run, q.id, q.weight, q.frequency, q.weight - q.frequency AS excess,
		max(q.weight, q.frequency) AS maximal, abs(q.weight - q.frequency) AS differential,
		q.places, q.functions, q.executions, q.count, q.size,
		(SELECT group_concat('⟨' || (
			SELECT group_concat(text, ' ') FROM (
				SELECT iif(a.value GLOB 'op:*' OR a.value GLOB 'kind:*'
						OR a.value GLOB 'mem:*' OR a.value GLOB 'ev:*',
					substr(a.value, instr(a.value, ':') + 1), a.value) AS text
				FROM json_each(element.value) AS a
				ORDER BY CASE substr(a.value, 1, instr(a.value, ':'))
					WHEN 'op:' THEN 1 WHEN 'kind:' THEN 2 WHEN 'mem:' THEN 3
					WHEN 'obj:' THEN 4 WHEN 'at:' THEN 5 WHEN 'loop:' THEN 6
					WHEN 'inl:' THEN 7 WHEN 'user:' THEN 8
					WHEN 'address:' THEN 9 WHEN 'needs:' THEN 10
					WHEN 'chain:' THEN 11 WHEN 'ev:' THEN 12
					ELSE 13 END, a.value)) || '⟩', ' → ')
		FROM json_each(q.items) AS element) AS sequence
	FROM sequence q JOIN run r ON r.id = q.run;
