-- SPDX-License-Identifier: MIT
-- More of the samples in stacks.sql, explained in docs/reference/schema.md. A profile of schema
-- version 3 that was written before all samples were kept has not got these tables. Their text
-- is compared as that of schema.sql is.

CREATE TABLE IF NOT EXISTS stack_instruction (
	stack INTEGER NOT NULL REFERENCES stack,
	instruction INTEGER NOT NULL REFERENCES instruction,
	PRIMARY KEY (stack, instruction)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS stack_sample_more (
	sample INTEGER NOT NULL REFERENCES stack_sample,
	n_more INTEGER NOT NULL,
	PRIMARY KEY (sample, n_more)
) WITHOUT ROWID;
